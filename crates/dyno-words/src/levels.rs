//! The name of a level in a language. Plans and records have the English one.

use dyno_model::{Language, Message};
use std::borrow::Cow;

/// What the names of levels begin with.
const KINDS: [(&str, &str); 8] = [
    ("concurrency", "并发"),
    ("rate", "速率"),
    ("burst", "突发"),
    ("trace", "流量记录"),
    ("ramp", "爬坡"),
    ("synchronous", "逐个发送"),
    ("throughput", "最大吞吐"),
    ("unlimited", "不限速"),
];

/// What the name of a level ends with that was measured again for longer.
pub const TOO_SHORT: &str = ", too short";

/// A level's name in the language; one that Dyno did not give stays as it is.
pub fn level_name(name: &str, language: Language) -> Cow<'_, str> {
    if language == Language::English {
        return Cow::Borrowed(name);
    }
    let known = KINDS.iter().find_map(|(english, chinese)| {
        let rest = name.strip_prefix(english)?;
        (rest.is_empty() || rest.starts_with(' ')).then_some((*chinese, rest))
    });
    if let Some(name) = name.strip_suffix(TOO_SHORT) {
        return Cow::Owned(format!("{}（过短）", level_name(name, language)));
    }
    let (kind, rest) = known.unwrap_or(("", name));
    let repeated = rest.rsplit_once(" (").and_then(|(before, count)| {
        let count: u32 = count.strip_suffix(')')?.parse().ok()?;
        Some(format!("{kind}{before}（第 {count} 次）"))
    });
    match repeated {
        Some(name) => Cow::Owned(name),
        None if kind.is_empty() => Cow::Borrowed(name),
        None => Cow::Owned(format!("{kind}{rest}")),
    }
}

/// A level's name as a value of a message.
pub fn level_value(name: &str) -> Message {
    Message::new([name.to_owned(), level_name(name, Language::Chinese).into_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_chinese_names_in_chinese() {
        for (english, chinese) in [
            ("concurrency 8", "并发 8"),
            ("rate 10.4", "速率 10.4"),
            ("rate 4 (2)", "速率 4（第 2 次）"),
            ("throughput", "最大吞吐"),
            ("throughput (2)", "最大吞吐（第 2 次）"),
            ("throughput, too short", "最大吞吐（过短）"),
            ("ramp 1..50/s", "爬坡 1..50/s"),
            ("256→64 @16", "256→64 @16"),
            ("ratecard", "ratecard"),
            ("my level (a)", "my level (a)"),
        ] {
            let name = level_name(english, Language::Chinese);
            assert_eq!(name, chinese);
            assert_eq!(level_name(&name, Language::Chinese), chinese, "a second time");
            assert_eq!(level_name(english, Language::English), english);
        }
    }
}
