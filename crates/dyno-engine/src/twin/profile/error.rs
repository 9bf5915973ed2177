//! Errors in twin files and twin names.

use super::SCHEMA;
use dyno_model::{Localized, Message};

/// Why a twin could not be loaded.
#[derive(Debug, Localized)]
pub enum TwinError {
    /// Neither the name of a twin nor the path of a file.
    #[message(
        "there is no twin named `{name}`{meant}; `dyno twins` lists them, and your own file is given \
         by its path, such as ./{name}.toml",
        "没有名为 `{name}` 的孪生模型{meant}；运行 `dyno twins` 查看全部孪生模型；自己的文件请写路径，\
         例如 ./{name}.toml",
        meant = did_you_mean(near)
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names.
        near: Vec<&'static str>,
    },
    /// A file that cannot be read.
    #[message(
        "cannot read the twin file {path}: {source}",
        "无法读取孪生模型文件 {path}：{source}"
    )]
    Read {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A file that is no twin's.
    #[message(
        "cannot read the twin file {path}: it is larger than 1 MiB",
        "无法读取孪生模型文件 {path}：文件超过 1 MiB"
    )]
    Large {
        /// The file.
        path: String,
    },
    /// Not TOML, or not the fields of a twin.
    #[message(
        "twin file {file}, line {line}: {problem}",
        "孪生模型文件 {file} 第 {line} 行：{problem}"
    )]
    Form {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: Message,
    },
    /// An unknown schema.
    #[message(
        "twin {file} has the schema `{schema}`; this version of Dyno reads {SCHEMA}",
        "孪生模型 {file} 的 schema 为 `{schema}`；此版本的 Dyno 读取 {SCHEMA}"
    )]
    Schema {
        /// The file.
        file: String,
        /// Its schema.
        schema: String,
    },
}

fn did_you_mean(names: &[&str]) -> Message {
    match names {
        [] => Message::quoted(""),
        names => Message::new([
            format!(" (did you mean {}?)", names.join(" or ")),
            format!("（是否想写 {}？）", names.join(" 或 ")),
        ]),
    }
}
