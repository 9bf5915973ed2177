//! Reference rows: the published tables that twins are fitted to and judged by.
//!
//! Each table is a file in `twins/reference`, as published: nothing is corrected in place. Check
//! results stand beside the values, and an unusable row says why.

mod row;

pub use row::{ReferenceLoad, ReferenceRow, ReferenceValue, Repaired};

use super::files::references;
use dyno_model::{Message, message};
use serde::Deserialize;

/// The schema of reference files that this version reads.
pub const SCHEMA: &str = "dyno.reference/1";

/// A published table of one system, and how it was measured.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    schema: String,
    /// Model, hardware and engine in short, and what distinguishes it from others with the same three.
    pub name: String,
    /// The model, if it is stated.
    pub model: Option<String>,
    /// The hardware, if it is stated.
    pub hardware: Option<String>,
    /// The inference engine.
    pub engine: String,
    /// Where the measurements come from.
    pub source: String,
    /// A remark on the table as a whole.
    pub note: Option<String>,
    /// Why no twin can be fitted to the table, if none can.
    pub unusable: Option<String>,
    /// Settings of the engine that the source states.
    #[serde(default)]
    pub known: KnownReference,
    /// The client that made the table.
    pub client: ReferenceClient,
    /// The rows, in order of load.
    pub rows: Vec<ReferenceRow>,
}

/// Settings of an engine, as far as they are stated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownReference {
    /// How many cards it ran on.
    pub cards: Option<u32>,
    /// Over how many cards each tensor was split.
    pub tensor_parallel: Option<u32>,
    /// Context length in tokens.
    pub context: Option<u32>,
    /// How many requests it took into a batch.
    pub max_seqs: Option<u32>,
    /// The type of the weights.
    pub data_type: Option<String>,
    /// The version of the engine.
    pub engine_version: Option<String>,
}

/// How a client offers load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// One request at a time, then as many as it may, then nine rates from low to high, spaced
    /// evenly; each for a window of time, at whose end it drops what is in flight. Rates count
    /// from the start of the first request to complete to the end of the last.
    #[serde(rename = "guidellm-0.1")]
    Guidellm01,
    /// A number of workers, each of which sends its next request when its last one has ended, until
    /// all requests are sent; then the drain.
    Closed,
    /// All requests at once.
    Burst,
    /// A cell for each pair of lengths, under a load that is not stated.
    Matrix,
}

/// The client that made a table, as far as it must be simulated.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceClient {
    /// How it offers load.
    pub kind: ClientKind,
    /// How long a level takes.
    pub window_s: Option<f64>,
    /// Most requests that it has in flight, by its default.
    pub max_in_flight: Option<u32>,
    /// How many requests a level has, unless the row says otherwise.
    pub requests: Option<u32>,
    /// After how long it gives up a request.
    pub timeout_s: Option<f64>,
    /// Whether that was inferred from the rows; if so, it may not be used to predict them.
    #[serde(default)]
    pub timeout_inferred: bool,
    /// Up to how much later than a request's end it is counted, and with it the end of the level.
    pub counting_delay_s: Option<f64>,
    /// Whether responses are streamed. If not, there is no first token to time.
    pub streamed: bool,
    /// Whether every request is the same.
    #[serde(default)]
    pub same_prompt: bool,
    /// Tokens of a prompt: those asked for, or their mean.
    pub input_tokens: Option<f64>,
    /// Tokens of a response: those asked for, or their mean.
    pub output_tokens: Option<f64>,
}

impl Reference {
    /// Reads a reference from the text of `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, Message> {
        let reference: Self = toml::from_str(text).map_err(|source| {
            message!("reference `{file}`: {source}", "参考数据 `{file}`：{source}")
        })?;
        reference.check(file)?;
        Ok(reference)
    }

    /// The reference of that name, if there is one.
    pub fn named(name: &str) -> Result<Option<Self>, Message> {
        let text = references().find(|(known, _)| *known == name);
        text.map(|(name, text)| Self::parse(name, text)).transpose()
    }

    /// All references, by name.
    pub fn all() -> Result<Vec<Self>, Message> {
        references().map(|(name, text)| Self::parse(name, text)).collect()
    }

    /// The names of all references, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        references().map(|(name, _)| name)
    }

    /// The rows that a twin is compared with: fitted or held out.
    pub fn usable(&self) -> impl Iterator<Item = &ReferenceRow> {
        self.rows.iter().filter(|row| row.fitted.is_some())
    }

    /// The rows that a twin is fitted to.
    pub fn fitted(&self) -> impl Iterator<Item = &ReferenceRow> {
        self.rows.iter().filter(|row| row.fitted == Some(true))
    }

    /// The rows that a twin is judged by and never fitted to.
    pub fn held_out(&self) -> impl Iterator<Item = &ReferenceRow> {
        self.rows.iter().filter(|row| row.fitted == Some(false))
    }

    /// The rows that cannot be used.
    pub fn left_out(&self) -> impl Iterator<Item = &ReferenceRow> {
        self.rows.iter().filter(|row| row.left_out.is_some())
    }

    /// How many requests the level of `row` has, if it is bounded by a number and not by a time.
    pub fn requests(&self, row: &ReferenceRow) -> Option<u32> {
        match row.load {
            ReferenceLoad::Burst => row.level().map(|requests| requests as u32),
            _ => row.get(ReferenceValue::Expected).map(|n| n as u32).or(self.client.requests),
        }
    }

    /// Tokens of a prompt in `row`, on average.
    pub fn input_tokens(&self, row: &ReferenceRow) -> Option<f64> {
        row.each(ReferenceValue::InputTokens, ReferenceValue::TotalInputTokens)
            .or(self.client.input_tokens)
    }

    /// Tokens of a response in `row`, on average.
    pub fn output_tokens(&self, row: &ReferenceRow) -> Option<f64> {
        row.each(ReferenceValue::OutputTokens, ReferenceValue::TotalOutputTokens)
            .or(self.client.output_tokens)
    }

    fn check(&self, file: &str) -> Result<(), Message> {
        if self.schema != SCHEMA {
            let schema = &self.schema;
            return Err(message!(
                "reference `{file}` has the schema `{schema}`; this version reads {SCHEMA}",
                "参考数据 `{file}` 的 schema 为 `{schema}`；此版本读取 {SCHEMA}"
            ));
        }
        if self.name != file {
            return Err(message!(
                "reference `{file}` is named `{name}`; give it the name of its file",
                "参考数据 `{file}` 的名称为 `{name}`；请与文件名保持一致",
                name = self.name
            ));
        }
        for (index, row) in self.rows.iter().enumerate() {
            row.check().map_err(|problem| {
                let row = index + 1;
                message!(
                    "reference `{file}`, row {row}: {problem}",
                    "参考数据 `{file}` 第 {row} 行：{problem}"
                )
            })?;
        }
        Ok(())
    }
}
