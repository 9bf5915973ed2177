//! Tokens per second divided by requests per second are the tokens per request; and where few rows have
//! longer responses than all others, one response may have run away.

use super::counts;
use super::found::{Against, LintFindings, Sure, against};
use super::gaps;
use super::little;
use super::near::Column;
use super::rows::{LintRows, LintedLevel};
use dyno_words::number::digits;
use dyno_words::{Defect, values};

const SLACK: f64 = 0.02;
/// Of tools that may count tokens and requests in different windows.
const UNKNOWN_SLACK: f64 = 0.05;

pub(super) fn tokens(rows: &LintRows<'_>) -> Option<LintFindings> {
    let slack = if rows.by_duration() { SLACK } else { UNKNOWN_SLACK };
    let rate = Column::rates(rows, LintedLevel::per_s);
    let speed = Column::rates(rows, LintedLevel::tokens_per_s);
    let length = Column::rates(rows, LintedLevel::output_tokens);
    let wrong = |level: &LintedLevel<'_>| {
        let (per_s, tokens) = (level.per_s()?, level.tokens_per_s()?);
        let (found, expected) = (tokens / per_s, level.output_tokens()?);
        let edges = if rows.by_duration() { 0.0 } else { 2.0 * level.window_edges() };
        let rounding = edges + rate.share(per_s) + speed.share(tokens);
        // A mean of counted tokens is not rounded, but a printed one is.
        let counted = level.0.output_tokens.is_some_and(|tokens| tokens.total.is_some());
        let rounding = rounding + if counted { 0.0 } else { length.share(expected) };
        let row = || Against { row: level.row(), found, expected };
        ((found / expected - 1.0).abs() > slack + rounding).then(row)
    };
    let found: Vec<Against> = rows.rows.iter().filter_map(wrong).collect();
    // Requests/s that do not fit the duration either explain it; where TPOT does not fit the tokens
    // either, those may be wrong.
    let holds_all = |other: Option<LintFindings>| other.is_some_and(|other| other.has_all(&found));
    let by_rate = holds_all(counts::by_duration(rows));
    let what = match (by_rate, rows.by_duration()) {
        (true, true) => Defect::TokensByRate,
        (true, false) => Defect::TokensByRateUnsure,
        (false, true) => Defect::Tokens,
        (false, false) => Defect::TokensUnsure,
    };
    let sure = match by_rate || holds_all(gaps::by_tpot(rows)) {
        true => Sure::Possible,
        false => Sure::Likely,
    };
    against(found, |n| digits(n, 0), what, sure, values![])
}

/// Input and output tokens by their speed and the duration are those of the completed requests. Only of
/// tools that divide the three by one duration.
pub(super) fn total(rows: &LintRows<'_>) -> Option<LintFindings> {
    if !rows.imported() || !rows.by_duration() {
        return None;
    }
    let speed = Column::rates(rows, LintedLevel::total_per_s);
    let time = Column::rates(rows, LintedLevel::duration_s);
    let lengths = [
        Column::rates(rows, LintedLevel::input_tokens).half(),
        Column::rates(rows, LintedLevel::output_tokens).half(),
    ];
    let wrong = |level: &LintedLevel<'_>| {
        let (per_s, duration) = (level.total_per_s()?, level.duration_s()?);
        let expected = level.input_tokens()? + level.output_tokens()?;
        let found = per_s * duration / level.completed()?;
        let rounding = speed.share(per_s) + time.share(duration);
        let slack = SLACK + rounding + lengths.iter().sum::<f64>() / expected;
        let row = || Against { row: level.row(), found, expected };
        ((found / expected - 1.0).abs() > slack).then(row)
    };
    let found = rows.rows.iter().filter_map(wrong).collect();
    against(found, |n| digits(n, 0), Defect::TotalTokens, Sure::Possible, values![])
}

/// By how much tools may count more tokens than the server: they tokenize the text themselves.
const COUNTED_ANEW: f64 = 0.05;

/// More tokens than were requested, where those that came are not stated. Fewer are no surprise.
pub(super) fn beyond_length(rows: &LintRows<'_>) -> Option<LintFindings> {
    let rate = Column::rates(rows, LintedLevel::per_s);
    let speed = Column::rates(rows, LintedLevel::tokens_per_s);
    let wrong = |level: &LintedLevel<'_>| {
        let (per_s, tokens) = (level.per_s()?, level.tokens_per_s()?);
        let (found, expected) = (tokens / per_s, f64::from(level.0.output_length?));
        let slack = COUNTED_ANEW + rate.share(per_s) + speed.share(tokens);
        let row = || Against { row: level.row(), found, expected };
        (level.output_tokens().is_none() && found > expected * (1.0 + slack)).then(row)
    };
    let found = rows.rows.iter().filter_map(wrong).collect();
    against(found, |n| digits(n, 0), Defect::TokensBeyond, Sure::Possible, values![])
}

/// A mean length further from the median of all rows than this many median deviations is not chance.
const DEVIATIONS: f64 = 6.0;

/// Rows without failures whose slots were idle, and whose responses are longer on average than those of
/// the other rows, by a total that a single response may account for. How much means differ by chance
/// is seen from row to row.
pub(super) fn runaway(rows: &LintRows<'_>) -> Option<LintFindings> {
    let off = little::below(rows);
    let idle: Vec<_> = off.iter().flatten().flat_map(LintFindings::rows).collect();
    let lengths: Vec<f64> = rows.rows.iter().filter_map(LintedLevel::output_tokens).collect();
    let usual = median(lengths.clone()).filter(|_| lengths.len() > 2)?;
    let chance = median(lengths.iter().map(|length| (length - usual).abs()).collect())?;
    let (mut found, mut longest) = (Vec::new(), 0.0_f64);
    for level in rows.rows.iter().filter(|level| idle.contains(&&level.row())) {
        let (Some(mean), Some(requests)) = (level.output_tokens(), level.completed()) else {
            continue;
        };
        let beyond = usual * (1.0 + SLACK) + DEVIATIONS * chance;
        if level.failed() == 0 && mean > beyond {
            found.push(Against { row: level.row(), found: mean, expected: usual });
            longest = longest.max((mean - usual) * requests + usual);
        }
    }
    let longest = values![digits(longest, 0)];
    against(found, |n| digits(n, 1), Defect::Runaway, Sure::Likely, longest)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
