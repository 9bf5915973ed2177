//! The CSV files of LMDeploy's profilers, one row per level: `profile_restful_api`, `profile_serving`,
//! `profile_throughput`, `profile_generation`. Percentiles without a name are those of the time
//! per token.

use super::{Sheet, Tool};
use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, distribution, present};
use crate::reading::Reading;
use dyno_form::csv::{CsvRow, number};
use dyno_form::json::whole;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Recognised, Reported};
use dyno_words::{Problem, values};
use std::collections::BTreeMap;

const SECOND_MS: f64 = 1e3;
/// A heading with one of these is LMDeploy's.
const OWN: [&str; 2] = ["FTL(ave)(s)", "throughput(out tok/s)"];

pub(super) const TOOL: Tool = Tool {
    name: "lmdeploy",
    kinds: &[["LMDeploy profiles (CSV)", "LMDeploy profile 文件（CSV）"]],
    sheets: &[Sheet { recognise, read }],
    ..super::NOTHING
};

/// The first rows, in which the heading must be.
const FIRST: usize = 50;

fn is_heading(row: &CsvRow) -> bool {
    OWN.iter().any(|own| row.cells.iter().any(|cell| cell.trim() == *own))
}

/// It is a profile.
fn recognise(rows: &[CsvRow]) -> Option<Recognised> {
    rows.iter().take(FIRST).any(is_heading).then(|| Recognised::certain(OWN))
}

/// Reads a profile.
fn read(reading: &mut Reading, rows: &[CsvRow]) {
    let mut heading: Option<&CsvRow> = None;
    let mut levels = Vec::new();
    for row in rows {
        if is_heading(row) {
            heading = Some(row);
            continue;
        }
        if row.cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let Some(heading) = heading else {
            let above = Problem::AboveHeading.with([row.cells.join(",")]);
            reading.problems.push(above.at(row.line));
            continue;
        };
        if row.cells.len() != heading.cells.len() {
            let values = values![row.cells.join(","), row.cells.len(), heading.cells.len()];
            reading.problems.push(Problem::CellsUnderHeading.with(values).at(row.line));
            continue;
        }
        let origin_line = heading.line;
        levels.push((origin_line, level(heading, row)));
    }
    let Some((line, _)) = levels.first() else { return };
    let head = RunHead::new(reading.origin("lmdeploy", *line));
    reading.add_run(head, levels.into_iter().map(|(_, level)| level).collect());
}

fn level(heading: &CsvRow, row: &CsvRow) -> StatedLevel {
    let pairs = heading.cells.iter().zip(&row.cells);
    let figures: BTreeMap<String, f64> =
        pairs.filter_map(|(name, cell)| Some((name.trim().to_owned(), number(cell)?))).collect();
    let get = |name: &str| figures.get(name).copied();
    let batch = ["batch", "concurrency", "Concurrency"].iter().find_map(|name| get(name));
    let mut found = StatedLevel::new(match batch.filter(|batch| *batch > 0.0) {
        Some(batch) => Offered::concurrency(batch),
        None => Offered::plain(LoadKind::Unknown),
    });
    let stated = &mut found.stated;
    // The name is misspelt in some versions.
    let prompts = ["num_prompts", "num_promts"].iter().find_map(|name| get(name));
    stated.requests.planned = prompts.and_then(whole);
    let length = |name: &str| get(name).and_then(whole).and_then(|n| u32::try_from(n).ok());
    stated.input_length = length("prompt_tokens");
    stated.output_length = length("completion_tokens");
    stated.throughput.requests_per_s = present(get("RPS"));
    stated.throughput.output_tokens_per_s = present(get("throughput(out tok/s)"));
    stated.throughput.total_tokens_per_s = present(get("throughput(total tok/s)"));
    stated.times[Time::Ttft] = distribution(None, SECOND_MS, |stat| match stat {
        "mean" => get("FTL(ave)(s)"),
        "min" => get("FTL(min)(s)"),
        "max" => get("FTL(max)(s)"),
        _ => None,
    });
    stated.times[Time::ChunkGap] = distribution(None, SECOND_MS, |stat| {
        let percent = stat.strip_prefix('p')?;
        get(&format!("{percent}%(s)"))
    });
    stated.reported = Some(Reported { file: None, line: Some(row.line), figures });
    found
}
