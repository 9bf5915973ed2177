//! The terminal summary, as people see it. Here: the summaries that several files use, and how a
//! part is cut from a text.
#![allow(clippy::unwrap_used)]

mod agents;
mod curve;
mod levels;
mod shared;
mod slo;
mod table;
mod terminal;

use dyno_analysis::summarise;
use dyno_model::Language;
use dyno_model::MS;
use dyno_model::frame::{Ending, Frame, LevelEnd};
use dyno_model::load::LoadKind;
use dyno_model::metric::{Statistic, Time};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load};
use dyno_model::record::{RequestRecord, TurnOfSession, Widths};
use dyno_model::summary::{Lag, Overload, Retried};
use dyno_model::{Message, Summary, Verdict, message};
use dyno_report::{ReportSelection, TextOptions, parse_column, render_text};
use dyno_testing::runs::*;
use dyno_words::columns::width;
use dyno_words::{Finding, Measuring};

fn text(summary: &Summary) -> String {
    in_language(summary, Language::English)
}

fn chinese(summary: &Summary) -> String {
    in_language(summary, Language::Chinese)
}

fn in_language(summary: &Summary, language: Language) -> String {
    let text = render_text(summary, &TextOptions { language, ..TextOptions::default() });
    for line in text.lines() {
        assert!(width(line) <= 80, "{} columns: {line}", width(line));
        assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
    }
    text
}

/// Levels of the same metrics under these loads, rising with them.
fn ladder(loads: &[f64]) -> Summary {
    let (plan, records) = closed(8, 30);
    let mut summary = summary_with(&plan, records, |end| end.starved = Some(starved(30)));
    let level = summary.levels.remove(0);
    for load in loads {
        let mut level = level.clone();
        level.label = format!("concurrency {load}");
        level.load.value = Some(*load);
        let work = &mut level.steady.as_mut().unwrap().throughput;
        work.output_tokens_per_s = Some(100.0 * load);
        level.times[Time::Ttft].as_mut().unwrap().p99 = Some(10.0 * load * load);
        summary.levels.push(level);
    }
    summary
}

/// Two levels, of which the second takes three times as long to the first token and its requests
/// leave so much later than they should.
fn two_levels(slo: &str, lag: u64) -> Summary {
    let (mut plan, mut records) = closed(8, 30);
    plan.slo = Some(slo.parse().unwrap());
    plan.levels.push(plan.levels[0].clone());
    plan.levels[1].label = "c=8 again".to_owned();
    let end = LevelEnd { starved: Some(starved(30)), ..level_end(0, &records) };
    let mut all = frames(records.clone(), Some(end.clone()));
    all.pop();
    records.iter_mut().for_each(|r| {
        r.level = 1;
        r.widths = Some(Widths { first: lag, last: lag, ..Widths::default() });
        let late = |t: Option<u64>| t.map(|t| t + 200 * MS);
        (r.first, r.last, r.end) = (late(r.first), late(r.last), r.end + 200 * MS);
    });
    all.extend(records.into_iter().map(|r| Frame::Request(Box::new(r))));
    all.push(Frame::LevelEnd(Box::new(LevelEnd { level: 1, ..end })));
    summarise(&plan, None, &source(&plan, all))
}

/// The table of levels alone.
fn table_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("level ")).unwrap();
    lines[head - 1..]
        .iter()
        .copied()
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn at(width: usize, language: Language) -> TextOptions {
    TextOptions { width, terminal: true, language, ..TextOptions::default() }
}
