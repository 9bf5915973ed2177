//! A fit from beginning to end: which levels of the runs it uses, the search, and what is told of the
//! twin that was found.

mod about;
mod progress;
mod report;
mod skipped;
mod table;
mod words;

pub use about::About;

use crate::measured::Measured;
use dyno_engine::twin::Twin;
use dyno_fit::{FitOptions, Table};
use dyno_model::Language;
use std::time::Duration;
use words::Message;

/// What is asked of a fit.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The name of the twin.
    pub name: String,
    /// What its file says of the system.
    pub about: About,
    /// Maximum number of sequences in the server's batch, if it is known.
    pub max_seqs: Option<u32>,
}

/// A fit that can begin.
#[derive(Debug)]
pub struct Job<'a> {
    /// What should be said first: levels that are left out, and what is about to be done.
    pub notes: Vec<String>,
    runs: &'a [Measured],
    wanted: &'a Wanted,
    language: Language,
    table: Table,
    options: FitOptions,
}

/// A twin that was found, and what is to be said of it.
#[derive(Debug)]
pub struct FittedTwin {
    /// The twin.
    pub twin: Twin,
    /// How close it is, and what the data does not show.
    pub text: String,
    /// Why it should not be relied on, if so.
    pub warning: Option<String>,
}

/// Chooses the levels. Without enough of them: why, and the notes that say what became of each.
pub fn prepare<'a>(
    runs: &'a [Measured],
    wanted: &'a Wanted,
    language: Language,
) -> Result<Job<'a>, (Vec<String>, Vec<String>)> {
    let table = table::table(&wanted.name, runs, wanted.max_seqs, language);
    let mut notes = skipped::of_table(&table, language);
    let defects = dyno_fit::defects(&table);
    if !defects.is_empty() {
        return Err((notes, defects.iter().map(|one| words::defect(one, language)).collect()));
    }
    notes.push(Message::Fitting.with(language, &[table.fitted().count().to_string()]));
    Ok(Job { notes, runs, wanted, language, table, options: FitOptions::default() })
}

impl Job<'_> {
    /// How far it has come.
    pub fn line(&self, elapsed: Duration) -> String {
        progress::line(self.options.progress.state(), elapsed, self.language)
    }

    /// Searches; takes seconds to minutes. The error is a text.
    pub fn work(&self) -> Result<FittedTwin, String> {
        let mut found =
            dyno_fit::fit(&self.table, &self.options).map_err(|error| error.to_string())?;
        self.wanted.about.write(&mut found.twin, self.runs);
        let text = report::report(&found, self.language);
        let warning = report::warning(&found.leave_one_out, self.language);
        Ok(FittedTwin { twin: found.twin, text, warning })
    }
}
