//! Prompts as a twin's engine sees them, without a request on the wire.

use crate::{Prompt, PromptError, Transcript};
use dyno_drive::{Body, Dialogue, NextTurn, Payload, Prepare, RequestedLengths, Work};
use dyno_model::prompt::{Conversation, Item, UserTurn};
use std::collections::VecDeque;

/// A prompt as the engine sees it, or why it is invalid.
#[derive(Debug, Clone)]
pub struct TwinPrompt(pub Result<Prompt, PromptError>);

impl Body for TwinPrompt {
    fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |prompt| size_of_val(&prompt.hashes[..]))
    }
}

/// Prepares prompts for the engine of a twin.
#[derive(Debug, Clone, Copy)]
pub struct Prompts {
    /// Whether they use the chat API.
    pub chat: bool,
    /// Tokens of a block.
    pub block: u32,
}

fn payload(
    prompt: Result<Prompt, PromptError>,
    input: Option<u32>,
    output_tokens: u32,
) -> Payload<TwinPrompt> {
    let output = Some(output_tokens);
    let lengths = RequestedLengths { input, output, fixed: true, ..RequestedLengths::default() };
    Payload { lengths, body: TwinPrompt(prompt) }
}

impl Prepare for Prompts {
    type Body = TwinPrompt;

    fn single(&self, item: &Item, output_tokens: u32) -> Payload<TwinPrompt> {
        let prompt = Prompt::of(&item.content, self.chat, self.block);
        payload(prompt, item.input_tokens, item.output_tokens.unwrap_or(output_tokens))
    }

    fn conversation(&self, conversation: &Conversation) -> Option<Work<TwinPrompt>> {
        let left = conversation.turns.iter().cloned().collect();
        let mut dialogue =
            TwinDialogue { block: self.block, transcript: Transcript::default(), left };
        let turn = dialogue.left.pop_front()?;
        let first = dialogue.add_turn(&turn, conversation.input_tokens);
        Some(Work { first, then: Some(Box::new(dialogue)) })
    }
}

/// A conversation that is under way.
struct TwinDialogue {
    block: u32,
    transcript: Transcript,
    left: VecDeque<UserTurn>,
}

impl TwinDialogue {
    /// Adds a user turn and returns the prompt of the whole conversation.
    fn add_turn(&mut self, turn: &UserTurn, input: Option<u32>) -> Payload<TwinPrompt> {
        turn.messages
            .iter()
            .for_each(|message| self.transcript.add(&message.role, &message.content));
        payload(Ok(self.transcript.prompt(self.block)), input, turn.output_tokens)
    }
}

impl Dialogue<TwinPrompt> for TwinDialogue {
    fn next(&mut self, answer: &str) -> Option<NextTurn<TwinPrompt>> {
        let turn = self.left.pop_front()?;
        self.transcript.add("assistant", answer);
        Some(NextTurn { think: turn.think, payload: self.add_turn(&turn, None) })
    }

    fn size(&self) -> usize {
        let messages = self.left.iter().flat_map(|turn| &turn.messages);
        self.transcript.size() + messages.map(|message| message.content.len()).sum::<usize>()
    }
}
