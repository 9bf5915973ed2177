//! Text that is part of the program, so that a first run needs no files.

use super::spec::{Kind, Lang};

const OPENQA: &str = include_str!("../../builtin/openqa.jsonl");
const LONG_EN: &str = include_str!("../../builtin/long.en.txt");
const LONG_ZH: &str = include_str!("../../builtin/long.zh.txt");

/// A built-in text: its name and itself.
pub(super) fn text(kind: Kind, lang: Option<Lang>) -> Option<(&'static str, &'static str)> {
    match (kind, lang) {
        (Kind::OpenQa, None) => Some(("built-in questions", OPENQA)),
        (Kind::OpenQa, Some(Lang::En)) => Some(("built-in questions (English)", OPENQA)),
        (Kind::OpenQa, Some(Lang::Zh)) => Some(("built-in questions (Chinese)", OPENQA)),
        (Kind::Long, None | Some(Lang::En)) => Some(("built-in long text (English)", LONG_EN)),
        (Kind::Long, Some(Lang::Zh)) => Some(("built-in long text (Chinese)", LONG_ZH)),
        _ => None,
    }
}

/// Whether a built-in question is in the language asked for.
pub(super) fn speaks(lang: Option<Lang>, record: &serde_json::Value) -> bool {
    let wanted = match lang {
        None => return true,
        Some(Lang::En) => "en",
        Some(Lang::Zh) => "zh",
    };
    record.get("lang").and_then(serde_json::Value::as_str).is_none_or(|lang| lang == wanted)
}
