//! What became of the data of a run, as far as they were sent.

use dyno_workload::data::Tally;

/// What became of the data. Prompts are made ahead, so it is kept by how many had been made:
/// what was made and never sent does not count.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    /// For each level, the tally after so many items, wherever it changed in more than that.
    changes: Vec<(u32, u64, Tally)>,
    /// What ended the data before their time.
    pub(super) error: Option<String>,
}

/// Changes beyond these are not told apart any more.
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

    /// The tally of a level of which so many items were sent.
    pub(super) fn after(&self, level: u32, sent: u64) -> Option<Tally> {
        let made = |(of, made, _): &&(u32, u64, Tally)| *of == level && *made <= sent;
        self.changes.iter().rfind(made).map(|(_, _, tally)| *tally)
    }
}
