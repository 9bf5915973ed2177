//! One record of a file, before its fields are interpreted, and the trait of record readers.

use serde_json::Value;

use dyno_model::budget::{Budget, JsonError};
use dyno_model::message::json_reason;
use dyno_model::{Message, message};

use super::at::At;
use super::error::DataError;

/// The largest line, row or array element that is read. A longer one means the file was misread.
pub(super) const MAX_RECORD: usize = 64 * 1024 * 1024;

/// One record and where it was. Plain text is a JSON string.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) at: At,
    pub(super) value: Value,
}

/// Records in the order of the file. After a skippable error, the next call continues behind the bad
/// record.
pub(super) trait Records: Send {
    /// The next record.
    fn next(&mut self) -> Option<Result<Record, DataError>>;

    /// Blank lines skipped so far.
    fn blank(&self) -> u64 {
        0
    }
}

/// Reads `text` as JSON, or says what is wrong with it and on which line.
pub(super) fn json(at: At, text: &str) -> Result<Record, DataError> {
    match Budget::foreign().json(text.as_bytes()) {
        Ok(value) => Ok(Record { at, value }),
        Err(JsonError::Over(over)) => {
            let what = message!(
                "the values of the record need more than {} MiB of memory",
                "该记录中的值需要超过 {} MiB 的内存",
                over.mib()
            );
            Err(DataError::bad(&at, what, message!("split the record", "请拆分该记录")))
        }
        Err(JsonError::Json(error)) => {
            let below = error.line().saturating_sub(1) as u64;
            let (what, column) = (json_reason(&error), error.column());
            let line = text.lines().nth(below as usize).unwrap_or_default();
            let what = message!(
                "not valid JSON: {what} at column {column}, in {excerpt}",
                "JSON 格式错误：第 {column} 列：“{what}”，位于 {excerpt}",
                excerpt = excerpt(line, column)
            );
            Err(DataError::bad(
                &at.below(below),
                what,
                message!("correct the record", "请更正该记录"),
            ))
        }
    }
}

/// A few characters around a column, so that the user finds the place.
fn excerpt(line: &str, column: usize) -> String {
    let start = column.saturating_sub(20).min(line.len());
    let start = (0..=start).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let shown: String = line[start..].chars().take(40).collect();
    let cut = if line.len() > start + shown.len() { "…" } else { "" };
    format!("{:?}", format!("{}{shown}{cut}", if start > 0 { "…" } else { "" }))
}

/// The error for a record that is too long.
pub(super) fn too_long(at: &At, what: Message) -> DataError {
    let most = MAX_RECORD / 1024 / 1024;
    let what = message!("{what} is longer than {most} MiB", "{what}超过 {most} MiB");
    DataError::bad(at, what, message!("split the file into records", "请把文件拆分成多条记录"))
}
