//! What can be wrong with a data specification itself, before any file is touched.

use dyno_model::nearest::nearest;
use dyno_model::{Message, message};

/// The key or the kind that was probably meant.
pub(super) fn meant(near: Option<&str>) -> Message {
    match near {
        Some(near) => message!(" (did you mean {near}?)", "（是否想写 {near}？）"),
        None => Message::quoted(""),
    }
}

/// A key that `kind` does not know.
pub(super) fn unknown_key(key: &str, kind: Message, known: &[&str]) -> Message {
    let near = nearest(key, known);
    let known = match known {
        [] => message!("none", "无"),
        known => Message::quoted(known.join(", ")),
    };
    message!(
        "unknown key {key:?}{}; the keys of {kind} are {known}",
        "未知的键 {key:?}{}；{kind} 可用的键：{known}",
        meant(near)
    )
}

/// A value that is none of those allowed.
pub(super) fn bad_value(key: &str, value: &str, allowed: Message) -> Message {
    message!(
        "{key}={value} is not possible; write {key}={allowed}",
        "{key}={value} 不可用；请写 {key}={allowed}"
    )
}

/// Two keys that contradict each other.
pub(super) fn both(one: &str, other: &str) -> Message {
    message!(
        "{one}= and {other}= both say where the prompt is; give one of them",
        "{one}= 和 {other}= 都指定了提示词的位置；请只写一个"
    )
}
