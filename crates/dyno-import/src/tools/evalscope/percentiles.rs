//! EvalScope's table of percentiles, which belongs to the summary above it: a row for each percentile up
//! to 1.4, a row for each metric since.

use crate::level::blank;
use crate::text::part::{Stated, TextPart, put, report};
use crate::text::quantity::{Measure, name};
use dyno_form::table::Table;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_model::{Diagnostic, LevelSummary};
use dyno_words::Problem;

/// Which way the table is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Percentiles<'a> {
    table: &'a Table,
    /// The percentiles are the columns.
    across: bool,
}

impl<'a> Percentiles<'a> {
    /// The table, if it is one of percentiles with metrics of EvalScope.
    pub(super) fn of(table: &'a Table) -> Option<Self> {
        let heads = table.heads();
        let metrics = |names: &mut dyn Iterator<Item = &str>| {
            names.filter(|metric| time(metric).is_some()).count() > 0
        };
        let columns = || heads.iter().skip(1).map(String::as_str);
        let rows = || table.rows.iter().skip(table.header.max(1)).map(|row| row.name());
        let across = match name(heads.first()?).0.as_str() {
            "percentile" | "percentiles" if metrics(&mut columns()) => false,
            "metric" | "metrics" if metrics(&mut rows()) => true,
            _ => return None,
        };
        let all = |names: &mut dyn Iterator<Item = &str>| {
            let mut names = names.peekable();
            names.peek().is_some() && names.all(|name| statistic(name).is_some())
        };
        let known = if across { all(&mut columns()) } else { all(&mut rows()) };
        known.then_some(Self { table, across })
    }

    /// Adds the percentiles to a level.
    pub(super) fn add(&self, level: &mut LevelSummary, findings: &mut Vec<Diagnostic>) {
        let heads = self.table.heads();
        for row in self.table.rows.iter().skip(self.table.header.max(1)) {
            if row.has_cells(heads.len(), findings).is_none() {
                continue;
            }
            for (head, value) in heads.iter().zip(&row.cells).skip(1) {
                let (metric, which) = if self.across {
                    (row.name(), head.as_str())
                } else {
                    (head.as_str(), row.name())
                };
                let stated = Stated { line: row.line, name: metric, value };
                let Some(number) = stated.number(findings) else { continue };
                report(level, row.line, &format!("{metric} {which}"), number);
                let (Some(time), Some(statistic)) = (time(metric), statistic(which)) else {
                    continue;
                };
                if let Some(millis) = stated.converted(Measure::Seconds, findings) {
                    put(&mut level.times[time], &statistic, millis);
                }
            }
        }
    }
}

/// Percentiles without the summary that states the load.
pub(super) fn read(table: &Table) -> Option<TextPart> {
    let percentiles = Percentiles::of(table)?;
    let line = table.rows.first()?.line;
    let mut part = TextPart::new("evalscope", "block", line, Recognised::likely(["Percentiles"]));
    let unknown = blank::load(LoadKind::Unknown, None);
    let mut level = blank::level(LoadKind::Unknown.to_string(), unknown);
    percentiles.add(&mut level, &mut part.findings);
    settle(&mut level, line, &mut part.findings);
    part.findings.push(Diagnostic::from(Problem::PercentilesAlone).at(line));
    part.levels.push((level, LevelExtras::default()));
    Some(part)
}

/// The metric of a name.
pub(super) fn time(metric: &str) -> Option<Time> {
    let (name, _) = name(metric);
    Some(match name.strip_prefix("avg ").unwrap_or(&name) {
        "ttft" | "first chunk latency" => Time::Ttft,
        "latency" => Time::Latency,
        "tpot" => Time::Tpot,
        // Between events, however many tokens one carries.
        "itl" => Time::ChunkGap,
        _ => return None,
    })
}

/// `99%`, `p99`, `min`, `max`.
fn statistic(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let percent = text.strip_suffix('%').or_else(|| text.strip_prefix('p'));
    let number = percent.is_some_and(|percent| percent.parse::<f64>().is_ok());
    (number || ["min", "max"].contains(&text.as_str())).then_some(text)
}

/// Leaves out TTFT where it repeats the latency: responses were not streamed.
pub(super) fn settle(level: &mut LevelSummary, line: u64, findings: &mut Vec<Diagnostic>) {
    if level.is_whole() {
        for time in [Time::Ttft, Time::Tpot, Time::ChunkGap] {
            level.times[time] = None;
        }
        findings.push(Diagnostic::from(Problem::NotStreamed).at(line));
    }
}
