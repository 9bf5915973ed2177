//! A longer answer takes no less time a token, unless it was cut off where the context ends.

use super::defect::{Against, Defect};
use super::rows::{Level, Rows};

const SLACK: f64 = 0.03;
/// How far apart the contexts may lie that rows speak for.
const AGREE: f64 = 0.05;

/// Milliseconds for each output token that was asked for.
fn per_token(level: &Level<'_>) -> Option<f64> {
    let reported = level.0.reported.as_ref();
    let told = reported.and_then(|reported| {
        let by_name = |(name, _): &(&String, &f64)| {
            name.to_ascii_lowercase().contains("latency per output token")
        };
        reported.figures.iter().find(by_name).map(|(_, value)| *value)
    });
    told.or_else(|| Some(level.latency_ms()? / f64::from(level.0.output_length?)))
}

pub(super) fn clamp(rows: &Rows<'_>) -> Vec<Defect> {
    let mut found = Vec::new();
    let mut contexts = Vec::new();
    for level in &rows.rows {
        let (Some(input), Some(output)) = (level.0.input_length, level.0.output_length) else {
            continue;
        };
        let shorter = rows.rows.iter().filter(|other| {
            other.0.load == level.0.load
                && other.0.input_length == Some(input)
                && other.0.output_length.is_some_and(|length| length < output)
        });
        let shorter = shorter.max_by_key(|other| other.0.output_length);
        let Some((is, before)) = per_token(level).zip(shorter.and_then(per_token)) else {
            continue;
        };
        // A short answer's share of the prefill is the larger one, so a little less is nothing.
        let prefill = shorter.and_then(prefill_share).unwrap_or(0.0);
        if is < before * (1.0 - SLACK - prefill) {
            found.push(Against { row: level.row(), found: is, expected: before });
            contexts.push(f64::from(input) + f64::from(output) * is / before);
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let mean = contexts.iter().sum::<f64>() / contexts.len() as f64;
    let agree = contexts.len() > 1 && contexts.iter().all(|c| (c / mean - 1.0).abs() <= AGREE);
    vec![Defect::Clamp { rows: found, context: agree.then_some(mean) }]
}

/// The part of the latency that the first token took, where that is known.
fn prefill_share(level: &Level<'_>) -> Option<f64> {
    Some(level.ttft_ms()? / level.latency_ms()?).filter(|_| !level.is_whole())
}
