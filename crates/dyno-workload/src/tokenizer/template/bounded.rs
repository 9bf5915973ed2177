//! Limits for templates, which come with models and are programs: a few lines can double a text forty times.
//! minijinja limits steps, not sizes, so what makes texts and lists longer is replaced by operations that
//! refuse to exceed a size.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dyno_model::{Message, message};
use minijinja::machinery::{
    CompiledTemplate, Instruction, Instructions, TemplateConfig, WhitespaceConfig,
};
use minijinja::value::{Kwargs, Object, Rest, Value, ValueKind};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, FormatStyle, Output, State, format_filter,
};

use super::super::python;

/// The longest text that a template may make, and all that it may put out, in bytes.
const LONGEST: usize = 64 << 20;
/// The most elements of a list that it may make.
const MOST_ELEMENTS: usize = 1_000_000;
/// The widest indent or field.
const WIDEST: usize = 1_000;
/// The longest text between two tags.
const LONGEST_RAW: usize = 64 << 10;
/// What texts between tags may add up to in loops: fewer steps are allowed where they are long.
const ALL_RAW: usize = 512 << 20;
/// The steps of a rendering, at least and at most.
const STEPS: (u64, u64) = (20_000, 10_000_000);

/// See [`products`].
const MOST_PRODUCTS: usize = 2;

/// Operations that replace those of minijinja; no template can have such names.
const ADD: &str = "a + b";
const JOIN: &str = "a ~ b";
const TIMES: &str = "a * b";

/// A compiled template whose operations are bounded.
pub(super) struct Bounded {
    pub(super) main: Instructions<'static>,
    pub(super) blocks: BTreeMap<&'static str, Instructions<'static>>,
}

fn refused(why: Message) -> Error {
    super::own(ErrorKind::InvalidOperation, why)
}

/// Why something is refused.
fn too_large() -> Error {
    refused(message!(
        "the template makes a text of more than {} MiB",
        "模板生成的文本超过 {} MiB",
        LONGEST >> 20
    ))
}

fn too_wide() -> Error {
    refused(message!(
        "the template asks for an indent or a field wider than {WIDEST}",
        "模板要求的缩进或字段宽度超过 {WIDEST}"
    ))
}

/// Adds what templates use instead of minijinja's own operations.
pub(super) fn limit(environment: &mut Environment<'static>) {
    environment.set_formatter(put);
    environment.add_function(ADD, add);
    environment.add_function(JOIN, |a: Value, b: Value| shown(&[&a, &b]).map(Value::from));
    environment.add_function(TIMES, times);
    environment.add_filter("tojson", to_json);
    environment.add_filter("indent", indent);
    environment.add_filter("string", |value: Value| shown(&[&value]).map(Value::from));
    environment.add_filter("pprint", |value: Value| shown(&[&value]).map(Value::from));
    environment.add_filter("replace", replace);
    environment.add_filter("join", |values: Value, between: Option<Value>| {
        join(&values, between.as_ref().and_then(Value::as_str).unwrap_or(""))
    });
    environment.add_filter("format", |text: String, values: Rest<Value>| {
        check_format(&text, &values)?;
        format_filter(FormatStyle::Printf, &text, &values)
    });
}

/// Compiles a template with its operations replaced; with it, how many steps it may take.
pub(super) fn compile(source: &'static str) -> Result<(Bounded, u64), Message> {
    let config = TemplateConfig {
        syntax_config: Default::default(),
        ws_config: WhitespaceConfig {
            trim_blocks: true,
            lstrip_blocks: true,
            ..WhitespaceConfig::default()
        },
        default_auto_escape: Arc::new(|_| AutoEscape::None),
    };
    if products(source).is_none_or(|count| count > MOST_PRODUCTS) {
        return Err(message!(
            "it multiplies by large numbers, or more than {MOST_PRODUCTS} times",
            "其中与很大的数字相乘，或相乘超过 {MOST_PRODUCTS} 次"
        ));
    }
    let compiled = CompiledTemplate::new(super::NAME, source, &config)
        .map_err(|error| super::said_by(&error))?;
    let mut longest = 1;
    let main = replaced(&compiled.instructions, &mut longest);
    let blocks = compiled.blocks.iter().map(|(name, one)| (*name, replaced(one, &mut longest)));
    let bounded = Bounded { main, blocks: blocks.collect() };
    if longest > LONGEST_RAW {
        return Err(message!(
            "it has a text of more than {} KiB between two tags",
            "其中两个标签之间的文本超过 {} KiB",
            LONGEST_RAW >> 10
        ));
    }
    let steps = (ALL_RAW / longest) as u64;
    Ok((bounded, steps.clamp(STEPS.0, STEPS.1)))
}

/// How often something is multiplied by a number inside of tags, if by small ones. The compiler itself
/// multiplies constants, so there must be few; others are multiplied by [`times`].
fn products(source: &str) -> Option<usize> {
    let mut count = 0;
    // A tag ends with a brace; text before the first one is not inside of any.
    for part in source.split('{').skip(1) {
        let tag = &part[..part.find('}').unwrap_or(part.len())];
        for (at, _) in tag.match_indices('*') {
            let before = tag[..at].trim_end();
            let left = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let after = tag[at + 1..].trim_start();
            let right = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            match left.max(right) {
                0 => {}
                1..=3 => count += 1,
                _ => return None,
            }
        }
    }
    Some(count)
}

fn replaced<'a>(all: &Instructions<'a>, longest: &mut usize) -> Instructions<'a> {
    let mut out = Instructions::new(all.name(), all.source());
    for index in 0.. {
        let Some(one) = all.get(index) else { break };
        let instead = match one {
            Instruction::Add => Instruction::CallFunction(ADD, Some(2)),
            Instruction::StringConcat => Instruction::CallFunction(JOIN, Some(2)),
            Instruction::Mul => Instruction::CallFunction(TIMES, Some(2)),
            other => other.clone(),
        };
        if let Instruction::EmitRaw(text) = one {
            *longest = text.len().max(*longest);
        }
        match all.get_line(index) {
            Some(line) => out.add_with_line(instead, u16::try_from(line).unwrap_or(u16::MAX)),
            None => out.add(instead),
        };
    }
    out
}

/// Text that refuses to become too long.
#[derive(Default)]
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Values as they are printed, one after the other.
fn shown(values: &[&Value]) -> Result<String, Error> {
    let mut out = Short::default();
    values.iter().try_for_each(|value| write!(out, "{value}")).map_err(|_| too_large())?;
    Ok(out.0)
}

/// How much a rendering has put out.
#[derive(Debug, Default)]
struct Written(AtomicUsize);

impl Object for Written {}

/// Puts out a value.
fn put(out: &mut Output, state: &State, value: &Value) -> Result<(), Error> {
    let text = shown(&[value])?;
    let written = state.get_or_set_temp_object("written", Written::default);
    if written.0.fetch_add(text.len(), Ordering::Relaxed) + text.len() > LONGEST {
        return Err(too_large());
    }
    out.write_str(&text).map_err(Error::from)
}

fn add(a: Value, b: Value) -> Result<Value, Error> {
    if let (Some(first), Some(second)) = (a.as_str(), b.as_str()) {
        return match first.len() + second.len() > LONGEST {
            true => Err(too_large()),
            false => Ok(Value::from([first, second].concat())),
        };
    }
    let is_list = |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    if is_list(&a) && is_list(&b) {
        return listed(a.try_iter()?.chain(b.try_iter()?));
    }
    whole(&a, &b, i64::checked_add)
        .or_else(|| real(&a, &b, |a, b| a + b))
        .ok_or_else(|| impossible("+", &a, &b))
}

fn times(a: Value, b: Value) -> Result<Value, Error> {
    let counted = a.as_usize().zip(Some(&b)).or(b.as_usize().zip(Some(&a)));
    if let Some((count, value)) = counted {
        if let Some(text) = value.as_str() {
            return match text.len().checked_mul(count).is_some_and(|length| length <= LONGEST) {
                true => Ok(Value::from(text.repeat(count))),
                false => Err(too_large()),
            };
        }
        if matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
            let list: Vec<Value> = value.try_iter()?.take(MOST_ELEMENTS + 1).collect();
            let count = if list.is_empty() { 0 } else { count };
            return listed((0..count).flat_map(|_| list.iter().cloned()));
        }
    }
    whole(&a, &b, i64::checked_mul)
        .or_else(|| real(&a, &b, |a, b| a * b))
        .ok_or_else(|| impossible("*", &a, &b))
}

fn listed(values: impl Iterator<Item = Value>) -> Result<Value, Error> {
    let list: Vec<Value> = values.take(MOST_ELEMENTS + 1).collect();
    match list.len() > MOST_ELEMENTS {
        true => Err(too_large()),
        false => Ok(Value::from(list)),
    }
}

fn whole(a: &Value, b: &Value, by: fn(i64, i64) -> Option<i64>) -> Option<Value> {
    (a.is_integer() && b.is_integer()).then(|| by(a.as_i64()?, b.as_i64()?).map(Value::from))?
}

fn real(a: &Value, b: &Value, by: fn(f64, f64) -> f64) -> Option<Value> {
    let number = |value: &Value| value.is_number().then(|| f64::try_from(value.clone()).ok())?;
    Some(Value::from(by(number(a)?, number(b)?)))
}

fn impossible(sign: &str, a: &Value, b: &Value) -> Error {
    refused(message!(
        "tried to use {sign} on {} and {}",
        "不能对 {} 和 {} 使用 {sign}",
        a.kind(),
        b.kind()
    ))
}

/// `json.dumps` with its own spacing, and no HTML escapes.
fn to_json(value: Value, options: Kwargs) -> Result<Value, Error> {
    let indent = options.get::<Option<usize>>("indent")?;
    if indent.is_some_and(|width| width > WIDEST) {
        return Err(too_wide());
    }
    // Named by templates, without effect here: text is never escaped, keys keep their order.
    for ignored in ["ensure_ascii", "separators", "sort_keys"] {
        let _ = options.get::<Option<Value>>(ignored)?;
    }
    options.assert_all_used()?;
    python::json(&value, indent, LONGEST).map(Value::from).map_err(|error| match error.is_io() {
        true => {
            super::own(ErrorKind::BadSerialization, message!("the JSON is too long", "JSON 过长"))
        }
        false => Error::new(ErrorKind::BadSerialization, error.to_string()),
    })
}

fn indent(
    text: String,
    width: Option<usize>,
    first: Option<bool>,
    blank: Option<bool>,
    options: Kwargs,
) -> Result<Value, Error> {
    let width = match width {
        Some(width) => width,
        None => options.get::<Option<usize>>("width")?.unwrap_or(4),
    };
    if width > WIDEST {
        return Err(too_wide());
    }
    let option = |given: Option<bool>, name: &str| match given {
        Some(given) => Ok(given),
        None => options.get::<Option<bool>>(name).map(Option::unwrap_or_default),
    };
    let (first, blank) = (option(first, "first")?, option(blank, "blank")?);
    options.assert_all_used()?;
    let mut out = Short::default();
    for (place, line) in text.lines().enumerate() {
        let before = if place > 0 { "\n" } else { "" };
        let wide = (place > 0 || first) && (blank || !line.is_empty());
        let width = if wide { width } else { 0 };
        write!(out, "{before}{:width$}{line}", "").map_err(|_| too_large())?;
    }
    Ok(Value::from(out.0))
}

/// Whether a replacement fits.
pub(crate) fn check_replace(text: &str, from: &str, to: &str) -> Result<(), Error> {
    let more = text.matches(from).count().saturating_mul(to.len());
    if text.len().saturating_add(more) > LONGEST { Err(too_large()) } else { Ok(()) }
}

fn replace(text: Value, from: Value, to: Value) -> Result<String, Error> {
    let [text, from, to] = [&text, &from, &to].map(|value| shown(&[value]));
    let (text, from, to) = (text?, from?, to?);
    check_replace(&text, &from, &to)?;
    Ok(text.replace(&from, &to))
}

/// Values as text with something between them.
pub(crate) fn join(values: &Value, between: &str) -> Result<Value, Error> {
    if values.is_undefined() || values.is_none() {
        return Ok(Value::from(""));
    }
    let mut out = Short::default();
    let mut put = |text: fmt::Arguments<'_>| out.write_fmt(text).map_err(|_| too_large());
    if let Some(text) = values.as_str() {
        for (place, c) in text.chars().enumerate() {
            put(format_args!("{}{c}", if place > 0 { between } else { "" }))?;
        }
    } else {
        for (place, value) in values.try_iter()?.enumerate() {
            put(format_args!("{}{value}", if place > 0 { between } else { "" }))?;
        }
    }
    Ok(Value::from(out.0))
}

/// Whether a format with these values stays within limits: a width is a number in it.
pub(crate) fn check_format(text: &str, values: &[Value]) -> Result<(), Error> {
    let digits = |text: &str| text.split(|c: char| !c.is_ascii_digit()).any(|run| run.len() > 3);
    let wide = |value: &Value| value.as_i64().is_some_and(|n| n.unsigned_abs() > WIDEST as u64);
    if digits(text) || text.contains('*') && values.iter().any(wide) {
        return Err(too_wide());
    }
    let places = text.matches(['%', '{']).count();
    let longest = values.iter().map(|value| shown(&[value]).map(|text| text.len()));
    let longest = longest.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0);
    let all = longest.saturating_mul(places).saturating_add(text.len());
    if all > LONGEST { Err(too_large()) } else { Ok(()) }
}
