//! What can be wrong with a data specification itself, before any file is touched.

use dyno_model::nearest::nearest;
use dyno_model::{Localized, Message, message};

/// Why a `--data` value could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum SpecError {
    /// Nothing was given.
    #[message(
        "the data specification is empty; write KIND[:PATH][,key=value…], as in openqa",
        "数据说明为空；请写 KIND[:PATH][,key=value…]，例如 openqa"
    )]
    Empty,
    /// The word before the colon is not a kind.
    #[message(
        "unknown kind {kind:?} in {spec:?}{}; the kinds are {known}. A path that contains a colon \
         is written ./{spec}",
        "{spec:?} 中的类型 {kind:?} 未知{}；可用的类型：{known}。含冒号的路径请写成 ./{spec}",
        meant(near)
    )]
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
    #[message(
        "there is no kind {word:?}; did you mean {near}? A file of that name is written with ./ before it",
        "没有数据类型 {word:?}；您是否想用 {near}？若是文件名，请在前面加上 ./"
    )]
    Misspelt {
        /// The word.
        word: String,
        /// The kind that was probably meant.
        near: &'static str,
    },
    /// The kind has a colon and no path behind it.
    #[message(
        "{0:?} has no path after its colon; name the file, or leave the colon out",
        "{0:?} 的冒号后没有路径；请写出文件，或去掉冒号"
    )]
    NoPath(String),
    /// The kind is read from a file, and none was named.
    #[message("{kind} needs a file: write {kind}:PATH", "{kind} 需要文件：请写 {kind}:PATH")]
    NeedsPath {
        /// The kind.
        kind: &'static str,
    },
    /// The kind is synthetic and is not read from a file.
    #[message(
        "{kind} takes no file, and {path:?} was given; leave it out",
        "{kind} 不需要文件，却给出了 {path:?}；请去掉"
    )]
    NoFile {
        /// The kind.
        kind: &'static str,
        /// The path.
        path: String,
    },
    /// A part between commas is not an option.
    #[message(
        "{0:?} is not key=value; a comma inside a path is written \\,",
        "{0:?} 不是 key=value；路径中的逗号请写成 \\,"
    )]
    NotAnOption(String),
    /// The specification begins with an option.
    #[message(
        "{0:?} is an option; a kind or a path comes first, as in json:FILE,{0}",
        "{0:?} 是选项；前面要先写类型或路径，例如 json:FILE,{0}"
    )]
    OptionFirst(String),
    /// The key is not known here.
    #[message(
        "unknown key {key:?}{}; the keys of {kind} are {known}",
        "未知的键 {key:?}{}；{kind} 可用的键：{known}",
        meant(near)
    )]
    UnknownKey {
        /// The key.
        key: String,
        /// What the key was given to.
        kind: Message,
        /// The key that was probably meant.
        near: Option<String>,
        /// All valid keys.
        known: Message,
    },
    /// The key is known to traces, and the file was not called one.
    #[message(
        "{key}= is for traces; if it is one, write trace:{path},{key}={value}",
        "{key}= 只用于流量记录；如果它是流量记录，请写 trace:{path},{key}={value}"
    )]
    OfTraces {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// The file.
        path: String,
    },
    /// A key came twice.
    #[message("{0} is given twice; give it once", "{0} 给出了两次；请只写一次")]
    Twice(String),
    /// The value is none of those allowed.
    #[message(
        "{key}={value} is not possible; write {key}={allowed}",
        "{key}={value} 不可用；请写 {key}={allowed}"
    )]
    BadValue {
        /// The key.
        key: String,
        /// What was given.
        value: String,
        /// Valid values.
        allowed: Message,
    },
    /// The value is not possible for a reason.
    #[message("{key}=: {why}", "{key}=：{why}")]
    Wrong {
        /// The key.
        key: &'static str,
        /// What is wrong with its value, and what to write.
        why: Message,
    },
    /// Two keys contradict each other.
    #[message(
        "{0}= and {1}= both say where the prompt is; give one of them",
        "{0}= 和 {1}= 都指定了提示词的位置；请只写一个"
    )]
    Both(&'static str, &'static str),
    /// Times and gaps were given for requests that do not wait for each other.
    #[message(
        "time= and gap= both say when a request is sent; give one of them, or session= as well",
        "time= 和 gap= 都指定了请求的发送时间；请只写一个，或再写 session="
    )]
    BothTimes,
    /// A key means nothing without another one.
    #[message(
        "{key}= needs {other}= as well; add it, or leave {key}= out",
        "{key}= 还需要 {other}=；请加上，或去掉 {key}="
    )]
    Needs {
        /// The key.
        key: &'static str,
        /// The one that is missing.
        other: &'static str,
    },
    /// The language belongs to built-in text only.
    #[message(
        "lang= chooses among built-in texts, and {0:?} is a file; leave one of them out",
        "lang= 用于选择内置文本，而 {0:?} 是文件；请去掉其中一个"
    )]
    LangOfFile(String),
}

fn meant(near: &Option<impl AsRef<str>>) -> Message {
    match near.as_ref().map(AsRef::as_ref) {
        Some(near) => message!(" (did you mean {near}?)", "（是否想写 {near}？）"),
        None => Message::quoted(""),
    }
}

impl SpecError {
    /// A key that `kind` does not know.
    pub(super) fn unknown_key(key: &str, kind: Message, known: &[&str]) -> Self {
        let near = nearest(key, known).map(String::from);
        let known = match known {
            [] => message!("none", "无"),
            known => Message::quoted(known.join(", ")),
        };
        Self::UnknownKey { key: key.into(), kind, near, known }
    }
}
