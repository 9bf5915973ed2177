//! How the data of a run were used, as far as they were sent.

use dyno_model::Message;
use dyno_workload::data::DataTally;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the data were used. Prompts are prepared ahead, so the tally is kept by the number prepared:
/// what was prepared and never sent does not count.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    /// Level, number of items and how they were used, wherever more than the number of items changed.
    changes: Vec<(u32, u64, Used)>,
    /// The error that ended the data early.
    pub(super) error: Option<Message>,
    /// Prompts with wrong lengths, by agent.
    wrong: BTreeMap<u32, u64>,
    /// Why the server stopped counting for an agent.
    pub(super) uncounted: Option<Message>,
    /// Parts of recorded messages that are not text and were not sent, by kind.
    pub(super) parts: BTreeMap<String, u64>,
}

/// How the records of a file were used, as far as the user is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Used {
    pub(super) skipped: u64,
    pub(super) short: u64,
    pub(super) long: u64,
    pub(super) cut: u64,
    pub(super) repeats: u64,
}

impl Used {
    /// Of two prefixes of the same data, the longer one.
    fn longer(self, other: Self) -> Self {
        Self {
            skipped: self.skipped.max(other.skipped),
            short: self.short.max(other.short),
            long: self.long.max(other.long),
            cut: self.cut.max(other.cut),
            repeats: self.repeats.max(other.repeats),
        }
    }
}

impl From<DataTally> for Used {
    fn from(tally: DataTally) -> Self {
        Self {
            skipped: tally.skipped,
            short: tally.dropped_short,
            long: tally.dropped_long,
            cut: tally.truncated,
            repeats: tally.repeats,
        }
    }
}

/// What an agent knows of its data after a level, and its coordinator does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DataReport {
    /// The records up to its last request, those of other agents included.
    pub(super) used: Used,
    /// Its own prompts with wrong lengths.
    pub(super) wrong: u64,
    /// Why the server stopped counting for it.
    pub(super) uncounted: Option<Message>,
}

/// Changes beyond this number are not recorded.
const MOST_CHANGES: usize = 100_000;

impl Account {
    pub(super) fn keep(&mut self, level: u32, made: u64, tally: DataTally) {
        let used = Used::from(tally);
        let changed = match self.changes.last() {
            Some((before, _, last)) if *before == level => *last != used,
            _ => true,
        };
        if changed && self.changes.len() < MOST_CHANGES {
            self.changes.push((level, made, used));
        }
    }

    /// What was used by a level of which `sent` items were sent.
    pub(super) fn after(&self, level: u32, sent: u64) -> Option<Used> {
        let made = |(of, made, _): &&(u32, u64, Used)| *of == level && *made <= sent;
        self.changes.iter().rfind(made).map(|(_, _, used)| *used)
    }

    /// What an agent says of a level. Each reads all records up to its last one.
    pub(super) fn hear(&mut self, agent: u32, level: u32, report: DataReport) {
        let used = report.used.longer(self.after(level, 0).unwrap_or_default());
        self.changes.push((level, 0, used));
        self.wrong.insert(agent, report.wrong);
        self.uncounted = self.uncounted.take().or(report.uncounted);
    }

    /// Prompts of agents with wrong lengths.
    pub(super) fn wrong(&self) -> u64 {
        self.wrong.values().fold(0, |sum, wrong| sum.saturating_add(*wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_say_of_a_level_is_what_one_client_would() {
        let mut account = Account::default();
        let report = |skipped, repeats, wrong| DataReport {
            used: Used { skipped, repeats, ..Used::default() },
            wrong,
            uncounted: None,
        };
        account.hear(0, 0, report(3, 1, 2));
        account.hear(1, 0, report(2, 0, 5));
        account.hear(0, 1, report(1, 1, 4));
        // All read the same records; what each made is its own.
        assert_eq!(account.after(0, 10).map(|used| (used.skipped, used.repeats)), Some((3, 1)));
        assert_eq!(account.after(1, 0).map(|used| used.skipped), Some(1));
        assert_eq!(account.after(2, 10), None);
        assert_eq!(account.wrong(), 9, "the last of each agent");
        assert_eq!(account.uncounted, None);
        let gone =
            |why: &str| DataReport { uncounted: Some(Message::quoted(why)), ..report(0, 0, 0) };
        account.hear(0, 2, gone("first"));
        account.hear(1, 2, gone("second"));
        assert_eq!(account.uncounted, Some(Message::quoted("first")));
    }
}
