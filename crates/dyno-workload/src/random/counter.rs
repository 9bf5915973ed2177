//! Counts what a prompt will be on the server: the user's one message through the chat template,
//! or a bare prompt.

use crate::tokenizer::Tokenizer;
use dyno_model::Message;
use dyno_model::prompt::ChatMessage;

/// A tokenizer and how prompts are wrapped.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(crate) tokenizer: Tokenizer,
    pub(crate) chat: bool,
}

impl Counter {
    /// Tokens of a prompt with everything that is put around it.
    pub(crate) fn count(&self, text: &str) -> Result<u32, Message> {
        if self.chat {
            self.tokenizer.count_messages(&[ChatMessage::user(text)])
        } else {
            self.tokenizer.count(text)
        }
    }
}
