//! Writes items in a form that reads back as the same items.

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::error::DataError;
use dyno_model::message;
use dyno_model::message::Message as Said;
use dyno_model::prompt::{ChatMessage, Content, Item};

/// What data are converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A JSON message array per line; a request body per line for items that are one, or that state a
    /// number of output tokens.
    Lines,
    /// A JSON object per line: `prompt` or `messages`, `output_tokens`, `input_tokens`.
    Json,
    /// A Parquet table with the same columns.
    Parquet,
}

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Said;

    fn from_str(name: &str) -> Result<Self, Said> {
        [Self::Lines, Self::Json, Self::Parquet]
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                message!(
                    "{name:?} is not a format; write lines, json or parquet",
                    "{name:?} 不是可用的格式；请写 lines、json 或 parquet"
                )
            })
    }
}

/// Writes all items and returns how many there were.
pub fn convert(
    items: impl Iterator<Item = Result<Item, DataError>>,
    to: Format,
    out: &mut (dyn Write + Send),
) -> Result<u64, DataError> {
    match to {
        Format::Lines => lines(items, out, line),
        Format::Json => {
            lines(items, out, |number, item| table_row(number, item).map(Value::Object))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet_write::write(items, out),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            Err(DataError::Write(message!("this build has no Parquet", "此构建不支持 Parquet")))
        }
    }
}

fn lines(
    items: impl Iterator<Item = Result<Item, DataError>>,
    out: &mut (dyn Write + Send),
    shape: impl Fn(u64, Item) -> Result<Value, DataError>,
) -> Result<u64, DataError> {
    let failed = |error: &dyn fmt::Display| DataError::Write(Said::quoted(error));
    let mut written = 0;
    for item in items {
        written += 1;
        let value = shape(written, item?)?;
        serde_json::to_writer(&mut *out, &value).map_err(|error| failed(&error))?;
        out.write_all(b"\n").map_err(|error| failed(&error))?;
    }
    out.flush().map_err(|error| failed(&error))?;
    Ok(written)
}

fn line(_: u64, item: Item) -> Result<Value, DataError> {
    let messages = match item.content {
        Content::Text(text) => json!([ChatMessage::user(text)]),
        Content::Messages(messages) => json!(messages),
        Content::Recorded(prompt) => return Ok(body_line(prompt.fields(), item.output_tokens)),
        Content::Body(body) => return Ok(body_line(body, item.output_tokens)),
        Content::Texts(texts) => {
            return Ok(match texts.query {
                Some(query) => json!({ "query": query, "documents": texts.texts }),
                None => json!({ "input": texts.texts }),
            });
        }
    };
    Ok(match item.output_tokens {
        Some(tokens) => json!({ "messages": messages, "max_tokens": tokens }),
        None => messages,
    })
}

/// A body with its length, if it has none.
fn body_line(mut body: Map<String, Value>, output_tokens: Option<u32>) -> Value {
    let lengths = ["max_tokens", "max_completion_tokens", "output_tokens"];
    if let Some(tokens) = output_tokens
        && !lengths.iter().any(|name| body.contains_key(*name))
    {
        body.insert("max_tokens".into(), tokens.into());
    }
    Value::Object(body)
}

/// An item as the row of a table.
fn table_row(number: u64, item: Item) -> Result<Map<String, Value>, DataError> {
    let mut row = Map::new();
    match item.content {
        Content::Text(text) => row.insert("prompt".into(), text.into()),
        Content::Messages(messages) => row.insert("messages".into(), json!(messages)),
        Content::Body(_) | Content::Texts(_) | Content::Recorded(_) => {
            return Err(DataError::Unwritable(number));
        }
    };
    let mut tokens = |name: &str, count: Option<u32>| {
        row.extend(count.map(|count| (name.to_string(), Value::from(count))));
    };
    tokens("output_tokens", item.output_tokens);
    tokens("input_tokens", item.input_tokens);
    Ok(row)
}
