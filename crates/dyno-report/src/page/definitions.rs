//! What every figure on the page means, in one sentence each; the whole of it is in the manual.

use super::Page;
use super::markup::{Markup, class, tag};
use super::words::Word;
use dyno_model::summary::LevelSummary;

type Used = fn(&LevelSummary) -> bool;

/// A name, its formula where there is one, its meaning, and whether a level has such a figure.
const ALL: [(Word, &str, Word, Used); 16] = [
    (Word::Ttft, "first − sent", Word::TtftMeans, |l| l.ttft_ms.is_some()),
    (Word::Itl, "gap / tokens", Word::ItlMeans, |l| l.itl_ms.is_some()),
    (Word::Tpot, "(last − first) / (tokens − 1)", Word::TpotMeans, |l| l.tpot_ms.is_some()),
    (Word::Latency, "last − sent", Word::LatencyMeans, |l| l.latency_ms.is_some()),
    (Word::ScheduledTtft, "first − intended", Word::ScheduledMeans, |l| {
        l.ttft_scheduled_ms.is_some()
    }),
    (Word::ChunkGap, "event[i] − event[i−1]", Word::ChunkGapMeans, |l| {
        l.chunk_gap_ms.is_some()
    }),
    (Word::RequestRate, "completed / duration", Word::RequestRateMeans, always),
    (Word::OutputRate, "output tokens / duration", Word::OutputRateMeans, always),
    (Word::SteadyWindow, "", Word::SteadyMeans, |l| l.steady.is_some()),
    (Word::PerUser, "1 / TPOT p50", Word::PerUserMeans, |l| l.tpot_ms.is_some()),
    (Word::InFlight, "", Word::InFlightMeans, |l| l.concurrency.is_some()),
    (Word::Goodput, "met / duration", Word::GoodputMeans, |l| l.slo.is_some()),
    (Word::FailedShare, "failed / (completed + failed)", Word::FailedMeans, always),
    (Word::Percentiles, "", Word::PercentilesMeans, always),
    (Word::Interval, "", Word::IntervalMeans, always),
    (Word::Verdict, "", Word::VerdictMeans, always),
];

fn always(_: &LevelSummary) -> bool {
    true
}

/// The definitions of what this run has.
pub(super) fn definitions(page: &Page) -> Markup {
    let levels = &page.summary.levels;
    let used = ALL.into_iter().filter(|(_, _, _, used)| levels.iter().any(used));
    let items = used.map(|(name, formula, means, _)| {
        let formula = (!formula.is_empty()).then(|| tag("code").text(formula).into());
        let name = tag("dt").text(page.say(name)).text(" ").adds(formula);
        tag("div").add(name).add(tag("dd").text(page.say(means))).into()
    });
    let absent = tag("p").text(page.say(Word::AbsentMeans));
    [class("dl", "definitions").adds(items).into(), absent.into()].into_iter().collect()
}
