//! guidellm's CSV from 0.2 on: a row for each benchmark. The columns have one heading up to 0.3, and
//! three since 0.4 (group, name, statistic or unit). A row becomes the benchmark of a JSON report, and is
//! read like one.

use super::report;
use crate::reading::Reading;
use dyno_form::csv::{CsvRow, number};
use dyno_model::Diagnostic;
use dyno_model::summary::Recognised;
use dyno_words::Problem;
use serde_json::{Map, Value, json};

/// The percentiles of a list, which begins with the least and ends with the greatest value.
const PERCENTILES: [&str; 9] = ["p001", "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99"];
/// How the name of a list of percentiles ends up to 0.3.
const LISTED: &str = "[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]";

/// Metrics with three headings: the group, the unit in the second heading, the name in JSON.
const METRICS: [(&str, &str, &str); 10] = [
    ("Request Latency", "Sec", "request_latency"),
    ("Time to First Token", "ms", "time_to_first_token_ms"),
    ("Time per Output Token", "ms", "time_per_output_token_ms"),
    ("Inter Token Latency", "ms", "inter_token_latency_ms"),
    ("Server Throughput", "Requests/Sec", "requests_per_second"),
    ("Server Throughput", "Concurrency", "request_concurrency"),
    ("Token Metrics", "Input Tokens", "prompt_token_count"),
    ("Token Metrics", "Output Tokens", "output_token_count"),
    ("Token Throughput", "Output Tokens/Sec", "output_tokens_per_second"),
    ("Token Throughput", "Total Tokens/Sec", "tokens_per_second"),
];

/// Metrics with one heading, by their names in JSON.
const OLDER_METRICS: [&str; 10] = [
    "requests_per_second",
    "request_concurrency",
    "request_latency",
    "prompt_token_count",
    "output_token_count",
    "time_to_first_token_ms",
    "time_per_output_token_ms",
    "inter_token_latency_ms",
    "output_tokens_per_second",
    "tokens_per_second",
];

const STATUSES: [&str; 4] = ["successful", "errored", "incomplete", "total"];

/// It is one by its headings.
pub(super) fn recognise(rows: &[CsvRow]) -> Option<Recognised> {
    let sheet = Sheet::of(rows)?;
    let by = if sheet.three {
        ["Run Info", "Request Counts"]
    } else {
        ["Run Id", "Successful Requests"]
    };
    Some(Recognised::certain(by))
}

/// Reads a file.
pub(super) fn read(reading: &mut Reading, rows: &[CsvRow]) {
    let Some(sheet) = Sheet::of(rows) else { return };
    let mut benchmarks = Vec::new();
    let (mut version, mut arguments) = (None, None);
    for row in rows.get(sheet.headings..).unwrap_or_default() {
        if row.cells.len() != sheet.columns.len() || !sheet.fits(row) {
            reading.problems.push(Diagnostic::from(Problem::SheetShifted).at(row.line));
        } else {
            let metadata = sheet.json(row, ["Runtime Info", "Metadata", ""]);
            version = version.or_else(|| metadata?.get("guidellm_version").cloned());
            arguments = arguments.or_else(|| sheet.json(row, ["Runtime Info", "Arguments", ""]));
            benchmarks.push(sheet.benchmark(row));
        }
    }
    let line = rows.first().map_or(1, |row| row.line);
    let mut report = json!({ "benchmarks": benchmarks });
    if let Some(version) = version {
        report["metadata"] = json!({ "guidellm_version": version });
    }
    if let Some(arguments) = arguments {
        report["args"] = arguments;
    }
    report::read(reading, line, &report);
}

/// The columns of a file.
struct Sheet {
    /// Whether there are three headings.
    three: bool,
    /// How many rows of headings there are.
    headings: usize,
    columns: Vec<[String; 3]>,
}

impl Sheet {
    fn of(rows: &[CsvRow]) -> Option<Self> {
        let cell = |row: usize, column: usize| {
            let cells = rows.get(row).map(|row| &row.cells);
            cells.and_then(|cells| cells.get(column)).map_or("", |cell| cell.trim())
        };
        let width = rows.first()?.cells.len();
        let has = |row: usize, name: &str| (0..width).any(|column| cell(row, column) == name);
        let three = has(0, "Run Info") && has(0, "Request Counts") && has(1, "Run ID");
        let one = has(0, "Run Id") && has(0, "Successful Requests");
        if !three && !one {
            return None;
        }
        let headings = if three { 3 } else { 1 };
        let heading = |column: usize| {
            let name = |row: usize| if row < headings { cell(row, column) } else { "" };
            [0, 1, 2].map(|row| name(row).to_owned())
        };
        Some(Self { three, headings, columns: (0..width).map(heading).collect() })
    }

    fn text<'a>(&self, row: &'a CsvRow, heading: [&str; 3]) -> Option<&'a str> {
        let at = self
            .columns
            .iter()
            .position(|column| column.each_ref().map(String::as_str) == heading)?;
        row.cells.get(at).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    }

    fn number(&self, row: &CsvRow, heading: [&str; 3]) -> Option<f64> {
        number(self.text(row, heading)?)
    }

    fn json(&self, row: &CsvRow, heading: [&str; 3]) -> Option<Value> {
        serde_json::from_str(self.text(row, heading)?).ok()
    }

    /// Whether lists stand under the headings of lists, and only there.
    fn fits(&self, row: &CsvRow) -> bool {
        self.columns.iter().zip(&row.cells).all(|(column, cell)| {
            let listed = column[2] == "Percentiles" || column[0].ends_with(LISTED);
            let statistic = listed || matches!(column[2].as_str(), "Mean" | "Median" | "Std Dev");
            let list = cell.trim_start().starts_with('[');
            !statistic || cell.trim().is_empty() || listed == list
        })
    }

    /// A row in the form of a JSON report.
    fn benchmark(&self, row: &CsvRow) -> Value {
        if self.three { self.newer(row) } else { self.older(row) }
    }

    fn newer(&self, row: &CsvRow) -> Value {
        let mut metrics = Map::new();
        for (group, unit, name) in METRICS {
            let name_of = |status: &str| format!("{} {unit}", capitalised(status));
            let by_status = STATUSES.iter().filter_map(|status| {
                let column = name_of(status);
                let stat = |stat: &str| self.text(row, [group, &column, stat]);
                let found = statistics([
                    stat("Mean"),
                    stat("Median"),
                    stat("Std Dev"),
                    stat("Percentiles"),
                ])?;
                Some(((*status).to_owned(), found))
            });
            let by_status: Map<String, Value> = by_status.collect();
            if !by_status.is_empty() {
                metrics.insert(name.to_owned(), Value::Object(by_status));
            }
        }
        metrics.insert(
            "request_totals".to_owned(),
            self.totals(row, |status| {
                ["Request Counts".to_owned(), capitalised(status), String::new()]
            }),
        );
        let mut benchmark = json!({
            "metrics": metrics,
            "config": {
                "strategy": self.strategy(row),
                "backend": self.json(row, ["Run Info", "Backend", ""]),
            },
        });
        for (column, name) in [
            ("Duration", "duration"),
            ("Warmup", "warmup_duration"),
            ("Cooldown", "cooldown_duration"),
        ] {
            benchmark[name] = json!(self.number(row, ["Timings", column, "Sec"]));
        }
        benchmark
    }

    /// The column has only its kind. The rest is in the profile: the strategies that it completed, or
    /// the list of rates or streams.
    fn strategy(&self, row: &CsvRow) -> Value {
        let kind = self.text(row, ["Benchmark", "Strategy", ""]).unwrap_or_default();
        let profile = self.json(row, ["Run Info", "Profile", ""]).unwrap_or_default();
        let index = self.number(row, ["Run Info", "Run Index", ""]).unwrap_or_default() as usize;
        let listed = |name: &str| profile.get(name)?.as_array()?.get(index).cloned();
        let completed = listed("completed_strategies")
            .filter(|one| one.get("type_").and_then(Value::as_str) == Some(kind));
        completed.unwrap_or_else(|| {
            let of_kind =
                ["type_", "kind"].iter().any(|name| profile.get(name) == Some(&json!(kind)));
            let value = |name: &str| listed(name).filter(|_| of_kind);
            json!({"type_": kind, "rate": value("rate"), "streams": value("streams")})
        })
    }

    fn older(&self, row: &CsvRow) -> Value {
        let mut metrics = Map::new();
        for name in OLDER_METRICS {
            let shown = capitalised(&name.replace('_', " "));
            let by_status = STATUSES.iter().filter_map(|status| {
                let stat = |stat: &str| {
                    let heading = format!("{} {shown} {stat}", capitalised(status));
                    self.text(row, [&heading, "", ""])
                };
                let found =
                    statistics([stat("mean"), stat("median"), stat("std dev"), stat(LISTED)])?;
                Some(((*status).to_owned(), found))
            });
            metrics.insert(name.to_owned(), Value::Object(by_status.collect()));
        }
        let totals = self.totals(row, |status| {
            [format!("{} Requests", capitalised(status)), String::new(), String::new()]
        });
        let json = |heading: &str| self.json(row, [heading, "", ""]);
        let (kind, value) =
            match self.text(row, ["Name", "", ""]).unwrap_or_default().split_once('@') {
                Some((kind, value)) => (kind, number(value)),
                None => (self.text(row, ["Name", "", ""]).unwrap_or_default(), None),
            };
        let named = json!({"type_": kind, "rate": value, "streams": value});
        let args = json("Args").filter(|args| args.get("strategy").is_some());
        let mut benchmark = json!({
            "metrics": metrics,
            "request_totals": totals,
            "duration": self.number(row, ["Duration", "", ""]),
            "args": args.unwrap_or_else(|| json!({ "strategy": named })),
        });
        for (column, name) in [("Worker", "worker"), ("Request Loader", "request_loader")] {
            benchmark[name] = json(column).unwrap_or_default();
        }
        // Some versions write the backend instead of the worker.
        if let (Value::Null, Some(backend)) = (&benchmark["worker"], json("Backend")) {
            let of = |name: &str| backend.get(name).cloned();
            benchmark["worker"] =
                json!({"backend_model": of("model"), "backend_target": of("target")});
        }
        benchmark
    }

    fn totals(&self, row: &CsvRow, heading: impl Fn(&str) -> [String; 3]) -> Value {
        let count = |status: &&str| {
            let heading = heading(status);
            Some((
                (*status).to_owned(),
                json!(self.number(row, heading.each_ref().map(String::as_str))?),
            ))
        };
        Value::Object(STATUSES.iter().filter_map(count).collect())
    }
}

/// The mean, the median, the standard deviation and the list of percentiles.
fn statistics([mean, median, std, listed]: [Option<&str>; 4]) -> Option<Value> {
    let number = |cell: Option<&str>| number(cell?);
    let mut found =
        json!({"mean": number(mean)?, "median": number(median), "std_dev": number(std)});
    let list: Vec<f64> =
        listed.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
    if let [min, middle @ .., max] = list.as_slice()
        && middle.len() == PERCENTILES.len()
    {
        (found["min"], found["max"]) = (json!(min), json!(max));
        let named =
            PERCENTILES.iter().zip(middle).map(|(name, value)| ((*name).to_owned(), json!(value)));
        found["percentiles"] = Value::Object(named.collect());
    }
    Some(found)
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
