//! The marks beside figures in tables, and what those that were used mean.

use crate::messages::Message;
use dyno_model::metric::Statistic;
use dyno_model::summary::Distribution;
use dyno_words::columns::ABSENT;

/// Which marks were used.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    steady: bool,
    few: bool,
    absent: bool,
}

impl Marks {
    /// Some figure carries a mark, or is absent.
    pub(crate) fn note(&mut self, few: bool, absent: bool) {
        self.few |= few;
        self.absent |= absent;
    }

    /// A figure that is not there.
    pub(crate) fn absent(&mut self) -> String {
        self.absent = true;
        ABSENT.to_owned()
    }

    /// Work over the steady window, with its `mark`, else over the whole level.
    pub(crate) fn rate(
        &mut self,
        [steady, whole]: [Option<f64>; 2],
        mark: &str,
        show: fn(f64) -> String,
    ) -> String {
        self.steady |= steady.is_some();
        match (steady, whole) {
            (Some(value), _) => format!("{}{mark}", show(value)),
            (None, Some(value)) => show(value),
            (None, None) => self.absent(),
        }
    }

    /// A statistic of a time.
    pub(crate) fn statistic(
        &mut self,
        of: Option<&Distribution>,
        which: Statistic,
        show: fn(f64) -> String,
    ) -> String {
        let Some(value) = of.and_then(|of| of.get(which)) else { return self.absent() };
        let few = of.is_some_and(|of| of.is_marked(which));
        self.few |= few;
        format!("{}{}", show(value), if few { "?" } else { "" })
    }

    /// The marks that were used, with what they mean.
    pub(crate) fn used<T>(&self, of: impl Fn(&str, Message) -> T) -> Vec<T> {
        let marks = [
            (self.steady, "*", Message::Steady),
            (self.few, "?", Message::Few),
            (self.absent, ABSENT, Message::NoFigure),
        ];
        let used = marks.into_iter().filter(|(used, ..)| *used);
        used.map(|(_, mark, message)| of(mark, message)).collect()
    }
}
