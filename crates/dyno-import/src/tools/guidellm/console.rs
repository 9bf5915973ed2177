//! The tables that guidellm prints since 0.2: several of them, one below the other, each with a row for
//! every benchmark and columns in groups. Together they are one run.

use super::columns::{Column, Field};
use super::grouped::{Grouped, grouped};
use super::table::{load, unstated};
use crate::level::blank;
use crate::text::invocation::Invocation;
use crate::text::part::{TextPart, label, put, report, short, unread, whole};
use crate::text::quantity::{Cell, cell, neat};
use dyno_form::lines::{LineKind, TextLine};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelExtras, LoadSummary, Recognised, Tokens};
use dyno_model::{Diagnostic, LevelSummary};
use dyno_words::{Problem, values};

/// Between two tables of a report there are empty lines and a title.
const BETWEEN: usize = 8;

/// Reads the tables that start with the first of these lines; returns how many lines they take.
pub(crate) fn read(lines: &[TextLine], before: &[String]) -> Option<(TextPart, usize)> {
    let first = lines.first()?;
    let (table, mut taken) = grouped(lines)?;
    let by = [table.mark, "Benchmark"];
    let mut reader = Reader::default();
    reader.add(&table);
    while let Some(next) = next_table(&lines[taken..]) {
        let Some((table, rows)) = grouped(&lines[taken + next..]) else { break };
        if reader.starts_anew(&table) {
            break;
        }
        reader.add(&table);
        taken += next + rows;
    }
    let invocation = Invocation::by(before.iter().map(String::as_str));
    let mut part = TextPart::new("guidellm", "table", first.number, Recognised::certain(by));
    part.model = model(before, &invocation);
    part.findings = reader.findings;
    let loads = loads(&reader.rows, &invocation);
    for (row, load) in reader.rows.into_iter().zip(loads) {
        if load.value.is_none() && matches!(load.kind, LoadKind::Concurrency | LoadKind::Rate) {
            let said = Problem::LoadWithoutValue.with([short(&row.name)]);
            part.findings.push(said.at(row.line));
        }
        let mut level = row.level(load, &mut part.findings);
        level.input_length = length(&invocation, "prompt_tokens");
        level.output_length = length(&invocation, "output_tokens");
        part.levels.push((level, LevelExtras::default()));
    }
    Some((part, taken))
}

/// How many lines there are before the next table of the report.
fn next_table(lines: &[TextLine]) -> Option<usize> {
    let near = lines.iter().take(BETWEEN);
    let at = near.enumerate().find(|(at, _)| grouped(&lines[*at..]).is_some())?.0;
    let title = |line: &TextLine| {
        let text = line.text.trim_start_matches(['ℹ', 'i', '✔', ' ']).trim_end_matches(':');
        text.is_empty()
            || matches!(line.kind, LineKind::Open | LineKind::Close)
            || text.starts_with("Benchmarks ")
            || text.ends_with(" Info")
            || text.contains(" Statistics")
            || text.chars().all(|c| c == '=')
    };
    lines[..at].iter().all(title).then_some(at)
}

/// The model, as the tool itself names it.
fn model(before: &[String], invocation: &Invocation) -> Option<String> {
    let said = before.iter().rev().find_map(|line| {
        let (_, name) = line.split_once("backend validated with model ")?;
        name.split_whitespace().next().map(str::to_owned)
    });
    said.or_else(|| invocation.model())
}

/// The length of synthetic prompts or outputs, unless it varies.
fn length(invocation: &Invocation, name: &str) -> Option<u32> {
    let varies = ["stdev", "min", "max"].iter().any(|limit| {
        let setting = format!("{name}_{limit}");
        invocation.number(&[&setting]).is_some_and(|limit| limit > 0.0)
    });
    let tokens = invocation.number(&[name]).filter(|_| !varies).and_then(whole)?;
    u32::try_from(tokens).ok().filter(|tokens| *tokens > 0)
}

/// The loads of the rows. Since 0.4 the tables name the strategy alone; its values are in the settings that
/// the tool prints first.
fn loads(rows: &[Benchmark], invocation: &Invocation) -> Vec<LoadSummary> {
    let of = |kind: LoadKind, values: &[f64]| {
        let open = rows.iter().filter(|row| unstated(&row.name) == Some(kind)).count();
        let stated = if open == values.len() { values.to_vec() } else { Vec::new() };
        stated.into_iter()
    };
    let mut streams = of(LoadKind::Concurrency, &invocation.numbers("streams"));
    let mut rates = of(LoadKind::Rate, &invocation.numbers("rate"));
    let load = |row: &Benchmark| match unstated(&row.name) {
        Some(LoadKind::Concurrency) => blank::load(LoadKind::Concurrency, streams.next()),
        Some(kind) => blank::load(kind, rates.next()),
        None => load(Some(&row.name)),
    };
    rows.iter().map(load).collect()
}

/// The values of a benchmark, from all tables.
#[derive(Debug)]
struct Benchmark {
    name: String,
    line: u64,
    values: Vec<(Column, String)>,
}

#[derive(Debug, Default)]
struct Reader {
    rows: Vec<Benchmark>,
    /// The groups seen so far: a report has each table once.
    seen: Vec<String>,
    findings: Vec<Diagnostic>,
}

impl Reader {
    /// Whether the table belongs to the next report of the text.
    fn starts_anew(&self, table: &Grouped<'_>) -> bool {
        let names = table.rows.iter().map(|(_, cells)| cells.first());
        let same = names.eq(self.rows.iter().map(|row| Some(&row.name)));
        !same || self.seen.contains(&shape(table))
    }

    fn add(&mut self, table: &Grouped<'_>) {
        self.seen.push(shape(table));
        if self.rows.is_empty() {
            self.rows.extend(table.rows.iter().map(|(line, cells)| Benchmark {
                name: cells.first().cloned().unwrap_or_default(),
                line: line.number,
                values: Vec::new(),
            }));
        }
        for ((line, cells), row) in table.rows.iter().zip(&mut self.rows) {
            if cells.len() != table.columns.len() {
                let shown: String = line.text.chars().take(120).collect();
                let values = values![cells.len(), table.columns.len(), shown];
                self.findings.push(Problem::RowCells.with(values).at(line.number));
                continue;
            }
            let values = table.columns.iter().cloned().zip(cells.iter().cloned()).skip(1);
            row.values.extend(values);
        }
    }
}

fn shape(table: &Grouped<'_>) -> String {
    table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join("|")
}

impl Benchmark {
    fn level(&self, load: LoadSummary, findings: &mut Vec<Diagnostic>) -> LevelSummary {
        let mut level = blank::level(label(load.kind, load.value), load);
        let mut totals = [None, None];
        let seconds = self.latency_in_seconds();
        for (column, value) in &self.values {
            let number = match cell(value) {
                Cell::Number(number) if number.unit.is_empty() => number,
                Cell::Absent => continue,
                _ if column.field.is_none() => continue,
                _ => {
                    findings.push(unread(self.line, &column.name, value));
                    continue;
                }
            };
            report(&mut level, self.line, &column.name, number);
            let value = number.value;
            match &column.field {
                Some(Field::Duration) => level.duration_s = Some(value),
                Some(Field::Completed) => level.requests.completed = whole(value),
                Some(Field::Incomplete) => level.requests.censored = whole(value),
                Some(Field::Failed) => level.requests.failed = whole(value),
                // Rounded to nothing is not nothing.
                Some(Field::Rate | Field::OutputRate | Field::TotalRate) if value == 0.0 => {}
                Some(Field::Rate) => level.throughput.requests_per_s = Some(value),
                Some(Field::OutputRate) => level.throughput.output_tokens_per_s = Some(value),
                Some(Field::TotalRate) => level.throughput.total_tokens_per_s = Some(value),
                Some(Field::InputTotal) => totals[0] = whole(value),
                Some(Field::OutputTotal) => totals[1] = whole(value),
                Some(Field::InputMean) => tokens(&mut level.input_tokens, value),
                Some(Field::OutputMean) => tokens(&mut level.output_tokens, value),
                Some(Field::Time(_, _)) if value == 0.0 => {}
                Some(Field::Time(Time::Latency, statistic)) => {
                    let size = if seconds { 1e3 } else { 1.0 };
                    put(&mut level.times[Time::Latency], statistic, neat(value * size));
                }
                Some(Field::Time(time, statistic)) => {
                    put(&mut level.times[*time], statistic, value);
                }
                None => {}
            }
        }
        let [input, output] = totals;
        for (tokens, total) in
            [(&mut level.input_tokens, input), (&mut level.output_tokens, output)]
        {
            tokens.iter_mut().for_each(|tokens| tokens.total = total);
        }
        self.settle(&mut level, findings);
        level
    }

    /// Where nothing completed, there are no times.
    fn settle(&self, level: &mut LevelSummary, findings: &mut Vec<Diagnostic>) {
        let timed =
            [Time::Latency, Time::Ttft, Time::Tpot].iter().any(|t| level.times[*t].is_some());
        if level.requests.completed == Some(0) || !timed {
            let said = Problem::NothingCompleted.with([short(&self.name)]);
            findings.push(said.at(self.line));
            (level.input_tokens, level.output_tokens) = (None, None);
        }
    }

    /// 0.2 heads the latency with milliseconds and prints seconds. What the rate and the concurrency beside it
    /// say decides: by Little's law their ratio is the latency.
    fn latency_in_seconds(&self) -> bool {
        let value = |wanted: &dyn Fn(&Column) -> bool| {
            let (_, value) = self.values.iter().find(|(column, _)| wanted(column))?;
            match cell(value) {
                Cell::Number(number) if number.value > 0.0 => Some(number.value),
                _ => None,
            }
        };
        let mean =
            |c: &Column| matches!(&c.field, Some(Field::Time(Time::Latency, s)) if s == "mean");
        let milliseconds = |c: &Column| c.name.starts_with("Req Latency (ms)");
        if value(&milliseconds).is_none() {
            return true;
        }
        let rate = value(&|c: &Column| c.field == Some(Field::Rate));
        let slots = value(&|c: &Column| c.name == "Request Stats Concurrency");
        match (value(&mean), rate, slots) {
            (Some(mean), Some(rate), Some(slots)) => {
                let off = |seconds: f64| (rate * seconds / slots).ln().abs();
                off(mean) <= off(mean / 1e3)
            }
            _ => true,
        }
    }
}

fn tokens(place: &mut Option<Tokens>, mean: f64) {
    *place = Some(Tokens { total: None, mean });
}
