//! Prompts as the engine of a twin sees them, without a request on the wire.

use dyno_drive::{Body, Dialogue, Lengths, NextTurn, Payload, Prepare, Work};
use dyno_engine::{Prompt, PromptError, Said};
use dyno_model::prompt::{Conversation, Item, UserTurn};
use std::collections::VecDeque;

/// A prompt as the engine sees it, or why there is none.
#[derive(Debug)]
pub struct Asked(pub Result<Prompt, PromptError>);

impl Body for Asked {
    fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |prompt| size_of_val(&prompt.hashes[..]))
    }
}

/// Prompts as an engine of a twin sees them.
#[derive(Debug, Clone, Copy)]
pub struct Prompts {
    /// They go over the chat API.
    pub chat: bool,
    /// Tokens of a block.
    pub block: u32,
}

fn asked(
    prompt: Result<Prompt, PromptError>,
    input: Option<u32>,
    output_tokens: u32,
) -> Payload<Asked> {
    let lengths = Lengths { input, output: Some(output_tokens), fixed: true };
    Payload { lengths, body: Asked(prompt) }
}

impl Prepare for Prompts {
    type Body = Asked;

    fn single(&self, item: &Item, output_tokens: u32) -> Payload<Asked> {
        let prompt = Prompt::of(&item.content, self.chat, self.block);
        asked(prompt, item.input_tokens, item.output_tokens.unwrap_or(output_tokens))
    }

    fn conversation(&self, conversation: &Conversation) -> Option<Work<Asked>> {
        let left = conversation.turns.iter().cloned().collect();
        let mut talk = Talk { block: self.block, said: Said::default(), left };
        let turn = talk.left.pop_front()?;
        let first = talk.say(&turn, conversation.input_tokens);
        Some(Work { first, then: Some(Box::new(talk)) })
    }
}

/// A conversation that is under way.
struct Talk {
    block: u32,
    said: Said,
    left: VecDeque<UserTurn>,
}

impl Talk {
    /// Says what a turn says, after all that was said before.
    fn say(&mut self, turn: &UserTurn, input: Option<u32>) -> Payload<Asked> {
        turn.messages.iter().for_each(|message| self.said.add(&message.role, &message.content));
        asked(Ok(self.said.prompt(self.block)), input, turn.output_tokens)
    }
}

impl Dialogue<Asked> for Talk {
    fn next(&mut self, answer: &str) -> Option<NextTurn<Asked>> {
        let turn = self.left.pop_front()?;
        self.said.add("assistant", answer);
        Some(NextTurn { think: turn.think, payload: self.say(&turn, None) })
    }

    fn size(&self) -> usize {
        let messages = self.left.iter().flat_map(|turn| &turn.messages);
        self.said.size() + messages.map(|message| message.content.len()).sum::<usize>()
    }
}
