//! Where a run is shown: what the progress thread needs of the program's printer.

use dyno_model::{Language, Localized};
use std::fmt::Debug;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStyle {
    /// Not at all.
    Hidden,
    /// One line that is redrawn in place.
    Line,
    /// A new line every few seconds.
    Plain,
    /// JSON objects, a line each, for programs.
    Json,
}

/// What precedes a message of a kind.
pub fn prefix(kind: &str, language: Language) -> String {
    let chinese = match kind {
        "error" => "错误",
        "warning" => "警告",
        _ => "提示",
    };
    language.choose([kind, chinese]).to_owned() + language.colon()
}

/// A message that was printed: a note, a warning or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Which of the three.
    pub kind: &'static str,
    /// Its text.
    pub text: String,
}

/// The terminal, shared with everything else that is printed on it.
pub trait Terminal: Debug + Send + Sync {
    /// How progress is to be shown.
    fn progress_style(&self) -> ProgressStyle;

    /// Whether progress may be coloured.
    fn colour(&self) -> bool;

    /// Prints a note.
    fn note(&self, text: &dyn Localized);

    /// Draws the progress line over the previous one; `false` if the terminal is gone.
    fn draw_line(&self, line: &str) -> bool;

    /// Prints a line of progress that stays; `false` if the terminal is gone.
    fn plain_line(&self, line: &str) -> bool;

    /// Clears the progress line.
    fn clear_line(&self);

    /// Holds back everything that is printed until [`Terminal::release`].
    fn hold(&self);

    /// Prints what was held back.
    fn release(&self);

    /// The last notes, warnings and errors, oldest first.
    fn said(&self) -> Vec<Said>;
}
