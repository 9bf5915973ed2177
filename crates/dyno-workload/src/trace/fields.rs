//! Where the values of a row are, under the names of a known form or as `--data trace:` maps them, and
//! how each of them is read. Which forms there are is not here.

use dyno_model::{Message, message};
use serde_json::{Map, Value};

use super::time::Unit;
use crate::data::{At, DataError, FieldPath, correct_it, described, listed, whole};
use crate::random::lengths::LONGEST;

/// One field of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// The name that a known form gives it, in whatever case the file writes it.
    Usual(&'static str),
    /// As the user named it with a key, such as `time=`.
    Mapped {
        /// The key.
        key: &'static str,
        /// Its name, or the path to it.
        path: FieldPath,
    },
}

impl Field {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Usual(name) => name,
            Self::Mapped { path, .. } => path.as_str(),
        }
    }

    /// Its value, where the row has one.
    pub(super) fn find<'a>(&self, object: &'a Map<String, Value>) -> Option<&'a Value> {
        match self {
            Self::Usual(name) => find(object, name),
            Self::Mapped { path, .. } => path.find(object).or_else(|| find(object, path.as_str())),
        }
    }

    /// Its value; the message says which fields there are if it is missing.
    pub(super) fn needed<'a>(
        &self,
        at: &At,
        object: &'a Map<String, Value>,
        otherwise: impl FnOnce() -> Message,
    ) -> Result<&'a Value, DataError> {
        self.find(object).ok_or_else(|| {
            let (name, there) = (self.name(), listed(object));
            let what = match self {
                Self::Usual(_) => {
                    message!("there is no field {name:?}; {there}", "没有字段 {name:?}；{there}")
                }
                Self::Mapped { key, .. } => no_such_field(name, key, &there),
            };
            DataError::bad(at, what, otherwise())
        })
    }

    /// A number of tokens, of at least `least`.
    pub(super) fn tokens(&self, at: &At, value: &Value, least: u32) -> Result<u32, DataError> {
        tokens(at, self.name(), value, least)
    }

    /// A time or a duration.
    pub(super) fn time(&self, at: &At, value: &Value, unit: Unit) -> Result<u64, DataError> {
        unit.read(value).ok_or_else(|| {
            let name = self.name();
            if let Some((of, meant)) = unit.too_large_for(value) {
                let what = message!(
                    "the field {name:?} is {}, too large for {of}",
                    "字段 {name:?} 为 {}，作为{of}过大",
                    shown(value)
                );
                let fix = match meant {
                    Some(unit) => message!(
                        "if it is a date, write time={name},unit={unit}",
                        "如果是日期，请写 time={name},unit={unit}"
                    ),
                    None => correct_it(),
                };
                return DataError::bad(at, what, fix);
            }
            let is_number = Unit::Seconds.read(value).is_some();
            let unit = if unit == Unit::Unsaid && !is_number { Unit::Date } else { unit };
            let such_as = unit.such_as();
            let what = message!(
                "the field {name:?} is {}, not {such_as}",
                "字段 {name:?} 为 {}，不是{such_as}",
                shown(value)
            );
            let fix = match unit {
                Unit::Unsaid => message!("say its unit", "请写明单位"),
                Unit::DateOrMilliseconds if is_number => message!(
                    "say its unit, as in trace:FILE,time={name},unit=s",
                    "请写明单位，例如 trace:FILE,time={name},unit=s"
                ),
                _ => correct_it(),
            };
            DataError::bad(at, what, fix)
        })
    }

    /// Puts the ids of the blocks of a prompt into `ids`.
    pub(super) fn ids(&self, at: &At, value: &Value, ids: &mut Vec<u64>) -> Result<(), DataError> {
        match self {
            Self::Usual(name) => numbers(at, name, value, ids),
            Self::Mapped { path, .. } => any_ids(at, path.as_str(), value, ids),
        }
    }
}

/// A field that the user named does not exist; `there` are those that do.
pub(super) fn no_such_field(name: &str, key: &str, there: &Message) -> Message {
    message!(
        "there is no field {name:?}, which {key}= names; {there}",
        "没有 {key}= 指定的字段 {name:?}；{there}"
    )
}

/// A number of tokens in the field `name`, of at least `least`.
pub(super) fn tokens(at: &At, name: &str, value: &Value, least: u32) -> Result<u32, DataError> {
    let wrong = |what: Message| {
        let what = message!("the field {name:?} {what}", "字段 {name:?} {what}");
        DataError::bad(at, what, correct_it())
    };
    match whole(value, least) {
        Ok(Some(tokens)) if tokens > LONGEST => Err(wrong(message!(
            "is {tokens}, more than the {LONGEST} tokens that can be",
            "为 {tokens}，超过上限 {LONGEST} 个 token"
        ))),
        Ok(Some(tokens)) => Ok(tokens),
        Ok(None) => Err(wrong(message!("is blank", "为空"))),
        Err(what) => Err(wrong(what)),
    }
}

/// The object that a row must be.
pub(super) fn object<'a>(at: &At, value: &'a Value) -> Result<&'a Map<String, Value>, DataError> {
    value.as_object().ok_or_else(|| {
        let what =
            message!("the record is {}, not an object", "该记录是{}，不是对象", described(value));
        DataError::bad(at, what, correct_it())
    })
}

/// A field by its name, as the file spells it.
pub(super) fn find<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let spelled = || object.iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    object.get(name).or_else(|| spelled().map(|(_, value)| value))
}

fn bad_ids(at: &At, name: &str, what: Message) -> DataError {
    let what = message!("the field {name:?} {what}", "字段 {name:?} {what}");
    let fix = message!(
        "correct it, or leave it out for a prompt that shares nothing",
        "请更正；如果该提示词不共享任何内容，请去掉"
    );
    DataError::bad(at, what, fix)
}

/// A list of whole numbers, as the known forms have them.
pub(super) fn numbers(
    at: &At,
    name: &str,
    list: &Value,
    ids: &mut Vec<u64>,
) -> Result<(), DataError> {
    let list = match list {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        other => {
            let what =
                message!("is {}, not a list of numbers", "是{}，不是数字列表", described(other));
            return Err(bad_ids(at, name, what));
        }
    };
    ids.reserve(list.len());
    for (place, id) in list.iter().enumerate() {
        let id = id.as_u64().ok_or_else(|| {
            let (id, place) = (shown(id), place + 1);
            let what = message!(
                "has {id} in place {place}, not a whole number from 0",
                "的第 {place} 项为 {id}，不是从 0 开始的整数"
            );
            bad_ids(at, name, what)
        })?;
        ids.push(id);
    }
    Ok(())
}

/// Ids of any kind, in a list or in a text such as `11|22` or `[11, 22]`: blocks are the same where
/// their ids are.
fn any_ids(at: &At, name: &str, value: &Value, ids: &mut Vec<u64>) -> Result<(), DataError> {
    match value {
        Value::Null => Ok(()),
        Value::Array(list) => {
            ids.reserve(list.len());
            for (place, id) in list.iter().enumerate() {
                ids.push(match id {
                    Value::String(text) => id_of(text),
                    Value::Number(number) => {
                        number.as_u64().unwrap_or_else(|| id_of(&number.to_string()))
                    }
                    other => {
                        let (what, place) = (described(other), place + 1);
                        let what = message!(
                            "has {what} in place {place}, not a number or a text",
                            "的第 {place} 项是{what}，不是数字或文本"
                        );
                        return Err(bad_ids(at, name, what));
                    }
                });
            }
            Ok(())
        }
        Value::String(text) => {
            let parts = text.split(['|', ',', ';', ' ', '[', ']']).map(str::trim);
            ids.extend(parts.filter(|part| !part.is_empty()).map(id_of));
            Ok(())
        }
        other => {
            let what = message!("is {}, not a list", "是{}，不是列表", described(other));
            Err(bad_ids(at, name, what))
        }
    }
}

/// A number stands for itself; any other text for its 64-bit hash (FNV-1a).
fn id_of(text: &str) -> u64 {
    let text = text.trim_matches(['"', '\'']);
    text.parse().unwrap_or_else(|_| {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    })
}

/// A value in a message, cut.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn in_words(names: &[&str]) -> Message {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            message!("{} and {last}", "{} 和 {last}", rest.join(", "))
        }
        _ => Message::quoted(names.concat()),
    }
}
