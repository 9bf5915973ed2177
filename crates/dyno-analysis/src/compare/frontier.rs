//! Throughput vs per-user speed.

use super::matching::counted;
use dyno_model::summary::{Basis, Summary, round6};
use serde::Serialize;

/// A level on the frontier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Speed {
    /// Its label in tables.
    pub label: String,
    /// Output tokens per second of each user: the inverse of the time between tokens.
    pub per_user: f64,
    /// Output tokens per second in total, per GPU where their number is known.
    pub output_tokens_per_s: f64,
    /// Whether it is per GPU.
    pub per_gpu: bool,
}

/// The levels of a run by per-user speed; levels without these metrics are left out. All sides of a comparison have
/// the same basis.
pub fn frontier(side: &Summary, basis: Basis) -> Vec<Speed> {
    let gpus = side.run.gpus.filter(|gpus| *gpus > 0);
    let of = |level: &dyno_model::summary::LevelSummary| {
        let mean = level.token_time()?.mean?;
        let all = basis.throughput(level).output_tokens_per_s?;
        (mean > 0.0).then(|| Speed {
            label: level.name().to_owned(),
            per_user: round6(1e3 / mean),
            output_tokens_per_s: round6(all / f64::from(gpus.unwrap_or(1))),
            per_gpu: gpus.is_some(),
        })
    };
    let mut found: Vec<Speed> = Vec::new();
    // Rounds of the same level are one point, at their mean.
    let mut rounds: Vec<f64> = Vec::new();
    for speed in counted(side).filter_map(of) {
        match found.iter().position(|known| known.label == speed.label) {
            Some(at) => {
                rounds[at] += 1.0;
                let mean = |so_far: f64, new: f64| round6(so_far + (new - so_far) / rounds[at]);
                let known = &mut found[at];
                known.per_user = mean(known.per_user, speed.per_user);
                known.output_tokens_per_s =
                    mean(known.output_tokens_per_s, speed.output_tokens_per_s);
            }
            None => {
                found.push(speed);
                rounds.push(1.0);
            }
        }
    }
    found.sort_by(|a, b| a.per_user.total_cmp(&b.per_user));
    found
}
