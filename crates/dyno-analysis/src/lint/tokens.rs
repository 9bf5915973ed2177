//! Tokens per second divided by requests per second are the tokens per request; and where few rows have
//! longer responses than all others, one response may have run away.

use super::found::{Against, Found, Sure, against};
use super::little::little;
use super::rows::{Level, Rows};
use dyno_words::number::digits;
use dyno_words::{Defect, values};

const SLACK: f64 = 0.02;

/// Output tokens of a request, as counted.
fn counted(level: &Level<'_>) -> Option<f64> {
    level.0.output_tokens.map(|tokens| tokens.mean).filter(|mean| *mean > 0.0)
}

pub(super) fn tokens(rows: &Rows<'_>) -> Option<Found> {
    let figures = |level: &Level<'_>| {
        let (per_s, tokens) = (level.per_s()?, level.tokens_per_s()?);
        let (found, expected) = (tokens / per_s, counted(level)?);
        let slack = SLACK + if rows.imported() { level.rounding() } else { 0.0 };
        let row = || Against { row: level.row(), found, expected };
        ((found / expected - 1.0).abs() > slack).then(row)
    };
    let found = rows.rows.iter().filter_map(figures).collect();
    against(found, |n| digits(n, 0), Defect::Tokens, Sure::Likely, values![])
}

/// Rows without failures whose slots were idle, and whose responses are longer on average than those of
/// the other rows, by a total that a single response may account for.
pub(super) fn runaway(rows: &Rows<'_>) -> Option<Found> {
    let off = little(rows);
    let idle: Vec<_> = off.iter().flatten().flat_map(Found::rows).collect();
    let mut usual: Vec<f64> = rows.rows.iter().filter_map(counted).collect();
    usual.sort_by(f64::total_cmp);
    let usual = usual.get(usual.len() / 2).copied().filter(|_| usual.len() > 2)?;
    let (mut found, mut longest) = (Vec::new(), 0.0_f64);
    for level in rows.rows.iter().filter(|level| idle.contains(&&level.row())) {
        let (Some(mean), Some(requests)) = (counted(level), level.0.requests.completed) else {
            continue;
        };
        if level.failed() == 0 && mean > usual * (1.0 + SLACK) {
            found.push(Against { row: level.row(), found: mean, expected: usual });
            longest = longest.max((mean - usual) * requests as f64 + usual);
        }
    }
    let longest = values![digits(longest, 0)];
    against(found, |n| digits(n, 1), Defect::Runaway, Sure::Likely, longest)
}
