//! A description of a data set after reading it once: how many items, how long they are, and samples.

use std::fmt;

use super::error::DataError;
use super::shown::First;
use super::spread::Spread;
use dyno_model::Language;
use dyno_model::prompt::{Content, Item, Message};
use dyno_words::escape::escape;
use dyno_words::messages;

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
    pub input: Spread,
    /// Whether the input tokens are estimates.
    pub estimated: bool,
    /// Output tokens, of the items that say how many.
    pub output: Spread,
    /// The first items, escaped and cut.
    pub samples: Vec<String>,
    /// The first item.
    pub first: Option<First>,
}

messages! {
    /// What a sample leaves out.
    enum Text;

    More: "… {} more", "……另有 {} 条";
    Cut: "{}… ({} more {1|character|characters})", "{}……（略去 {} 个字符）";
}

/// Reads all items and describes them. Items with a token count are not counted again.
pub fn profile(
    items: impl Iterator<Item = Result<Item, DataError>>,
    count: &dyn Fn(&Content) -> Result<u32, String>,
    estimated: bool,
    language: Language,
) -> Result<Profile, DataError> {
    let mut profile = Profile {
        items: 0,
        texts: 0,
        conversations: 0,
        bodies: 0,
        input: Spread::default(),
        estimated,
        output: Spread::default(),
        samples: Vec::new(),
        first: None,
    };
    for item in items {
        let item = item?;
        profile.items += 1;
        match &item.content {
            Content::Text(_) | Content::Texts(_) => profile.texts += 1,
            Content::Messages(_) => profile.conversations += 1,
            Content::Body(_) => profile.bodies += 1,
        }
        let input = match item.input_tokens {
            Some(counted) => counted,
            None => count(&item.content).map_err(|what| DataError::Count {
                name: "data".into(),
                number: profile.items,
                what,
            })?,
        };
        profile.input.add(input);
        if let Some(output) = item.output_tokens {
            profile.output.add(output);
        }
        sample(&item.content, &mut profile.samples, language);
        profile.first.get_or_insert(First { content: item.content, tokens: input });
    }
    Ok(profile)
}

/// Keeps a prompt among the samples, unless there are enough.
pub(crate) fn sample(content: &Content, samples: &mut Vec<String>, language: Language) {
    if samples.len() < SAMPLES {
        samples.push(shown(content, language));
    }
}

/// A prompt on one line, cut.
fn shown(content: &Content, language: Language) -> String {
    let escaped = |text: &str| escaped(text, language);
    match content {
        Content::Text(text) => escaped(text),
        Content::Messages(messages) => {
            let said =
                |message: &Message| format!("{}: {}", message.role, escaped(&message.content));
            let shown: Vec<String> = messages.iter().take(4).map(said).collect();
            let more = messages.len() - shown.len();
            let more = (more > 0).then(|| Text::More.with(language, &[more.to_string()]));
            shown.into_iter().chain(more).collect::<Vec<_>>().join(" | ")
        }
        Content::Body(body) => escaped(&serde_json::Value::Object(body.clone()).to_string()),
        Content::Texts(texts) => {
            texts.all().take(4).map(|text| escaped(text)).collect::<Vec<_>>().join(" | ")
        }
    }
}

/// With control characters escaped.
fn escaped(text: &str, language: Language) -> String {
    let beginning: String = text.chars().take(SAMPLE_CHARS).collect();
    let shown = escape(&beginning, usize::MAX);
    match text.chars().count().saturating_sub(SAMPLE_CHARS) {
        0 => shown,
        left => Text::Cut.with(language, &[shown, left.to_string()]),
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one_or = |count: u64, words: [&'static str; 2]| words[usize::from(count != 1)];
        write!(f, "{} {}", self.items, one_or(self.items, ["item", "items"]))?;
        let kinds = [
            (self.texts, ["text", "texts"]),
            (self.conversations, ["conversation", "conversations"]),
            (self.bodies, ["body", "bodies"]),
        ];
        let kinds: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {}", one_or(*count, *words)))
            .collect();
        if kinds.is_empty() {
            writeln!(f)?;
        } else {
            writeln!(f, " ({})", kinds.join(", "))?;
        }
        let estimated = if self.estimated { " (estimated)" } else { "" };
        writeln!(f, "\ninput tokens{estimated}")?;
        write!(f, "{}", self.input)?;
        outputs(f, &self.output)?;
        samples(f, &self.samples)
    }
}

/// Writes the requested output lengths.
pub(crate) fn outputs(f: &mut fmt::Formatter<'_>, output: &Spread) -> fmt::Result {
    if output.total() == 0 {
        return writeln!(f, "\noutput tokens: not stated in the data");
    }
    writeln!(f, "\nrequested output tokens, stated by {} of them", output.total())?;
    write!(f, "{output}")
}

/// Writes the samples.
pub(crate) fn samples(f: &mut fmt::Formatter<'_>, samples: &[String]) -> fmt::Result {
    writeln!(f, "\nsamples")?;
    for (index, sample) in samples.iter().enumerate() {
        writeln!(f, "  {}  {sample}", index + 1)?;
    }
    Ok(())
}
