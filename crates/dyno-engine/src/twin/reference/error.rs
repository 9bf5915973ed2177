//! What can be wrong with a reference file.

use super::SCHEMA;
use dyno_model::{Localized, Message};

/// Why a reference could not be read.
#[derive(Debug, Localized)]
pub enum ReferenceError {
    /// Not TOML, or not the fields of a reference.
    #[message("reference `{file}`: {source}", "参考数据 `{file}`：{source}")]
    Form {
        /// The file.
        file: String,
        /// What is wrong with it, and where.
        #[source]
        source: toml::de::Error,
    },
    /// An unknown schema.
    #[message(
        "reference `{file}` has the schema `{schema}`; this version reads {SCHEMA}",
        "参考数据 `{file}` 的 schema 为 `{schema}`；此版本读取 {SCHEMA}"
    )]
    Schema {
        /// The file.
        file: String,
        /// Its schema.
        schema: String,
    },
    /// Its name is not that of its file.
    #[message(
        "reference `{file}` is named `{name}`; give it the name of its file",
        "参考数据 `{file}` 的名称为 `{name}`；请与文件名保持一致"
    )]
    Name {
        /// The file.
        file: String,
        /// Its name.
        name: String,
    },
    /// A row contradicts itself.
    #[message(
        "reference `{file}`, row {row}: {problem}",
        "参考数据 `{file}` 第 {row} 行：{problem}"
    )]
    Row {
        /// The file.
        file: String,
        /// The row, counted from 1.
        row: usize,
        /// What is wrong with it.
        problem: Message,
    },
}
