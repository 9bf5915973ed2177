//! Chinese for messages that reach the terminal as finished English text: errors of all crates,
//! wrong usage, hints. The libraries write English, because their messages are also recorded;
//! the printer looks up the sentence that a message was made from in `translations/` and fills its
//! values into the Chinese one. A message that is not found there stays English.
//!
//! [`pairs`] reads the translations, [`sentence`] is one of them and recognises its own words, and
//! [`search`] finds the sentences that a message consists of.

mod pairs;
mod search;
mod sentence;

pub use pairs::known;

use dyno_model::Language;
use search::{Found, Search};
use std::borrow::Cow;

/// The hint that follows an error on a line of its own.
const HINT: [&str; 2] = ["\n  hint: ", "\n  提示："];

/// The message in the language; the same where no translation is known.
pub fn translated(text: &str, language: Language) -> Cow<'_, str> {
    if language == Language::English {
        return Cow::Borrowed(text);
    }
    let mut search = Search::of(text);
    let parts: Vec<Option<Found>> = text.split(HINT[0]).map(|part| search.any(part, 0)).collect();
    if parts.len() == 1 && parts[0].is_none() {
        return Cow::Borrowed(text);
    }
    let said = text.split(HINT[0]).zip(parts).map(|(part, found)| Found::or(found, part));
    Cow::Owned(said.collect::<Vec<_>>().join(HINT[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::is_chinese;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_found_behind_its_flag_and_with_its_hint() {
        let chinese = |text| translated(text, Language::Chinese).into_owned();
        let said = chinese("--rate: `x` is not a rate; write requests per second, such as 2.5");
        assert!(said.starts_with("--rate：`x` ") && is_chinese(&said), "{said}");
        let said = chinese(
            "`--foo` is not a flag of dyno bench\n  hint: `dyno bench --help` lists the flags",
        );
        assert!(said.contains("\n  提示：") && !said.contains("hint"), "{said}");
        assert_eq!(chinese("nobody ever said this"), "nobody ever said this");
        let english = "--rate: `x` is not a rate; write requests per second, such as 2.5";
        assert_eq!(translated(english, Language::English), english);
    }

    #[test]
    fn the_reading_with_the_most_known_words_wins() {
        let chinese = |text| translated(text, Language::Chinese).into_owned();
        assert_eq!(
            chinese(
                "--data: q.jsonl:3: there is no field b; the fields are a, c; write prompt=FIELD \
                 for the one that holds the prompt, or skip_bad=true to skip such records"
            ),
            "--data：q.jsonl:3：没有字段 b；字段有 a, c；请用 prompt=FIELD 指定提示词所在的字段，\
             或用 skip_bad=true 跳过此类记录"
        );
        assert_eq!(
            chinese("twin file a.toml, line 3: `noise` is 7; give a finite number of at least 0"),
            "孪生模型文件 a.toml 第 3 行：`noise` 为 7；请给出不小于 0 的有限数"
        );
        assert_eq!(
            chinese("--data: q.jsonl has nothing left to send: 3 records could not be read"),
            "--data：q.jsonl 没有可发送的内容：3 条记录无法读取"
        );
        assert_eq!(chinese("the sky is blue; nobody knows"), "the sky is blue; nobody knows");
    }

    #[test]
    fn a_long_message_takes_no_long_time() {
        let text = "HTTP 400: a is b; the field x is y, not z: or at line 3 column 5; ".repeat(40);
        let start = std::time::Instant::now();
        let _ = translated(&text, Language::Chinese);
        // A second where nothing else runs; without the limit on texts it would not end.
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in any::<String>()) {
            let _ = translated(&text, Language::Chinese);
        }
    }
}
