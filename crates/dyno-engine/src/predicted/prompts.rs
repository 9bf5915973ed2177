//! Prompts as a twin's engine sees them, without a request on the wire.

use crate::{Prompt, PromptError, Transcript};
use dyno_drive::{Body, Payload, Prepare, RequestedLengths, TurnRequest, TurnRequests, Turns};
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

    fn conversation(&self, conversation: &Conversation) -> Option<Turns<TwinPrompt>> {
        conversation.turns.first()?;
        let dialogue = TwinDialogue {
            block: self.block,
            transcript: Transcript::default(),
            left: conversation.turns.iter().cloned().collect(),
            input_tokens: conversation.input_tokens,
        };
        let pauses = conversation.turns.iter().map(|turn| turn.think);
        Some(Turns::conversation(pauses, Box::new(dialogue)))
    }
}

/// A conversation that is under way.
struct TwinDialogue {
    block: u32,
    transcript: Transcript,
    left: VecDeque<UserTurn>,
    /// Of the first turn, until it is taken.
    input_tokens: Option<u32>,
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

impl TurnRequests<TwinPrompt> for TwinDialogue {
    fn take(&mut self, _turn: u32) -> Option<TurnRequest<TwinPrompt>> {
        let turn = self.left.pop_front()?;
        let input = self.input_tokens.take();
        Some(self.add_turn(&turn, input).into())
    }

    fn answered(&mut self, _turn: u32, answer: &str) {
        self.transcript.add("assistant", answer);
    }

    fn size(&self) -> usize {
        let messages = self.left.iter().flat_map(|turn| &turn.messages);
        self.transcript.size() + messages.map(|message| message.content.len()).sum::<usize>()
    }
}
