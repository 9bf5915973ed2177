//! Where the texts of a conversation stand among the tokens of its prompt: what the chat template puts before the first,
//! between them and behind the last.

use dyno_model::prompt::ChatMessage;

use crate::random::{Maker, RandomError};
use crate::tokenizer::Tokenizer;

/// Tokens around the texts of a conversation between a user, who begins and ends it, and the assistant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ChatShape {
    /// Before the first text.
    pub(super) before: u32,
    /// Between a text of the user and the response to it.
    pub(super) to_answer: u32,
    /// Between a response and the next text of the user.
    pub(super) to_user: u32,
    /// Behind the last text.
    pub(super) after: u32,
    /// Whether the texts are one, without messages.
    pub(super) plain: bool,
    /// Whether the tokens of a conversation are those of its texts and of these.
    pub(super) adds_up: bool,
}

/// Tokens of the texts by which it is measured: user, assistant, user, assistant, user.
const SAMPLE: [u32; 5] = [9, 5, 3, 7, 4];

impl ChatShape {
    /// Measured with texts of `write`, which makes one of so many tokens that begins with its number.
    pub(super) fn measure(
        tokenizer: &Tokenizer,
        maker: &Maker,
        chat: bool,
        write: impl Fn(usize, u32) -> String,
    ) -> Result<Self, RandomError> {
        let alone = maker.shortest().saturating_sub(1);
        if !chat {
            let adds_up = maker.uses_pieces();
            return Ok(Self { before: alone, plain: true, adds_up, ..Self::default() });
        }
        let said: Vec<ChatMessage> = SAMPLE
            .iter()
            .enumerate()
            .map(|(number, tokens)| {
                let role = if number % 2 == 0 { "user" } else { "assistant" };
                ChatMessage { role: role.to_owned(), content: write(number, *tokens) }
            })
            .collect();
        let own = |messages: usize| SAMPLE[..messages].iter().sum::<u32>();
        let pair = tokenizer.count_messages(&said[..3])?.saturating_sub(alone + own(3));
        let both = tokenizer.count_messages(&said)?.saturating_sub(alone + own(5));
        let adds_up = maker.uses_pieces() && both == 2 * pair;
        let found = |number: usize| tokenizer.tokens_before(&said[..3], &said[number].content);
        let (first, second) = (found(0)?, found(1)?);
        let shape = match first.zip(second) {
            Some((before, answer)) if before <= alone && answer >= before + SAMPLE[0] => {
                let to_answer = (answer - before - SAMPLE[0]).min(pair);
                Self { before, to_answer, after: alone - before, ..Self::default() }
            }
            // What is behind the last text is about what is behind any.
            _ => {
                let to_answer = pair / 2;
                let after = if tokenizer.has_template() { to_answer.min(alone) } else { 0 };
                Self { before: alone - after, to_answer, after, ..Self::default() }
            }
        };
        Ok(Self { to_user: pair - shape.to_answer, adds_up, ..shape })
    }

    /// Tokens around a single message of the user.
    pub(super) fn alone(&self) -> u32 {
        self.before + self.after
    }

    /// Tokens that a response and the message after it add to their texts.
    pub(super) fn pair(&self) -> u32 {
        self.to_answer + self.to_user
    }
}
