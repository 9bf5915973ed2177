//! The forms in which traces are published, and one row of each.

use std::fmt;

use serde_json::{Map, Value};

use super::rows::Row;
use super::time;
use crate::data::{At, DataError, described, listed, whole};
use crate::lengths::LONGEST;

/// The form of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// Mooncake's: times in milliseconds, hash ids of 512-token blocks.
    Mooncake,
    /// Qwen's of Aliyun Bailian: as Mooncake's, but with times in seconds and blocks of 16 tokens.
    Bailian,
    /// The Azure LLM inference traces: dates and lengths.
    Azure,
    /// BurstGPT: times in seconds and lengths; failed requests have no response tokens.
    BurstGpt,
}

/// The time and the two lengths that every row must have, under the names of each form. Bailian
/// has Mooncake's.
const NAMES: [(TraceFormat, [&str; 3]); 3] = [
    (TraceFormat::Mooncake, ["timestamp", "input_length", "output_length"]),
    (TraceFormat::Azure, ["TIMESTAMP", "ContextTokens", "GeneratedTokens"]),
    (TraceFormat::BurstGpt, ["Timestamp", "Request tokens", "Response tokens"]),
];
const IDS: &str = "hash_ids";
/// Only Bailian's rows say to which chat they belong.
const CHAT: &str = "chat_id";

/// What a row of a trace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// A request that completed.
    Request(Row),
    /// A request that failed when it was recorded.
    Failed,
}

impl TraceFormat {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mooncake => "Mooncake",
            Self::Bailian => "Bailian",
            Self::Azure => "Azure",
            Self::BurstGpt => "BurstGPT",
        }
    }

    /// Tokens that one of its hash ids usually stands for.
    pub fn block(self) -> u32 {
        if self == Self::Bailian { 16 } else { 512 }
    }

    /// Whether its rows may have hash ids.
    pub fn has_ids(self) -> bool {
        matches!(self, Self::Mooncake | Self::Bailian)
    }

    /// The form of which this is a row.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let has = |names: &[&str; 3]| names.iter().all(|name| find(object, name).is_some());
        let (format, _) = NAMES.iter().find(|(_, names)| has(names))?;
        match format {
            Self::Mooncake if find(object, CHAT).is_some() => Some(Self::Bailian),
            format => Some(*format),
        }
    }

    fn names(self) -> [&'static str; 3] {
        let named = if self == Self::Bailian { Self::Mooncake } else { self };
        NAMES.iter().find(|(format, _)| *format == named).map_or([""; 3], |(_, names)| *names)
    }

    fn has_in_words(self) -> String {
        format!("{self} rows have {}", in_words(&self.names()))
    }

    /// Reads a row; its hash ids are put into `ids`.
    pub(super) fn row(
        self,
        at: &At,
        value: &Value,
        ids: &mut Vec<u64>,
    ) -> Result<Recorded, DataError> {
        ids.clear();
        let Some(object) = value.as_object() else {
            let what = format!("the record is {}, not an object", described(value));
            return Err(DataError::bad(at, what, "correct it"));
        };
        let [time, input, output] = self.names();
        let field = |name: &str| {
            find(object, name).ok_or_else(|| {
                let what = format!("there is no field {name:?}; {}", listed(object));
                DataError::bad(at, what, self.has_in_words())
            })
        };
        let length = |name: &str, least: u32| {
            let wrong =
                |what: &str| DataError::bad(at, format!("the field {name:?} {what}"), "correct it");
            match whole(field(name)?, least) {
                Ok(Some(tokens)) if tokens > LONGEST => {
                    Err(wrong(&format!("is {tokens}, more than the {LONGEST} tokens that can be")))
                }
                Ok(Some(tokens)) => Ok(tokens),
                Ok(None) => Err(wrong("is blank")),
                Err(what) => Err(wrong(&what)),
            }
        };
        let output = length(output, 0)?;
        let when = self.time(at, time, field(time)?)?;
        if self == Self::BurstGpt && output == 0 {
            return Ok(Recorded::Failed);
        }
        let input = length(input, 1)?;
        if self.has_ids()
            && let Some(list) = find(object, IDS)
        {
            hash_ids(at, list, ids)?;
        }
        Ok(Recorded::Request(Row { at: when, input, output }))
    }

    fn time(self, at: &At, name: &str, value: &Value) -> Result<u64, DataError> {
        let (time, such_as) = match self {
            Self::Mooncake => (time::number(value, 6), "a time in milliseconds such as 27482"),
            Self::Bailian => (time::number(value, 9), "a time in seconds such as 61.114"),
            Self::BurstGpt => (time::number(value, 9), "a time in seconds such as 45.0"),
            Self::Azure => (
                value.as_str().and_then(time::date_time),
                "a time such as 2024-05-10 00:00:00.009930+00:00",
            ),
        };
        time.ok_or_else(|| {
            let what = format!("the field {name:?} is {}, not {such_as}", shown(value));
            DataError::bad(at, what, "correct it")
        })
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A field by its name, as the file spells it.
fn find<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let spelled = || object.iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    object.get(name).or_else(|| spelled().map(|(_, value)| value))
}

fn hash_ids(at: &At, list: &Value, ids: &mut Vec<u64>) -> Result<(), DataError> {
    let wrong = |what: String| {
        let what = format!("the field {IDS:?} {what}");
        DataError::bad(at, what, "correct it, or leave it out for a prompt that shares nothing")
    };
    let list = match list {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        other => return Err(wrong(format!("is {}, not a list of numbers", described(other)))),
    };
    ids.reserve(list.len());
    for (place, id) in list.iter().enumerate() {
        let id = id.as_u64().ok_or_else(|| {
            wrong(format!("has {} in place {}, not a whole number from 0", shown(id), place + 1))
        })?;
        ids.push(id);
    }
    Ok(())
}

/// A value in a message, cut.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// Why a file is not a trace: what its first record is, or lacks, and what would help.
pub(super) fn not_a_trace(value: &Value, layout: &str) -> (String, String) {
    let all = NAMES.map(|(format, names)| format!("{} ({format})", in_words(&names)));
    let any = format!(
        "name a file whose rows have {}, or leave trace: out to send its prompts",
        all.join(", or ")
    );
    let Some(object) = value.as_object() else {
        return (format!("is {layout}, without fields"), any);
    };
    let lacks = |names: &[&'static str; 3]| -> Vec<&'static str> {
        names.iter().copied().filter(|name| find(object, name).is_none()).collect()
    };
    // Many files have a time; a length identifies a trace.
    let near = NAMES
        .iter()
        .map(|(format, names)| (format, lacks(names)))
        .filter(|(format, lacks)| format.names()[1..].iter().any(|name| !lacks.contains(name)))
        .min_by_key(|(_, lacks)| lacks.len());
    match near {
        Some((format, lacks)) => {
            (format!("lacks {}; {}", in_words(&lacks), listed(object)), format.has_in_words())
        }
        None => (format!("has no times and lengths of requests; {}", listed(object)), any),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn in_words(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
