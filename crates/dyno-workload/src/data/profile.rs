//! A description of a data set after reading it once: how many items, how long they are, and samples.

use std::fmt;

use super::error::DataError;
use super::shown::First;
use super::spread::DataSpread;
use dyno_model::message::Message as Said;
use dyno_model::message::{In, list};
use dyno_model::prompt::{ChatMessage, Content, Item};
use dyno_model::{Language, Localized, message};
use dyno_words::escape::escape;

const SAMPLES: usize = 3;
const SAMPLE_CHARS: usize = 160;

/// What a data set holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// How many items there are.
    pub items: u64,
    /// How many are plain text.
    pub texts: u64,
    /// How many are conversations.
    pub conversations: u64,
    /// How many are whole request bodies.
    pub bodies: u64,
    /// Input tokens.
    pub input: DataSpread,
    /// Whether the input tokens are estimates.
    pub estimated: bool,
    /// Output tokens, of the items that say how many.
    pub output: DataSpread,
    /// The first items, escaped and cut.
    pub samples: Vec<Said>,
    /// The first item.
    pub first: Option<First>,
}

/// Reads all items and describes them. Items with a token count are not counted again.
pub fn profile(
    items: impl Iterator<Item = Result<Item, DataError>>,
    count: &dyn Fn(&Content) -> Result<u32, Said>,
    estimated: bool,
) -> Result<Profile, DataError> {
    let mut profile = Profile {
        items: 0,
        texts: 0,
        conversations: 0,
        bodies: 0,
        input: DataSpread::default(),
        estimated,
        output: DataSpread::default(),
        samples: Vec::new(),
        first: None,
    };
    for item in items {
        let item = item?;
        profile.items += 1;
        match &item.content {
            Content::Text(_) | Content::Texts(_) => profile.texts += 1,
            Content::Messages(_) | Content::Recorded(_) => profile.conversations += 1,
            Content::Body(_) => profile.bodies += 1,
        }
        let input = match item.input_tokens {
            Some(counted) => counted,
            None => count(&item.content).map_err(|what| DataError::Count {
                name: message!("data", "数据"),
                number: profile.items,
                what,
            })?,
        };
        profile.input.add(input);
        if let Some(output) = item.output_tokens {
            profile.output.add(output);
        }
        sample(&item.content, &mut profile.samples);
        profile.first.get_or_insert(First { content: item.content, tokens: input });
    }
    Ok(profile)
}

/// Keeps a prompt among the samples, unless there are enough.
pub(crate) fn sample(content: &Content, samples: &mut Vec<Said>) {
    if samples.len() < SAMPLES {
        samples.push(shown(content));
    }
}

/// A prompt on one line, cut.
fn shown(content: &Content) -> Said {
    match content {
        Content::Text(text) => escaped(text),
        Content::Messages(messages) => {
            let said = |message: &ChatMessage| {
                let (role, text) = (&message.role, escaped(&message.content));
                message!("{role}: {text}", "{role}: {text}")
            };
            let shown = messages.iter().take(4).map(said);
            let more = messages.len().saturating_sub(4);
            let more = (more > 0).then(|| message!("… {more} more", "……另有 {more} 条"));
            joined(shown.chain(more))
        }
        Content::Body(body) => escaped(&serde_json::Value::Object(body.clone()).to_string()),
        Content::Texts(texts) => joined(texts.all().take(4).map(|text| escaped(text))),
        Content::Recorded(prompt) => escaped(&prompt.text()),
    }
}

fn joined(parts: impl Iterator<Item = Said>) -> Said {
    let both = |all: Said, part| message!("{all} | {part}", "{all} | {part}");
    parts.reduce(both).unwrap_or_else(|| Said::quoted(""))
}

/// With control characters escaped.
fn escaped(text: &str) -> Said {
    let beginning: String = text.chars().take(SAMPLE_CHARS).collect();
    let shown = escape(&beginning, usize::MAX);
    match text.chars().count().saturating_sub(SAMPLE_CHARS) {
        0 => Said::quoted(shown),
        1 => message!("{shown}… (1 more character)", "{shown}……（略去 1 个字符）"),
        left => message!("{shown}… ({left} more characters)", "{shown}……（略去 {left} 个字符）"),
    }
}

impl Localized for Profile {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let Self { items, texts, conversations, bodies, .. } = *self;
        let kinds = [
            match texts {
                1 => message!("1 text", "1 个文本"),
                _ => message!("{texts} texts", "{texts} 个文本"),
            },
            match conversations {
                1 => message!("1 conversation", "1 个对话"),
                _ => message!("{conversations} conversations", "{conversations} 个对话"),
            },
            match bodies {
                1 => message!("1 body", "1 个请求体"),
                _ => message!("{bodies} bodies", "{bodies} 个请求体"),
            },
        ];
        let counts = [texts, conversations, bodies];
        let kinds = kinds.into_iter().zip(counts).filter(|(_, count)| *count > 0);
        let kinds: Vec<_> = kinds.map(|(said, _)| said).collect();
        let head = match items {
            1 => message!("1 item", "1 项"),
            _ => message!("{items} items", "{items} 项"),
        };
        let head = match kinds.is_empty() {
            true => head,
            false => message!("{head} ({})", "{head}（{}）", list(kinds)),
        };
        let input = match self.estimated {
            true => message!("input tokens (estimated)", "输入 token（估计）"),
            false => message!("input tokens", "输入 token"),
        };
        writeln!(f, "{}\n\n{}", In(&head, language), In(&input, language))?;
        self.input.fmt_in(f, language)?;
        outputs(f, &self.output, language)?;
        samples(f, &self.samples, language)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}

/// Writes the requested output lengths.
pub(crate) fn outputs(
    f: &mut fmt::Formatter<'_>,
    output: &DataSpread,
    language: Language,
) -> fmt::Result {
    if output.total() == 0 {
        let none = message!("output tokens: not stated in the data", "输出 token：数据中没有给出");
        return writeln!(f, "\n{}", In(&none, language));
    }
    let head = message!(
        "requested output tokens, stated by {} of them",
        "要求的输出 token，其中 {} 项给出",
        output.total()
    );
    write!(f, "\n{}\n{}", In(&head, language), In(output, language))
}

/// Writes the samples.
pub(crate) fn samples(
    f: &mut fmt::Formatter<'_>,
    samples: &[Said],
    language: Language,
) -> fmt::Result {
    writeln!(f, "\n{}", In(&message!("samples", "示例"), language))?;
    for (index, sample) in samples.iter().enumerate() {
        writeln!(f, "  {}  {}", index + 1, In(sample, language))?;
    }
    Ok(())
}
