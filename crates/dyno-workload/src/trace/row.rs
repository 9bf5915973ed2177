//! One record of a trace as its requests: one each, except where a record holds all of a moment.

use dyno_model::message;
use serde_json::{Map, Value};

use super::dynamo;
use super::fields::{Field, find, object, tokens};
use super::format::{Fields, REQUESTS, TraceFormat, aibrix_lengths};
use super::rows::Row;
use super::words::spoken;
use crate::data::{At, DataError, correct_it, described};

/// What a record says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// A request that completed.
    Request(Request),
    /// A request that failed when it was recorded.
    Failed,
}

/// A request and the times that its record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) time: Option<u64>,
    pub(super) gap: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) input: u32,
    pub(super) output: u32,
}

impl Request {
    /// As a row, at its own time or so long after the row before it.
    pub(super) fn row(&self, before: Option<u64>) -> Row {
        let after = || before.unwrap_or(0).saturating_add(before.and(self.gap).unwrap_or(0));
        Row { at: self.time.unwrap_or_else(after), input: self.input, output: self.output }
    }
}

/// What the requests of a record are given to, with their hash ids.
pub(super) type Take<'a> = dyn FnMut(Recorded, &[u64]) -> Result<(), DataError> + 'a;

/// Reads the requests of a record; the hash ids of each are put into `ids` before it is given to
/// `take`.
pub(super) fn read(
    fields: &Fields,
    at: &At,
    value: &Value,
    ids: &mut Vec<u64>,
    take: &mut Take<'_>,
) -> Result<(), DataError> {
    ids.clear();
    let object = object(at, value)?;
    match fields.format {
        TraceFormat::Aibrix => all_of_a_moment(fields, at, object, take),
        TraceFormat::Dynamo => match dynamo::request(at, object, ids)? {
            Some(dynamo) => take(Recorded::Request(dynamo.request), ids),
            None => Ok(()),
        },
        _ => take(one(fields, at, object, ids)?, ids),
    }
}

/// A record that is a request.
pub(super) fn one(
    fields: &Fields,
    at: &At,
    object: &Map<String, Value>,
    ids: &mut Vec<u64>,
) -> Result<Recorded, DataError> {
    ids.clear();
    let needed = |field: &Field| {
        field.needed(at, object, || match field {
            Field::Usual(_) => fields.format.has_in_words(),
            Field::Mapped { .. } => name_one_of_them(),
        })
    };
    let output = needed(&fields.output).and_then(|v| fields.output.tokens(at, v, 0))?;
    let sessions = fields.session.is_some();
    let time = |field: &Option<Field>, optional: bool| match field {
        None => Ok(None),
        Some(field) if optional => match field.find(object) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(value) => field.time(at, value, fields.unit).map(Some),
        },
        Some(field) => field.time(at, needed(field)?, fields.unit).map(Some),
    };
    // The first request of a session has no gap, and later ones need no time beside it.
    let (starts, pauses) = (fields.time.is_some(), fields.gap.is_some());
    let request = Request {
        time: time(&fields.time, sessions && pauses)?,
        gap: time(&fields.gap, sessions || starts)?,
        end: time(&fields.end, true)?,
        input: 0,
        output,
    };
    if let (Some(start), Some(end)) = (request.time, request.end)
        && end < start
    {
        return Err(ends_early(fields, at, start - end));
    }
    if fields.format == TraceFormat::BurstGpt && output == 0 {
        return Ok(Recorded::Failed);
    }
    let input = fields.input.tokens(at, needed(&fields.input)?, 1)?;
    if let Some(field) = &fields.ids
        && let Some(list) = field.find(object)
    {
        field.ids(at, list, ids)?;
    }
    Ok(Recorded::Request(Request { input, ..request }))
}

fn ends_early(fields: &Fields, at: &At, early: u64) -> DataError {
    let name = |field: &Option<Field>| field.as_ref().map_or("", Field::name).to_owned();
    let (start, end, early) = (name(&fields.time), name(&fields.end), spoken(early));
    let what = message!(
        "the field {end:?} is {early} before {start:?}: the response ends before its request is sent",
        "字段 {end:?} 比 {start:?} 早 {early}：响应在请求发送之前就已结束"
    );
    let fix = message!(
        "swap time= and end= if all records are like this; else correct it",
        "如果所有记录都如此，请交换 time= 和 end=；否则请更正"
    );
    DataError::bad(at, what, fix)
}

pub(super) fn name_one_of_them() -> message::Message {
    message!("name one of them", "请指定其中之一")
}

/// AIBrix's records: a time, and the requests that are sent then.
fn all_of_a_moment(
    fields: &Fields,
    at: &At,
    object: &Map<String, Value>,
    take: &mut Take<'_>,
) -> Result<(), DataError> {
    let list = match find(object, REQUESTS) {
        Some(Value::Array(list)) => list,
        other => {
            let what = other.map_or_else(|| message!("missing", "缺失"), described);
            let what = message!(
                "the field {REQUESTS:?} is {what}, not a list",
                "字段 {REQUESTS:?} 是{what}，不是列表"
            );
            return Err(DataError::bad(at, what, correct_it()));
        }
    };
    let time = match &fields.time {
        None => None,
        Some(field) => {
            let value = field.needed(at, object, || fields.format.has_in_words())?;
            Some(field.time(at, value, fields.unit)?)
        }
    };
    for (place, request) in list.iter().enumerate() {
        let lengths = request.as_object().map(aibrix_lengths);
        let Some([(input_name, input), (output_name, output)]) = lengths else {
            let (what, place) = (described(request), place + 1);
            let what = message!(
                "the field {REQUESTS:?} has {what} in place {place}, not an object",
                "字段 {REQUESTS:?} 的第 {place} 项是{what}，不是对象"
            );
            return Err(DataError::bad(at, what, correct_it()));
        };
        let length = |name: &str, value: Option<&Value>, least| match value {
            Some(Value::Null) | None => {
                let place = place + 1;
                let what = message!(
                    "request {place} has no {name:?}, and a replay needs the length",
                    "第 {place} 个请求没有 {name:?}，而回放需要长度"
                );
                let fix = message!("generate the workload with it", "请在生成负载时包含它");
                Err(DataError::bad(at, what, fix))
            }
            Some(value) => tokens(at, name, value, least),
        };
        let request = Request {
            time,
            gap: None,
            end: None,
            input: length(input_name, input, 1)?,
            output: length(output_name, output, 0)?,
        };
        take(Recorded::Request(request), &[])?;
    }
    Ok(())
}
