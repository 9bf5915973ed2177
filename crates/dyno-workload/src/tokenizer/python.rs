//! The little of Python that chat templates lean on: methods of strings and dicts, `json.dumps`
//! and `strftime`.

use std::io;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::strtime::{BrokenDownTime, Config};
use jiff::tz::Offset;
use minijinja::value::{Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// A method that minijinja's own values lack.
pub(super) fn method(
    state: &State,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let found = match (value.kind(), value.as_str()) {
        (ValueKind::String, Some(text)) => of_string(text, name, args)?,
        (ValueKind::Map, _) => of_dict(state, value, name, args)?,
        _ => None,
    };
    found.ok_or_else(|| {
        let kind = value.kind();
        Error::new(ErrorKind::UnknownMethod, format!("no method {name}() for a {kind} is known"))
    })
}

fn of_string(text: &str, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        "strip" | "lstrip" | "rstrip" => Value::from(stripped(text, name, args)?),
        "split" | "rsplit" => split(text, name == "rsplit", args)?,
        "splitlines" => text.lines().map(Value::from).collect(),
        "startswith" => any_of(args, |part| text.starts_with(part))?,
        "endswith" => any_of(args, |part| text.ends_with(part))?,
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "replace" => {
            let (from, to, times): (&str, &str, Option<usize>) = from_args(args)?;
            Value::from(match times {
                Some(times) => text.replacen(from, to, times),
                None => text.replace(from, to),
            })
        }
        "find" => {
            let (part,): (&str,) = from_args(args)?;
            match text.find(part) {
                Some(at) => Value::from(text[..at].chars().count()),
                None => Value::from(-1),
            }
        }
        "count" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.matches(part).count())
        }
        "join" => {
            let (parts,): (&Value,) = from_args(args)?;
            let parts: Vec<String> = parts.try_iter()?.map(|part| part.to_string()).collect();
            Value::from(parts.join(text))
        }
        "format" => Value::from(formatted(text, args)),
        "upper" => Value::from(text.to_uppercase()),
        "lower" => Value::from(text.to_lowercase()),
        "capitalize" => Value::from(capitalised(text)),
        "title" => {
            let words: Vec<String> = text.split(' ').map(capitalised).collect();
            Value::from(words.join(" "))
        }
        "isdigit" => Value::from(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
        "isspace" => Value::from(!text.is_empty() && text.chars().all(char::is_whitespace)),
        _ => return Ok(None),
    }))
}

fn of_dict(
    state: &State,
    dict: &Value,
    name: &str,
    args: &[Value],
) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        "items" => state.apply_filter("items", std::slice::from_ref(dict))?,
        "keys" => dict.try_iter()?.collect(),
        "values" => dict.try_iter()?.map(|key| dict.get_item(&key)).collect::<Result<_, _>>()?,
        "get" => {
            let (key, default): (&Value, Option<Value>) = from_args(args)?;
            let found = dict.get_item(key)?;
            if found.is_undefined() { default.unwrap_or_else(|| Value::from(())) } else { found }
        }
        _ => return Ok(None),
    }))
}

fn stripped<'a>(text: &'a str, name: &str, args: &[Value]) -> Result<&'a str, Error> {
    let (set,): (Option<&str>,) = from_args(args)?;
    let drop = |c: char| set.map_or_else(|| c.is_whitespace(), |set| set.contains(c));
    Ok(match name {
        "lstrip" => text.trim_start_matches(drop),
        "rstrip" => text.trim_end_matches(drop),
        _ => text.trim_matches(drop),
    })
}

fn split(text: &str, from_the_end: bool, args: &[Value]) -> Result<Value, Error> {
    let (at, times): (Option<&str>, Option<i64>) = from_args(args)?;
    let times = times.and_then(|times| usize::try_from(times).ok());
    let parts: Vec<&str> = match (at, times) {
        (Some(""), _) => {
            return Err(Error::new(ErrorKind::InvalidOperation, "split() by an empty string"));
        }
        (Some(at), Some(times)) if from_the_end => {
            let mut parts: Vec<&str> = text.rsplitn(times + 1, at).collect();
            parts.reverse();
            parts
        }
        (Some(at), Some(times)) => text.splitn(times + 1, at).collect(),
        (Some(at), None) => text.split(at).collect(),
        (None, _) => text.split_whitespace().collect(),
    };
    Ok(parts.into_iter().map(Value::from).collect())
}

/// `startswith` and `endswith` take one string or a tuple of them.
fn any_of(args: &[Value], holds: impl Fn(&str) -> bool) -> Result<Value, Error> {
    let (wanted,): (&Value,) = from_args(args)?;
    if let Some(part) = wanted.as_str() {
        return Ok(Value::from(holds(part)));
    }
    Ok(Value::from(wanted.try_iter()?.any(|part| part.as_str().is_some_and(&holds))))
}

/// `{}` filled in one after the other; names and widths do not occur in templates.
fn formatted(text: &str, args: &[Value]) -> String {
    args.iter().fold(text.to_owned(), |text, arg| text.replacen("{}", &arg.to_string(), 1))
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars.as_str().to_lowercase().chars()).collect()
    })
}

/// As `json.dumps` writes it: a space after every comma and colon, or an indent.
pub(super) fn json(value: &Value, indent: Option<usize>) -> Result<String, serde_json::Error> {
    let mut out = Vec::new();
    match indent {
        Some(width) => {
            let indent = b" ".repeat(width);
            let pretty = PrettyFormatter::with_indent(&indent);
            value.serialize(&mut Serializer::with_formatter(&mut out, pretty))?;
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut out, Spaced))?,
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

/// As `strftime` writes it, in UTC. What it does not know is left as it stands.
pub(super) fn strftime(format: &str, unix_seconds: u64) -> String {
    let now = Timestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(unix_seconds));
    let Ok(now) = now else { return format.to_owned() };
    BrokenDownTime::from(Offset::UTC.to_datetime(now))
        .to_string_with_config(&Config::new().lenient(true), format)
        .unwrap_or_else(|_| format.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_strftime_writes_them() {
        assert_eq!(strftime("%d %b %Y, %A %H:%M:%S", 0), "01 Jan 1970, Thursday 00:00:00");
        assert_eq!(strftime("%d %B %y %a", 951_782_400), "29 February 00 Tue");
        assert_eq!(strftime("%Y-%m-%d %Q %", 1_735_689_599), "2024-12-31 %Q %");
    }

    #[test]
    fn strings_split_and_strip_as_in_python() {
        let call = |text: &str, name: &str, args: &[Value]| {
            of_string(text, name, args).expect("call").expect("known").to_string()
        };
        assert_eq!(call(" a  b ", "split", &[]), r#"["a", "b"]"#);
        assert_eq!(call("a,b,c", "split", &[",".into(), 1.into()]), r#"["a", "b,c"]"#);
        assert_eq!(call("a,b,c", "rsplit", &[",".into(), 1.into()]), r#"["a,b", "c"]"#);
        assert_eq!(call("--a-", "strip", &["-".into()]), "a");
        assert_eq!(call("--a-", "rstrip", &["-".into()]), "--a");
        assert_eq!(call("héa", "find", &["a".into()]), "2");
        assert_eq!(call("a", "find", &["b".into()]), "-1");
        assert_eq!(call("heLLo you", "title", &[]), "Hello You");
        let either = Value::from_iter(["x", "a"]);
        assert_eq!(call("abc", "startswith", &[either]), "True");
        assert!(of_string("a", "split", &["".into()]).is_err());
        assert!(of_string("a", "frobnicate", &[]).expect("call").is_none());
    }
}
