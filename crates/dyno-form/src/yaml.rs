//! YAML as tools write it, as JSON values: the readers of documents need not know the difference.
//! Anchors are expanded within a limit, because a small file can name a huge one by them.

use super::json::{Documents, without_mark};
use dyno_model::Diagnostic;
use dyno_model::budget::{Budget, HeldBytes, OverBudget};
use dyno_words::{Problem, values};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;
use yaml_rust2::Event;
use yaml_rust2::parser::{MarkedEventReceiver, Parser};
use yaml_rust2::scanner::{Marker, TScalarStyle};

/// Bytes of memory for a value beside its text, and for an object.
const VALUE: usize = 112;
const OBJECT: usize = 640;
/// The deepest nesting.
const DEEPEST: usize = 64;
/// Lines that are looked at to tell YAML from other text.
const LOOKED_AT: usize = 40;

/// Whether it may be YAML with names at its top level: the first lines that say something are
/// `name: value`, lists below a name, or a mark of the beginning of a document.
pub fn looks_like_yaml(bytes: &[u8]) -> bool {
    let head = &without_mark(bytes)[..without_mark(bytes).len().min(1 << 16)];
    let Ok(text) = std::str::from_utf8(head)
        .or_else(|error| std::str::from_utf8(&head[..error.valid_up_to()]))
    else {
        return false;
    };
    let said = text.lines().map(str::trim_end).filter(|line| {
        let bare = line.trim_start();
        !bare.is_empty() && !bare.starts_with('#') && bare != "---"
    });
    let mut said = said.take(LOOKED_AT).peekable();
    let named = |line: &str| {
        let bare = line.trim_start().trim_start_matches("- ");
        let name = bare.split_once(": ").map(|(name, _)| name).or(bare.strip_suffix(':'));
        name.is_some_and(|name| {
            let fits = |c: char| c.is_alphanumeric() || " _-./%\"'".contains(c);
            !name.is_empty() && name.len() <= 100 && name.chars().all(fits)
        })
    };
    let starts = said.peek().is_some_and(|line| named(line) && !line.starts_with(' '));
    starts
        && said
            .all(|line| named(line) || line.trim_start().starts_with("- ") || line.starts_with(' '))
}

/// Reads every document of a file. After an error nothing more is read.
pub fn documents(bytes: &[u8]) -> Documents {
    documents_within(bytes, &Budget::foreign())
}

fn documents_within(bytes: &[u8], budget: &Budget) -> Documents {
    let mut found = Documents::default();
    let Ok(text) = std::str::from_utf8(without_mark(bytes)) else { return found };
    let mut builder = Builder::new(budget);
    let mut parser = Parser::new_from_str(text);
    if let Err(error) = parser.load(&mut builder, true) {
        builder.problem.get_or_insert_with(|| {
            let place = error.marker();
            Problem::YamlBroken.with(values![place.col() + 1, error.info()]).at(place.line() as u64)
        });
    }
    found.values = builder.documents;
    found.problems.extend(builder.problem);
    found.too_large = builder.too_large;
    found.held = Some(builder.held);
    found
}

/// A list or an object that is not complete.
enum Open {
    List(Vec<Value>, usize),
    Object(Map<String, Value>, Option<String>, usize),
}

/// Makes values of the parser's events.
struct Builder {
    documents: Vec<(u64, Value)>,
    problem: Option<Diagnostic>,
    open: Vec<Open>,
    /// Where the current document begins.
    line: u64,
    /// Values that others stand for, with the memory that each takes.
    anchors: HashMap<usize, (Value, usize)>,
    /// Bytes of all values so far, with those that are repeated counted as often.
    bytes: usize,
    held: HeldBytes,
    too_large: bool,
}

impl Builder {
    fn new(budget: &Budget) -> Self {
        Self {
            documents: Vec::new(),
            problem: None,
            open: Vec::new(),
            line: 0,
            anchors: HashMap::new(),
            bytes: 0,
            held: budget.share(),
            too_large: false,
        }
    }

    fn refuse(&mut self, over: OverBudget, line: u64) {
        self.too_large = true;
        let problem = Problem::YamlTooLarge.with(values![over.mib(), DEEPEST]).at(line);
        self.problem.get_or_insert(problem);
    }

    /// Takes note of more memory; whether there is as much.
    fn grow(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.set(self.bytes)
    }

    /// Adds a value whose memory was taken note of.
    fn add(&mut self, value: Value, anchor: usize) {
        if anchor > 0 {
            let size = weight(&value);
            self.bytes = self.bytes.saturating_add(size);
            self.anchors.insert(anchor, (value.clone(), size));
        }
        match self.open.last_mut() {
            Some(Open::List(list, _)) => list.push(value),
            Some(Open::Object(_, name @ None, _)) => {
                *name = Some(match value {
                    Value::String(name) => name,
                    // A number is a name in YAML, and text in JSON.
                    other => other.to_string(),
                });
            }
            Some(Open::Object(fields, name, _)) => {
                if let Some(name) = name.take() {
                    fields.insert(name, value);
                }
            }
            None => self.documents.push((self.line, value)),
        }
    }

    fn close(&mut self) {
        let (value, anchor) = match self.open.pop() {
            Some(Open::List(list, anchor)) => (Value::Array(list), anchor),
            Some(Open::Object(fields, _, anchor)) => (Value::Object(fields), anchor),
            None => return,
        };
        self.add(value, anchor);
    }
}

impl MarkedEventReceiver for Builder {
    fn on_event(&mut self, event: Event, place: Marker) {
        if self.problem.is_some() {
            return;
        }
        let line = place.line() as u64;
        let (bytes, deep) = match &event {
            Event::Scalar(text, ..) => (VALUE + text.capacity(), self.open.len()),
            Event::SequenceStart(..) => (VALUE, self.open.len() + 1),
            Event::MappingStart(..) => (OBJECT, self.open.len() + 1),
            Event::Alias(anchor) => {
                let size = self.anchors.get(anchor).map_or(VALUE, |(_, size)| *size);
                (size, self.open.len())
            }
            _ => (0, self.open.len()),
        };
        if let Err(over) = self.grow(bytes) {
            return self.refuse(over, line);
        }
        if deep > DEEPEST {
            return self.refuse(OverBudget(self.bytes), line);
        }
        match event {
            Event::DocumentStart => {
                self.line = line;
                self.anchors.clear();
            }
            Event::Scalar(text, style, anchor, _) => self.add(scalar(text, style), anchor),
            Event::SequenceStart(anchor, _) => self.open.push(Open::List(Vec::new(), anchor)),
            Event::MappingStart(anchor, _) => {
                self.open.push(Open::Object(Map::new(), None, anchor))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).map(|(value, _)| value.clone());
                self.add(value.unwrap_or_default(), 0);
            }
            _ => {}
        }
    }
}

/// Bytes of memory that a value takes, about.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => VALUE + text.capacity(),
        Value::Array(list) => VALUE + list.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            let inner = fields.iter().map(|(name, value)| VALUE + name.capacity() + weight(value));
            OBJECT + inner.sum::<usize>()
        }
        _ => VALUE,
    }
}

/// A plain scalar may be a number, a truth value or nothing; a quoted one is text.
fn scalar(text: String, style: TScalarStyle) -> Value {
    if style != TScalarStyle::Plain {
        return Value::String(text);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" | ".nan" | ".NaN" | ".NAN" | "nan" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".inf" | ".Inf" | "+.inf" => Value::String("inf".to_owned()),
        "-.inf" | "-.Inf" => Value::String("-inf".to_owned()),
        number => match number.parse::<i64>() {
            Ok(whole) => Value::Number(whole.into()),
            Err(_) => real(number).map_or_else(|| Value::String(text.clone()), Value::Number),
        },
    }
}

fn real(text: &str) -> Option<Number> {
    let digits = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    Number::from_f64(text.parse().ok().filter(|_| digits)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        let mut found = documents(text.as_bytes());
        assert_eq!(found.problems, []);
        found.values.remove(0).1
    }

    #[test]
    fn values_are_those_of_json() {
        let value = read("a: 1\nb: [1.5e3, -2, 'x', ~, true]\nc:\n  d: .inf\n  2: \"7\"\n");
        assert_eq!(
            value,
            json!({"a": 1, "b": [1500.0, -2, "x", null, true], "c": {"d": "inf", "2": "7"}})
        );
    }

    #[test]
    fn anchors_are_expanded() {
        assert_eq!(read("a: &x\n  b: 1\nc: *x\n"), json!({"a": {"b": 1}, "c": {"b": 1}}));
    }

    #[test]
    fn a_small_file_cannot_stand_for_a_huge_one() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..10 {
            let above = format!("*a{}, ", i - 1).repeat(10);
            text.push_str(&format!("a{i}: &a{i} [{}]\n", above.trim_end_matches(", ")));
        }
        let found = documents(text.as_bytes());
        assert_eq!(found.problems[0].code, "import_yaml_too_large");
        assert!(found.problems[0].line().is_some());
    }

    /// M6: 6000 names of one text of a megabyte took more than 2.4 GB, as values or as keys.
    #[test]
    fn repeated_texts_count_as_often_as_they_are_used() {
        let text = "x".repeat(100_000);
        for line in ["- *long\n", "- *long : 1\n", "- ? *long\n"] {
            let bomb = format!("a: &long {text}\nb:\n{}", line.repeat(600));
            let found = documents_within(bomb.as_bytes(), &Budget::of(8 << 20));
            assert!(found.too_large, "{line}");
            assert_eq!(found.problems[0].code, "import_yaml_too_large");
        }
    }

    #[test]
    fn an_error_has_its_place() {
        let found = documents(b"a: 1\nb: [1, 2\nc: 3\n");
        assert_eq!(found.problems[0].code, "import_yaml_broken");
        assert!(found.problems[0].line().is_some_and(|line| line >= 2));
    }

    #[test]
    fn prose_is_not_yaml() {
        assert!(looks_like_yaml(b"# made by a tool\nversion: '0.1'\nmetrics:\n  a: 1\n"));
        assert!(looks_like_yaml(b"---\nbenchmarks:\n- a: 1\n"));
        assert!(!looks_like_yaml(
            b"# Title\n\nSome text about results: they are good, or not.\nMore.\n"
        ));
        assert!(!looks_like_yaml(b"| a | b |\n"));
        assert!(!looks_like_yaml(b"a,b\n1,2\n"));
        assert!(!looks_like_yaml(b""));
    }
}
