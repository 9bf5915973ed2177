//! A description of recorded conversations after reading them once: how many, their turns, the length
//! of the user's messages, and samples.

use super::{SessionOptions, led, said};
use crate::data::shown::First;
use crate::data::{DataError, DataSpread, outputs, sample, samples};
use crate::random::key::Key;
use dyno_model::message::In;
use dyno_model::prompt::{Content, Item};
use dyno_model::{Language, Localized, Message, message};
use std::fmt;

/// What a file of conversations holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionProfile {
    /// How many conversations there are.
    pub conversations: u64,
    /// Turns of a conversation, as many as are replayed.
    pub turns: DataSpread,
    /// Input tokens of all user messages of a conversation, system messages included.
    pub input: DataSpread,
    /// Whether the input tokens are estimates.
    pub estimated: bool,
    /// Output tokens, of the conversations that say how many.
    pub output: DataSpread,
    /// The user's messages of the first conversations, escaped and cut.
    pub samples: Vec<Message>,
    /// The first turn of the first conversation.
    pub first: Option<First>,
}

impl SessionProfile {
    /// Reads all conversations and describes them. `count` counts the tokens of messages.
    pub fn of(
        items: impl Iterator<Item = Result<Item, DataError>>,
        options: &SessionOptions,
        seed: u64,
        count: &dyn Fn(&Content) -> Result<u32, Message>,
        estimated: bool,
    ) -> Result<Self, DataError> {
        let mut profile = Self { estimated, ..Self::default() };
        for item in items {
            let item = item?;
            let index = profile.conversations;
            profile.conversations += 1;
            let said = said(&item.content);
            let failed =
                |what| DataError::Count {
                    name: message!("data", "数据"), number: index + 1, what
                };
            profile.input.add(count(&said).map_err(failed)?);
            if let Some(output) = item.output_tokens {
                profile.output.add(output);
            }
            sample(&said, &mut profile.samples);
            if let Ok(turns) = led(item.content, options.most_turns(&Key::new(seed, 0), index)) {
                profile.turns.add(turns.len() as u32);
                if let (None, Some(turn)) = (&profile.first, turns.into_iter().next()) {
                    let content = Content::Messages(turn);
                    let tokens = count(&content).map_err(failed)?;
                    profile.first = Some(First { content, tokens });
                }
            }
        }
        Ok(profile)
    }
}

impl Localized for SessionProfile {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let count = match self.conversations {
            1 => message!("1 conversation", "1 个对话"),
            many => message!("{many} conversations", "{many} 个对话"),
        };
        let input = match self.estimated {
            true => message!(
                "input tokens of user messages (estimated)",
                "用户消息的输入 token（估计）"
            ),
            false => message!("input tokens of user messages", "用户消息的输入 token"),
        };
        let turns = message!("turns", "轮数");
        writeln!(f, "{}\n\n{}", In(&count, language), In(&turns, language))?;
        self.turns.fmt_in(f, language)?;
        writeln!(f, "\n{}", In(&input, language))?;
        self.input.fmt_in(f, language)?;
        outputs(f, &self.output, language)?;
        samples(f, &self.samples, language)
    }
}

impl fmt::Display for SessionProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}
