//! A response takes time for each of its tokens: where a longer one takes hardly more time than a shorter
//! one to the same prompt, it was cut off, as at the end of the context.

use super::found::{Against, LintFindings, Sure, against};
use super::rows::{LintRows, LintedLevel};
use dyno_words::number::digits;
use dyno_words::{Defect, values};
use std::collections::BTreeSet;

/// The least share of a response that must be missing; noise of a few per cent in latencies looks like
/// less.
const MISSING: f64 = 0.15;
/// The same where other rows show the end of the context.
const SLIGHT: f64 = 0.03;
/// How far apart the context lengths implied by the rows may be.
const AGREE: f64 = 0.05;

/// Milliseconds per requested output token.
fn per_token(level: &LintedLevel<'_>) -> Option<f64> {
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
fn shorter<'a>(rows: &[&LintedLevel<'a>], output: u32) -> Option<(u32, LintedLevel<'a>)> {
    let below = rows.iter().filter_map(|row| Some((row.0.output_length?, **row)));
    below.filter(|(length, _)| *length < output).max_by_key(|(length, _)| *length)
}

/// The time of a whole response.
fn whole((length, level): (u32, LintedLevel<'_>)) -> Option<f64> {
    Some(per_token(&level)? * f64::from(length))
}

/// How many tokens of a response its time allows for, by the time per additional token of two shorter
/// ones. Three lengths separate that from the prefill that all share.
fn generated(
    first: (u32, LintedLevel<'_>),
    second: (u32, LintedLevel<'_>),
    last: (u32, LintedLevel<'_>),
) -> Option<f64> {
    let [a, b, c] = [whole(first)?, whole(second)?, whole(last)?];
    let each = (b - a) / f64::from(second.0 - first.0);
    (each > 0.0).then(|| f64::from(second.0) + (c - b) / each)
}

/// A response whose time allows for fewer tokens than were requested.
struct Short {
    against: Against,
    input: u32,
    /// Where it ended: input tokens, and output tokens by its own time per token.
    context: f64,
    /// The share of the requested tokens that is missing.
    missing: f64,
}

fn shortened(rows: &LintRows<'_>, level: &LintedLevel<'_>) -> Option<Short> {
    let (input, output) = (level.0.input_length?, level.0.output_length?);
    let same = |other: &&LintedLevel<'_>| {
        other.0.load == level.0.load && other.0.input_length == Some(input)
    };
    let alike: Vec<&LintedLevel<'_>> = rows.rows.iter().filter(same).collect();
    let before = shorter(&alike, output)?;
    let first = shorter(&alike, before.0)?;
    let missing = 1.0 - generated(first, before, (output, *level))? / f64::from(output);
    let (own, others) = (per_token(level)?, per_token(&before.1)?);
    let short = || Short {
        against: Against { row: level.row(), found: own, expected: others },
        input,
        context: f64::from(input) + f64::from(output) * own / others,
        missing,
    };
    (missing > 0.0 && own < others).then(short)
}

pub(super) fn clamp(rows: &LintRows<'_>) -> Option<LintFindings> {
    let all = rows.rows.iter().filter_map(|level| shortened(rows, level));
    let (found, slight): (Vec<Short>, Vec<Short>) = all.partition(|short| short.missing > MISSING);
    let mean_of = |shorts: &[Short]| {
        shorts.iter().map(|short| short.context).sum::<f64>() / shorts.len() as f64
    };
    let mean = mean_of(&found);
    let agrees = |short: &Short| (short.context / mean - 1.0).abs() <= AGREE;
    // Prompts of different lengths that end at the same place: that is the end of the context.
    let inputs: BTreeSet<u32> = found.iter().map(|short| short.input).collect();
    let show = |ms| digits(ms, 2);
    let rows = |shorts: Vec<Short>| shorts.into_iter().map(|short| short.against).collect();
    if inputs.len() > 1 && found.iter().all(agrees) {
        // It also ends those of which little is missing.
        let slight = slight.into_iter().filter(|short| short.missing > SLIGHT && agrees(short));
        let all: Vec<Short> = slight.chain(found).collect();
        let context = values![digits(mean_of(&all), 0)];
        return against(rows(all), show, Defect::CutByContext, Sure::Certain, context);
    }
    against(rows(found), show, Defect::CutShort, Sure::Possible, values![])
}
