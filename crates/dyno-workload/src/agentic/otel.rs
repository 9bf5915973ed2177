//! OpenTelemetry's spans of generative AI: documents of `resourceSpans` or of `spans`, or a span a record. What is read
//! of a span is here, what trees the spans of a file make in `otel_tree`.

use std::sync::Arc;

use dyno_model::{Nanos, message};
use serde_json::{Map, Value};

use super::fields::{FieldsAt, array, id, object, text, whole, within};
use super::format::says;
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink};
use super::{otel_message, otel_tree};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

/// Lists of resources with spans, as exporters name them.
const RESOURCES: [&str; 3] = ["resourceSpans", "resource_spans", "batches"];
const SCOPES: [&str; 4] =
    ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"];
const SPANS: &str = "spans";
const OPERATION: &str = "gen_ai.operation.name";
/// Operations that are a request to a model.
const GENERATES: [&str; 3] = ["chat", "text_completion", "generate_content"];
const INPUT: [&str; 3] =
    ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"];
const OUTPUT: [&str; 3] =
    ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"];
const CACHED: [&str; 3] = [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cached_tokens",
];
/// How many spans are held of one file.
const MOST_SPANS: usize = 20_000_000;

/// Whether a record has spans of generative AI.
pub(super) fn is_record(record: &Map<String, Value>) -> bool {
    RESOURCES.iter().any(|name| array(record, name).is_some_and(|list| list.iter().any(has_scopes)))
        || array(record, SPANS).is_some_and(|spans| spans.iter().any(is_span))
        || is_generative(record)
}

fn has_scopes(resource: &Value) -> bool {
    SCOPES.iter().any(|name| resource.get(name).is_some_and(Value::is_array))
}

fn is_span(value: &Value) -> bool {
    value.as_object().is_some_and(|span| {
        span.contains_key("attributes")
            && ["start_time", "startTimeUnixNano", "start_time_unix_nano"]
                .iter()
                .any(|name| span.contains_key(*name))
    })
}

/// Whether this is a span with attributes of generative AI.
fn is_generative(span: &Map<String, Value>) -> bool {
    let generative = |name: &str| name.starts_with("gen_ai.");
    let attributes = match span.get("attributes") {
        Some(Value::Object(attributes)) => attributes.keys().any(|name| generative(name)),
        Some(Value::Array(list)) => {
            list.iter().any(|one| one.get("key").and_then(Value::as_str).is_some_and(generative))
        }
        _ => false,
    };
    attributes
        && ["start_time", "startTimeUnixNano", "start_time_unix_nano"]
            .iter()
            .any(|name| span.contains_key(*name))
}

/// A span, as far as it is of use.
pub(super) struct GenAiSpan {
    pub(super) at: At,
    pub(super) trace: Option<String>,
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) conversation: Option<String>,
    /// What a request was, if it is one.
    pub(super) request: Option<SpanRequest>,
}

/// A request to a model.
pub(super) struct SpanRequest {
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) model: Option<Arc<str>>,
    pub(super) failed: bool,
    pub(super) prompt: Option<Vec<u32>>,
    pub(super) response: Vec<u32>,
    pub(super) calls: u32,
    pub(super) definitions: Option<Arc<Value>>,
}

/// Reads spans.
#[derive(Default)]
pub(super) struct GenAiSpans {
    spans: Vec<GenAiSpan>,
    messages: TreeMessages,
    model: Option<Arc<str>>,
    /// Traces with a span that could not be read, and why.
    wrong: Vec<(Option<String>, DataError)>,
}

impl TreeBuilder for GenAiSpans {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Value::Object(record) = record else { return Ok(()) };
        let mut found = false;
        for name in RESOURCES {
            for resource in array(&record, name).unwrap_or_default() {
                found = true;
                for scopes in SCOPES.iter().filter_map(|name| resource.get(name)?.as_array()) {
                    for scope in scopes {
                        self.each(at, scope.get(SPANS), out);
                    }
                }
            }
        }
        if let Some(spans) = record.get(SPANS).filter(|spans| spans.is_array()) {
            found = true;
            self.each(at, Some(spans), out);
        }
        if !found {
            match is_generative(&record) || is_span(&Value::Object(record.clone())) {
                true => self.span(at, &record, out),
                false => out.notes.remark(AgenticRemark::OtherRecords, 1),
            }
        }
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        let wrong = |span: &GenAiSpan| {
            let what =
                message!("a span could not be read ({})", "有 span 无法读取（{}）", why.plain());
            (span.trace.clone(), DataError::bad(&span.at, what, super::reader::left_out()))
        };
        self.wrong.extend(self.spans.last().map(wrong));
        true
    }

    fn end_of_file(&mut self, out: &mut TreeSink) {
        let Self { spans, messages, wrong, .. } = std::mem::take(self);
        otel_tree::give(spans, &messages, wrong, out);
    }
}

impl GenAiSpans {
    fn each(&mut self, at: &At, spans: Option<&Value>, out: &mut TreeSink) {
        for (number, span) in spans.and_then(Value::as_array).into_iter().flatten().enumerate() {
            match span.as_object() {
                Some(span) => {
                    let before = self.wrong.len();
                    self.span(at, span, out);
                    if self.wrong.len() > before
                        && let Some((trace, error)) = self.wrong.pop()
                    {
                        self.wrong.push((trace, within(error, &format!("{SPANS}[{number}]"))));
                    }
                }
                None => out.notes.remark(AgenticRemark::OtherRecords, 1),
            }
        }
    }

    fn span(&mut self, at: &At, span: &Map<String, Value>, out: &mut TreeSink) {
        let context = object(span, "context");
        let named = |names: [&str; 2]| {
            let own = names.iter().find_map(|name| id(span.get(*name)));
            own.or_else(|| id(context.and_then(|context| context.get(names[0]))))
        };
        let attributes = attributes(span);
        let trace = named(["trace_id", "traceId"]);
        let request = match is_request(&attributes) {
            true => request(at, span, &attributes, &mut self.messages, &mut self.model, out.keep)
                .map(Some),
            false => {
                out.notes.remark(AgenticRemark::OtherRecords, 1);
                Ok(None)
            }
        };
        match request {
            Err(error) => self.wrong.push((trace, error)),
            Ok(_) if self.spans.len() >= MOST_SPANS => {
                let what = message!(
                    "the file has more than {MOST_SPANS} spans",
                    "文件超过 {MOST_SPANS} 个 span"
                );
                self.wrong.push((trace, DataError::bad(at, what, super::reader::left_out())));
            }
            Ok(request) => self.spans.push(GenAiSpan {
                at: at.clone(),
                trace,
                id: named(["span_id", "spanId"]),
                parent: ["parent_span_id", "parentSpanId", "parent_id"]
                    .iter()
                    .find_map(|name| id(span.get(*name))),
                conversation: id(attributes.get("gen_ai.conversation.id")),
                request,
            }),
        }
    }
}

/// The attributes of a span by name, whichever way they are written.
fn attributes(span: &Map<String, Value>) -> Map<String, Value> {
    match span.get("attributes") {
        Some(Value::Object(attributes)) => attributes.clone(),
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(|one| {
                Some((text(one.as_object()?, "key")?.to_owned(), typed(one.get("value")?)))
            })
            .collect(),
        _ => Map::new(),
    }
}

/// A value of OTLP's JSON, which names its type.
fn typed(value: &Value) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let inner = |name: &str| object.get(name).and_then(Value::as_object);
    let list = |within: &Map<String, Value>| array(within, "values").unwrap_or_default().to_vec();
    if let Some(values) = inner("arrayValue").or_else(|| inner("array_value")) {
        return Value::Array(list(values).iter().map(typed).collect());
    }
    if let Some(values) = inner("kvlistValue").or_else(|| inner("kvlist_value")) {
        let pairs = list(values);
        let pairs = pairs.iter().filter_map(|one| {
            Some((text(one.as_object()?, "key")?.to_owned(), typed(one.get("value")?)))
        });
        return Value::Object(pairs.collect());
    }
    object.values().next().cloned().unwrap_or_default()
}

/// Whether attributes are those of a request to a model. Servers such as vLLM do not name the operation.
fn is_request(attributes: &Map<String, Value>) -> bool {
    match text(attributes, OPERATION) {
        Some(operation) => GENERATES.contains(&operation),
        None => {
            let has = |name: &str| attributes.contains_key(name);
            INPUT.iter().chain(&OUTPUT).any(|name| has(name))
                || has("gen_ai.input.messages")
                || has("gen_ai.prompt.0.role")
                || has("gen_ai.prompt.0.content")
                || says(attributes, "llm.request.type", &["chat", "completion"])
        }
    }
}

fn request(
    at: &At,
    span: &Map<String, Value>,
    attributes: &Map<String, Value>,
    messages: &mut TreeMessages,
    model: &mut Option<Arc<str>>,
    keep: TreeDetail,
) -> Result<SpanRequest, DataError> {
    let record = FieldsAt::of(at, span);
    let of = FieldsAt::of(at, attributes);
    let time = |nanos: [&'static str; 2], date: &'static str| {
        for name in nanos {
            if let Some(time) = record.time(name, Unit::Nanoseconds)? {
                return Ok(time);
            }
        }
        record
            .time(date, Unit::Date)?
            .ok_or_else(|| record.wrong(date, &message!("it is missing", "缺少该字段")))
    };
    let start = time(["startTimeUnixNano", "start_time_unix_nano"], "start_time")?;
    let end = time(["endTimeUnixNano", "end_time_unix_nano"], "end_time")?;
    if end < start {
        let what = message!("the span ends before it starts", "span 的结束早于开始");
        return Err(record.wrong("end_time", &what));
    }
    let first = |names: &[&str]| -> Result<Option<u64>, DataError> {
        for name in names {
            if let Some(tokens) = of.tokens(name)? {
                return Ok(Some(tokens));
            }
        }
        Ok(None)
    };
    let status = object(span, "status").and_then(|status| status.get("code"));
    let failed = status.is_some_and(|code| {
        whole(code) == Some(2) || code.as_str().is_some_and(|code| code.ends_with("ERROR"))
    });
    let said = otel_message::of(attributes, messages, keep);
    let definitions =
        attributes.get("gen_ai.tool.definitions").filter(|_| keep == TreeDetail::Texts);
    Ok(SpanRequest {
        start,
        end,
        input: first(&INPUT)?,
        output: first(&OUTPUT)?,
        cached: first(&CACHED)?,
        limit: of.tokens("gen_ai.request.max_tokens")?,
        model: of.model("gen_ai.request.model", model),
        failed,
        prompt: said.prompt,
        response: said.response,
        calls: said.calls,
        definitions: definitions.map(|value| Arc::new(otel_message::parsed(value))),
    })
}
