//! Why a command ends with its exit status: one line, the last that it prints. Errors that are
//! printed when they occur need none.

use crate::exit::Exit;
use crate::printer::Printer;
use dyno_model::message::clauses;
use dyno_model::{Message, message};

/// An exit status with its reason, as far as one has to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    exit: Exit,
    why: Vec<Message>,
}

impl Exit {
    /// The status for this reason.
    pub(crate) fn because(self, why: Message) -> Status {
        Status { exit: self, why: vec![why] }
    }
}

impl Status {
    /// The more severe one; both reasons where they are equally severe.
    pub(crate) fn and(mut self, other: impl Into<Self>) -> Self {
        let mut other = other.into();
        if other.exit > self.exit {
            return other;
        }
        if other.exit == self.exit {
            other.why.retain(|why| !self.why.contains(why));
            self.why.append(&mut other.why);
        }
        self
    }

    /// Prints the reason.
    pub(crate) fn told(self, printer: &Printer) -> Exit {
        if let Some(line) = self.line() {
            printer.remark(&line);
        }
        self.exit
    }

    fn line(&self) -> Option<Message> {
        let (code, why) = (self.exit.code(), clauses(&self.why));
        (!self.why.is_empty())
            .then(|| message!("exit status {code}: {why}", "退出状态 {code}：{why}"))
    }
}

impl From<Exit> for Status {
    fn from(exit: Exit) -> Self {
        Self { exit, why: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_of_the_gravest_status_are_said() {
        let because = |exit: Exit, why: &str| exit.because(Message::quoted(why));
        let missed = because(Exit::RequirementMissed, "missed");
        let open = because(Exit::Inconclusive, "open");
        let both = open.clone().and(missed.clone()).and(missed.clone());
        assert_eq!(both.line().unwrap().to_string(), "exit status 5: missed");
        let failed = because(Exit::RequirementMissed, "failed");
        let both = missed.and(open).and(failed).and(Exit::Fine);
        assert_eq!(both.line().unwrap().to_string(), "exit status 5: missed; failed");
        assert_eq!(Status::from(Exit::Fine).line(), None);
    }
}
