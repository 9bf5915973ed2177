//! Whether a server still is what its twin says: a run beside the twin, and what would explain a
//! difference.

mod json;
mod text;
mod words;

use crate::measured::MeasuredRun;
use crate::trials::Trials;
use dyno_engine::twin::Twin;
use dyno_fit::FitCheck;
use dyno_model::{Language, Localized, Message, message};

/// A run beside a twin.
#[derive(Debug)]
pub struct CheckedTwin {
    /// Levels that could not be compared, with one note for each reason.
    pub notes: Vec<Message>,
    twin: Twin,
    found: FitCheck,
    left_out: Vec<(String, Message)>,
    language: Language,
}

/// Compares the levels of these runs with a twin.
pub fn check(runs: &[MeasuredRun], twin: Twin, language: Language) -> Result<CheckedTwin, Message> {
    if let Some(run) = runs.iter().find(|run| run.records.is_none()) {
        return Err(message!(
            "{} has no records of single requests; check a run of dyno bench",
            "{} 没有单个请求的记录；请检查 dyno bench 的测试",
            run.summary.run.id
        ));
    }
    let mut trials = Trials::of(runs, language).map_err(|error| {
        message!("the records cannot be read: {error}", "无法读取记录：{error}")
    })?;
    // What others did to a level is no property of the server.
    trials.leave_foreign_out(0);
    let mut notes = trials.notes();
    notes.extend(trials.several());
    notes.extend(trials.unchecked());
    let found = dyno_fit::check(&twin, &trials.usable);
    Ok(CheckedTwin { notes, twin, found, left_out: trials.left_out().to_vec(), language })
}

impl CheckedTwin {
    /// Whether no level differs; nothing if none could be compared.
    pub fn same(&self) -> Option<bool> {
        (!self.found.levels.is_empty()).then(|| self.found.same())
    }

    /// The levels beside the twin, the result, and what would explain a difference.
    pub fn text(&self) -> String {
        text::text(&self.found, &self.twin, self.language)
    }

    /// The same as JSON.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let same = self.same();
        let left_out = self.left_out.iter().map(|(label, why)| (&**label, why.text(self.language)));
        let document = json::document(&self.found, same, &self.twin, left_out);
        let json = serde_json::to_string_pretty(&document);
        json.map(|json| dyno_words::escape::json(&json).into_owned())
    }
}
