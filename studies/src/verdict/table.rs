//! The confusion table. The error of a metric is the distance of the printed value from the interval that
//! contains the true one, relative to the latter. Bars:
//!
//! - the true value is within the instrument range for 99 % of the metrics: ± 0.05 ms, and of a rate ± one token
//!   of each slot, by which the edges of the steady window may cut;
//! - no *valid* level has a metric with an error above 5 % that is shown without a mark;
//! - at most two *invalid* levels have all metrics within 2 %;
//! - of the calm runs at most two are not *valid*.
//!
//! The same levels are judged by the rule before, too, for which a percentile between tokens that is marked
//! now made its level *suspect*. No bar: how many levels are *suspect* by either rule.

use super::disturbance::{Disturbance, Machine};
use super::truth::{STATISTICS, TIMES, Truth};
use anyhow::{Result, ensure};
use serde_json::Value;

/// One run.
pub(super) struct Row {
    verdict: String,
    /// By the rule before.
    before: String,
    /// The metric with the largest error of those that are not marked, and that error.
    worst: (String, f64),
    /// The largest error, marked or not.
    worst_of_all: f64,
    judged: u32,
    /// Metrics whose range does not contain the true value.
    missed: Vec<String>,
    stall_ms: f64,
    reasons: String,
}

impl Row {
    pub(super) fn new(level: &Value, truth: &Truth) -> Result<Self> {
        let completed = level["requests"]["completed"].as_u64().unwrap_or(0);
        ensure!(
            completed as usize == truth.requests,
            "{completed} completed, {} true",
            truth.requests
        );
        let mut row = Self {
            before: before(level).to_owned(),
            verdict: verdict(level).to_owned(),
            worst: (String::new(), 0.0),
            worst_of_all: 0.0,
            judged: 0,
            missed: Vec::new(),
            stall_ms: level["client"]["longest_stall_ms"].as_f64().unwrap_or(f64::NAN),
            reasons: level["reasons"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|reason| reason["code"].as_str())
                .collect::<Vec<_>>()
                .join(" "),
        };
        for (time, truth) in TIMES.iter().zip(&truth.times) {
            for (statistic, truth) in STATISTICS.iter().zip(truth) {
                let printed = level[time][statistic].as_f64();
                let range = ends(&level[time]["instrument"][statistic]);
                if let (Some(printed), Some(range)) = (printed, range) {
                    let marked = names(&level[time]["uncertain"]).any(|name| name == *statistic);
                    let name = format!("{time} {statistic}");
                    row.figure(&name, marked, printed, range, *truth, 0.05);
                }
            }
        }
        let printed = level["steady"]["requests_per_s"]
            .as_f64()
            .or_else(|| level["throughput"]["requests_per_s"].as_f64());
        let range = ends(&level["instrument"]["throughput"]["requests_per_s"]);
        if let (Some(printed), Some(range)) = (printed, range) {
            let tolerance = truth.requests_per_s[1] / truth.tokens_per_slot;
            row.figure("requests_per_s", false, printed, range, truth.requests_per_s, tolerance);
        }
        Ok(row)
    }

    fn figure(
        &mut self,
        name: &str,
        marked: bool,
        printed: f64,
        range: [f64; 2],
        truth: [f64; 2],
        tolerance: f64,
    ) {
        self.judged += 1;
        let off = (truth[0] - printed).max(printed - truth[1]).max(0.0) / truth[1];
        self.worst_of_all = self.worst_of_all.max(off);
        if off > self.worst.1 && !marked {
            self.worst = (name.to_owned(), off);
        }
        if range[0] - tolerance > truth[1] || range[1] + tolerance < truth[0] {
            self.missed.push(format!("{name} {:.3}–{:.3} is {:.3}", range[0], range[1], truth[1]));
        }
    }

    pub(super) fn line(&self, kind: String) -> String {
        let Self { verdict, before, worst: (name, off), stall_ms, missed, reasons, .. } = self;
        let marked = 100.0 * self.worst_of_all;
        let missed = match missed.is_empty() {
            true => String::new(),
            false => format!("; outside: {}", missed.join(", ")),
        };
        format!(
            "{kind:<18} {verdict:<8} (before: {before:<8}) worst {:>6.2} % {name:<16} with marked ones \
             {marked:>6.2} % longest stall {stall_ms:>6.1} ms {reasons}{missed}",
            100.0 * off
        )
    }
}

fn verdict(level: &Value) -> &str {
    level["verdict"].as_str().unwrap_or("?")
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The verdict by the rule before: what is only marked now made a level suspect.
fn before(level: &Value) -> &str {
    let between = ["itl_ms", "tpot_ms"].into_iter();
    let marked =
        |time: &str| names(&level[time]["uncertain"]).any(|name| matches!(name, "p90" | "p99"));
    match verdict(level) {
        "valid" if between.into_iter().any(marked) => "suspect",
        verdict => verdict,
    }
}

fn ends(range: &Value) -> Option<[f64; 2]> {
    Some([range[0].as_f64()?, range[1].as_f64()?])
}

#[derive(Default)]
pub(super) struct Table {
    rows: Vec<(Disturbance, Row)>,
}

const OFF: [(&str, f64); 4] =
    [("≤ 2 %", 0.02), ("≤ 5 %", 0.05), ("≤ 10 %", 0.10), ("more", f64::INFINITY)];

impl Table {
    pub(super) fn add(&mut self, kind: Disturbance, row: Row) {
        self.rows.push((kind, row));
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "\nruns by verdict and by the largest error of a metric that is shown without a mark:\n",
        );
        text += &format!("{:<10}", "");
        OFF.iter().for_each(|(name, _)| text += &format!("{name:>8}"));
        for verdict in ["valid", "suspect", "invalid"] {
            text += &format!("\n{verdict:<10}");
            let mut above = -1.0;
            for (_, most) in OFF {
                let within = |row: &&(Disturbance, Row)| {
                    row.1.verdict == verdict && row.1.worst.1 > above && row.1.worst.1 <= most
                };
                text += &format!("{:>8}", self.rows.iter().filter(within).count());
                above = most;
            }
        }
        let count = |test: &dyn Fn(&(Disturbance, Row)) -> bool| {
            self.rows.iter().filter(|row| test(row)).count()
        };
        let judged: u32 = self.rows.iter().map(|(_, row)| row.judged).sum();
        let missed: usize = self.rows.iter().map(|(_, row)| row.missed.len()).sum();
        let held = 100.0 * (1.0 - missed as f64 / f64::from(judged.max(1)));
        let wrong = count(&|(_, row)| row.verdict == "valid" && row.worst.1 > 0.05);
        let harsh = count(&|(_, row)| row.verdict == "invalid" && row.worst_of_all <= 0.02);
        let calm = count(&|(kind, _)| kind.is_calm());
        let blamed = count(&|(kind, row)| kind.is_calm() && row.verdict != "valid");
        text += "\n\nsuspect levels (rule before, rule now), of all:";
        for (machine, name) in Machine::ALL {
            let own = |row: &&(Disturbance, Row)| row.0.machine() == machine;
            let own: Vec<&Row> = self.rows.iter().filter(own).map(|(_, row)| row).collect();
            let rules: [fn(&Row) -> &str; 2] = [|row| &row.before, |row| &row.verdict];
            let [then, now] = rules.map(|of| own.iter().filter(|row| of(row) == "suspect").count());
            let share = |count: usize| 100.0 * count as f64 / own.len().max(1) as f64;
            text += &format!(
                "\n{name:<10}{then:>4} ({:.0} %) {now:>4} ({:.0} %) of {}",
                share(then),
                share(now),
                own.len()
            );
        }
        text + &format!(
            "\n\ntruth within the instrument range: {held:.2} % of {judged} metrics (bar 99)\n\
             valid levels with an unmarked metric more than 5 % off: {wrong} (bar 0)\n\
             invalid levels with all metrics within 2 %: {harsh} (bar 2)\n\
             calm runs that are not valid: {blamed} of {calm} (bar 2)"
        )
    }
}
