//! The notes that are printed before a run starts, in the language of the user.

use dyno_model::Message;

/// Notes so far.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<Message>);

impl Notes {
    /// Adds a note.
    pub(crate) fn push(&mut self, note: Message) {
        self.0.push(note);
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.0
    }
}
