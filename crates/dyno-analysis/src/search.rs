//! Searches, whose levels are chosen during the run: what the levels so far show, which one comes next,
//! and the result. A pure function of plan and levels, so that a report repeats what the run printed.

mod carried;
mod length;

pub use length::{FEW_TURNOVERS, TURNOVERS, in_a_closed_loop, lasting};

use crate::slo::{judge, judge_term, longer_by, margin};
use dyno_model::level_schedule::{Over, Range, Search, Spacing};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, LevelPlan, Load, Plan};
use dyno_model::slo::{Slo, Statistic, Term};
use dyno_model::summary::{LevelSummary, SearchSummary, round6};
use dyno_model::units::to_s;
use dyno_model::{Decision, Diagnostic, DiagnosticValue, Verdict};
use dyno_search::capacity::{Capacity, CapacityAnswer, Doubt, SearchStart};
use dyno_search::ladder::Ladder;
use dyno_search::sweep::{self, Sweep};
use dyno_search::{HeldLoad, LevelKind, LevelWish, Margin, MeasuredLevel, NextLevel, rounded};
use dyno_words::number::change;
use dyno_words::{Finding, TOO_SHORT, said};

/// A level that a search has chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// What it does.
    pub level: LevelPlan,
    /// Why it is as long as it is, where the search decided that.
    pub length: Option<Diagnostic>,
}

/// The next level after these, which are in the order in which they ran; nothing when the search is
/// finished, or where the plan has fixed levels.
pub fn next_level(plan: &Plan, so_far: &[&LevelSummary]) -> Option<Chosen> {
    let search = plan.course.search.as_ref()?;
    if let Some(longer) = longer(plan, search, so_far) {
        return Some(longer);
    }
    match ask(plan, search, so_far) {
        NextLevel::Level(wish) => level(plan, search, wish, so_far),
        NextLevel::Done(_) => None,
    }
}

/// The result of a search with these levels; nothing where the plan has fixed levels.
pub fn found(plan: &Plan, levels: &[LevelSummary]) -> Option<SearchSummary> {
    let search = plan.course.search.as_ref()?;
    let mut so_far: Vec<&LevelSummary> = levels.iter().collect();
    so_far.sort_by_key(|level| level.index);
    match ask(plan, search, &so_far) {
        NextLevel::Done(found) => found.map(|found| *found),
        NextLevel::Level(_) => None,
    }
}

/// The first load of a search; no more than `max_concurrency` requests may be in flight.
pub fn first_load(search: &Search, max_concurrency: Option<u32>) -> Load {
    let rate = |rate| Load::Rate { rate, arrival: arrival(search) };
    let most = max_concurrency.map_or(f64::INFINITY, f64::from);
    let closed = |load: f64| Load::Concurrency { concurrency: load.round().max(1.0) as u32 };
    match search {
        Search::Sweep { .. } | Search::Ladder { .. } => closed(1.0),
        Search::Capacity { over, range, .. } => {
            let first = match range {
                Range::Unknown => None,
                Range::Near(load) => Some(*load),
                Range::Between([low, high]) => Some((low * high).sqrt()),
            };
            match (over, first) {
                // A server that is too slow for one request at a time makes a search pointless.
                (Over::Rate, None) => closed(1.0),
                (Over::Rate, Some(first)) => rate(rounded(first, DIGITS)),
                (Over::Concurrency, first) => closed(first.unwrap_or(FEW).min(most)),
            }
        }
    }
}

/// How arrivals are spaced at a rate.
fn arrival(search: &Search) -> Arrival {
    match search {
        Search::Sweep { arrival, .. } | Search::Capacity { arrival, .. } => *arrival,
        Search::Ladder { .. } => Arrival::Poisson,
    }
}

fn ask(
    plan: &Plan,
    search: &Search,
    so_far: &[&LevelSummary],
) -> NextLevel<Option<Box<SearchSummary>>> {
    // If the saturated level was measured again, the last one counts.
    let is_full = |level: &&&LevelSummary| kind(search, level) == LevelKind::Throughput;
    let last_full = so_far.iter().rfind(is_full).map(|level| level.index);
    let counts = |level: &&&LevelSummary| !is_full(level) || Some(level.index) == last_full;
    let told: Vec<MeasuredLevel> =
        so_far.iter().filter(counts).map(|level| measured(plan, search, level)).collect();
    let max_concurrency = plan.levels.first().and_then(|level| level.max_concurrency);
    let in_flight = max_concurrency.unwrap_or(sweep::IN_FLIGHT);
    match search {
        Search::Sweep { points, spacing, .. } => {
            let spacing = match spacing {
                Spacing::Bend => sweep::SweepSpacing::Adaptive,
                Spacing::Linear => sweep::SweepSpacing::Linear,
            };
            let levels = *points as usize;
            match (Sweep { levels, in_flight, spacing }).next(&told) {
                NextLevel::Level(wish) => NextLevel::Level(wish),
                NextLevel::Done(()) => NextLevel::Done(None),
            }
        }
        Search::Ladder { most, .. } => match (Ladder { most: *most }).next(&told) {
            NextLevel::Level(wish) => NextLevel::Level(wish),
            NextLevel::Done(knee) => NextLevel::Done(knee.map(|knee| {
                Box::new(SearchSummary::Knee {
                    concurrency: knee.load,
                    requests_per_s: round6(knee.completed_rate),
                    highest_per_s: round6(knee.most),
                })
            })),
        },
        Search::Capacity { over, range, levels, width, .. } => {
            if let Some(load) = hopeless(plan, search, so_far) {
                let never = CapacityAnswer::Never { load, margin: None };
                return NextLevel::Done(Some(Box::new(answered(*over, never, None))));
            }
            let start = match range {
                Range::Unknown => SearchStart::Probe(in_flight),
                Range::Near(load) => SearchStart::Guess(*load),
                Range::Between(range) => SearchStart::Between(*range),
            };
            let (kind, start) = match (over, start) {
                (Over::Rate, start) => (LevelKind::Rate, start),
                (Over::Concurrency, SearchStart::Probe(most)) => {
                    let guess = FEW.min(max_concurrency.map_or(FEW, |_| f64::from(most)));
                    (LevelKind::Concurrency, SearchStart::Guess(guess))
                }
                (Over::Concurrency, start) => (LevelKind::Concurrency, start),
            };
            let left = (*levels as usize).saturating_sub(so_far.len() - told.len());
            let most = max_concurrency.map(f64::from).filter(|_| kind == LevelKind::Concurrency);
            let capacity = Capacity { kind, start, width: *width, levels: left, most };
            let next = match capacity.next(&told) {
                NextLevel::Level(_) if is_spent(search, kind, so_far, &told) => {
                    Capacity { levels: told.len(), ..capacity }.next(&told)
                }
                next => next,
            };
            match next {
                NextLevel::Level(wish) => NextLevel::Level(wish),
                NextLevel::Done(answer) => {
                    let care = match answer {
                        CapacityAnswer::Inconclusive { .. } => undecided(plan, answer, so_far),
                        _ => carried::falls_behind(so_far),
                    };
                    let answer = match search.budget() {
                        Some(_) if *over == Over::Rate => lowered(answer),
                        _ => answer,
                    };
                    NextLevel::Done(Some(Box::new(answered(*over, answer, care))))
                }
            }
        }
    }
}

/// Whether the levels took the time that a rough answer may take, and one of them met the SLO.
fn is_spent(
    search: &Search,
    kind: LevelKind,
    so_far: &[&LevelSummary],
    told: &[MeasuredLevel],
) -> bool {
    let Some(budget) = search.budget() else { return false };
    let time: f64 = so_far.iter().filter_map(|level| level.duration_s).sum();
    let met = |level: &MeasuredLevel| match level.held {
        HeldLoad::By(Margin { log_ratio, .. }) => log_ratio <= 0.0,
        held => held == HeldLoad::Yes,
    };
    time >= to_s(budget) && told.iter().any(|level| level.kind == kind && met(level))
}

/// Significant digits of a rate, so that people can read and type it.
const DIGITS: i32 = 3;
/// The first concurrency of a search by default.
const FEW: f64 = 16.0;
/// Loads whose logarithms differ by less are the same.
const NEAR: f64 = 0.05;

/// By what share of it the lower end of a rough answer is lowered. Levels of 15 latencies end before the queue is as
/// long as it gets: the middle was 7 % too high on average, on the twins of docs/guides/capacity.md.
const SHORT: f64 = 0.125;

/// The answer of short levels, in which a load meets the SLO that misses it in the long run.
fn lowered(answer: CapacityAnswer) -> CapacityAnswer {
    match answer {
        CapacityAnswer::Between { low, high, confidence, doubt } => {
            CapacityAnswer::Between { low: low * (1.0 - SHORT), high, confidence, doubt }
        }
        answer => answer,
    }
}

/// `care`: why it is inconclusive, or why to be cautious where the levels agree.
fn answered(over: Over, answer: CapacityAnswer, care: Option<Diagnostic>) -> SearchSummary {
    let unit = match over {
        Over::Rate => "req/s",
        Over::Concurrency => "in flight",
    };
    let (holds, does_not_hold, confidence, doubt, outcome) = match answer {
        CapacityAnswer::Between { low, high, confidence, doubt } => {
            (Some(low), Some(high), confidence, doubt.map(doubted).or(care), Decision::Met)
        }
        CapacityAnswer::AtLeast { load } => (Some(load), None, None, care, Decision::Met),
        CapacityAnswer::Never { load, .. } => (None, Some(load), None, None, Decision::Missed),
        CapacityAnswer::Inconclusive { failed, .. } => {
            (None, failed, None, care, Decision::Inconclusive)
        }
    };
    SearchSummary::Capacity {
        unit: unit.to_owned(),
        holds: holds.map(round6),
        does_not_hold: does_not_hold.map(round6),
        confidence: confidence.map(round6),
        doubt,
        outcome: Some(outcome),
    }
}

/// Why a search is inconclusive, and what would decide it, by the last level at the load that could
/// not be judged.
fn undecided(plan: &Plan, answer: CapacityAnswer, so_far: &[&LevelSummary]) -> Option<Diagnostic> {
    let CapacityAnswer::Inconclusive { load, .. } = answer else { return None };
    let Some(load) = load else { return Some(Finding::NothingToTry.into()) };
    let near = |level: &&&LevelSummary| {
        level.load.value.is_some_and(|value| (value / load).ln().abs() < NEAR)
    };
    let level = so_far.iter().rfind(near)?;
    let verdict = judge(level, plan.slo.as_ref()?);
    let why = verdict.terms.into_iter().find_map(|term| term.why)?;
    let (what, advice) = said(&why);
    let advice = advice.map_or_else(|| "".into(), DiagnosticValue::from);
    Some(Finding::NotJudged.with([DiagnosticValue::from(&level.label), what.into(), advice]))
}

/// A reason for caution about the result.
fn doubted(doubt: Doubt) -> Diagnostic {
    match doubt {
        Doubt::Contradiction { held, failed } => {
            Finding::Contradiction.with([held, failed].map(|load| load.to_string()))
        }
        Doubt::Drift { share } => Finding::CapacityDrift.with([change(share)]),
    }
}

/// A saturated level whose responses took too long for a steady window is measured once more, for
/// longer, unless a rough answer is enough.
fn longer(plan: &Plan, search: &Search, so_far: &[&LevelSummary]) -> Option<Chosen> {
    if search.budget().is_some() {
        return None;
    }
    let mut full = so_far.iter().filter(|level| kind(search, level) == LevelKind::Throughput);
    let (first, None) = (full.next()?, full.next()) else { return None };
    let latency = first.times[Time::Latency].as_ref().and_then(|latency| latency.p50)?;
    let wish = LevelWish { kind: LevelKind::Throughput, load: first.load.value? };
    let Chosen { mut level, .. } =
        level(plan, search, wish, so_far).filter(|_| first.steady.is_none())?;
    let enough = length::for_latencies(latency);
    if level.duration_ns.is_some_and(|time| time >= enough) {
        return None;
    }
    (level.requests, level.duration_ns) = (None, Some(enough));
    let why = length::Reason::Latencies { latency_ms: latency };
    Some(Chosen { length: why.said(so_far.len(), &level), level })
}

/// Names the saturated level that counts as if it were the only one, and the one before it, which was
/// too short for its responses, as what it is.
pub(crate) fn name_attempts(search: &Search, levels: &mut [LevelSummary]) {
    let full = |level: &&mut LevelSummary| kind(search, level) == LevelKind::Throughput;
    let last = levels.iter_mut().filter(full).map(|level| level.index).max();
    let several = levels.iter_mut().filter(full).count() > 1;
    for level in levels.iter_mut().filter(full).filter(|_| several) {
        let name = level.label.split(" (").next().unwrap_or_default().to_owned();
        let is_last = Some(level.index) == last;
        level.superseded = !is_last;
        level.label = if is_last { name } else { format!("{name}{TOO_SHORT}") };
    }
}

/// The load of a level as a number.
fn kind(search: &Search, level: &LevelSummary) -> LevelKind {
    match (search, level.load.kind, level.load.value.unwrap_or(f64::NAN)) {
        (_, LoadKind::Rate, _) => LevelKind::Rate,
        (Search::Sweep { .. } | Search::Capacity { over: Over::Rate, .. }, _, 1.0) => {
            LevelKind::Synchronous
        }
        (Search::Sweep { .. } | Search::Capacity { over: Over::Rate, .. }, ..) => {
            LevelKind::Throughput
        }
        _ => LevelKind::Concurrency,
    }
}

/// A level like those of the plan, with the load that a search requests.
fn level(
    plan: &Plan,
    search: &Search,
    wish: LevelWish,
    so_far: &[&LevelSummary],
) -> Option<Chosen> {
    let like = plan.levels.first()?;
    let load = match wish.kind {
        LevelKind::Rate => Load::Rate { rate: wish.load, arrival: arrival(search) },
        _ => Load::Concurrency { concurrency: wish.load.round().max(1.0) as u32 },
    };
    let name = level_name(Some(search), &load);
    let is_like = |level: &&&LevelSummary| {
        let rest = level.label.strip_prefix(&name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let before: Vec<&LevelSummary> = so_far.iter().filter(is_like).copied().collect();
    let label = match before.len() {
        0 => name,
        before => format!("{name} ({})", before + 1),
    };
    let mut level = LevelPlan { label, load, ..like.clone() };
    let mut why = None;
    match search {
        Search::Capacity { least_requests, quick, .. } => {
            let alone = so_far.iter().find(|level| kind(search, level) == LevelKind::Synchronous);
            let alone = alone.and_then(|level| level.times[Time::Latency].as_ref()?.p50);
            let times = lengthened(plan, before.last().copied());
            let turnovers = match (quick, wish.kind) {
                (true, LevelKind::Throughput) => length::LATENCIES,
                (true, _) => FEW_TURNOVERS,
                (false, _) => TURNOVERS,
            };
            why = length::settle(&mut level, *least_requests, (turnovers, alone), times);
        }
        Search::Ladder { per_slot: Some(times), .. } => {
            level.requests = Some(times.saturating_mul(load.value() as u64));
        }
        _ => {}
    }
    Some(Chosen { length: why.and_then(|why| why.said(so_far.len(), &level)), level })
}

/// A level is lengthened by at most this factor, however many samples are missing.
const LONGEST: f64 = 8.0;

/// How many times longer than the last one at this load a level has to be, if that one had too few
/// samples to decide the SLO.
fn lengthened(plan: &Plan, last: Option<&LevelSummary>) -> Option<f64> {
    let times = longer_by(last?, plan.slo.as_ref()?)?;
    Some((times * length::TO_SPARE).min(LONGEST))
}

/// The label of a level of a search.
pub fn level_name(search: Option<&Search>, load: &Load) -> String {
    match (search, load) {
        (
            Some(Search::Sweep { .. } | Search::Capacity { over: Over::Rate, .. }),
            Load::Concurrency { concurrency: 1 },
        ) => "synchronous".into(),
        (
            Some(Search::Sweep { .. } | Search::Capacity { over: Over::Rate, .. }),
            Load::Concurrency { .. },
        ) => "throughput".into(),
        _ => format!("{} {}", load.kind(), load.value()),
    }
}

fn measured(plan: &Plan, search: &Search, level: &LevelSummary) -> MeasuredLevel {
    let counts = &level.requests;
    let ended = counts.ended().unwrap_or_default();
    let whole = level.throughput.requests_per_s;
    let steady = level.steady.and_then(|steady| steady.throughput.requests_per_s);
    let kind = kind(search, level);
    let held = plan.slo.as_ref().map_or(HeldLoad::Unsure, |slo| held(level, slo));
    MeasuredLevel {
        kind,
        load: level.load.value.unwrap_or(f64::NAN),
        arrived_rate: level.offered_per_s,
        completed_rate: steady.or(whole),
        steady: steady.is_some(),
        saturated: level.saturated,
        held,
        latency: level.times[Time::Latency].as_ref().and_then(|latency| latency.p50),
        requests: ended,
        failed_share: match ended {
            0 => 1.0,
            _ => counts.bad().unwrap_or_default() as f64 / ended as f64,
        },
        // A value far from its bound decides even where it was measured poorly.
        valid: level.verdict != Verdict::Invalid || held != HeldLoad::Unsure,
    }
}

/// The rate of one request at a time, where even its median breaks a bound on a higher percentile: no
/// load can meet that.
fn hopeless(plan: &Plan, search: &Search, so_far: &[&LevelSummary]) -> Option<f64> {
    let alone = so_far.iter().find(|level| kind(search, level) == LevelKind::Synchronous)?;
    let breaks = |term: &Term| {
        let at_least_half = term.statistic.is_some_and(|statistic| statistic != Statistic::Mean);
        let of_median = Term { statistic: Some(Statistic::P50), ..*term };
        let ceiling = term.metric.is_time() && at_least_half;
        ceiling && judge_term(alone, &of_median).outcome == Decision::Missed
    };
    let broken = plan.slo.as_ref()?.terms().iter().any(breaks);
    alone.throughput.requests_per_s.filter(|_| broken)
}

/// Whether a level meets the SLO, and by how much where its metrics are accurate enough. A level that
/// offered more than the server's capacity does not, if no bounded metric would show it.
fn held(level: &LevelSummary, slo: &Slo) -> HeldLoad {
    // What waits in the client shows in none of the times that count from sending.
    let unseen = level.client_wait.is_some_and(|wait| wait.waited > 0);
    let timeless = slo.terms().iter().all(|term| !term.metric.is_time());
    let exact = level.verdict != Verdict::Invalid;
    if (timeless || unseen) && exact && level.saturated == Some(true) {
        return HeldLoad::No;
    }
    match (margin(level, slo).filter(|_| exact), judge(level, slo).outcome) {
        (Some(margin), _) => HeldLoad::By(margin),
        (None, Decision::Met) => HeldLoad::Yes,
        (None, Decision::Missed) => HeldLoad::No,
        (None, Decision::Inconclusive) => HeldLoad::Unsure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::load::LoadSummary;

    fn named(labels: &[(&str, f64)]) -> Vec<(String, bool)> {
        let arrival = Arrival::Poisson;
        let search = Search::Sweep { points: 4, spacing: Spacing::Bend, arrival };
        let level = |(index, (label, load)): (usize, &(&str, f64))| LevelSummary {
            index: index as u32,
            label: (*label).to_owned(),
            load: LoadSummary { kind: LoadKind::Concurrency, value: Some(*load) },
            ..LevelSummary::default()
        };
        let mut levels: Vec<LevelSummary> = labels.iter().enumerate().map(level).collect();
        name_attempts(&search, &mut levels);
        levels.into_iter().map(|level| (level.label, level.superseded)).collect()
    }

    /// C15: the level that counts has the name; the attempt before it says what it is.
    #[test]
    fn a_level_that_was_too_short_is_named_so() {
        let twice = [("synchronous", 1.0), ("throughput", 96.0), ("throughput (2)", 96.0)];
        let counts = |label: &str| (label.to_owned(), false);
        let too_short = ("throughput, too short".to_owned(), true);
        let expected = [counts("synchronous"), too_short, counts("throughput")];
        assert_eq!(named(&twice), expected);
        assert_eq!(named(&twice[..2]), [counts("synchronous"), counts("throughput")]);
    }
}
