//! What can be wrong with a data specification itself, before any file is touched.

use dyno_model::nearest::nearest;

/// Why a `--data` value could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing was given.
    #[error("the data specification is empty; write KIND[:PATH][,key=value…], as in openqa")]
    Empty,
    /// The word before the colon is not a kind.
    #[error("unknown kind {kind:?} in {spec:?}{}; the kinds are {known}. A path that contains a \
             colon is written ./{spec}", meant(.near))]
    UnknownKind {
        /// The word.
        kind: String,
        /// Where it was found.
        spec: String,
        /// The kind that was probably meant.
        near: Option<&'static str>,
        /// All kinds.
        known: String,
    },
    /// A word with options is not a kind, but nearly one.
    #[error(
        "there is no kind {word:?}; did you mean {near}? A file of that name is written with ./ before it"
    )]
    Misspelt {
        /// The word.
        word: String,
        /// The kind that was probably meant.
        near: &'static str,
    },
    /// The kind has a colon and no path behind it.
    #[error("{0:?} has no path after its colon; name the file, or leave the colon out")]
    NoPath(String),
    /// The kind is read from a file, and none was named.
    #[error("{kind} needs a file: write {kind}:PATH")]
    NeedsPath {
        /// The kind.
        kind: &'static str,
    },
    /// The kind is synthetic and is not read from a file.
    #[error("{kind} takes no file, and {path:?} was given; leave it out")]
    NoFile {
        /// The kind.
        kind: &'static str,
        /// The path.
        path: String,
    },
    /// A part between commas is not an option.
    #[error("{0:?} is not key=value; a comma inside a path is written \\,")]
    NotAnOption(String),
    /// The specification begins with an option.
    #[error("{0:?} is an option; a kind or a path comes first, as in json:FILE,{0}")]
    OptionFirst(String),
    /// The key is not known here.
    #[error("unknown key {key:?}{}; the keys of {kind} are {known}", meant(.near))]
    UnknownKey {
        /// The key.
        key: String,
        /// What the key was given to.
        kind: String,
        /// The key that was probably meant.
        near: Option<String>,
        /// All valid keys.
        known: String,
    },
    /// The key is known to traces, and the file was not called one.
    #[error("{key}= is for traces; if it is one, write trace:{path},{key}={value}")]
    OfTraces {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// The file.
        path: String,
    },
    /// A key came twice.
    #[error("{0} is given twice; give it once")]
    Twice(String),
    /// The value is none of those allowed.
    #[error("{key}={value} is not possible; write {key}={allowed}")]
    BadValue {
        /// The key.
        key: String,
        /// What was given.
        value: String,
        /// Valid values.
        allowed: &'static str,
    },
    /// Two keys contradict each other.
    #[error("{0}= and {1}= both say where the prompt is; give one of them")]
    Both(&'static str, &'static str),
    /// Times and gaps were given for requests that do not wait for each other.
    #[error(
        "time= and gap= both say when a request is sent; give one of them, or session= as well"
    )]
    BothTimes,
    /// A key means nothing without another one.
    #[error("{key}= needs {other}= as well; add it, or leave {key}= out")]
    Needs {
        /// The key.
        key: &'static str,
        /// The one that is missing.
        other: &'static str,
    },
    /// The language belongs to built-in text only.
    #[error("lang= chooses among built-in texts, and {0:?} is a file; leave one of them out")]
    LangOfFile(String),
}

fn meant(near: &Option<impl AsRef<str>>) -> String {
    near.as_ref().map(|near| format!(" (did you mean {}?)", near.as_ref())).unwrap_or_default()
}

impl SpecError {
    /// A key that `kind` does not know.
    pub(super) fn unknown_key(key: &str, kind: &str, known: &[&str]) -> Self {
        Self::UnknownKey {
            key: key.into(),
            kind: kind.into(),
            near: nearest(key, known).map(String::from),
            known: if known.is_empty() { "none".into() } else { known.join(", ") },
        }
    }
}
