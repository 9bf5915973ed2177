//! EvalScope's pivot table: one row per metric, one column per concurrency.

use crate::level::blank;
use crate::text::part::{Stated, TextPart, label, put, report, short};
use crate::text::quantity::{Cell, Measure, cell, name, quantity};
use dyno_form::table::Table;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::number::digits;
use dyno_words::{Problem, values};

/// A known row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Metric {
    Duration,
    Requests,
    Latency,
    Output,
    Total,
    Ttft,
    Percentile(String),
    Completed,
    Failed,
}

fn metric(cell: &str) -> Option<Metric> {
    let (name, _) = name(cell);
    Some(match name.as_str() {
        "用时" | "总用时" | "耗时" | "time taken" | "time taken for tests" | "duration" => {
            Metric::Duration
        }
        "qps" | "average qps" | "平均 qps" | "request throughput" | "请求吞吐量" => {
            Metric::Requests
        }
        "延迟" | "平均延迟" | "latency" | "average latency" | "mean latency" => {
            Metric::Latency
        }
        "吞吐量"
        | "吞吐"
        | "throughput"
        | "output throughput"
        | "output token throughput"
        | "输出吞吐量" => Metric::Output,
        "总吞吐量" | "total token throughput" => Metric::Total,
        "首 token 延迟"
        | "首token延迟"
        | "ttft"
        | "average ttft"
        | "time to first token"
        | "average time to first token" => Metric::Ttft,
        "成功" | "成功数" | "succeed" | "succeeded" | "completed" | "succeed requests" => {
            Metric::Completed
        }
        "失败" | "失败数" | "failed" | "failures" | "failed requests" | "❌" => {
            Metric::Failed
        }
        other => {
            let digits = other.strip_prefix('p')?;
            let percentile = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
            return (percentile && !digits.is_empty()).then_some(Metric::Percentile(name));
        }
    })
}

/// Reads it, if it is one.
pub(crate) fn read(table: &Table) -> Option<TextPart> {
    let header = table.rows.first()?;
    let known = table.rows.iter().filter(|row| metric(row.name()).is_some()).count();
    if known < 2 || header.cells.len() < 2 || !has_numbers(table) {
        return None;
    }
    let mut part = TextPart::new("evalscope", "pivot", header.line, Recognised::possible(["rows"]));
    if metric(header.name()).is_some() {
        part.findings.push(Problem::PivotHeadless.with(["指标"]).at(header.line));
        return Some(part);
    }
    // Columns of anything but loads are a comparison that somebody made: what they compare is not known.
    let loads: Vec<f64> =
        header.cells.iter().skip(1).map(|cell| slots(cell)).collect::<Option<_>>()?;
    for slots in loads {
        let load = blank::load(LoadKind::Concurrency, Some(slots));
        part.levels
            .push((blank::level(label(load.kind, load.value), load), LevelExtras::default()));
    }
    let (levels, findings) = (&mut part.levels, &mut part.findings);
    for row in table.rows.iter().skip(1) {
        if row.cells.len() != header.cells.len() {
            let values = values![row.cells.len(), header.cells.len(), row.shown()];
            findings.push(Problem::RowCells.with(values).at(row.line));
            continue;
        }
        let metric = metric(row.name());
        for ((level, _), value) in levels.iter_mut().zip(row.cells.iter().skip(1)) {
            let stated = Stated { line: row.line, name: row.name(), value };
            fill(level, metric.as_ref(), stated, findings);
        }
    }
    for (level, _) in levels {
        check_unit(level, header.line, findings);
    }
    Some(part)
}

/// Whether the known rows have values: a glossary has the same names.
fn has_numbers(table: &Table) -> bool {
    let rows = table.rows.iter().filter(|row| metric(row.name()).is_some());
    let values: Vec<&String> = rows.flat_map(|row| row.cells.iter().skip(1)).collect();
    let filled = values.iter().filter(|value| cell(value) != Cell::Absent).count();
    let numbers = values.iter().filter(|value| matches!(cell(value), Cell::Number(_))).count();
    numbers > 0 && 2 * numbers >= filled
}

/// The concurrency that the head of a column states: `8`, `parallel 8`, `c=8`, `8 并发`.
fn slots(head: &str) -> Option<f64> {
    const WORDS: [&str; 12] = [
        "",
        "parallel",
        "concurrency",
        "conc",
        "conc.",
        "c",
        "n",
        "users",
        "并发",
        "并发数",
        "路",
        "concurrent",
    ];
    let bare = head.trim_matches(['*', '`']).trim().to_lowercase();
    let at = bare.find(|c: char| c.is_ascii_digit())?;
    let (before, from) = bare.split_at(at);
    let number =
        quantity(from).filter(|number| number.value.fract() == 0.0 && number.value > 0.0)?;
    let known = |word: &str| WORDS.contains(&word.trim_matches([' ', '=', ':', '：', '_', '-']));
    (known(before) && known(number.unit)).then_some(number.value)
}

fn fill(
    level: &mut LevelSummary,
    metric: Option<&Metric>,
    stated: Stated<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(number) = stated.number(findings) else { return };
    report(level, stated.line, stated.name, number);
    let Some(metric) = metric else { return };
    let measure = match metric {
        Metric::Requests => Measure::RequestRate,
        Metric::Output | Metric::Total => Measure::TokenRate,
        Metric::Completed | Metric::Failed => {
            let count = stated.count(findings);
            let counts = &mut level.requests;
            let failed = *metric == Metric::Failed;
            *if failed { &mut counts.failed } else { &mut counts.completed } = count;
            return;
        }
        _ => Measure::Seconds,
    };
    let Some(figure) = stated.converted(measure, findings) else { return };
    match metric {
        Metric::Duration => level.duration_s = Some(crate::text::quantity::neat(figure / 1e3)),
        Metric::Requests => level.throughput.requests_per_s = Some(figure),
        Metric::Output => level.throughput.output_tokens_per_s = Some(figure),
        Metric::Total => level.throughput.total_tokens_per_s = Some(figure),
        Metric::Latency => _ = put(&mut level.times[Time::Latency], "mean", figure),
        Metric::Ttft => _ = put(&mut level.times[Time::Ttft], "mean", figure),
        Metric::Percentile(name) => _ = put(&mut level.times[Time::Latency], name, figure),
        Metric::Completed | Metric::Failed => {}
    }
}

/// No more requests can be in flight than there are slots: a latency that implies far more is in the
/// wrong unit.
pub(crate) fn check_unit(level: &mut LevelSummary, line: u64, findings: &mut Vec<Diagnostic>) {
    let slots = level.load.value.filter(|_| level.load.kind == LoadKind::Concurrency);
    let (Some(slots), Some(rate), Some(latency)) =
        (slots, level.throughput.requests_per_s, level.times[Time::Latency].as_mut())
    else {
        return;
    };
    let Some(mean) = latency.mean.filter(|mean| rate * mean / 1e3 > 10.0 * slots.max(1.0)) else {
        return;
    };
    latency.mean = None;
    let at_once = digits(rate * mean / 1e3, 0);
    let values = values![short(&level.label), mean / 1e3, rate, at_once];
    findings.push(Problem::WrongUnit.with(values).at(line));
}
