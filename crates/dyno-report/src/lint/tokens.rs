//! Tokens per second over requests per second are the tokens of a request.

use super::defect::{Against, Defect};
use super::rows::Rows;

const SLACK: f64 = 0.05;

pub(super) fn tokens(rows: &Rows<'_>) -> Vec<Defect> {
    let mut found = Vec::new();
    let mut runaway: Option<(f64, f64)> = None;
    for level in rows.rows.iter().filter(|level| !level.is_zero()) {
        let counted = level.0.output_tokens.map(|tokens| tokens.mean).filter(|mean| *mean > 0.0);
        let (Some(per_s), Some(tokens), Some(expected)) =
            (level.per_s(), level.tokens_per_s(), counted)
        else {
            continue;
        };
        let slack = SLACK + if rows.imported() { level.rounding() } else { 0.0 };
        let (is, off) = (tokens / per_s, tokens / per_s / expected - 1.0);
        if off.abs() > slack {
            found.push(Against { row: level.row(), found: is, expected });
            let requests = level.0.requests.completed.filter(|_| level.failed() == 0);
            if let Some(requests) = requests.filter(|_| off > 0.0)
                && runaway.is_none_or(|(least, _)| off < least)
            {
                runaway = Some((off, (is - expected) * requests as f64 + expected));
            }
        }
    }
    let runaway = runaway.map(|(_, tokens)| tokens);
    if found.is_empty() { Vec::new() } else { vec![Defect::Tokens { rows: found, runaway }] }
}
