//! Text that is part of the program, so that a first run needs no files.

use dyno_model::{Language, Message, message};

use super::spec::DataKind;

const OPENQA: &str = include_str!("../../builtin/openqa.jsonl");
const LONG_EN: &str = include_str!("../../builtin/long.en.txt");
const LONG_ZH: &str = include_str!("../../builtin/long.zh.txt");

/// A built-in text: its name and itself.
pub(super) fn text(kind: DataKind, lang: Option<Language>) -> Option<(Message, &'static str)> {
    Some(match (kind, lang) {
        (DataKind::OpenQa, None) => (message!("built-in questions", "内置问题"), OPENQA),
        (DataKind::OpenQa, Some(Language::English)) => {
            (message!("built-in questions (English)", "内置问题（英文）"), OPENQA)
        }
        (DataKind::OpenQa, Some(Language::Chinese)) => {
            (message!("built-in questions (Chinese)", "内置问题（中文）"), OPENQA)
        }
        (DataKind::Long, None | Some(Language::English)) => {
            (message!("built-in long text (English)", "内置长文本（英文）"), LONG_EN)
        }
        (DataKind::Long, Some(Language::Chinese)) => {
            (message!("built-in long text (Chinese)", "内置长文本（中文）"), LONG_ZH)
        }
        _ => return None,
    })
}

/// Whether a built-in question is in the language asked for.
pub(super) fn speaks(lang: Option<Language>, record: &serde_json::Value) -> bool {
    let wanted = match lang {
        None => return true,
        Some(Language::English) => "en",
        Some(Language::Chinese) => "zh",
    };
    record.get("lang").and_then(serde_json::Value::as_str).is_none_or(|lang| lang == wanted)
}
