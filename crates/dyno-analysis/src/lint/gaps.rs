//! A response takes one step for each token after the first: (latency − TTFT) divided by the time per
//! token equals the output tokens minus one. Exactly so for ITL, whose mean is over all tokens; for TPOT,
//! whose mean is over requests, as far as long responses are no faster than short ones.

use super::found::{Against, LintFindings, Sure, against};
use super::near::Column;
use super::rows::{LintRows, LintedLevel};
use super::tokens;
use dyno_model::metric::Time;
use dyno_words::number::digits;
use dyno_words::{Defect, values};

const SLACK: f64 = 0.10;

/// The steps of a row by its own latency and some time per token, and those it should have.
struct Steps {
    found: f64,
    expected: f64,
    /// By what share printing may have changed the ratio of the two.
    rounding: f64,
}

/// The columns that are divided by each other.
struct Columns {
    latency: Column,
    ttft: Column,
    per_token: Column,
}

impl Columns {
    fn of<'a>(rows: &LintRows<'a>, per_token: impl Fn(&LintedLevel<'a>) -> Option<f64>) -> Self {
        Self {
            latency: Column::times(rows, LintedLevel::latency),
            ttft: Column::times(rows, LintedLevel::ttft),
            per_token: Column::times(rows, per_token),
        }
    }

    fn steps(&self, level: &LintedLevel<'_>, per_token: f64) -> Option<Steps> {
        let ttft = level.ttft().filter(|_| level.is_of_all(Time::Ttft))?;
        let decode = level.latency()? - ttft;
        let expected = level.output_length().filter(|tokens| *tokens > 2.0)? - 1.0;
        let printed = (self.latency.half() + self.ttft.half()) / decode.max(1e-9);
        let rounding = printed + self.per_token.share(per_token);
        (decode > 0.0).then_some(Steps { found: decode / per_token, expected, rounding })
    }
}

impl Steps {
    /// Below 0 for too few, above for too many, 0 for as many as expected.
    fn off(&self, slack: f64) -> f64 {
        let apart = self.found / self.expected - 1.0;
        let slack = slack + self.rounding;
        if apart < -slack || apart > slack { apart } else { 0.0 }
    }

    fn against(&self, level: &LintedLevel<'_>) -> Against {
        Against { row: level.row(), found: self.found, expected: self.expected }
    }
}

fn streamed<'a, 'b>(rows: &'b LintRows<'a>) -> impl Iterator<Item = &'b LintedLevel<'a>> {
    rows.rows.iter().filter(|level| !level.is_zero() && !level.is_whole())
}

/// ITL, or the time between events where a tool reports no other.
fn itl(level: &LintedLevel<'_>) -> Option<f64> {
    level.itl().or_else(|| level.chunk_gap())
}

/// By ITL. Never an error by itself: an event of a stream may carry several tokens, and tokens may not
/// have been counted. Certain is only a column whose values fit other rows.
pub(super) fn by_itl(rows: &LintRows<'_>) -> Option<LintFindings> {
    let columns = Columns::of(rows, itl);
    let steps = |level: &LintedLevel<'_>| columns.steps(level, itl(level)?);
    let off = |level: &LintedLevel<'_>| steps(level).map_or(0.0, |steps| steps.off(SLACK));
    let known = streamed(rows).filter(|level| steps(level).is_some()).count();
    let wrong: Vec<&LintedLevel<'_>> = streamed(rows).filter(|level| off(level) != 0.0).collect();
    let few = wrong.iter().all(|level| off(level) < 0.0);
    // Values of a shifted column are present, but next to another row.
    let others: Vec<f64> = wrong.iter().filter_map(|level| itl(level)).collect();
    let has_other = |level: &&&LintedLevel<'_>| {
        let fits = |other: &&f64| {
            let steps = columns.steps(level, **other);
            Some(**other) != itl(level) && steps.is_some_and(|steps| steps.off(SLACK) == 0.0)
        };
        others.iter().any(|other| fits(&other))
    };
    let moved = wrong.iter().filter(has_other).count();
    let found: Vec<Against> =
        wrong.iter().filter_map(|level| Some(steps(level)?.against(level))).collect();
    // Events with several tokens leave TPOT and the tokens per request as they are.
    let others = [by_tpot(rows), tokens::tokens(rows)];
    let miscounted = others.iter().flatten().any(|other| other.has_all(&found));
    // Events with several tokens only make steps fewer: a shift makes some fewer and some more.
    let (what, sure) = match (few, moved) {
        (true, _) if miscounted => (Defect::GapsOfCount, Sure::Possible),
        (true, _) if !rows.imported() || wrong.len() * 2 > known => {
            (Defect::GapsOfEvents, Sure::Likely)
        }
        (true, _) | (false, 0 | 1) => (Defect::Gaps, Sure::Possible),
        (false, all) if all == wrong.len() => (Defect::GapsShifted, Sure::Certain),
        (false, most) if most * 2 > wrong.len() => (Defect::GapsShifted, Sure::Likely),
        (false, _) => (Defect::Gaps, Sure::Possible),
    };
    against(found, |n| digits(n, 0), what, sure, values![])
}

/// Tools whose TPOT is (latency − TTFT) ÷ (output tokens − 1) of each request, and then their mean.
const PER_REQUEST: [&str; 4] = ["vllm", "sglang", "lmdeploy", "aiperf"];
/// By TPOT. The mean over requests differs from that over tokens by the covariance of speed and length,
/// [`LintedLevel::covariance`].
pub(super) fn by_tpot(rows: &LintRows<'_>) -> Option<LintFindings> {
    let columns = Columns::of(rows, LintedLevel::tpot);
    let wrong = |level: &LintedLevel<'_>| {
        let steps = columns.steps(level, level.tpot()?)?;
        (steps.off(level.covariance()) != 0.0).then(|| steps.against(level))
    };
    let found = streamed(rows).filter_map(wrong).collect();
    let what = match rows.tool().is_some_and(|tool| PER_REQUEST.contains(&tool)) {
        true => Defect::Tpot,
        false => Defect::TpotUnsure,
    };
    against(found, |n| digits(n, 0), what, Sure::Possible, values![])
}

/// A TPOT beyond this share of what latency and TTFT imply is not TPOT, where ITL fits.
const SWAPPED: f64 = 0.8;

/// ITL fits the tokens, and TPOT is far above it: the two are swapped. Short responses that waited after
/// their first token also have a high TPOT, so this is not certain; with one length it is found above.
pub(super) fn swapped(rows: &LintRows<'_>) -> Option<LintFindings> {
    let of_itl = Columns::of(rows, itl);
    let of_tpot = Columns::of(rows, LintedLevel::tpot);
    let wrong = |level: &LintedLevel<'_>| {
        let by_itl = of_itl.steps(level, itl(level)?)?;
        let by_tpot = of_tpot.steps(level, level.tpot()?)?;
        let far = by_tpot.found < by_tpot.expected * (SWAPPED - by_tpot.rounding);
        (by_itl.off(SLACK) == 0.0 && far).then(|| by_tpot.against(level))
    };
    let found: Vec<Against> = match by_tpot(rows) {
        Some(_) => Vec::new(),
        None => streamed(rows).filter_map(wrong).collect(),
    };
    against(found, |n| digits(n, 0), Defect::TpotSwapped, Sure::Possible, values![])
}
