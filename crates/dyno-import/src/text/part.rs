//! The result of a reader: levels of one tool and form, and remarks on them.

use super::quantity::{Cell, Measure, Quantity, cell, name};
use dyno_model::load::LoadKind;
use dyno_model::summary::Distribution;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_model::{Diagnostic, LevelSummary};
use dyno_words::Problem;

/// A piece of text that was recognised.
#[derive(Debug, Clone)]
pub(crate) struct TextPart {
    /// The tool that printed it.
    pub(crate) tool: &'static str,
    /// Its form: `table`, `block`, `pivot`, `matrix`.
    pub(crate) form: &'static str,
    /// The line at which it begins.
    pub(crate) line: u64,
    /// Its levels; a block is one.
    pub(crate) levels: Vec<(LevelSummary, LevelExtras)>,
    /// The dialect, where it is stated.
    pub(crate) api: Option<&'static str>,
    /// How it was recognised.
    pub(crate) recognised: Recognised,
    /// The model, where it is stated.
    pub(crate) model: Option<String>,
    /// The name of the run, where the result itself has one; otherwise the text around it names the run.
    pub(crate) label: Option<String>,
    /// The tool's version, where it is stated.
    pub(crate) version: Option<String>,
    /// Remarks.
    pub(crate) findings: Vec<Diagnostic>,
}

impl TextPart {
    pub(crate) fn new(
        tool: &'static str,
        form: &'static str,
        line: u64,
        recognised: Recognised,
    ) -> Self {
        Self {
            tool,
            form,
            line,
            recognised,
            levels: Vec::new(),
            api: None,
            model: None,
            label: None,
            version: None,
            findings: Vec::new(),
        }
    }
}

/// A value that is not a number, or has the wrong unit.
pub(crate) fn unread(line: u64, name: &str, value: &str) -> Diagnostic {
    Problem::Unread.with([short(name), short(value)]).at(line)
}

/// Text of a file, cut to a length that fits into a message.
pub(crate) fn short(text: &str) -> String {
    let mut shown: String = text.trim().chars().take(60).collect();
    if shown.len() < text.trim().len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Keeps the tool's own value under the tool's name and unit; a unit after the number is appended to the
/// name.
pub(crate) fn report(level: &mut LevelSummary, line: u64, name: &str, number: Quantity<'_>) {
    let reported = level.reported.get_or_insert_default();
    reported.line.get_or_insert(line);
    let bare = name.trim().trim_end_matches([':', '：']).trim();
    let unit = number.unit;
    let has_unit = super::quantity::name(name).1.is_some();
    let key = if unit.is_empty() || has_unit || unit.chars().count() > 20 {
        bare.to_owned()
    } else {
        format!("{bare} ({unit})")
    };
    if !bare.is_empty() {
        reported.figures.insert(key, number.value);
    }
}

/// A name and its value, as in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stated<'a> {
    pub(crate) line: u64,
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> Stated<'a> {
    /// The number, if there is one; anything else except an empty value is reported.
    pub(crate) fn number(&self, findings: &mut Vec<Diagnostic>) -> Option<Quantity<'a>> {
        match cell(self.value) {
            Cell::Number(quantity) => Some(quantity),
            Cell::Absent => None,
            Cell::Other => {
                findings.push(unread(self.line, self.name, self.value));
                None
            }
        }
    }

    /// The value in Dyno's unit (milliseconds, per second, or unchanged).
    pub(crate) fn converted(
        &self,
        measure: Measure,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<f64> {
        let quantity = self.number(findings)?;
        let figure = measure.of(quantity, name(self.name).1);
        if figure.is_none() {
            findings.push(unread(self.line, self.name, self.value));
        }
        figure
    }

    /// The same for a count.
    pub(crate) fn count(&self, findings: &mut Vec<Diagnostic>) -> Option<u64> {
        let figure = self.converted(Measure::Plain, findings)?;
        let whole = whole(figure);
        if whole.is_none() {
            findings.push(unread(self.line, self.name, self.value));
        }
        whole
    }
}

/// A value that is a count.
pub(crate) fn whole(figure: f64) -> Option<u64> {
    (figure.fract() == 0.0 && figure < 9e15).then_some(figure as u64)
}

/// Puts a statistic (`mean`, `median`, `p99`, `99%`, ...) into a distribution; false where it has
/// no field for it.
pub(crate) fn put(figure: &mut Option<Distribution>, statistic: &str, millis: f64) -> bool {
    let mut filled = figure.take().unwrap_or_default();
    let place = match statistic {
        "mean" | "average" | "avg" => Some(&mut filled.mean),
        "median" | "p50" | "50%" => Some(&mut filled.p50),
        "std" => Some(&mut filled.std),
        "min" => Some(&mut filled.min),
        "max" => Some(&mut filled.max),
        "p66" | "66%" => Some(&mut filled.p66),
        "p75" | "75%" => Some(&mut filled.p75),
        "p80" | "80%" => Some(&mut filled.p80),
        "p90" | "90%" => Some(&mut filled.p90),
        "p95" | "95%" => Some(&mut filled.p95),
        "p98" | "98%" => Some(&mut filled.p98),
        "p99" | "99%" => Some(&mut filled.p99),
        "p99.9" | "99.9%" => Some(&mut filled.p99_9),
        _ => None,
    };
    let known = place.is_some();
    if let Some(place) = place {
        *place = Some(millis);
    }
    if filled != Distribution::default() {
        *figure = Some(filled);
    }
    known
}

/// The label of a level, by its load.
pub(crate) fn label(kind: LoadKind, value: Option<f64>) -> String {
    value.map_or_else(|| kind.to_string(), |value| format!("{kind} {value}"))
}
