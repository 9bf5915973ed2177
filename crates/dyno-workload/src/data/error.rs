//! What can go wrong with data: where it is, what it is and what would fix it.

use std::io;

use super::at::At;
use super::source::Compression;
use super::spec::DataKind;
use dyno_model::{Localized, Message, message};

/// Why data could not be read, selected or written.
#[derive(Debug, Localized)]
pub enum DataError {
    /// The specification asks for something impossible.
    #[message(transparent)]
    Spec(#[from] Message),
    /// There is no such file.
    #[message("there is no file {path}; {hint}", "文件 {path} 不存在；{hint}")]
    NotFound {
        /// What was named.
        path: String,
        /// What to do.
        hint: Message,
    },
    /// The system does not say what a file is.
    #[message("cannot look at {path}: {source}", "无法查看 {path}：{source}")]
    LookAt {
        /// Which.
        path: Message,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A file cannot be opened.
    #[message("cannot open {path}: {source}", "无法打开 {path}：{source}")]
    Open {
        /// Which.
        path: Message,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A file cannot be read.
    #[message("cannot read {path}: {source}", "无法读取 {path}：{source}")]
    Read {
        /// Which.
        path: Message,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A directory was named.
    #[message(
        "{path} is a directory; name one file{}",
        "{path} 是目录；请指定一个文件{}",
        such_as(example)
    )]
    Directory {
        /// Which.
        path: String,
        /// A file in it.
        example: Option<String>,
    },
    /// A pipe or a device was named.
    #[message(
        "{0} is not a regular file; data are read more than once, so write them to a file first",
        "{0} 不是普通文件；数据需要多次读取，请先写入文件"
    )]
    NotAFile(String),
    /// Standard input cannot be used.
    #[message("standard input {0}", "标准输入{0}")]
    Stdin(Message),
    /// There is nothing to read.
    #[message(
        "{0} is empty; name a file with at least one record",
        "{0} 为空；请指定至少有一条记录的文件"
    )]
    Empty(Message),
    /// The file has lines, and none of them is a record.
    #[message(
        "{0} holds no records, only blank lines or a header; name a file with at least one",
        "{0} 没有记录，只有空行或表头；请指定至少有一条记录的文件"
    )]
    NoRecords(Message),
    /// The file is an archive.
    #[message("{path} is {what}; {fix}", "{path} 是 {what}；{fix}")]
    Archive {
        /// Which.
        path: Message,
        /// What it is.
        what: Message,
        /// What to do.
        fix: Message,
    },
    /// The compressed stream is broken.
    #[message(
        "{path}: the {compression} stream is damaged after line {line}: {what}; fetch it again",
        "{path}：第 {line} 行之后的 {compression} 流已损坏：{what}；请重新下载"
    )]
    Damaged {
        /// Which.
        path: Message,
        /// How it is compressed.
        compression: Compression,
        /// How far it could be read.
        line: u64,
        /// The decoder's error.
        what: Message,
    },
    /// The text is not UTF-8.
    #[message(
        "{at}: {what}; save it as UTF-8, as in iconv -f {from} -t UTF-8 FILE",
        "{at}：{what}；请保存为 UTF-8，例如 iconv -f {from} -t UTF-8 FILE"
    )]
    Encoding {
        /// Where.
        at: At,
        /// What was found.
        what: Message,
        /// What it may be.
        from: &'static str,
    },
    /// The file is not of the kind that was named.
    #[message("{path} is not {kind}: it {found}; {fix}", "{path} 不是 {kind}：{found}；{fix}")]
    NotWhatItSays {
        /// Which.
        path: Message,
        /// The kind that was named.
        kind: DataKind,
        /// What it is.
        found: Message,
        /// What to do.
        fix: Message,
    },
    /// A record cannot be used.
    #[message(
        "{at}: {what}; {fix}, or skip_bad=true to skip such records",
        "{at}：{what}；{fix}，或用 skip_bad=true 跳过此类记录"
    )]
    Bad {
        /// Where.
        at: At,
        /// What is wrong.
        what: Message,
        /// What to do.
        fix: Message,
    },
    /// The file's structure is broken, so that nothing after this place can be read.
    #[message("{at}: {what}; {fix}", "{at}：{what}；{fix}")]
    Broken {
        /// Where.
        at: At,
        /// What is wrong.
        what: Message,
        /// What to do.
        fix: Message,
    },
    /// A file cannot be read as prompts.
    #[message("{path}: {what}; {fix}", "{path}：{what}；{fix}")]
    Table {
        /// Which.
        path: Message,
        /// What is wrong.
        what: Message,
        /// What to do.
        fix: Message,
    },
    /// Every record was skipped.
    #[message(
        "{path} holds no usable record, and all {bad} were skipped; the first: {}",
        "{path} 没有可用的记录，{bad} 条全部被跳过；第一条：{}",
        first.plain()
    )]
    OnlyBad {
        /// Which.
        path: Message,
        /// How many records were skipped.
        bad: u64,
        /// What was wrong with the first.
        first: Box<DataError>,
    },
    /// The specification asks for something that is not read from records.
    #[message(
        "{what} is {kind} data, which is not read as prompts; {fix}",
        "{what} 是 {kind} 数据，不能作为提示词读取；{fix}"
    )]
    Elsewhere {
        /// What was named.
        what: Message,
        /// Its kind.
        kind: DataKind,
        /// What to do.
        fix: Message,
    },
    /// The selection left nothing.
    #[message("{name} has nothing left to send: {why}", "{name} 没有可发送的内容：{why}")]
    NothingSelected {
        /// The data set.
        name: Message,
        /// Where its records went, and what to change.
        why: Message,
    },
    /// Lengths are limited, and there is no tokenizer.
    #[message(
        "limits on input tokens need a tokenizer; name one",
        "限制输入 token 数需要分词器；请指定一个"
    )]
    NoCounter,
    /// A prompt could not be counted.
    #[message(
        "{name}: the tokens of prompt {number} could not be counted: {what}",
        "{name}：无法计算第 {number} 个提示词的 token 数：{what}"
    )]
    Count {
        /// The data set.
        name: Message,
        /// Which prompt, counted from 1.
        number: u64,
        /// The tokenizer's error.
        what: Message,
    },
    /// An item does not fit into the format it is converted to.
    #[message(
        "item {0} is a whole request body, which a table cannot hold; convert to lines",
        "第 {0} 项是完整的请求体，表格无法容纳；请转换为 lines"
    )]
    Unwritable(u64),
    /// The converted data could not be written.
    #[message("cannot write the converted data: {0}", "无法写入转换后的数据：{0}")]
    Write(Message),
}

fn such_as(example: &Option<String>) -> Message {
    match example {
        Some(name) => message!(", such as {name}", "，例如 {name}"),
        None => Message::quoted(""),
    }
}

/// What is done about a record that says nothing.
pub(crate) fn remove_the_record() -> Message {
    message!("remove the record", "请删除该记录")
}

/// What would fix most mistakes.
pub(crate) fn correct_it() -> Message {
    message!("correct it", "请更正")
}

impl DataError {
    /// Whether the records after this one can still be read.
    pub fn is_skippable(&self) -> bool {
        matches!(self, Self::Bad { .. } | Self::Encoding { .. })
    }

    /// The message without the advice to skip, which was followed already.
    pub(crate) fn plain(&self) -> Message {
        match self {
            Self::Bad { at, what, fix } => message!("{at}: {what}; {fix}", "{at}：{what}；{fix}"),
            other => Message::of(other),
        }
    }

    /// A specification that needs a path has none.
    pub(crate) fn no_path() -> Self {
        Self::Empty(message!("the specification", "数据说明"))
    }

    pub(crate) fn bad(at: &At, what: Message, fix: Message) -> Self {
        Self::Bad { at: at.clone(), what, fix }
    }
}
