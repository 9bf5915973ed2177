//! How the data of a run were used, as far as they were sent.

use dyno_workload::data::Tally;

/// How the data were used. Prompts are prepared ahead, so the tally is kept by the number prepared:
/// what was prepared and never sent does not count.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    /// Level, number of items and tally, wherever more than the number of items changed.
    changes: Vec<(u32, u64, Tally)>,
    /// The error that ended the data early.
    pub(super) error: Option<String>,
}

/// Changes beyond this number are not recorded.
const MOST_CHANGES: usize = 100_000;

impl Account {
    pub(super) fn keep(&mut self, level: u32, made: u64, tally: Tally) {
        let telling =
            |t: &Tally| (t.skipped, t.dropped_short, t.dropped_long, t.truncated, t.repeats);
        let changed = match self.changes.last() {
            Some((before, _, last)) if *before == level => telling(last) != telling(&tally),
            _ => true,
        };
        if changed && self.changes.len() < MOST_CHANGES {
            self.changes.push((level, made, tally));
        }
    }

    /// The tally of a level of which `sent` items were sent.
    pub(super) fn after(&self, level: u32, sent: u64) -> Option<Tally> {
        let made = |(of, made, _): &&(u32, u64, Tally)| *of == level && *made <= sent;
        self.changes.iter().rfind(made).map(|(_, _, tally)| *tally)
    }
}
