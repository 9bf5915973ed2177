//! The parts of Python that chat templates use and minijinja-contrib lacks or implements differently: a
//! few string methods, `json.dumps` and `strftime`.

use std::io;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::strtime::{BrokenDownTime, Config};
use jiff::tz::Offset;
use minijinja::value::{Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::template::{bounded, own};
use dyno_model::message;

/// A method that minijinja's own values lack.
pub(super) fn method(
    state: &State,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let kind = value.kind();
    if let (ValueKind::String, Some(text)) = (kind, value.as_str())
        && let Some(found) = of_string(text, name, args)?
    {
        return Ok(found);
    }
    unknown_method_callback(state, value, name, args).map_err(|error| match error.kind() {
        ErrorKind::UnknownMethod => {
            let what = message!(
                "no method {name}() for a {kind} is known",
                "{kind} 没有已知的方法 {name}()"
            );
            own(error.kind(), what)
        }
        _ => error,
    })
}

fn of_string(text: &str, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        // Not there.
        "rsplit" => rsplit(text, args)?,
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        // There, but in bytes, without an end for an empty part, or true of an empty text.
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
        "isdigit" => Value::from(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
        "isspace" => Value::from(!text.is_empty() && text.chars().all(char::is_whitespace)),
        "replace" => {
            let (from, to, times): (&str, &str, Option<usize>) = from_args(args)?;
            bounded::check_replace(text, from, to)?;
            let times = times.unwrap_or(usize::MAX);
            Value::from(if times == usize::MAX {
                text.replace(from, to)
            } else {
                text.replacen(from, to, times)
            })
        }
        "format" => {
            bounded::check_format(text, args)?;
            return Ok(None);
        }
        "join" => {
            let (values,): (Value,) = from_args(args)?;
            bounded::join(&values, text)?
        }
        "split" if args.first().and_then(Value::as_str) == Some("") => return Err(by_nothing()),
        _ => return Ok(None),
    }))
}

fn by_nothing() -> Error {
    own(
        ErrorKind::InvalidOperation,
        message!("split() by an empty string", "split() 的分隔符为空字符串"),
    )
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (at, times): (Option<&str>, Option<i64>) = from_args(args)?;
    let times = times.and_then(|times| usize::try_from(times).ok());
    let mut parts: Vec<&str> = match (at, times) {
        (Some(""), _) => return Err(by_nothing()),
        (Some(at), Some(times)) => text.rsplitn(times + 1, at).collect(),
        (Some(at), None) => text.rsplit(at).collect(),
        (None, _) => text.split_whitespace().rev().collect(),
    };
    parts.reverse();
    Ok(parts.into_iter().map(Value::from).collect())
}

/// As `json.dumps` writes it: a space after every comma and colon, or an indent.
/// At most `limit` bytes are written.
pub(super) fn json(
    value: &Value,
    indent: Option<usize>,
    limit: usize,
) -> Result<String, serde_json::Error> {
    let mut out = Limited { bytes: Vec::new(), limit };
    match indent {
        Some(width) => {
            let indent = b" ".repeat(width);
            let pretty = PrettyFormatter::with_indent(&indent);
            value.serialize(&mut Serializer::with_formatter(&mut out, pretty))?;
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut out, Spaced))?,
    }
    Ok(String::from_utf8_lossy(&out.bytes).into_owned())
}

/// Bytes up to a limit.
struct Limited {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Limited {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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

/// As `strftime` writes it, in UTC. Unknown specifiers are left as they are.
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
        let environment = minijinja::Environment::new();
        let state = environment.empty_state();
        let method =
            |text: &str, name: &str, args: &[Value]| method(&state, &Value::from(text), name, args);
        let call = |text: &str, name: &str, args: &[Value]| {
            method(text, name, args).expect("call").to_string()
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
        assert_eq!(call("aaa", "count", &["".into()]), "4");
        assert_eq!(call("", "isdigit", &[]), "False");
        assert!(method("a", "split", &["".into()]).is_err());
        let unknown = method("a", "frobnicate", &[]).expect_err("unknown");
        assert_eq!(unknown.detail(), Some("no method frobnicate() for a string is known"));
    }
}
