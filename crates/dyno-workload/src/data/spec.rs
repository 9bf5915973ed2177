//! The data specification: `KIND[:PATH][,key=value…]`, parsed without touching a file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::fields::FieldPath;
use super::spec_error::{bad_value, both, meant, unknown_key};
use super::stdin::is_stdin;
use dyno_model::nearest::nearest;
use dyno_model::{Language, Message, message};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal,)*) => {
        /// What a data set is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum DataKind {
            $($(#[$doc])* $kind,)*
        }

        impl DataKind {
            /// Every kind, as the documentation lists them.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name in a specification.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// Short questions: JSON lines with `question`.
    OpenQa "openqa",
    /// Long prompts.
    Long "long",
    /// One prompt, message array or request body per line.
    Lines "lines",
    /// JSON objects: a line each, or the elements of one array.
    Json "json",
    /// A table of comma-separated values.
    Csv "csv",
    /// A Parquet table.
    Parquet "parquet",
    /// Conversations as ShareGPT has them.
    ShareGpt "sharegpt",
    /// Synthetic prompts.
    Random "random",
    /// Conversations of several turns.
    Session "session",
    /// Recorded arrivals.
    Trace "trace",
    /// Trees of sessions, as coding agents send them.
    Agentic "agentic",
}

impl DataKind {
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|kind| kind.name()).collect()
    }

    /// Whether its prompts are read from records, rather than synthetic or from a trace.
    pub fn is_read(self) -> bool {
        !matches!(self, Self::Random | Self::Trace | Self::Agentic)
    }

    /// The kind that was probably meant by an unknown word.
    pub(super) fn near(word: &str) -> Option<&'static str> {
        nearest(word, &Self::names())
    }
}

impl fmt::Display for DataKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much of a conversation makes a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// The first user message, with the system message before it.
    First,
    /// Everything up to the last user message.
    All,
}

/// Which fields hold what. Those left out are found by their usual names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The prompt's text, or its messages.
    pub prompt: Option<FieldPath>,
    /// Text that goes before the prompt.
    pub context: Option<FieldPath>,
    /// The system message.
    pub system: Option<FieldPath>,
    /// How many tokens to ask for.
    pub output_tokens: Option<FieldPath>,
    /// The messages of the conversation.
    pub messages: Option<FieldPath>,
}

/// A data set as asked for on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataSpec {
    /// The kind, where it was named.
    pub kind: Option<DataKind>,
    /// The file, where one was named.
    pub path: Option<PathBuf>,
    /// Which fields hold what.
    pub mapping: Mapping,
    /// How much of a conversation makes a prompt, where it was said.
    pub turns: Option<Turns>,
    /// Whether to skip records that cannot be used.
    pub skip_bad: bool,
    /// Which of the built-in texts.
    pub lang: Option<Language>,
    /// Requests have several texts, and so may records. It follows from the API and is not written.
    pub texts: bool,
    /// Options of `random`, `session`, `trace` and `agentic`, as they were written. The modules of these kinds
    /// interpret them, and check them with [`DataSpec::only`].
    pub options: Vec<(String, String)>,
}

/// Keys that apply to every file.
pub(crate) const FIELD_KEYS: [&str; 6] =
    ["prompt", "context", "system", "output_tokens", "messages", "skip_bad"];
const MAPPING_KEYS: [&str; 7] =
    ["prompt", "context", "system", "output_tokens", "messages", "turns", "skip_bad"];
const BUILTIN_KEYS: [&str; 8] =
    ["prompt", "context", "system", "output_tokens", "messages", "turns", "skip_bad", "lang"];

impl DataSpec {
    /// Fails on the first of [`DataSpec::options`] that is not among the `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), Message> {
        match self.options.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            Some((key, _)) => Err(unknown_key(key, self.kind_name(), known)),
            None => Ok(()),
        }
    }

    /// Why one of [`DataSpec::options`] has a value that is none of those allowed.
    pub(crate) fn bad_option(&self, key: &str, allowed: Message) -> Message {
        bad_value(key, self.option(key).unwrap_or_default(), allowed)
    }

    /// The value of one of [`DataSpec::options`].
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Whether the data are read from standard input, which can be read only once and only here.
    pub fn is_stdin(&self) -> bool {
        self.path.as_deref().is_some_and(is_stdin)
    }

    fn kind_name(&self) -> Message {
        match (self.kind, &self.path) {
            (None, _) => message!("a file", "文件"),
            (Some(DataKind::Session), Some(_)) => Message::quoted("session:FILE"),
            (Some(DataKind::Session), None) => {
                message!("session without a file", "不带文件的 session")
            }
            (Some(DataKind::Agentic), Some(_)) => Message::quoted("agentic:FILE"),
            (Some(DataKind::Agentic), None) => {
                message!("agentic without a file", "不带文件的 agentic")
            }
            (Some(kind), _) => Message::quoted(kind),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Message> {
        let made_elsewhere = match self.kind {
            Some(DataKind::Random | DataKind::Trace | DataKind::Agentic) => true,
            Some(DataKind::Session) => self.path.is_none() || !FIELD_KEYS.contains(&key),
            _ => false,
        };
        if made_elsewhere {
            self.options.push((key.into(), value.into()));
            return Ok(());
        }
        let bad = |allowed| bad_value(key, value, allowed);
        let field = || FieldPath::new(value).ok_or_else(|| bad(Message::quoted("FIELD")));
        match key {
            "prompt" => self.mapping.prompt = Some(field()?),
            "context" => self.mapping.context = Some(field()?),
            "system" => self.mapping.system = Some(field()?),
            "output_tokens" => self.mapping.output_tokens = Some(field()?),
            "messages" => self.mapping.messages = Some(field()?),
            "turns" => {
                self.turns = Some(match value {
                    "first" => Turns::First,
                    "all" => Turns::All,
                    _ => return Err(bad(message!("first or turns=all", "first 或 turns=all"))),
                });
            }
            "skip_bad" => {
                self.skip_bad = match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(bad(true_or_false())),
                };
            }
            "lang" if self.has_builtin() => {
                self.lang = Some(match value {
                    "en" => Language::English,
                    "zh" => Language::Chinese,
                    _ => return Err(bad(message!("en or lang=zh", "en 或 lang=zh"))),
                });
            }
            "speed" | "from" | "to" | "block" | "time" | "unit" | "gap" | "end" | "input"
            | "output" | "session" | "hash"
                if self.kind.is_none() =>
            {
                let path = self.path.as_ref().map(|path| path.display().to_string());
                let path = path.unwrap_or_default();
                return Err(message!(
                    "{key}= is for traces; if it is one, write trace:{path},{key}={value}",
                    "{key}= 只用于流量记录；如果它是流量记录，请写 trace:{path},{key}={value}"
                ));
            }
            _ => {
                let known: &[&str] = if self.has_builtin() { &BUILTIN_KEYS } else { &MAPPING_KEYS };
                return Err(unknown_key(key, self.kind_name(), known));
            }
        }
        Ok(())
    }

    fn has_builtin(&self) -> bool {
        matches!(self.kind, Some(DataKind::OpenQa | DataKind::Long))
    }

    fn checked(self) -> Result<Self, Message> {
        if self.mapping.prompt.is_some() && self.mapping.messages.is_some() {
            return Err(both("prompt", "messages"));
        }
        if self.mapping.context.is_some() && self.mapping.messages.is_some() {
            return Err(both("context", "messages"));
        }
        match (self.kind, &self.path) {
            (Some(kind @ DataKind::Random), Some(path)) => Err(message!(
                "{kind} takes no file, and {path:?} was given; leave it out",
                "{kind} 不需要文件，却给出了 {path:?}；请去掉",
                kind = kind.name(),
                path = path.display()
            )),
            (
                Some(
                    DataKind::Random
                    | DataKind::Session
                    | DataKind::Agentic
                    | DataKind::OpenQa
                    | DataKind::Long,
                ),
                None,
            ) => Ok(self),
            (Some(kind), None) => Err(message!(
                "{kind} needs a file: write {kind}:PATH",
                "{kind} 需要文件：请写 {kind}:PATH",
                kind = kind.name()
            )),
            (_, Some(path)) if self.lang.is_some() => Err(message!(
                "lang= chooses among built-in texts, and {:?} is a file; leave one of them out",
                "lang= 用于选择内置文本，而 {:?} 是文件；请去掉其中一个",
                path.display()
            )),
            _ => Ok(self),
        }
    }
}

/// What `skip_bad=` takes.
pub(crate) fn true_or_false() -> Message {
    message!("true or skip_bad=false", "true 或 skip_bad=false")
}

impl FromStr for DataSpec {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let mut pieces = pieces(text).into_iter();
        let first = pieces.next().unwrap_or_default();
        if first.is_empty() {
            return Err(message!(
                "the data specification is empty; write KIND[:PATH][,key=value…], as in openqa",
                "数据说明为空；请写 KIND[:PATH][,key=value…]，例如 openqa"
            ));
        }
        let mut spec = head(&first)?;
        let mut seen: Vec<String> = Vec::new();
        for piece in pieces {
            let Some((key, value)) = piece.split_once('=') else {
                return Err(message!(
                    "{piece:?} is not key=value; a comma inside a path is written \\,",
                    "{piece:?} 不是 key=value；路径中的逗号请写成 \\,"
                ));
            };
            if seen.iter().any(|known| known == key) {
                return Err(message!(
                    "{key}= is given twice; give it once",
                    "{key}= 给出了两次；请只写一次"
                ));
            }
            spec.set(key, value).map_err(|wrong| misspelt(&spec, &first).unwrap_or(wrong))?;
            seen.push(key.into());
        }
        spec.checked()
    }
}

/// Why an option is wrong that would be right for a kind whose name is misspelt.
fn misspelt(spec: &DataSpec, first: &str) -> Option<Message> {
    let near = DataKind::near(first).filter(|_| spec.kind.is_none() && looks_like_a_kind(first))?;
    Some(message!(
        "there is no kind {first:?}; did you mean {near}? A file of that name is written with ./ before it",
        "没有数据类型 {first:?}；您是否想用 {near}？若是文件名，请在前面加上 ./"
    ))
}

/// `KIND`, `KIND:PATH` or `PATH`.
fn head(first: &str) -> Result<DataSpec, Message> {
    if let Some(kind) = DataKind::named(first) {
        return Ok(DataSpec { kind: Some(kind), ..DataSpec::default() });
    }
    if let Some((key, _)) = first.split_once('=')
        && BUILTIN_KEYS.contains(&key)
    {
        return Err(message!(
            "{first:?} is an option; a kind or a path comes first, as in json:FILE,{first}",
            "{first:?} 是选项；前面要先写类型或路径，例如 json:FILE,{first}"
        ));
    }
    let file = |kind, path: &str| {
        Ok(DataSpec { kind, path: Some(Path::new(path).to_path_buf()), ..DataSpec::default() })
    };
    match first.split_once(':') {
        Some((word, path)) => match DataKind::named(word) {
            Some(_) if path.is_empty() => Err(message!(
                "{first:?} has no path after its colon; name the file, or leave the colon out",
                "{first:?} 的冒号后没有路径；请写出文件，或去掉冒号"
            )),
            Some(kind) => file(Some(kind), path),
            None if looks_like_a_kind(word) => Err(message!(
                "unknown kind {word:?} in {first:?}{}; the kinds are {known}. A path that contains a colon \
         is written ./{first}",
                "{first:?} 中的类型 {word:?} 未知{}；可用的类型：{known}。含冒号的路径请写成 ./{first}",
                meant(DataKind::near(word)),
                known = DataKind::names().join(", ")
            )),
            None => file(None, first),
        },
        None => file(None, first),
    }
}

/// One letter is a Windows drive, and slashes and dots belong to paths.
fn looks_like_a_kind(word: &str) -> bool {
    word.len() > 1 && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Splits at commas; `\,` is a comma that does not split, and any other backslash is itself. Commas within the
/// parentheses of a value do not split, as in `turns=zipf(1.2,1-100)`.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(c) = chars.next() {
        match (c, pieces.last_mut()) {
            ('(', Some(piece)) if piece.contains('=') && chars.clone().any(|c| c == ')') => {
                inside = true;
                piece.push(c);
            }
            (')', Some(piece)) => {
                inside = false;
                piece.push(c);
            }
            (',', Some(piece)) if inside => piece.push(c),
            ('\\', Some(piece)) if chars.peek() == Some(&',') => {
                chars.next();
                piece.push(',');
            }
            (',', _) => pieces.push(String::new()),
            (c, Some(piece)) => piece.push(c),
            (_, None) => {}
        }
    }
    pieces
}

impl fmt::Display for DataSpec {
    /// In a form that reads back as the same specification.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = |text: &str| text.replace(',', "\\,");
        let path = self.path.as_ref().map(|path| escaped(&path.display().to_string()));
        match (self.kind, path) {
            (Some(kind), Some(path)) => write!(f, "{kind}:{path}")?,
            (Some(kind), None) => write!(f, "{kind}")?,
            (None, path) => f.write_str(&path.unwrap_or_default())?,
        }
        let fields = [
            ("prompt", &self.mapping.prompt),
            ("context", &self.mapping.context),
            ("system", &self.mapping.system),
            ("output_tokens", &self.mapping.output_tokens),
            ("messages", &self.mapping.messages),
        ];
        for (key, field) in fields {
            if let Some(field) = field {
                write!(f, ",{key}={}", escaped(field.as_str()))?;
            }
        }
        if let Some(turns) = self.turns {
            write!(f, ",turns={}", if turns == Turns::All { "all" } else { "first" })?;
        }
        if self.skip_bad {
            f.write_str(",skip_bad=true")?;
        }
        if let Some(lang) = self.lang {
            write!(f, ",lang={}", if lang == Language::Chinese { "zh" } else { "en" })?;
        }
        for (key, value) in &self.options {
            write!(f, ",{key}={}", escaped(value))?;
        }
        Ok(())
    }
}
