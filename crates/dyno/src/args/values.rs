//! Parses the values of flags. An error repeats the value and says what would be valid, except where
//! it could be a secret.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dyno_model::limits::{HIGHEST_RATE, MOST_IN_FLIGHT, MOST_INPUTS, MOST_REQUESTS};
use dyno_model::plan::Warmup;
use dyno_model::units::{UnitError, parse_count, parse_duration, parse_rate, parse_share};
use dyno_model::{Localized, Message, Nanos, message};
use dyno_run::Sources;
use dyno_workload::random::lengths::Lengths;
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

const MOST_LEVELS: usize = 1_000;
const MOST_TOKENS: u32 = 10_000_000;

/// Several values of one flag, in the order typed; never empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

/// A value that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// An extra header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// As typed.
    pub(crate) name: String,
    /// Possibly a key.
    pub(crate) value: Secret,
}

/// Extra fields of the request body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExtraBody(pub(crate) Map<String, Value>);

/// One of a few values by its name. There must be at least one.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    known: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = known.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names)
        .map(|typed| known.iter().find(|(name, _)| *name == typed).unwrap_or(&known[0]).1)
}

/// A value whose own syntax is read elsewhere.
pub(super) fn parsed<T: FromStr>(text: &str) -> Result<T, Message>
where
    T::Err: Localized,
{
    text.parse().map_err(Message::of)
}

pub(super) fn list<T>(
    text: &str,
    one: impl Fn(&str) -> Result<T, Message>,
) -> Result<List<T>, Message> {
    let values: Vec<T> = text.split(',').map(|part| one(part.trim())).collect::<Result<_, _>>()?;
    if values.len() > MOST_LEVELS {
        return Err(message!(
            "{} levels are too many; write at most {MOST_LEVELS}",
            "{} 个档位过多；最多写 {MOST_LEVELS} 个",
            values.len()
        ));
    }
    Ok(List(values))
}

/// A whole number from 1 to `most`, such as 500 or 1.5k; `wrong` says what it should be.
fn count(text: &str, most: u64, wrong: fn(&str, u64) -> Message) -> Result<u64, Message> {
    match parse_count(text) {
        Ok(value) if (1..=most).contains(&value) => Ok(value),
        Err(error @ UnitError::UnknownMultiplier { .. }) => Err(Message::of(error)),
        _ => Err(wrong(text, most)),
    }
}

fn small_count(text: &str, most: u32, wrong: fn(&str, u64) -> Message) -> Result<u32, Message> {
    count(text, most.into(), wrong).map(|value| u32::try_from(value).unwrap_or(most))
}

pub(super) fn in_flight(text: &str) -> Result<u32, Message> {
    small_count(text, MOST_IN_FLIGHT, |text, most| {
        message!(
            "`{text}` is not a number of requests in flight; write a whole number from 1 to \
             {most}, or several such as 8,16,32",
            "`{text}` 不是并发数；请写 1 到 {most} 的整数，也可以写多个，例如 8,16,32"
        )
    })
}

pub(super) fn rate(text: &str) -> Result<f64, Message> {
    match parse_rate(text) {
        Ok(value) if value > 0.0 && value <= HIGHEST_RATE => Ok(value),
        Ok(value) if value == f64::INFINITY => Err(message!(
            "`{text}` is not a rate; write requests per second, such as 2.5",
            "`{text}` 不是请求速率；请写每秒请求数，例如 2.5"
        )
        .with_hint(message!(
            "to send N requests all at once, use --burst N",
            "如需一次发送 N 个请求，请使用 --burst N"
        ))),
        Ok(value) if value > HIGHEST_RATE => Err(message!(
            "`{text}` is too high; the highest rate is {HIGHEST_RATE} requests per second",
            "`{text}` 过高；请求速率最高为每秒 {HIGHEST_RATE} 个请求"
        )),
        Err(error @ UnitError::UnknownMultiplier { .. }) => Err(Message::of(error)),
        _ => Err(message!(
            "`{text}` is not a rate; write requests per second, such as 2.5, or several such as \
             1,2.5,10",
            "`{text}` 不是请求速率；请写每秒请求数，例如 2.5，也可以写多个，例如 1,2.5,10"
        )),
    }
}

fn burst(text: &str) -> Result<u64, Message> {
    count(text, MOST_IN_FLIGHT.into(), |text, most| {
        message!(
            "`{text}` is not a number of requests to send at once; write a whole number from 1 \
             to {most}, or several such as 1,2,4",
            "`{text}` 不是一次发送的请求数；请写 1 到 {most} 的整数，也可以写多个，例如 1,2,4"
        )
    })
}

/// `--rate`.
pub(crate) fn rate_list(text: &str) -> Result<List<f64>, Message> {
    list(text, rate)
}

/// `--burst`.
pub(crate) fn burst_list(text: &str) -> Result<List<u64>, Message> {
    list(text, burst)
}

/// `--limit`.
pub(crate) fn requests(text: &str) -> Result<u64, Message> {
    count(text, MOST_REQUESTS, |text, most| {
        message!(
            "`{text}` is not a number of requests; write a whole number from 1 to {most}",
            "`{text}` 不是请求数；请写 1 到 {most} 的整数"
        )
    })
}

/// `--min-input-tokens`, `--max-input-tokens`.
pub(crate) fn tokens(text: &str) -> Result<u32, Message> {
    small_count(text, MOST_TOKENS, |text, most| {
        message!(
            "`{text}` is not a number of tokens; write a whole number from 1 to {most}",
            "`{text}` 不是 token 数；请写 1 到 {most} 的整数"
        )
    })
}

/// `--input-tokens`, `--output-tokens`: lengths and distributions.
pub(crate) fn lengths(text: &str) -> Result<List<Lengths>, Message> {
    Lengths::list(text).map(List).map_err(Message::of)
}

/// `--inputs`.
pub(crate) fn inputs(text: &str) -> Result<List<u32>, Message> {
    list(text, |part| match parse_count(part) {
        Ok(count) if (1..=MOST_INPUTS).contains(&count) => Ok(count as u32),
        _ => Err(message!(
            "`{part}` is not a number of texts per request; write a whole number from 1 to \
             {MOST_INPUTS}",
            "`{part}` 不是每个请求的文本数；请写一个 1 到 {MOST_INPUTS} 的整数"
        )),
    })
}

/// `--source-address`.
pub(crate) fn sources(text: &str) -> Result<Sources, Message> {
    Sources::parse(text).map_err(Message::of)
}

/// A duration that may be zero.
pub(crate) fn duration(text: &str) -> Result<Nanos, Message> {
    parse_duration(text).map_err(Message::of)
}

/// A duration above zero.
pub(crate) fn some_duration(text: &str) -> Result<Nanos, Message> {
    match duration(text)? {
        0 => Err(message!(
            "`{text}` is zero; write a duration above zero, such as 60s",
            "`{text}` 为零；请写大于零的时长，例如 60s"
        )),
        nanos => Ok(nanos),
    }
}

/// `--warmup`: a bare number counts requests, a number with a unit is a time.
pub(crate) fn warmup(text: &str) -> Result<Warmup, Message> {
    let wrong = || {
        message!(
            "`{text}` is not a warm-up; write a number of requests such as 20, or a duration such \
             as 10s",
            "`{text}` 不是预热；请写请求数（例如 20）或时长（例如 10s）"
        )
    };
    match parse_count(text) {
        Ok(count) if count <= MOST_REQUESTS => Ok(Warmup::Requests(count)),
        Ok(_) => Err(wrong()),
        Err(_) => parse_duration(text).map(Warmup::Duration).map_err(|_| wrong()),
    }
}

/// `--allow-failures`.
pub(crate) fn share(text: &str) -> Result<f64, Message> {
    parse_share(text).map_err(Message::of)
}

/// `--seed`.
pub(crate) fn seed(text: &str) -> Result<u64, Message> {
    text.parse().map_err(|_| {
        message!(
            "`{text}` is not a seed; write a whole number from 0 to {}",
            "`{text}` 不是随机种子；请写 0 到 {} 的整数",
            u64::MAX
        )
    })
}

/// `--temperature`.
pub(crate) fn temperature(text: &str) -> Result<f64, Message> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(message!(
            "`{text}` is not a temperature; write a number from 0 to 100, such as 0.7",
            "`{text}` 不是温度；请写 0 到 100 的数，例如 0.7"
        )),
    }
}

/// `--api`: the server is asked which it has.
pub(crate) const AUTO: &str = "auto";

/// `--api`: the names of the dialects, as the help page and the completions list them.
pub(crate) fn api() -> PossibleValuesParser {
    let names = dyno_run::apis().map(|about| about.name);
    PossibleValuesParser::new(std::iter::once(AUTO).chain(names))
}

/// Text that is not empty: `--model`, `--stop`, `--label`.
pub(crate) fn some_text(text: &str) -> Result<String, Message> {
    if text.is_empty() {
        return Err(message!(
            "the text is empty; write at least one character, or leave the flag out",
            "文本为空；请至少写一个字符，或去掉该参数"
        ));
    }
    Ok(text.to_owned())
}

/// `--label`: a name that fits in a table.
pub(crate) fn label(text: &str) -> Result<String, Message> {
    let text = some_text(text)?;
    if text.chars().count() > 200 || text.chars().any(char::is_control) {
        return Err(message!(
            "a label is one line of at most 200 characters",
            "标签只能是一行，最多 200 个字符"
        )
        .with_hint(message!("use --note for longer remarks", "较长的备注请使用 --note")));
    }
    Ok(text)
}

/// `--extra-body`.
pub(crate) fn extra_body(text: &str) -> Result<ExtraBody, Message> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        message!(
            "this is not JSON ({error}); write an object such as '{{\"top_k\": 20}}'",
            "不是 JSON（{error}）；请写一个对象，例如 '{{\"top_k\": 20}}'",
        )
    })?;
    let Value::Object(fields) = value else {
        return Err(message!(
            "this JSON is not an object; write one such as '{{\"top_k\": 20}}'",
            "这个 JSON 不是对象；请写一个对象，例如 '{{\"top_k\": 20}}'"
        ));
    };
    if let Some((name, hint)) = fields.keys().find_map(|name| Some((name, set_by(name)?))) {
        return Err(message!(
            "`{name}` is a field that Dyno sets itself",
            "字段 `{name}` 由 Dyno 自己设置"
        )
        .with_hint(hint));
    }
    Ok(ExtraBody(fields))
}

/// What sets a field of the request body, if Dyno does.
fn set_by(field: &str) -> Option<Message> {
    Some(match field {
        "stream" => message!("leave it out, or use --no-stream", "请去掉，或使用 --no-stream"),
        "max_tokens" | "max_completion_tokens" => {
            message!("use --output-tokens", "请使用 --output-tokens")
        }
        "messages" | "prompt" => {
            message!("prompts are made from --input-tokens", "提示词由 --input-tokens 生成")
        }
        "model" => message!("use --model", "请使用 --model"),
        _ => return None,
    })
}

/// `--api-key`, and the text of a key from elsewhere.
pub(crate) fn api_key(text: &str) -> Result<Secret, Message> {
    if text.is_empty() {
        return Err(message!("the key is empty", "密钥为空"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(message!(
            "the key contains blanks, control or non-ASCII characters, which a header cannot \
             contain",
            "密钥包含空白、控制字符或非 ASCII 字符，无法放入请求头"
        ));
    }
    Ok(Secret(text.to_owned()))
}

/// `--header`. The text is never repeated: any part of it may be a secret.
pub(crate) fn header(text: &str) -> Result<Header, Message> {
    const OURS: &[&str] = &[
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let Some((name, value)) = text.split_once(':') else {
        return Err(message!(
            "there is no colon; write NAME:VALUE, such as X-Tenant:load-test",
            "缺少冒号；请写 NAME:VALUE，例如 X-Tenant:load-test"
        ));
    };
    let name = name.trim();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(message!(
            "the name before the colon is not a header name; use letters, digits and -, such as \
             X-Tenant:load-test",
            "冒号前不是请求头名称；请使用字母、数字和 -，例如 X-Tenant:load-test"
        ));
    }
    let value = value.trim();
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(message!(
            "the value of `{name}` contains a line break or control character; a header is one \
             line",
            "`{name}` 的值包含换行或控制字符；请求头只能是一行"
        ));
    }
    if OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
        return Err(message!(
            "`{name}` belongs to the connection and is set by Dyno itself; leave it out",
            "`{name}` 属于连接，由 Dyno 自己设置；请去掉"
        ));
    }
    Ok(Header { name: name.to_owned(), value: Secret(value.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        assert_eq!(
            super::super::levels::concurrency("8, 4,16"),
            Ok(super::super::levels::Concurrency::List(List(vec![8, 4, 16])))
        );
        assert_eq!(rate_list("1,2.5,1.5k,120/min"), Ok(List(vec![1.0, 2.5, 1500.0, 2.0])));
        assert_eq!(burst_list("2048,4k"), Ok(List(vec![2048, 4000])));
    }

    #[test]
    fn absurd_numbers_are_refused() {
        for text in ["", "0", "-1", "1,,2", "100001", "1e3", "four"] {
            assert!(super::super::levels::concurrency(text).is_err(), "{text}");
            assert!(burst_list(text).is_err(), "{text}");
        }
        for text in ["0", "-2", "nan", "inf", "1e7", "1,x", ""] {
            assert!(rate_list(text).is_err(), "{text}");
        }
        assert_eq!([tokens("2k"), tokens("1M")], [Ok(2_000), Ok(1_000_000)]);
        assert!(requests("2m").unwrap_err().to_string().contains("k (thousand), M (million)"));
        for text in ["0", "10000001", "-5", "1.5", "11M"] {
            assert!(tokens(text).is_err(), "{text}");
        }
        let many = vec!["1"; 1_001].join(",");
        assert!(
            super::super::levels::concurrency(&many).unwrap_err().to_string().contains("too many")
        );
    }

    #[test]
    fn a_warm_up_is_a_count_or_a_time() {
        assert_eq!(warmup("20"), Ok(Warmup::Requests(20)));
        assert_eq!(warmup("1.5k"), Ok(Warmup::Requests(1500)));
        assert_eq!(warmup("1m30s"), Ok(Warmup::Duration(90_000_000_000)));
        assert_eq!(warmup("10s"), Ok(Warmup::Duration(10_000_000_000)));
        for text in ["", "ten", "-1", "99999999999999999999"] {
            assert!(warmup(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_about_headers_and_keys_keep_their_secret() {
        for text in
            ["Authorization Bearer hush", "hush hush:x", "X-Key:hush\r\nY:hush", "Host:hush"]
        {
            assert!(!header(text).unwrap_err().to_string().contains("hush"), "{text:?}");
        }
        assert!(!api_key("hush hush").unwrap_err().to_string().contains("hush"));
        let kept = header("X-Key: hush").unwrap();
        assert_eq!(kept.value.0, "hush");
        assert!(!format!("{kept:?}").contains("hush"));
    }

    #[test]
    fn extra_fields_must_be_an_object_without_our_own() {
        assert!(extra_body(r#"{"top_k": 20}"#).is_ok());
        for text in ["[]", "{", "3", r#"{"stream": true}"#, r#"{"model": "m"}"#] {
            assert!(extra_body(text).is_err(), "{text}");
        }
    }
}
