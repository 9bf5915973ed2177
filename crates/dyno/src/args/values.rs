//! Parses the values of flags. An error repeats the value and says what would be valid, except where
//! it could be a secret.

use clap::builder::PossibleValuesParser;
use dyno_model::Nanos;
use dyno_model::limits::{HIGHEST_RATE, MOST_IN_FLIGHT, MOST_INPUTS, MOST_REQUESTS};
use dyno_model::plan::Warmup;
use dyno_model::units::{UnitError, parse_count, parse_duration, parse_rate, parse_share};
use dyno_run::Sources;
use dyno_workload::random::lengths::Lengths;
use serde_json::{Map, Value};
use std::fmt;

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

/// An error message with a hint on its second line.
pub(crate) fn with_hint(message: impl fmt::Display, hint: impl fmt::Display) -> String {
    format!("{message}\n  hint: {hint}")
}

pub(super) fn list<T>(
    text: &str,
    one: impl Fn(&str) -> Result<T, String>,
) -> Result<List<T>, String> {
    let values: Vec<T> = text.split(',').map(|part| one(part.trim())).collect::<Result<_, _>>()?;
    if values.len() > MOST_LEVELS {
        return Err(format!("{} levels are too many; write at most {MOST_LEVELS}", values.len()));
    }
    Ok(List(values))
}

/// A whole number from 1 to `most`, such as 500 or 1.5k. `wanted` is what it should be, and `more`
/// ends the message.
fn count(text: &str, most: u64, wanted: &str, more: &str) -> Result<u64, String> {
    match parse_count(text) {
        Ok(value) if (1..=most).contains(&value) => Ok(value),
        Err(error @ UnitError::UnknownMultiplier { .. }) => Err(error.to_string()),
        _ => Err(format!("`{text}` is not {wanted}; write a whole number from 1 to {most}{more}")),
    }
}

fn small_count(text: &str, most: u32, wanted: &str, more: &str) -> Result<u32, String> {
    count(text, most.into(), wanted, more).map(|value| u32::try_from(value).unwrap_or(most))
}

pub(super) fn in_flight(text: &str) -> Result<u32, String> {
    let more = ", or several such as 8,16,32";
    small_count(text, MOST_IN_FLIGHT, "a number of requests in flight", more)
}

pub(super) fn rate(text: &str) -> Result<f64, String> {
    match parse_rate(text) {
        Ok(value) if value > 0.0 && value <= HIGHEST_RATE => Ok(value),
        Ok(value) if value == f64::INFINITY => Err(with_hint(
            format!("`{text}` is not a rate; write requests per second, such as 2.5"),
            "to send N requests all at once, use --burst N",
        )),
        Ok(value) if value > HIGHEST_RATE => Err(format!(
            "`{text}` is too high; the highest rate is {HIGHEST_RATE} requests per second"
        )),
        Err(error @ UnitError::UnknownMultiplier { .. }) => Err(error.to_string()),
        _ => Err(format!(
            "`{text}` is not a rate; write requests per second, such as 2.5, or several such as \
             1,2.5,10"
        )),
    }
}

fn burst(text: &str) -> Result<u64, String> {
    let more = ", or several such as 1,2,4";
    count(text, MOST_IN_FLIGHT.into(), "a number of requests to send at once", more)
}

/// `--rate`.
pub(crate) fn rate_list(text: &str) -> Result<List<f64>, String> {
    list(text, rate)
}

/// `--burst`.
pub(crate) fn burst_list(text: &str) -> Result<List<u64>, String> {
    list(text, burst)
}

/// `--limit`.
pub(crate) fn requests(text: &str) -> Result<u64, String> {
    count(text, MOST_REQUESTS, "a number of requests", "")
}

/// `--min-input-tokens`, `--max-input-tokens`.
pub(crate) fn tokens(text: &str) -> Result<u32, String> {
    small_count(text, MOST_TOKENS, "a number of tokens", "")
}

/// `--input-tokens`, `--output-tokens`: lengths and distributions.
pub(crate) fn lengths(text: &str) -> Result<List<Lengths>, String> {
    Lengths::list(text).map(List).map_err(|error| error.to_string())
}

/// `--inputs`.
pub(crate) fn inputs(text: &str) -> Result<List<u32>, String> {
    list(text, |part| match parse_count(part) {
        Ok(count) if (1..=MOST_INPUTS).contains(&count) => Ok(count as u32),
        _ => Err(format!(
            "`{part}` is not a number of texts per request; write a whole number from 1 to {MOST_INPUTS}"
        )),
    })
}

/// `--source-address`.
pub(crate) fn sources(text: &str) -> Result<Sources, String> {
    Sources::parse(text).map_err(|error| error.to_string())
}

/// A duration that may be zero.
pub(crate) fn duration(text: &str) -> Result<Nanos, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

/// A duration above zero.
pub(crate) fn some_duration(text: &str) -> Result<Nanos, String> {
    match duration(text)? {
        0 => Err(format!("`{text}` is zero; write a duration above zero, such as 60s")),
        nanos => Ok(nanos),
    }
}

/// `--warmup`: a bare number counts requests, a number with a unit is a time.
pub(crate) fn warmup(text: &str) -> Result<Warmup, String> {
    let wrong = || {
        format!(
            "`{text}` is not a warm-up; write a number of requests such as 20, or a duration such \
             as 10s"
        )
    };
    match parse_count(text) {
        Ok(count) if count <= MOST_REQUESTS => Ok(Warmup::Requests(count)),
        Ok(_) => Err(wrong()),
        Err(_) => parse_duration(text).map(Warmup::Duration).map_err(|_| wrong()),
    }
}

/// `--allow-failures`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    parse_share(text).map_err(|error| error.to_string())
}

/// `--seed`.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a seed; write a whole number from 0 to {}", u64::MAX))
}

/// `--temperature`.
pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => {
            Err(format!("`{text}` is not a temperature; write a number from 0 to 100, such as 0.7"))
        }
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
pub(crate) fn some_text(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("the text is empty; write at least one character, or leave the flag out".into());
    }
    Ok(text.to_owned())
}

/// `--label`: a name that fits in a table.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let text = some_text(text)?;
    if text.chars().count() > 200 || text.chars().any(char::is_control) {
        return Err(with_hint(
            "a label is one line of at most 200 characters",
            "use --note for longer remarks",
        ));
    }
    Ok(text)
}

/// `--extra-body`.
pub(crate) fn extra_body(text: &str) -> Result<ExtraBody, String> {
    const OURS: &[(&str, &str)] = &[
        ("stream", "leave it out, or use --no-stream"),
        ("max_tokens", "use --output-tokens"),
        ("max_completion_tokens", "use --output-tokens"),
        ("messages", "prompts are made from --input-tokens"),
        ("prompt", "prompts are made from --input-tokens"),
        ("model", "use --model"),
    ];
    let value: Value = serde_json::from_str(text).map_err(|error| {
        format!("this is not JSON ({error}); write an object such as '{{\"top_k\": 20}}'")
    })?;
    let Value::Object(fields) = value else {
        return Err("this JSON is not an object; write one such as '{\"top_k\": 20}'".to_owned());
    };
    if let Some((name, hint)) = OURS.iter().find(|(name, _)| fields.contains_key(*name)) {
        return Err(with_hint(format!("`{name}` is a field that Dyno sets itself"), hint));
    }
    Ok(ExtraBody(fields))
}

/// `--api-key`, and the text of a key from elsewhere.
pub(crate) fn api_key(text: &str) -> Result<Secret, String> {
    if text.is_empty() {
        return Err("the key is empty".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(
            "the key contains blanks, control or non-ASCII characters, which a header cannot contain"
                .to_owned(),
        );
    }
    Ok(Secret(text.to_owned()))
}

/// `--header`. The text is never repeated: any part of it may be a secret.
pub(crate) fn header(text: &str) -> Result<Header, String> {
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
        return Err("there is no colon; write NAME:VALUE, such as X-Tenant:load-test".to_owned());
    };
    let name = name.trim();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(
            "the name before the colon is not a header name; use letters, digits and -, such as \
             X-Tenant:load-test"
                .to_owned(),
        );
    }
    let value = value.trim();
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(format!(
            "the value of `{name}` contains a line break or control character; a header is one line"
        ));
    }
    if OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
        return Err(format!(
            "`{name}` belongs to the connection and is set by Dyno itself; leave it out"
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
        assert!(requests("2m").unwrap_err().contains("k (thousand), M (million)"));
        for text in ["0", "10000001", "-5", "1.5", "11M"] {
            assert!(tokens(text).is_err(), "{text}");
        }
        let many = vec!["1"; 1_001].join(",");
        assert!(super::super::levels::concurrency(&many).unwrap_err().contains("too many"));
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
            assert!(!header(text).unwrap_err().contains("hush"), "{text:?}");
        }
        assert!(!api_key("hush hush").unwrap_err().contains("hush"));
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
