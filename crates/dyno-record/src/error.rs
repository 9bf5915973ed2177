//! Errors of a run directory, each with what to do about it.

use dyno_model::{Localized, Message, message};
use std::io;
use std::path::{Path, PathBuf};

/// Why a run directory could not be created, written or read.
#[derive(Debug, Localized)]
pub enum RecordError {
    /// The directory for a new run is not empty.
    #[message(
        "{} is not empty; name a new directory for the run, or remove this one",
        "{} 不是空目录；请为测试指定新目录，或删除该目录",
        _0.display()
    )]
    NotEmpty(PathBuf),
    /// The path for a new run is a file.
    #[message(
        "{} is a file; name a directory for the run",
        "{} 是文件；请为测试指定一个目录",
        _0.display()
    )]
    NotADirectory(PathBuf),
    /// The directory to read has no records.
    #[message(
        "no run in {}: expected records.dyno; name a directory that `dyno bench` has written",
        "{} 中没有测试：缺少 records.dyno；请指定 `dyno bench` 写入的目录",
        _0.display()
    )]
    NoRun(PathBuf),
    /// No directory below the root has records.
    #[message(
        "no run below {}: none of its directories holds records.dyno; run `dyno bench` first, or \
         name the run's directory",
        "{} 下没有测试：其中的目录都没有 records.dyno；请先运行 `dyno bench`，或指定测试目录",
        _0.display()
    )]
    NoRuns(PathBuf),
    /// A name that no run has.
    #[message(
        "no run is called `{name}`: it is neither a path, nor the name, the start of the name or \
         the label of a run in {root}{}",
        "没有名为 `{name}` 的测试：它既不是路径，也不是 {root} 中某个测试的名称、名称开头或标签{}",
        did_you_mean(near.as_deref()),
        root = root.display()
    )]
    UnknownRun {
        /// As typed.
        name: String,
        /// Where runs were looked for.
        root: PathBuf,
        /// A run with a similar name.
        near: Option<String>,
    },
    /// An empty name, as an unset variable gives.
    #[message(
        "the name of the run is empty; `dyno runs` lists their names",
        "测试名为空；`dyno runs` 会列出名称"
    )]
    NoName,
    /// A name that several runs have.
    #[message(
        "`{name}` could mean {}; write more of the name",
        "`{name}` 可能指 {}；请把名称写得更完整",
        listed(matches)
    )]
    AmbiguousRun {
        /// As typed.
        name: String,
        /// The runs it could mean, newest first.
        matches: Vec<String>,
    },
    /// A label that would not fit a table.
    #[message("a label is one line of at most 200 characters", "标签只能是一行，最多 200 个字符")]
    BadLabel,
    /// A tag that cannot be typed or listed.
    #[message(
        "`{}` is not a tag; use letters, digits and -_.:/=, at most 64, with a letter or digit first",
        "`{}` 不能用作标记；请用字母、数字和 -_.:/=，最多 64 个字符，以字母或数字开头",
        _0.escape_debug()
    )]
    BadTag(String),
    /// A run that must not be deleted.
    #[message("{path} is not deleted: {why}", "未删除 {path}：{why}", path = path.display())]
    NotDeleted {
        /// Which directory.
        path: PathBuf,
        /// Why.
        why: Message,
    },
    /// Another process is writing the run.
    #[message(
        "{} is being written by another process; wait until it has ended",
        "另一个进程正在写入 {}；请等待其结束",
        _0.display()
    )]
    InUse(PathBuf),
    /// The system refused.
    #[message("cannot {}: {source}", "无法{}：{source}", doing.with(path))]
    Io {
        /// What was tried.
        doing: Doing,
        /// On which file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A JSON file of the run is malformed.
    #[message(
        "{path} is malformed: {source}; restore it from a copy of the run",
        "{path} 格式错误：{source}；请从测试的副本恢复",
        path = path.display()
    )]
    Json {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The record file has no readable header, so nothing in it can be read.
    #[message(
        "{path} has no readable header: {what}; nothing in it can be recovered",
        "{path} 没有可读的文件头：{what}；其中的内容无法恢复",
        path = path.display()
    )]
    Header {
        /// Which file.
        path: PathBuf,
        /// What was found.
        what: Message,
    },
    /// The records have a newer format.
    #[message(
        "{path} has record format {found}, and this version of Dyno reads up to {known}; use the \
         version that wrote it (dyno {version}) or a later one",
        "{path} 的记录格式为 {found}，而此版本的 Dyno 最多读取到格式 {known}；请使用写入它的版本（dyno {version}）或更新的版本",
        path = path.display()
    )]
    Format {
        /// Which file.
        path: PathBuf,
        /// The format it says it has.
        found: u32,
        /// The newest format known here.
        known: u32,
        /// The version of Dyno that wrote it.
        version: String,
    },
    /// Records could not be written.
    #[message(
        "cannot write {path}: {source}; {} (the results so far are kept)",
        "无法写入 {path}：{source}；{}（已有的结果会保留）",
        advice(source),
        path = path.display()
    )]
    Write {
        /// Which file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Records were lost because neither the disk nor memory had room for them.
    #[message(
        "{lost} records are lost: {path} could not be written until the memory reserved for them was \
         full; the run is incomplete, so repeat it with enough free disk space",
        "丢失了 {lost} 条记录：{path} 一直无法写入，直到预留的内存用尽；该测试不完整，请在磁盘空间充足时重新测试",
        path = path.display()
    )]
    Lost {
        /// Which file.
        path: PathBuf,
        /// How many.
        lost: u64,
    },
    /// A record was larger than a frame may be, and was saved without its text.
    #[message(
        "request {index} of level {level} exceeds the size limit of a record (64 MiB), so {path} has \
         it without its text",
        "第 {level} 级的第 {index} 个请求超过单条记录的大小上限（64 MiB），因此 {path} 中没有其文本",
        path = path.display()
    )]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// The request's level.
        level: u32,
        /// The request's index in it.
        index: u64,
    },
    /// The writer thread panicked.
    #[message(
        "the thread that writes {} crashed; earlier records are kept; please report this bug",
        "写入 {} 的线程崩溃；此前的记录已保留；请报告此缺陷",
        _0.display()
    )]
    WriterCrashed(PathBuf),
}

/// What is done with a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Doing {
    Read,
    Write,
    Open,
    Create,
    CreateDirectory,
    List,
    Truncate,
    Remove,
    StartItsWriter,
}

impl Doing {
    fn with(self, path: &Path) -> Message {
        let path = path.display();
        match self {
            Self::Read => message!("read {path}", "读取 {path}"),
            Self::Write => message!("write {path}", "写入 {path}"),
            Self::Open => message!("open {path}", "打开 {path}"),
            Self::Create => message!("create {path}", "创建 {path}"),
            Self::CreateDirectory => message!("create the directory {path}", "创建目录 {path}"),
            Self::List => message!("list {path}", "列出 {path} 的内容"),
            Self::Truncate => message!("truncate {path}", "截断 {path}"),
            Self::Remove => message!("delete {path}", "删除 {path}"),
            Self::StartItsWriter => {
                message!("start the thread that writes {path}", "启动写入 {path} 的线程")
            }
        }
    }
}

fn did_you_mean(near: Option<&str>) -> Message {
    match near {
        Some(near) => message!(
            "; did you mean `{near}`? `dyno runs` lists all",
            "；是否想写 `{near}`？运行 `dyno runs` 查看全部测试"
        ),
        None => message!("; `dyno runs` lists them", "；运行 `dyno runs` 查看全部测试"),
    }
}

/// The first few names, and how many more there are.
fn listed(names: &[String]) -> Message {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => Message::quoted(shown),
        more => message!("{shown} and {more} more", "{shown}，另有 {more} 个"),
    }
}

fn advice(error: &io::Error) -> Message {
    match error.kind() {
        io::ErrorKind::StorageFull => message!(
            "free some space on that disk and writing continues, or name another directory with --out",
            "请在该磁盘上腾出空间，写入会继续；或用 --out 指定其他目录"
        ),
        io::ErrorKind::QuotaExceeded => message!(
            "free some of your quota and writing continues, or name another directory with --out",
            "请腾出磁盘配额，写入会继续；或用 --out 指定其他目录"
        ),
        io::ErrorKind::FileTooLarge => message!(
            "raise the file size limit (ulimit -f) or let each run record less",
            "请提高文件大小上限（ulimit -f），或减少每次测试的记录量"
        ),
        _ => message!(
            "check that disk, or name another directory with --out",
            "请检查该磁盘，或用 --out 指定其他目录"
        ),
    }
}
