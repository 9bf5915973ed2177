//! A response takes one gap for each token after the first: (latency − TTFT) ÷ ITL equals the output
//! tokens minus one.

use super::found::{Against, Found, Sure, against};
use super::rows::{Level, Rows};
use dyno_words::number::digits;
use dyno_words::{Defect, values};

const SLACK: f64 = 0.10;

/// The gaps of a row by its own latency and the ITL of some row.
fn count(level: &Level<'_>, itl: f64) -> Option<f64> {
    Some((level.latency()? - level.ttft()?) / itl)
}

fn expected(level: &Level<'_>) -> Option<f64> {
    let counted = level.0.output_tokens.map(|tokens| tokens.mean);
    let tokens = counted.or(level.0.output_length.map(f64::from))?;
    (tokens > 2.0).then_some(tokens - 1.0)
}

fn fits(level: &Level<'_>, itl: f64, imported: bool) -> Option<bool> {
    let (found, expected) = (count(level, itl)?, expected(level)?);
    let rounding = if imported { level.rounding() + 0.005 / itl } else { 0.0 };
    Some((found / expected - 1.0).abs() <= SLACK + rounding)
}

pub(super) fn gaps(rows: &Rows<'_>) -> Option<Found> {
    let imported = rows.imported();
    let streamed: Vec<&Level<'_>> =
        rows.rows.iter().filter(|level| !level.is_zero() && !level.is_whole()).collect();
    let wrong: Vec<&&Level<'_>> = streamed
        .iter()
        .filter(|level| level.itl().and_then(|itl| fits(level, itl, imported)) == Some(false))
        .collect();
    let figures = |level: &&&Level<'_>| {
        let (found, expected) = (count(level, level.itl()?)?, expected(level)?);
        Some(Against { row: level.row(), found, expected })
    };
    let found: Vec<Against> = wrong.iter().filter_map(figures).collect();
    // Values of a shifted column are present, but next to another row.
    let itls: Vec<f64> = wrong.iter().filter_map(|level| level.itl()).collect();
    let has_other = |level: &&&&Level<'_>| {
        let own = level.itl();
        itls.iter().any(|itl| Some(*itl) != own && fits(level, *itl, imported) == Some(true))
    };
    let moved = wrong.iter().filter(has_other).count();
    let (what, sure) = match moved {
        0 => (Defect::Gaps, Sure::Possible),
        all if all == found.len() => (Defect::GapsShifted, Sure::Certain),
        _ => (Defect::GapsShifted, Sure::Likely),
    };
    against(found, |n| digits(n, 0), what, sure, values![])
}
