//! Synthetic conversations: the same key and index give the same user messages.

use super::SessionOptions;
use crate::random::key::Key;
use crate::random::lengths::Lengths;
use crate::random::{RandomError, RandomOptions, RandomPrompts};
use crate::tokenizer::Tokenizer;
use dyno_model::prompt::{ChatMessage, Content};
use dyno_model::prompt::{Conversation, UserTurn};
use rand_chacha::ChaCha8Rng;

/// Levels of later messages are counted from here, so that their text differs from that of the first
/// messages of other conversations.
const LATER: u32 = 1 << 31;
/// Turns are numbered within their conversation's share of the numbers.
const TURN_BITS: u32 = 16;

/// Makes conversations.
#[derive(Debug)]
pub struct SyntheticSessions {
    options: SessionOptions,
    /// The first turn goes through the chat template, whose own tokens count.
    first: RandomPrompts,
    /// What later turns add is counted by itself.
    later: RandomPrompts,
    output: Lengths,
    key: Key,
}

impl SyntheticSessions {
    /// Prepares conversations whose messages have these lengths.
    pub fn new(
        tokenizer: &Tokenizer,
        options: SessionOptions,
        (input, output): (Lengths, Lengths),
        key: Key,
        unique: bool,
    ) -> Result<Self, RandomError> {
        let SessionOptions { prefix, groups, .. } = options;
        let begins = RandomOptions { prefix, groups, unique, ..RandomOptions::default() };
        let adds = RandomOptions { chat: false, ..RandomOptions::default() };
        let beginning = options.first.unwrap_or(input);
        let first = RandomPrompts::new(tokenizer, beginning, key, begins);
        let first = first.map_err(|error| options.blamed(error))?;
        let later = RandomPrompts::new(tokenizer, input, key.apart(LATER), adds)?;
        Ok(Self { options, first, later, output, key })
    }

    /// The same for another level or other lengths, without analysing the tokenizer again.
    pub fn again(
        &self,
        (input, output): (Lengths, Lengths),
        key: Key,
    ) -> Result<Self, RandomError> {
        let beginning = self.options.first.unwrap_or(input);
        let first = self.first.again(beginning, key);
        Ok(Self {
            first: first.map_err(|error| self.options.blamed(error))?,
            later: self.later.again(input, key.apart(LATER))?,
            options: self.options.clone(),
            output,
            key,
        })
    }

    /// The conversation of an arrival.
    pub fn conversation(&self, index: u64) -> Result<Conversation, RandomError> {
        let mut rng = plan(&self.key, index);
        let count = self.options.made_turns().sample(&mut rng);
        let first = self.first.prompt(index)?;
        let input_tokens = first.input_tokens;
        let mut turns = vec![self.turn(0, first.content, &mut rng)];
        for number in 1..count {
            let index = (index << TURN_BITS).wrapping_add(number.into());
            let think = self.options.think.sample(&mut rng);
            turns.push(self.turn(think, self.later.prompt(index)?.content, &mut rng));
        }
        Ok(Conversation { turns, input_tokens })
    }

    fn turn(&self, think: u64, content: Content, rng: &mut ChaCha8Rng) -> UserTurn {
        let messages = match content {
            Content::Text(text) => vec![ChatMessage::user(text)],
            Content::Messages(messages) => messages,
            Content::Body(_) | Content::Texts(_) | Content::Recorded(_) => Vec::new(),
        };
        UserTurn { think, messages, output_tokens: self.output.sample(rng) }
    }

    /// Whether any prompt that was counted again was off.
    pub fn wrong(&self) -> u64 {
        self.first.checks().wrong + self.later.checks().wrong
    }
}

/// What is drawn for a conversation besides its words.
pub(super) fn plan(key: &Key, index: u64) -> ChaCha8Rng {
    key.of_lengths(b"sessions", index)
}

impl SessionOptions {
    /// A length that cannot be made is that of `first=`, where there is one.
    fn blamed(&self, error: RandomError) -> RandomError {
        match (self.first, error) {
            (Some(first), error @ RandomError::TooShort { .. }) => {
                RandomError::First { first, error: Box::new(error) }
            }
            (_, error) => error,
        }
    }

    /// A recorded conversation as it will be replayed; each turn requests `output` tokens.
    pub fn lead(
        &self,
        said: Vec<Vec<ChatMessage>>,
        input_tokens: Option<u32>,
        output: impl Fn(&mut ChaCha8Rng) -> u32,
        (key, index): (&Key, u64),
    ) -> Conversation {
        let mut rng = plan(key, index);
        let turns = said.into_iter().enumerate().map(|(number, messages)| {
            let think = if number == 0 { 0 } else { self.think.sample(&mut rng) };
            UserTurn { think, messages, output_tokens: output(&mut rng) }
        });
        Conversation { turns: turns.collect(), input_tokens }
    }

    /// The most turns that are taken of a recorded conversation.
    pub fn most_turns(&self, key: &Key, index: u64) -> u32 {
        let Some(turns) = self.turns else { return super::MOST_TURNS };
        turns.sample(&mut key.of_lengths(b"turns   ", index))
    }
}
