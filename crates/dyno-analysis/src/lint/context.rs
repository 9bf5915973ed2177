//! A longer response does not take less time per token, unless it was cut off at the end of the
//! context.

use super::found::{Against, Found, Sure, against};
use super::rows::{Level, Rows};
use dyno_words::number::digits;
use dyno_words::{Defect, values};

const SLACK: f64 = 0.05;
/// How far apart the context lengths implied by the rows may be.
const AGREE: f64 = 0.05;

/// Milliseconds per requested output token.
fn per_token(level: &Level<'_>) -> Option<f64> {
    let reported = level.0.reported.as_ref();
    let told = reported.and_then(|reported| {
        let by_name = |(name, _): &(&String, &f64)| {
            name.to_ascii_lowercase().contains("latency per output token")
        };
        reported.figures.iter().find(by_name).map(|(_, value)| *value)
    });
    told.or_else(|| Some(level.latency()? / f64::from(level.0.output_length?)))
}

/// The longest response of some rows that is shorter than `output`.
fn shorter<'a>(rows: &[&Level<'a>], output: u32) -> Option<(u32, Level<'a>)> {
    let below = rows.iter().filter_map(|row| Some((row.0.output_length?, **row)));
    below.filter(|(length, _)| *length < output).max_by_key(|(length, _)| *length)
}

/// The time per additional token from one length to a longer one.
fn further((short, a): (u32, Level<'_>), (long, b): (u32, Level<'_>)) -> Option<f64> {
    let whole = |length: u32, level: &Level<'_>| Some(per_token(level)? * f64::from(length));
    Some((whole(long, &b)? - whole(short, &a)?) / f64::from(long - short))
}

pub(super) fn clamp(rows: &Rows<'_>) -> Option<Found> {
    let mut found = Vec::new();
    let mut contexts = Vec::new();
    for level in &rows.rows {
        let (Some(input), Some(output)) = (level.0.input_length, level.0.output_length) else {
            continue;
        };
        let same = |other: &&Level<'_>| {
            other.0.load == level.0.load && other.0.input_length == Some(input)
        };
        let alike: Vec<&Level<'_>> = rows.rows.iter().filter(same).collect();
        // Three lengths separate the time per token from the prefill that all share.
        let Some(before) = shorter(&alike, output) else { continue };
        let Some(first) = shorter(&alike, before.0) else { continue };
        let (Some(is), Some(was)) = (further(before, (output, *level)), further(first, before))
        else {
            continue;
        };
        let (Some(own), Some(others)) = (per_token(level), per_token(&before.1)) else { continue };
        if is < was * (1.0 - SLACK) && own < others {
            found.push(Against { row: level.row(), found: own, expected: others });
            contexts.push(f64::from(input) + f64::from(output) * own / others);
        }
    }
    let mean = contexts.iter().sum::<f64>() / contexts.len() as f64;
    let agree = contexts.len() > 1 && contexts.iter().all(|c| (c / mean - 1.0).abs() <= AGREE);
    let show = |ms| digits(ms, 2);
    match agree {
        true => {
            let context = values![digits(mean, 0)];
            against(found, show, Defect::CutByContext, Sure::Certain, context)
        }
        false => against(found, show, Defect::CutShort, Sure::Possible, values![]),
    }
}
