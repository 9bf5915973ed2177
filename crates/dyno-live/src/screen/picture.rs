//! All that the view shows, as plain data: drawing it needs no run and no clock.

use crate::Said;
use crate::finished;
use crate::live::Seen;
use crate::outlook::Left;
use crate::seconds::Second;
use crate::view::Told;
use crate::watch::Watch;
use dyno_analysis::glimpse::Glimpsed;
use dyno_model::{Severity, Verdict};
use dyno_words::escape::escape;
use std::collections::BTreeMap;

/// More than any terminal has columns.
const SECONDS: usize = 500;
const LONGEST: usize = 300;

/// All that the view shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Picture {
    pub(super) target: String,
    pub(super) seen: Seen,
    pub(super) per_second: Option<(f64, f64)>,
    pub(super) left: Option<Left>,
    /// More levels than are known may follow.
    pub(super) more: bool,
    /// Seconds are those of a twin.
    pub(super) predicted: bool,
    /// The last seconds that are over.
    pub(super) seconds: Vec<Second>,
    /// The levels that are known, in order.
    pub(super) rows: Vec<Row>,
    /// Failures of the whole run, by class.
    pub(super) failures: BTreeMap<String, u64>,
    /// What speaks against levels, as far as it is known.
    pub(super) concerns: Vec<String>,
    pub(super) said: Vec<Said>,
}

/// A level.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub(super) label: String,
    /// In a word: how it ended, that it runs, or that it is to come.
    pub(super) state: &'static str,
    /// Absent where it has not begun.
    pub(super) found: Option<Glimpsed>,
}

impl Row {
    pub(super) const RUNNING: &'static str = "running";
    pub(super) const TO_COME: &'static str = "to come";
}

impl Picture {
    pub(super) fn of(watch: &Watch, said: Vec<Said>) -> Self {
        let levels = watch.outlook.levels.iter().enumerate();
        let rows: Vec<Row> = levels
            .map(|(index, level)| {
                let over = watch.levels.get(index).and_then(|level| level.over.as_ref());
                let present = index as u64 == watch.seen.level && watch.seen.levels > 0;
                let state = match over {
                    Some(over) => finished::ending(over.ending),
                    None if present => Row::RUNNING,
                    None => Row::TO_COME,
                };
                let found = watch.found(index).filter(|_| present || over.is_some());
                Row { label: safe(&level.label), state, found }
            })
            .collect();
        Self {
            target: safe(&watch.outlook.target),
            seen: Seen { label: safe(&watch.seen.label), ..watch.seen.clone() },
            per_second: watch.per_second(),
            left: watch.left(),
            more: watch.outlook.more,
            predicted: watch.outlook.predicted,
            seconds: watch.seconds.over(SECONDS),
            failures: failures(&rows),
            concerns: concerns(&rows),
            rows,
            said: said.into_iter().map(|said| Said { text: safe(&said.text), ..said }).collect(),
        }
    }

    /// What the line would tell.
    pub(super) fn told(&self) -> Told<'_> {
        Told { seen: &self.seen, per_second: self.per_second, left: self.left, more: self.more }
    }

    /// The level that runs now.
    pub(super) fn present(&self) -> Option<&Row> {
        self.rows.get(self.seen.level as usize).filter(|_| self.seen.levels > 0)
    }
}

/// One line that no terminal obeys.
fn safe(text: &str) -> String {
    escape(text, LONGEST)
}

pub(super) fn failures(rows: &[Row]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for counts in rows.iter().filter_map(|row| row.found.as_ref()).map(|found| &found.counts) {
        for (class, n) in &counts.failures {
            *all.entry(class.clone()).or_insert(0) += n;
        }
        if counts.dropped > 0 {
            *all.entry("dropped".to_owned()).or_insert(0) += counts.dropped;
        }
    }
    all
}

/// What is against each level, the latest first.
pub(super) fn concerns(rows: &[Row]) -> Vec<String> {
    let against = |(index, row): (usize, &Row)| {
        let findings = row.found.iter().flat_map(|found| &found.findings);
        findings
            .map(|finding| {
                let verdict = finding.severity.map_or(Verdict::Valid, Severity::verdict);
                format!("level {} {verdict}: {}", index + 1, finding.what)
            })
            .collect::<Vec<_>>()
    };
    rows.iter().enumerate().rev().flat_map(against).collect()
}
