//! Where a run is shown: what the view asks of whoever speaks for the program.

use std::fmt::{Debug, Display};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStyle {
    /// Not at all.
    Hidden,
    /// One line that is drawn over and over.
    Line,
    /// A line now and then.
    Plain,
}

/// Something that was said: a note, a warning or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Which of the three.
    pub kind: &'static str,
    /// What was said.
    pub text: String,
}

/// The terminal, shared with all else that is printed on it.
pub trait Terminal: Debug + Send + Sync {
    /// How progress is to be shown.
    fn progress_style(&self) -> ProgressStyle;

    /// Whether progress may be coloured.
    fn colour(&self) -> bool;

    /// Something good to know.
    fn note(&self, text: &dyn Display);

    /// Draws the progress line over the last one; `false` if there is no one to see it.
    fn draw_line(&self, line: &str) -> bool;

    /// Prints a line of progress that stays; `false` if there is no one to see it.
    fn plain_line(&self, line: &str) -> bool;

    /// Takes the progress line away.
    fn clear_line(&self);

    /// From now on nothing is printed, until [`Terminal::release`].
    fn hold(&self);

    /// Prints what was held.
    fn release(&self);

    /// The last notes, warnings and errors, oldest first.
    fn said(&self) -> Vec<Said>;
}
