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
    fn messages_about_the_fields_of_a_trace_are_wholly_chinese() {
        for (english, chinese) in [
            (
                "SPEC: gate.csv:2: there is no field \"tok_out\", which output= names; the fields are \
                 chat, in, out, sent; name one of them, or skip_bad=true to skip such records",
                "SPEC：gate.csv:2：没有 output= 指定的字段 \"tok_out\"；字段有 chat, in, out, sent；\
                 请指定其中之一，或用 skip_bad=true 跳过此类记录",
            ),
            (
                "SPEC: gate.csv:2: there is no field \"chatt\", which session= names; the fields are \
                 chat, in, out; name one of them",
                "SPEC：gate.csv:2：没有 session= 指定的字段 \"chatt\"；字段有 chat, in, out；\
                 请指定其中之一",
            ),
            (
                "SPEC: log.csv is not trace: it is of no known form; the fields are in, out, sent; say \
                 which field holds what, as in trace:FILE,time=FIELD,unit=ms,input=FIELD,output=FIELD; \
                 or leave trace: out to send its prompts",
                "SPEC：log.csv 不是流量记录：格式未知；字段有 in, out, sent；请写明各字段的含义，例如 \
                 trace:FILE,time=FIELD,unit=ms,input=FIELD,output=FIELD；或去掉 trace: 以发送其中的提示词",
            ),
            (
                "SPEC: g.csv:2: the field \"in\" is \"300\", not a date such as 2024-05-10 00:00:00; for a \
                 number add unit=s, unit=ms, unit=us or unit=ns; say its unit, or skip_bad=true to \
                 skip such records",
                "SPEC：g.csv:2：字段 \"in\" 为 \"300\"，不是日期（例如 2024-05-10 00:00:00）；数字请加 unit=s、unit=ms、unit=us 或 unit=ns；请写明单位，或用 skip_bad=true 跳过此类记录",
            ),
            (
                "SPEC: g.csv:2: the field \"t\" is 1770109200000000, too large for a time in \
                 milliseconds; if it is a date, write time=t,unit=us, or skip_bad=true to skip such \
                 records",
                "SPEC：g.csv:2：字段 \"t\" 为 1770109200000000，作为以毫秒表示的时间过大；如果是日期，请写 time=t,unit=us，或用 skip_bad=true 跳过此类记录",
            ),
            (
                "SPEC: g.csv:2: the field \"sent\" is 500 ms before \"done\": the response ends before \
                 its request is sent; swap time= and end= if all records are like this; else correct \
                 it, or skip_bad=true to skip such records",
                "SPEC：g.csv:2：字段 \"sent\" 比 \"done\" 早 500 ms：响应在请求发送之前就已结束；如果所有记录都如此，请交换 time= 和 end=；否则请更正，或用 skip_bad=true 跳过此类记录",
            ),
            (
                "g.csv: mapped trace, 3 requests over 750 ms",
                "g.csv：按指定字段读取的流量记录，3 个请求，时长 750 ms",
            ),
            (
                "g.csv: mapped trace (gzip), 3 requests over 750 ms, hash ids of 256-token blocks",
                "g.csv：按指定字段读取的流量记录（gzip），3 个请求，时长 750 ms，每块 256 个 token 的 hash id",
            ),
            (
                "g.csv: mapped sessions, 2 sessions with 5 requests over 300 ms; at 2 times the speed",
                "g.csv：按指定字段读取的会话，2 个会话，共 5 个请求，时长 300 ms；2 倍速",
            ),
            (
                "120 in, 30 out; after 4.5 s: 140 in, 20 out; … (2 more)",
                "输入 120，输出 30；4.5 s 后：输入 140，输出 20；……（另有 2 个）",
            ),
            (
                "at 3.052 s: 1,100 in, 1 out, ids 46, 48, 50, … (2 more)",
                "3.052 s：输入 1,100，输出 1，id 46, 48, 50……（另有 2 个）",
            ),
        ] {
            assert_eq!(translated(english, Language::Chinese), chinese);
        }
    }

    #[test]
    fn lists_are_chinese_entry_by_entry() {
        for (english, chinese) in [
            (
                "`--profile` is not a flag of dyno bench\n  hint: in Dyno this is --sweep, --rate, \
                 --concurrency or --burst",
                "dyno bench 没有 `--profile` 这个参数\n  提示：在 Dyno 中对应 --sweep、--rate、\
                 --concurrency 或 --burst",
            ),
            (
                "--twin: there is no twin named `q` (did you mean q1-a or q2-b or q3-c?); `dyno twins` \
                 lists them, and your own file is given by its path, such as ./q.toml",
                "--twin：没有名为 `q` 的孪生模型（是否想写 q1-a、q2-b 或 q3-c？）；运行 `dyno twins` \
                 查看全部孪生模型；自己的文件请写路径，例如 ./q.toml",
            ),
            (
                "`x.txt` contains no results of a known tool\n  hint: these are read:\n    AIPerf \
                 and GenAI-Perf exports (JSON, JSON lines, CSV)\n    a thing of tomorrow\n    \
                 LMDeploy profiles (CSV)",
                "`x.txt` 不含已知工具的结果\n  提示：可读取：\n    AIPerf 和 GenAI-Perf 的导出文件（JSON、JSON \
                 lines、CSV）\n    a thing of tomorrow\n    LMDeploy profile 文件（CSV）",
            ),
        ] {
            assert_eq!(translated(english, Language::Chinese), chinese);
        }
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
