//! locust's `…_stats.csv`: a row for each kind of request and one for all. Its counts, times and rates
//! include failed requests. `…_stats_history.csv` has values while the test ran, not its results.

use super::{Sheet, Tool};
use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, distribution, present, rounded};
use crate::reading::Reading;
use dyno_form::csv::{CsvRow, number};
use dyno_form::json::whole;
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Recognised, Reported};
use dyno_words::{Problem, values};
use std::collections::BTreeMap;

pub(super) const TOOL: Tool = Tool {
    name: "locust",
    kinds: &[["locust's statistics (`…_stats.csv`)", "locust 的统计（`…_stats.csv`）"]],
    sheets: &[
        Sheet { recognise, read },
        Sheet { recognise: recognise_history, read: read_history },
    ],
    ..super::NOTHING
};

/// The columns of all versions since 1.0, and their names before.
const COUNT: [&str; 2] = ["request count", "# requests"];
const FAILURES: [&str; 2] = ["failure count", "# failures"];
const FAILURE_RATE: [&str; 2] = ["failures/s", "requests failed/s"];
const OWN: [&str; 3] = ["Name", "Average Response Time", "Average Content Size"];
/// The row of all requests.
const ALL: [&str; 2] = ["Aggregated", "Total"];
/// Times of failed requests are among the others. Up to this share, they hardly change them.
const FEW: f64 = 0.01;

fn has(row: &CsvRow, names: &[&str]) -> bool {
    let named = |name: &str| row.cells.iter().any(|cell| cell.trim().eq_ignore_ascii_case(name));
    names.iter().all(|name| named(name))
}

fn recognise(rows: &[CsvRow]) -> Option<Recognised> {
    let own = rows.first().is_some_and(|row| has(row, &OWN) && !has(row, &["Timestamp"]));
    own.then(|| Recognised::certain(OWN))
}

fn recognise_history(rows: &[CsvRow]) -> Option<Recognised> {
    let by = ["Timestamp", "User Count", "Total Request Count"];
    rows.first().is_some_and(|row| has(row, &by)).then(|| Recognised::certain(by))
}

fn read_history(reading: &mut Reading, rows: &[CsvRow]) {
    let line = rows.first().map(|row| row.line);
    reading.problems.push(Diagnostic::from(Problem::History).at(line));
}

/// Reads statistics.
fn read(reading: &mut Reading, rows: &[CsvRow]) {
    let Some((heading, rows)) = rows.split_first() else { return };
    let mut kinds = Vec::new();
    let mut all = Vec::new();
    for row in rows {
        if row.cells.len() != heading.cells.len() {
            let shown = row.cells.join(",");
            let values = values![shown, row.cells.len(), heading.cells.len()];
            reading.problems.push(Problem::CellsUnderHeading.with(values).at(row.line));
            continue;
        }
        let entry = Entry::new(heading, row);
        if ALL.contains(&entry.name()) { all.push(entry) } else { kinds.push(entry) }
    }
    // The row of all requests repeats the only kind there is; of several it would be a mixture.
    let several = kinds.len() > 1;
    let entries = if kinds.is_empty() { all } else { kinds };
    let line = heading.line;
    let sent = |entry: &Entry| entry.any(&COUNT).is_some_and(|count| count > 0.0);
    let found: Vec<StatedLevel> = entries
        .iter()
        .filter(|entry| sent(entry))
        .map(|entry| entry.level(several, &mut reading.problems))
        .collect();
    if found.is_empty() {
        reading.problems.push(Problem::NoRows.with(["Request Count"]).at(line));
        return;
    }
    if several {
        reading.problems.push(Problem::SeveralKinds.with([found.len()]).at(line));
    }
    reading.problems.push(Problem::LoadNotStated.with(["locust"]).at(line));
    let head = RunHead::new(reading.origin("locust", line));
    reading.add_run(head, found);
}

/// A row, by the names of its columns in lower case.
struct Entry {
    line: u64,
    cells: BTreeMap<String, String>,
    figures: BTreeMap<String, f64>,
}

impl Entry {
    fn new(heading: &CsvRow, row: &CsvRow) -> Self {
        let pairs = || heading.cells.iter().map(|name| name.trim()).zip(&row.cells);
        let cells = pairs().map(|(name, cell)| (name.to_lowercase(), cell.trim().to_owned()));
        let figures = pairs().filter_map(|(name, cell)| Some((name.to_owned(), number(cell)?)));
        Self { line: row.line, cells: cells.collect(), figures: figures.collect() }
    }

    fn name(&self) -> &str {
        self.cells.get("name").map(String::as_str).unwrap_or_default()
    }

    fn get(&self, name: &str) -> Option<f64> {
        number(self.cells.get(name)?)
    }

    fn any(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| self.get(name))
    }

    fn level(&self, several: bool, problems: &mut Vec<Diagnostic>) -> StatedLevel {
        let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
        let kind = self.cells.get("type").or(self.cells.get("method"));
        if several {
            let kind = kind.map(String::as_str).unwrap_or_default();
            found.stated.label =
                format!("{kind} {}", self.name()).trim().chars().take(80).collect();
        }
        let stated = &mut found.stated;
        stated.reported =
            Some(Reported { file: None, line: Some(self.line), figures: self.figures.clone() });
        let (count, failed) =
            (self.any(&COUNT).and_then(whole), self.any(&FAILURES).and_then(whole));
        stated.requests.failed = failed;
        stated.requests.completed = count.zip(failed).and_then(|(all, bad)| all.checked_sub(bad));
        let share = count.zip(failed).map(|(count, failed)| failed as f64 / count.max(1) as f64);
        let few = share.is_none_or(|share| share <= FEW);
        let rate = self.get("requests/s");
        stated.throughput.requests_per_s = match self.any(&FAILURE_RATE).filter(|_| !few) {
            Some(bad) => present(rate.map(|rate| rounded(rate - bad))),
            None => present(rate),
        };
        let times = distribution(count, 1.0, |stat| match stat {
            "mean" => self.get("average response time"),
            "min" => self.get("min response time"),
            "max" => self.get("max response time").or_else(|| self.get("100%")),
            "p50" => self.get("median response time").or_else(|| self.get("50%")),
            "std" => None,
            other => self.get(&format!("{}%", other.strip_prefix('p')?)),
        });
        stated.times[Time::Latency] = times.filter(|_| few);
        if let (Some(count), Some(failed)) = (count, failed.filter(|failed| *failed > 0)) {
            let problem = if few { Problem::FailuresIncluded } else { Problem::FailuresMixed };
            found.note(problems, problem.with(values!["locust", failed, count]));
        }
        found
    }
}
