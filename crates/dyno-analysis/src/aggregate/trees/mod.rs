//! Trees of sessions: how they ended, how long they took, how closely the recording was followed, and what a cache
//! without bounds would have held of their prompts.

mod findings;
mod groups;
mod tree;

pub(crate) use findings::{above_ideal, findings};

use super::client::exact_lag;
use super::concurrency::Flight;
use super::distributions::describe;
use dyno_model::frame::LevelEnd;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{
    Concurrency, Distribution, Fidelity, IdealCache, Tokens, Trees, round6, tidy,
};
use dyno_model::tree::{Growth, TurnOfTree};
use dyno_model::units::to_s;
use dyno_stats::Counted;
use groups::Groups;
use std::collections::BTreeMap;
use tree::{Ended, OneTree};

/// What one is in a distribution of ratios: [`describe`] divides by a million.
const ONE: f64 = 1e6;

/// The trees of a level, from the first reading.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    known: BTreeMap<u64, OneTree>,
    /// Measured requests.
    turns: u64,
    groups: Groups,
    join_wait: Vec<u64>,
    late: Vec<u64>,
    skipped: u128,
    trimmed: u64,
    cut: u64,
    /// Output tokens asked for and received, of requests where both are known.
    output: [u64; 2],
    repeated: RepeatedSums,
}

/// Sums of input tokens over the completed requests whose prefixes are known.
#[derive(Debug, Default)]
struct RepeatedSums {
    input: u64,
    of_prompts: u64,
    with_responses: u64,
}

impl Forest {
    /// Counts a request of any phase: trees may begin in the warm-up, and requests that only warm the cache belong to
    /// theirs.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let Some(turn) = record.tree.as_deref() else { return };
        self.known.entry(turn.tree).or_default().add(record, turn);
        if !record.phase.is_measured() {
            return;
        }
        self.turns += 1;
        self.skipped += u128::from(turn.skipped);
        self.trimmed += u64::from(turn.growth == Some(Growth::Trimmed));
        self.cut += u64::from(turn.growth == Some(Growth::Cut));
        self.join_wait.extend(turn.join_wait);
        self.late.extend(record.sent.map(|sent| sent.saturating_sub(record.intended)));
        if record.is_completed() {
            self.complete(record, turn);
        }
    }

    fn complete(&mut self, record: &RequestRecord, turn: &TurnOfTree) {
        self.groups.add(record);
        if let (Some(asked), Some(got)) = (record.requested_output, record.output) {
            self.output[0] += u64::from(asked);
            self.output[1] += got.tokens;
        }
        // Prefixes are in tokens of Dyno's count.
        let input = record.requested_input.map(u64::from).or(record.input.map(|of| of.tokens));
        if let (Some(repeated), Some(input)) = (turn.repeated, input) {
            self.repeated.input += input;
            self.repeated.of_prompts += u64::from(repeated.of_prompts);
            self.repeated.with_responses += u64::from(repeated.with_responses);
        }
    }

    pub(crate) fn any(&self) -> bool {
        self.turns > 0
    }

    /// The summary; nothing where no measured request is of a tree. Trees that were not over are alive until sending
    /// stopped; `over` is when requests were in flight.
    pub(crate) fn summary(
        &self,
        end: Option<&LevelEnd>,
        over: Option<(u64, u64)>,
    ) -> Option<Trees> {
        let measured: Vec<&OneTree> =
            self.known.values().filter(|tree| tree.is_measured()).collect();
        let started = measured.len() as u64;
        let count =
            |ended: Ended| measured.iter().filter(|tree| tree.ended() == ended).count() as u64;
        let whole: Vec<&OneTree> =
            measured.iter().copied().filter(|tree| tree.ended() == Ended::Completed).collect();
        let sum = |of: fn(&OneTree) -> u64| measured.iter().map(|tree| of(tree)).sum::<u64>();
        let times =
            |of: fn(&OneTree) -> Option<u64>| spread(whole.iter().filter_map(|tree| of(tree)));
        let tokens = |of: fn(&OneTree) -> Option<u64>| tokens(whole.iter().map(|tree| of(tree)));
        (started > 0).then(|| Trees {
            started,
            completed: count(Ended::Completed),
            failed: count(Ended::Failed),
            overflowed: count(Ended::Overflowed),
            cut: count(Ended::Cut),
            sessions: sum(OneTree::sessions),
            subagents: sum(OneTree::subagents),
            sessions_failed: sum(OneTree::sessions_failed),
            turns: self.turns,
            turns_mean: round6(self.turns as f64 / started as f64),
            cancelled: sum(OneTree::cancelled),
            live: over.and_then(|over| self.live(end.map(|end| end.sending_stopped), over)),
            parallel: parallel(&measured),
            duration: times(OneTree::duration),
            active: times(|tree| tree.duration().map(|_| tree.active())),
            idle: times(|tree| tree.duration()?.checked_sub(tree.active())),
            stretch: times(|tree| tree.stretch().map(|stretch| (stretch * ONE).round() as u64)),
            join_wait: spread(self.join_wait.iter().copied()),
            input_tokens: tokens(OneTree::input),
            output_tokens: tokens(OneTree::output),
            fidelity: Fidelity {
                idle_skipped_s: round6(to_s(end.map_or(0, |end| end.client.skipped_idle_ns))),
                ..self.fidelity()
            },
            ideal_cache: self.ideal(),
            groups: self.groups.summary(),
        })
    }

    fn live(&self, stopped: Option<u64>, (from, to): (u64, u64)) -> Option<Concurrency> {
        let mut flight = Flight::default();
        for tree in self.known.values() {
            let (begun, ended) = tree.alive();
            let until = stopped.filter(|_| tree.ended() == Ended::Cut);
            flight.add(begun, until.map_or(ended, |until| until.max(ended)));
        }
        flight.sort();
        flight.over(from, to)
    }

    fn fidelity(&self) -> Fidelity {
        let [asked, got] = self.output;
        Fidelity {
            gap_error_ms: exact_lag(self.late.clone()),
            skipped_s: round6(self.skipped as f64 / 1e9),
            idle_skipped_s: 0.0,
            trimmed: self.trimmed,
            cut: self.cut,
            output_kept: (asked > 0).then(|| round6(got as f64 / asked as f64)),
        }
    }

    fn ideal(&self) -> Option<IdealCache> {
        let RepeatedSums { input, of_prompts, with_responses } = self.repeated;
        let share = |tokens: u64| round6((tokens as f64 / input as f64).min(1.0));
        (input > 0).then(|| IdealCache {
            of_prompts: share(of_prompts),
            with_responses: share(with_responses),
        })
    }

    /// How long measured trees took so far, from the first request to the last end.
    pub(crate) fn lengths(&self) -> Counted {
        let measured = self.known.values().filter(|tree| tree.is_measured());
        let length = |(from, to): (u64, u64)| to.saturating_sub(from);
        Counted::from_samples(measured.map(|tree| length(tree.alive())).collect())
    }

    /// When the last tree with a measured request began.
    pub(crate) fn last_begun(&self) -> Option<u64> {
        let measured = self.known.values().filter(|tree| tree.is_measured());
        measured.map(|tree| tree.alive().0).max()
    }
}

fn spread(samples: impl Iterator<Item = u64>) -> Option<Distribution> {
    describe(&Counted::from_samples(samples.collect()))
}

/// Tokens per tree, of trees whose tokens are known.
fn tokens(totals: impl Iterator<Item = Option<u64>> + Clone) -> Option<Tokens> {
    let known: Vec<u64> = totals.clone().flatten().collect();
    let total = known.iter().sum::<u64>();
    let mean = round6(tidy(total as f64 / known.len() as f64)?);
    Some(Tokens { total: totals.into_iter().all(|of| of.is_some()).then_some(total), mean })
}

/// Requests in flight of a tree while it has any: the mean over all trees, and the most of any.
fn parallel(trees: &[&OneTree]) -> Option<Concurrency> {
    let sum = |of: fn(&OneTree) -> u64| trees.iter().map(|tree| to_s(of(tree))).sum::<f64>();
    let mean = tidy(sum(OneTree::work) / sum(OneTree::active))?;
    let peak = trees.iter().map(|tree| tree.peak()).max()?;
    Some(Concurrency { mean, peak, growth: None })
}

/// Whether a request was not sent through no fault of the server or of this machine: it is too long.
fn is_overflow(record: &RequestRecord) -> bool {
    record.outcome.is_overflow()
}

/// Whether a request ended its tree: it failed, was shed, or could not be sent.
fn is_failure(record: &RequestRecord) -> bool {
    let dropped = matches!(record.outcome, Outcome::Dropped(_));
    record.outcome.class().is_some() || dropped && !is_overflow(record)
}
