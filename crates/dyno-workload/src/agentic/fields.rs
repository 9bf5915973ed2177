//! Values of a record by name. What is there and cannot be read is an error that names the field; what is not there is
//! absent.

use std::sync::Arc;

use dyno_model::{Message, Nanos, message};
use serde_json::{Map, Value};

use crate::data::{At, DataError, correct_it, described};
use crate::trace::time::Unit;

/// A record and where it is.
#[derive(Clone, Copy)]
pub(super) struct FieldsAt<'a> {
    pub(super) at: &'a At,
    pub(super) object: &'a Map<String, Value>,
}

/// The most tokens that a turn may have.
const MOST_TOKENS: u64 = 1 << 40;

pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

pub(super) fn object<'a>(
    within: &'a Map<String, Value>,
    name: &str,
) -> Option<&'a Map<String, Value>> {
    within.get(name)?.as_object()
}

pub(super) fn array<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a [Value]> {
    object.get(name)?.as_array().map(Vec::as_slice)
}

/// A name: text or a number.
pub(super) fn id(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A whole number or its text, where there is one.
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            (float >= 0.0 && float.fract() == 0.0 && float < MOST_TOKENS as f64)
                .then_some(float as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl<'a> FieldsAt<'a> {
    pub(super) fn of(at: &'a At, object: &'a Map<String, Value>) -> Self {
        Self { at, object }
    }

    fn value(self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// An error about a field.
    pub(super) fn wrong(self, name: &str, what: &Message) -> DataError {
        wrong(self.at, name, what)
    }

    /// A number of tokens, where the field is there.
    pub(super) fn tokens(self, name: &str) -> Result<Option<u64>, DataError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match whole(value).filter(|tokens| *tokens <= MOST_TOKENS) {
            Some(tokens) => Ok(Some(tokens)),
            None => {
                let found = described(value);
                let what = message!("{found} is no number of tokens", "{found}不是 token 数");
                Err(self.wrong(name, &what))
            }
        }
    }

    /// A number of tokens that must be there.
    pub(super) fn needed(self, name: &str) -> Result<u64, DataError> {
        self.tokens(name)?.ok_or_else(|| self.wrong(name, &message!("it is missing", "缺少该字段")))
    }

    /// A time or a duration in a unit, where the field is there.
    pub(super) fn time(self, name: &str, unit: Unit) -> Result<Option<Nanos>, DataError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match unit.read(value) {
            Some(nanos) => Ok(Some(nanos)),
            None => {
                let (found, such) = (described(value), unit.such_as());
                let what = message!("{found} is not {such}", "{found}不是{such}");
                Err(self.wrong(name, &what))
            }
        }
    }

    /// The ids of blocks.
    pub(super) fn ids(self, name: &str) -> Result<Option<Vec<u64>>, DataError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let ids = |list: &Vec<Value>| list.iter().map(block_id).collect::<Option<Vec<u64>>>();
        match value.as_array().and_then(ids) {
            Some(ids) => Ok(Some(ids)),
            None => {
                let what = message!("it is not a list of whole numbers", "不是整数列表");
                Err(self.wrong(name, &what))
            }
        }
    }

    /// A name of a model, shared between turns.
    pub(super) fn model(self, name: &str, last: &mut Option<Arc<str>>) -> Option<Arc<str>> {
        let model = text(self.object, name)?;
        if last.as_deref() != Some(model) {
            *last = Some(model.into());
        }
        last.clone()
    }
}

/// Ids are whole numbers of 64 bits, with or without a sign, or texts.
fn block_id(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_i64().map(i64::cast_unsigned))
        }
        Value::String(text) => Some(super::key::of_text(text)),
        _ => None,
    }
}

/// An error about a field of a record.
pub(super) fn wrong(at: &At, name: &str, what: &Message) -> DataError {
    DataError::bad(at, message!("field {name:?}: {what}", "字段 {name:?}：{what}"), correct_it())
}

/// The same error, about something within a record.
pub(super) fn within(error: DataError, path: &str) -> DataError {
    match error {
        DataError::Bad { at, what, fix } => {
            DataError::bad(&at, message!("{path}, {what}", "{path}，{what}"), fix)
        }
        other => other,
    }
}
