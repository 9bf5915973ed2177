//! The confusion table. The error of a metric is the distance of the printed value from the interval that
//! contains the true one, relative to the latter. Bars:
//!
//! - the true value is within the instrument range for 99 % of the metrics: ± 0.05 ms, and of a rate ± one token
//!   of each slot, by which the edges of the steady window may cut;
//! - no *valid* level has a metric with an error above 5 %;
//! - at most two *invalid* levels have all metrics within 2 %;
//! - of the calm runs at most two are not *valid*.

use super::disturbance::Disturbance;
use super::truth::{STATISTICS, TIMES, Truth};
use anyhow::{Result, ensure};
use serde_json::Value;

/// One run.
pub(super) struct Row {
    verdict: String,
    /// The metric with the largest error, and that error.
    worst: (String, f64),
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
            verdict: level["verdict"].as_str().unwrap_or("?").to_owned(),
            worst: (String::new(), 0.0),
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
                    row.figure(&format!("{time} {statistic}"), printed, range, *truth, 0.05);
                }
            }
        }
        let printed = level["steady"]["requests_per_s"]
            .as_f64()
            .or_else(|| level["throughput"]["requests_per_s"].as_f64());
        let range = ends(&level["instrument"]["throughput"]["requests_per_s"]);
        if let (Some(printed), Some(range)) = (printed, range) {
            let tolerance = truth.requests_per_s[1] / truth.tokens_per_slot;
            row.figure("requests_per_s", printed, range, truth.requests_per_s, tolerance);
        }
        Ok(row)
    }

    fn figure(
        &mut self,
        name: &str,
        printed: f64,
        range: [f64; 2],
        truth: [f64; 2],
        tolerance: f64,
    ) {
        self.judged += 1;
        let off = (truth[0] - printed).max(printed - truth[1]).max(0.0) / truth[1];
        if off > self.worst.1 {
            self.worst = (name.to_owned(), off);
        }
        if range[0] - tolerance > truth[1] || range[1] + tolerance < truth[0] {
            self.missed.push(format!("{name} {:.3}–{:.3} is {:.3}", range[0], range[1], truth[1]));
        }
    }

    pub(super) fn line(&self, kind: String) -> String {
        let Self { verdict, worst: (name, off), stall_ms, missed, reasons, .. } = self;
        let missed = match missed.is_empty() {
            true => String::new(),
            false => format!("; outside: {}", missed.join(", ")),
        };
        format!(
            "{kind:<18} {verdict:<8} worst {:>6.2} % {name:<16} longest stall {stall_ms:>6.1} ms {reasons}{missed}",
            100.0 * off
        )
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

    pub(super) fn text(&self) -> String {
        let mut text = String::from("\nruns by verdict and by the largest error of a metric:\n");
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
        let harsh = count(&|(_, row)| row.verdict == "invalid" && row.worst.1 <= 0.02);
        let calm = count(&|(kind, _)| kind.is_calm());
        let blamed = count(&|(kind, row)| kind.is_calm() && row.verdict != "valid");
        text + &format!(
            "\n\ntruth within the instrument range: {held:.2} % of {judged} metrics (bar 99)\n\
             valid levels with a metric more than 5 % off: {wrong} (bar 0)\n\
             invalid levels with all metrics within 2 %: {harsh} (bar 2)\n\
             calm runs that are not valid: {blamed} of {calm} (bar 2)"
        )
    }
}
