//! The forms in which traces are published, how each is recognised, and which of its fields hold what.

use std::fmt;

use dyno_model::{Message, message};
use serde_json::{Map, Value};

use super::fields::{Field, find, in_words};
use super::mapping::Mapping;
use super::time::Unit;
use crate::data::listed;

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
    /// Vidur's: times in seconds and lengths.
    Vidur,
    /// LLMServingSim's: times in nanoseconds and lengths.
    LlmServingSim,
    /// What ServeGen saves: times in seconds and lengths.
    ServeGen,
    /// AIBrix's workloads: the requests of each time, in milliseconds.
    Aibrix,
    /// Dynamo's request traces without sessions: times in milliseconds, and hash ids.
    Dynamo,
    /// Any other, with the fields that the user named.
    Mapped,
}

/// A form of which each record is a request, with a time and two lengths in these fields.
struct Known {
    format: TraceFormat,
    time: &'static str,
    input: &'static str,
    output: &'static str,
    unit: Unit,
    /// A field that must be there as well, where the other names are those of many.
    also: Option<&'static str>,
}

const fn known(format: TraceFormat, names: [&'static str; 3], unit: Unit) -> Known {
    let [time, input, output] = names;
    Known { format, time, input, output, unit, also: None }
}

const KNOWN: [Known; 6] = [
    known(
        TraceFormat::Mooncake,
        ["timestamp", "input_length", "output_length"],
        Unit::Milliseconds,
    ),
    known(
        TraceFormat::Azure,
        ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
        Unit::DateOrMilliseconds,
    ),
    known(TraceFormat::BurstGpt, ["Timestamp", "Request tokens", "Response tokens"], Unit::Seconds),
    known(
        TraceFormat::Vidur,
        ["arrived_at", "num_prefill_tokens", "num_decode_tokens"],
        Unit::Seconds,
    ),
    known(
        TraceFormat::LlmServingSim,
        ["arrival_time_ns", "input_toks", "output_toks"],
        Unit::Nanoseconds,
    ),
    Known {
        also: Some("request_id"),
        ..known(
            TraceFormat::ServeGen,
            ["timestamp", "input_tokens", "output_tokens"],
            Unit::Seconds,
        )
    },
];

const IDS: &str = "hash_ids";
/// Only Bailian's rows say to which chat they belong.
const CHAT: &str = "chat_id";
/// AIBrix's records: a time, and the requests that are sent then.
pub(super) const REQUESTS: &str = "requests";
const AIBRIX_INPUTS: [&str; 2] = ["prompt_length", "Prompt Length"];
const AIBRIX_OUTPUTS: [&str; 2] = ["output_length", "Output Length"];

/// Which fields of a row hold what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) format: TraceFormat,
    pub(super) unit: Unit,
    pub(super) time: Option<Field>,
    /// Time since the row before it, or in a session since the response before it.
    pub(super) gap: Option<Field>,
    /// When the response was complete.
    pub(super) end: Option<Field>,
    pub(super) input: Field,
    pub(super) output: Field,
    pub(super) session: Option<Field>,
    pub(super) ids: Option<Field>,
}

impl TraceFormat {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mooncake => "Mooncake",
            Self::Bailian => "Bailian",
            Self::Azure => "Azure",
            Self::BurstGpt => "BurstGPT",
            Self::Vidur => "Vidur",
            Self::LlmServingSim => "LLMServingSim",
            Self::ServeGen => "ServeGen",
            Self::Aibrix => "AIBrix",
            Self::Dynamo => "Dynamo",
            Self::Mapped => "mapped",
        }
    }

    /// Tokens that one of its hash ids usually stands for.
    pub fn block(self) -> u32 {
        if self == Self::Bailian { 16 } else { 512 }
    }

    /// Whether its rows may have hash ids.
    pub fn has_ids(self) -> bool {
        matches!(self, Self::Mooncake | Self::Bailian | Self::Dynamo)
    }

    /// The form of which this is a record.
    pub(super) fn of(object: &Map<String, Value>) -> Option<Self> {
        if is_aibrix(object) {
            return Some(Self::Aibrix);
        }
        let has = |name: &str| find(object, name).is_some();
        let all = |known: &&Known| {
            [known.time, known.input, known.output].into_iter().chain(known.also).all(has)
        };
        match KNOWN.iter().find(all)?.format {
            Self::Mooncake if has(CHAT) => Some(Self::Bailian),
            format => Some(format),
        }
    }

    /// Where its values are.
    pub(super) fn fields(self) -> Option<Fields> {
        let named = if self == Self::Bailian { Self::Mooncake } else { self };
        let usual = |name| Some(Field::Usual(name));
        let (time, unit, input, output) = match self {
            Self::Aibrix => ("timestamp", Unit::Milliseconds, AIBRIX_INPUTS[0], AIBRIX_OUTPUTS[0]),
            _ => {
                let known = KNOWN.iter().find(|known| known.format == named)?;
                (known.time, known.unit, known.input, known.output)
            }
        };
        Some(Fields {
            format: self,
            unit: if self == Self::Bailian { Unit::Seconds } else { unit },
            time: usual(time),
            gap: None,
            end: None,
            input: Field::Usual(input),
            output: Field::Usual(output),
            session: None,
            ids: usual(IDS).filter(|_| self.has_ids()),
        })
    }

    /// What its rows have, for a message.
    pub(super) fn has_in_words(self) -> Message {
        let fields = self.fields();
        let names = fields.as_ref().map(Fields::names).unwrap_or_default();
        message!("{self} rows have {}", "{self} 的行应有 {}", in_words(&names))
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Fields {
    /// The fields that a file of this form must have.
    fn names(&self) -> Vec<&str> {
        let time = self.time.as_ref().or(self.gap.as_ref());
        time.into_iter().chain([&self.input, &self.output]).map(Field::name).collect()
    }

    /// Dynamo's records are nested and have their own reader, so the names are only those of messages.
    pub(super) fn of_dynamo() -> Self {
        Self {
            format: TraceFormat::Dynamo,
            unit: Unit::Milliseconds,
            time: Some(Field::Usual("request.request_received_ms")),
            gap: None,
            end: None,
            input: Field::Usual("request.replay.input_length"),
            output: Field::Usual("request.output_tokens"),
            session: None,
            ids: None,
        }
    }

    /// The fields of a file whose form is known or not, with what the user mapped. The error is what
    /// is missing.
    pub(super) fn with(
        known: Option<TraceFormat>,
        mapping: &Mapping,
    ) -> Result<Self, Vec<&'static str>> {
        let Mapping { time, unit, gap, end, input, output, session, ids } = mapping.clone();
        let usual = known.and_then(TraceFormat::fields);
        // A gap column replaces the times of a known form, except as the starts of sessions.
        let usual_time = usual.clone().and_then(|usual| usual.time);
        let time_given = time.is_some();
        let time = time.or(usual_time.filter(|_| gap.is_none() || session.is_some()));
        let usual_unit = usual.as_ref().filter(|_| !time_given).map(|usual| usual.unit);
        let unit = unit.or(usual_unit).unwrap_or(Unit::Unsaid);
        let input = input.or(usual.as_ref().map(|usual| usual.input.clone()));
        let output = output.or(usual.as_ref().map(|usual| usual.output.clone()));
        let ids = ids.or(usual.and_then(|usual| usual.ids));
        let mut missing = Vec::new();
        if time.is_none() && gap.is_none() {
            missing.push("time");
        }
        match (input, output) {
            (Some(input), Some(output)) if missing.is_empty() => {
                let format = known.unwrap_or(TraceFormat::Mapped);
                Ok(Self { format, unit, time, gap, end, input, output, session, ids })
            }
            (input, output) => {
                missing.extend(input.is_none().then_some("input"));
                missing.extend(output.is_none().then_some("output"));
                Err(missing)
            }
        }
    }
}

fn is_aibrix(object: &Map<String, Value>) -> bool {
    let first = find(object, REQUESTS).and_then(Value::as_array).and_then(|list| list.first());
    let request = first.and_then(Value::as_object);
    find(object, "timestamp").is_some()
        && request.is_some_and(|request| aibrix_length(request, AIBRIX_INPUTS).is_some())
}

/// The lengths of one request of AIBrix's, under the names of its newer and older workloads.
pub(super) fn aibrix_lengths(request: &Map<String, Value>) -> [(&'static str, Option<&Value>); 2] {
    [AIBRIX_INPUTS, AIBRIX_OUTPUTS].map(|names| match aibrix_length(request, names) {
        Some((name, value)) => (name, Some(value)),
        None => (names[0], None),
    })
}

fn aibrix_length<'a>(
    request: &'a Map<String, Value>,
    names: [&'static str; 2],
) -> Option<(&'static str, &'a Value)> {
    names.into_iter().find_map(|name| find(request, name).map(|value| (name, value)))
}

/// Why a file is not a trace: what its first record is, or lacks, and what would help.
pub(super) fn not_a_trace(value: &Value, layout: &Message, missing: &[&str]) -> (Message, Message) {
    let Some(object) = value.as_object() else {
        let any = message!(
            "name a trace, or leave trace: out to send its prompts",
            "请指定流量记录文件，或去掉 trace: 以发送其中的提示词"
        );
        return (message!("is {layout}, without fields", "它是{layout}，没有字段"), any);
    };
    let lacks = |known: &Known| -> Vec<&'static str> {
        let names = [known.time, known.input, known.output];
        names.into_iter().filter(|name| find(object, name).is_none()).collect()
    };
    // Many files have a time; a length identifies a trace.
    let near = KNOWN
        .iter()
        .filter(|known| [known.input, known.output].iter().any(|n| find(object, n).is_some()))
        .map(|known| (known.format, lacks(known)))
        .filter(|(_, lacks)| !lacks.is_empty())
        .min_by_key(|(_, lacks)| lacks.len());
    let say = missing.iter().map(|key| match *key {
        "time" => "time=FIELD,unit=ms",
        "input" => "input=FIELD",
        _ => "output=FIELD",
    });
    let say = say.collect::<Vec<_>>().join(",");
    match near.filter(|_| missing.len() == 3) {
        Some((format, lacks)) => {
            let has = format.has_in_words();
            let fix = message!(
                "{has}; for other names write trace:FILE,{say}",
                "{has}；字段名不同时请写 trace:FILE,{say}"
            );
            let found = message!("lacks {}; {}", "缺少 {}；{}", in_words(&lacks), listed(object));
            (found, fix)
        }
        None => {
            let found = message!("is of no known form; {}", "格式未知；{}", listed(object));
            let fix = message!(
                "say which field holds what, as in trace:FILE,{say}; or leave trace: out to send \
                 its prompts",
                "请写明各字段的含义，例如 trace:FILE,{say}；或去掉 trace: 以发送其中的提示词"
            );
            (found, fix)
        }
    }
}
