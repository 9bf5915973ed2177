//! Everything the view shows, as plain data, so that it can be drawn without a run or a clock.

use crate::Said;
use crate::agents::AgentRow;
use crate::live::Seen;
use crate::outlook::Left;
use crate::seconds::Second;
use crate::view::Status;
use crate::watch::LiveWatch;
use crate::words::{self, Text};
use dyno_analysis::running_level::LevelSoFar;
use dyno_model::frame::Ending;
use dyno_model::{Language, Severity, Verdict};
use dyno_words::InLanguage;
use dyno_words::escape::escape;
use std::collections::BTreeMap;

/// More than any terminal has columns.
const SECONDS: usize = 500;
const LONGEST: usize = 300;

/// Everything the view shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Picture {
    pub(super) language: Language,
    pub(super) target: String,
    pub(super) seen: Seen,
    pub(super) per_second: Option<(f64, f64)>,
    pub(super) left: Option<Left>,
    /// More levels than are known may follow.
    pub(super) more: bool,
    /// Requests per second of wall time.
    pub(super) pace: Option<f64>,
    /// The last complete seconds.
    pub(super) seconds: Vec<Second>,
    /// The levels known so far, in order.
    pub(super) rows: Vec<Row>,
    /// Load generators of the present level, where this process does not send itself.
    pub(super) agents: Vec<AgentRow>,
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
    pub(super) state: State,
    /// Absent where it has not begun.
    pub(super) found: Option<LevelSoFar>,
}

/// How far a level is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    #[default]
    Pending,
    Running,
    Ended(Ending),
}

impl State {
    pub(super) fn text(self) -> Text {
        match self {
            Self::Pending => Text::Pending,
            Self::Running => Text::Running,
            Self::Ended(ending) => words::ending(ending),
        }
    }
}

impl Picture {
    pub(super) fn of(watch: &LiveWatch, said: Vec<Said>, language: Language) -> Self {
        let levels = watch.outlook.levels.iter().enumerate();
        let rows: Vec<Row> = levels
            .map(|(index, level)| {
                let over = watch.levels.get(index).and_then(|level| level.over.as_ref());
                let present = index as u64 == watch.seen.level && watch.seen.levels > 0;
                let state = match over {
                    Some(over) => State::Ended(over.ending),
                    None if present => State::Running,
                    None => State::Pending,
                };
                let found = watch.found(index).filter(|_| present || over.is_some());
                Row { label: safe(&level.label), state, found }
            })
            .collect();
        Self {
            language,
            target: safe(&watch.outlook.target),
            seen: Seen { label: safe(&watch.seen.label), ..watch.seen.clone() },
            per_second: watch.per_second(),
            left: watch.left(),
            more: watch.outlook.more,
            pace: watch.pace(),
            seconds: watch.seconds.over(SECONDS),
            agents: watch.agents(),
            failures: failures(&rows, language),
            concerns: concerns(&rows, language),
            rows,
            said: said.into_iter().map(|said| Said { text: safe(&said.text), ..said }).collect(),
        }
    }

    /// What the progress line would show.
    pub(super) fn status(&self) -> Status<'_> {
        Status {
            language: self.language,
            seen: &self.seen,
            per_second: self.per_second,
            pace: self.pace,
            left: self.left,
            more: self.more,
            found: self.present().and_then(|row| row.found.as_ref()),
        }
    }

    /// The level that runs now.
    pub(super) fn present(&self) -> Option<&Row> {
        self.rows.get(self.seen.level as usize).filter(|_| self.seen.levels > 0)
    }
}

/// One line without control characters.
fn safe(text: &str) -> String {
    escape(text, LONGEST)
}

pub(super) fn failures(rows: &[Row], language: Language) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for counts in rows.iter().filter_map(|row| row.found.as_ref()).map(|found| &found.counts) {
        for (class, n) in &counts.failures {
            *all.entry(class.clone()).or_insert(0) += n;
        }
        // Of agents, the classes are known when their records are.
        let classed: u64 = counts.failures.values().sum();
        let failed = counts.failed_or_unconfirmed();
        if failed > classed {
            let unknown = Text::Unclassified.text(language).to_owned();
            *all.entry(unknown).or_insert(0) += failed - classed;
        }
        if counts.shed > 0 {
            *all.entry(Text::ColumnShed.text(language).to_owned()).or_insert(0) += counts.shed;
        }
        if counts.dropped > 0 {
            *all.entry(Text::Dropped.text(language).to_owned()).or_insert(0) += counts.dropped;
        }
    }
    all
}

/// The findings against each level, the latest level first.
pub(super) fn concerns(rows: &[Row], language: Language) -> Vec<String> {
    let against = |(index, row): (usize, &Row)| {
        let findings = row.found.iter().flat_map(|found| &found.findings);
        findings
            .map(|finding| {
                let verdict = finding.severity.map_or(Verdict::Valid, Severity::verdict);
                let verdict = words::verdict(verdict, language);
                let finding = finding.in_language(language);
                let values = [(index + 1).to_string(), verdict.to_owned(), finding.what.clone()];
                Text::LevelConcern.with(language, &values)
            })
            .collect::<Vec<_>>()
    };
    rows.iter().enumerate().rev().flat_map(against).collect()
}
