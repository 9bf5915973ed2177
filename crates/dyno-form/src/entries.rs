//! The entries of a document of settings, in TOML or YAML, with their lines. What they mean is not known
//! here.

use super::yaml;
use dyno_model::{Message, message};
use dyno_words::said;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An entry at the top of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingEntry {
    /// Its name.
    pub key: String,
    /// Where it begins, from 1.
    pub line: usize,
    /// What it holds. A date is text.
    pub value: Value,
}

/// Why a document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where, from 1.
    pub line: usize,
    /// The entry at fault, where it is one.
    pub key: Option<String>,
    /// What is wrong.
    pub what: Message,
}

/// The entries of a TOML document.
pub fn of_toml(text: &str) -> Result<Vec<SettingEntry>, Wrong> {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line(span.start));
        let what = message!("this is not TOML: {}", "不是 TOML：{}", error.message());
        Wrong { line, key: None, what }
    })?;
    let mut entries = Vec::new();
    for (key, value) in table.get_ref() {
        let (key, line) = (key.get_ref().to_string(), line(key.span().start));
        match to_json(value) {
            Ok(value) => entries.push(SettingEntry { key, line, value }),
            Err(what) => return Err(Wrong { line, key: Some(key), what }),
        }
    }
    entries.sort_by_key(|entry| entry.line);
    Ok(entries)
}

/// The entries of a YAML document.
pub fn of_yaml(text: &str) -> Result<Vec<SettingEntry>, Wrong> {
    let wrong = |line: u64, what| Wrong { line: line as usize, key: None, what };
    let mut found = yaml::documents(text.as_bytes());
    if let Some(problem) = found.problems.first() {
        return Err(wrong(problem.line().unwrap_or(1), said(problem).0));
    }
    let document = found.values.pop();
    if let Some((line, _)) = document.as_ref().filter(|_| !found.values.is_empty()) {
        let what = message!(
            "a settings file is one document; remove what follows ---",
            "设置文件只能是一个文档；请删除 --- 及其后的内容"
        );
        return Err(wrong(*line, what));
    }
    let fields = match document {
        None | Some((_, Value::Null)) => return Ok(Vec::new()),
        Some((_, Value::Object(fields))) => fields,
        Some((line, _)) => {
            let what = message!(
                "this is not a list of settings; write key: value",
                "这不是设置列表；请写 key: value"
            );
            return Err(wrong(line, what));
        }
    };
    let mut entries = Vec::new();
    for (key, value) in fields {
        // A key of a whole document begins its line.
        let mut lines = text.lines().zip(1..).filter(|(line, _)| starts_with_key(line, &key));
        let line = lines.next().map_or(1, |(_, number)| number);
        if let Some((_, line)) = lines.next() {
            let what = message!("given more than once; give it once", "重复指定；请只写一次");
            return Err(Wrong { line, key: Some(key), what });
        }
        entries.push(SettingEntry { key, line, value });
    }
    entries.sort_by_key(|entry| entry.line);
    Ok(entries)
}

fn starts_with_key(line: &str, name: &str) -> bool {
    let line = line.strip_prefix(['"', '\'']).unwrap_or(line);
    let rest = line.strip_prefix(name).map(|rest| rest.strip_prefix(['"', '\'']).unwrap_or(rest));
    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn to_json(value: &Spanned<DeValue<'_>>) -> Result<Value, Message> {
    let bad = |text: &str| message!("`{text}` has no JSON form", "`{text}` 无法表示为 JSON");
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Integer(number) => {
            let signed = i64::from_str_radix(number.as_str(), number.radix()).map(Value::from);
            let any = signed
                .or_else(|_| u64::from_str_radix(number.as_str(), number.radix()).map(Value::from));
            any.map_err(|_| bad(number.as_str()))?
        }
        DeValue::Float(number) => {
            let real = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            real.map(Value::Number).ok_or_else(|| bad(number.as_str()))?
        }
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => items.iter().map(to_json).collect::<Result<_, _>>()?,
        DeValue::Table(table) => {
            let field = |(key, item): (&Spanned<_>, _)| {
                Ok((ToString::to_string(key.get_ref()), to_json(item)?))
            };
            table.iter().map(field).collect::<Result<_, Message>>()?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_both_forms_are_the_same() {
        let toml = of_toml("a = [1, 2.5]\n\n\"b\" = { c = 0x10 }\nd = 2026-01-01\n").unwrap();
        let yaml = of_yaml("a: [1, 2.5]\n\n\"b\":\n  c: 16\nd: '2026-01-01'\n").unwrap();
        let plain = |all: Vec<SettingEntry>| -> Vec<(String, Value)> {
            all.into_iter().map(|entry| (entry.key, entry.value)).collect()
        };
        assert_eq!(toml[1].line, 3);
        assert_eq!(yaml[2].line, 5);
        assert_eq!(plain(toml), plain(yaml));
        assert_eq!(of_yaml("# nothing\n"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let of = |wrong: Wrong| (wrong.line, wrong.key, wrong.what);
        let (line, key, what) = of(of_toml("a = 1\nb = nan\n").unwrap_err());
        assert_eq!((line, key.as_deref()), (2, Some("b")), "{what}");
        assert_eq!(of_toml("a = 1\na = 2\n").unwrap_err().line, 2);
        let (line, key, _) = of(of_yaml("a: 1\n'a': 2\n").unwrap_err());
        assert_eq!((line, key.as_deref()), (2, Some("a")));
        assert!(of_yaml("- a\n").is_err() && of_yaml("a: 1\n---\nb: 2\n").is_err());
    }
}
