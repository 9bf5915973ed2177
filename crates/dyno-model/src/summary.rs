//! The summary of a run, saved as `summary.json`. Absent values are `null`, never 0.

mod agents;
mod basis;
mod cache;
mod client;
mod digits;
mod distribution;
mod extras;
mod instrument;
mod interactivity;
mod lengths;
mod origin;
mod overload;
mod prediction;
mod rates;
mod repeats;
mod requests;
mod search;
mod server;
mod server_times;
mod sessions;
mod slices;
mod slo;
mod trees;

pub use crate::load::{LoadKind, LoadSummary};
pub use agents::{AgentClock, AgentSummary};
pub use basis::Basis;
pub use cache::{CacheGroup, CacheSource, CacheSummary};
pub use client::{ClientSummary, ClientWait, Lag};
pub use digits::{round6, tidy};
pub use distribution::{Distribution, Intervals95};
pub use extras::{Burstiness, Extras, LevelExtras};
pub use instrument::{InstrumentSummary, Ranges, Stamps, ThroughputRanges};
pub use interactivity::{Interactivity, Slowest};
pub use lengths::OutputLengths;
pub use origin::{Origin, Recognised, Reported};
pub use overload::{Late, LatePercentiles, Overload, Pauses, Retried, RetryAfter, WithFailures};
pub use prediction::{PercentileIntervals, PredictionIntervals};
pub use rates::{Concurrency, Steady, Throughput};
pub use repeats::{Repeated, Spread};
pub use requests::RequestCounts;
pub use search::SearchSummary;
pub use server::{CostSummary, Gauge, Resident, ServerSummary};
pub use server_times::ServerTimesSummary;
pub use sessions::{Sessions, TurnMetrics};
pub use slices::Slice;
pub use slo::{SloSummary, SloVerdict, TermVerdict};
pub use trees::{Fidelity, GroupedBy, IdealCache, RequestGroup, Trees};

use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
use crate::frame::Ending;
use crate::language::Language;
use crate::metric::{PerTime, Statistic, Time};
use crate::server::GpuCost;
use crate::slo::Slo;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version tag of the saved form.
pub const SUMMARY_SCHEMA: &str = "dyno.summary/1";

/// Everything that a report shows of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: String,
    /// The run as a whole.
    pub run: RunSummary,
    /// Its levels, in order; levels that never started are missing.
    pub levels: Vec<LevelSummary>,
    /// Levels that were run more than once, with the spread between rounds.
    #[serde(default)]
    pub repeats: Vec<Repeated>,
    /// The result of a search.
    #[serde(default)]
    pub search: Option<SearchSummary>,
    /// Notes on the run.
    pub notes: Vec<Diagnostic>,
}

/// The run as a whole. By default, nothing is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunSummary {
    /// Identity of the run.
    pub id: String,
    /// Its label.
    pub label: Option<String>,
    /// The user's remark.
    pub note: Option<String>,
    /// The records end before the run did.
    pub partial: bool,
    /// How the run ended; absent where the records end early.
    pub ending: Option<Ending>,
    /// The target was the embedded engine, or identified itself as one: no real model was measured.
    pub simulated: bool,
    /// A twin answered in virtual time: nothing was measured at all.
    pub predicted: bool,
    /// The engine's twin or script.
    pub engine: Option<String>,
    /// The tool that measured it, for imported results.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// SHA-256 of the plan.
    pub plan_hash: Option<String>,
    /// The same without the seed: two runs of the same command have the same.
    #[serde(default)]
    pub plan_id: Option<String>,
    /// When it started (UTC, ISO 8601).
    pub started: Option<String>,
    /// The target's URL; absent for the embedded engine.
    pub target: Option<String>,
    /// The API dialect.
    pub api: Option<String>,
    /// The requested model.
    pub model: Option<String>,
    /// Version of Dyno that ran or imported it.
    pub version: String,
    /// Seed of arrivals and prompts.
    pub seed: Option<u64>,
    /// Allowed share of failures.
    pub allow_failures: f64,
    /// The SLO that a level has to meet.
    pub slo: Option<String>,
    /// Whether some level, or the load that a search found, meets it; absent without an SLO and in
    /// summaries of version 0.1.
    #[serde(default)]
    pub slo_outcome: Option<Decision>,
    /// Levels the plan has.
    pub levels_planned: u64,
    /// Where token counts came from, over all levels.
    pub token_source: TokenSources,
    /// Number of GPUs of the server, as given by the user.
    pub gpus: Option<u32>,
    /// Price of each of them, as given by the user.
    pub gpu_cost: Option<GpuCost>,
    /// The command line that made it, as a shell reads it, without secrets; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Where token counts came from: `usage`, `chunks`, `tokenizer`, `events` or `mixed`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenSources {
    /// Of input tokens.
    pub input: Option<String>,
    /// Of output tokens.
    pub output: Option<String>,
}

/// The distributions of a level's times.
pub type Times = PerTime<Option<Distribution>>;

/// One load level. By default, nothing is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LevelSummary {
    /// Its position in the order in which levels ran, from 0.
    #[serde(default)]
    pub index: u32,
    /// Which repetition of the same level it is, from 1, where levels are repeated.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// What tables call it.
    pub label: String,
    /// A search measured the same load again, for longer, and only the later level counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub superseded: bool,
    /// How requests were offered.
    pub load: LoadSummary,
    /// Requested input tokens, if they are the same for all requests.
    #[serde(default)]
    pub input_length: Option<u32>,
    /// Requested output tokens, if they are the same for all requests.
    #[serde(default)]
    pub output_length: Option<u32>,
    /// Texts per request, on average, where nothing is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_per_request: Option<f64>,
    /// What another tool reported of it, under its own names.
    #[serde(default)]
    pub reported: Option<Reported>,
    /// Whether to trust it.
    pub verdict: Verdict,
    /// Why the verdict is not `valid`.
    pub reasons: Vec<Diagnostic>,
    /// Notes that do not affect the verdict.
    pub notes: Vec<Diagnostic>,
    /// The records of this level end before it did.
    pub partial: bool,
    /// Why sending stopped.
    pub ending: Option<Ending>,
    /// Outcomes of the arrivals.
    pub requests: RequestCounts,
    /// What happened to requests that the server refused because it was overloaded; absent where none
    /// was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
    /// Percentiles in which failed and shed requests count as never answered; absent where all completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_failures: Option<WithFailures>,
    /// First `sent` to the last end or failure.
    pub duration_s: Option<f64>,
    /// Over the whole duration.
    pub throughput: Throughput,
    /// Over the steady window.
    pub steady: Option<Steady>,
    /// Requests that arrived per second, of a level at a fixed rate.
    #[serde(default)]
    pub offered_per_s: Option<f64>,
    /// The offered load exceeded the server's capacity; absent where that cannot be determined.
    #[serde(default)]
    pub saturated: Option<bool>,
    /// Arrivals that waited in the client, of an open loop that may have only so many requests in
    /// flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_wait: Option<ClientWait>,
    /// Requests in flight.
    pub concurrency: Option<Concurrency>,
    /// The times of requests, each under its key: `ttft_ms`, `latency_ms`, …
    #[serde(flatten)]
    pub times: Times,
    /// Input tokens of completed requests.
    pub input_tokens: Option<Tokens>,
    /// Output tokens of completed requests.
    pub output_tokens: Option<Tokens>,
    /// Output tokens that were reasoning; absent where the server does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<ReasoningTokens>,
    /// Requested and received output lengths, where these may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_lengths: Option<OutputLengths>,
    /// Where these counts came from.
    pub token_source: TokenSources,
    /// How fast users see output; absent in summaries of version 0.1 and where nothing is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interactivity: Option<Interactivity>,
    /// Conversations, where requests are turns of them.
    pub sessions: Option<Sessions>,
    /// Trees of sessions, where requests are turns of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trees: Option<Trees>,
    /// Whether it meets the SLO, where there is one.
    pub slo: Option<SloSummary>,
    /// The course over time, of a ramp or a soak.
    pub slices: Option<Vec<Slice>>,
    /// Whether responses were really streamed.
    pub integrity: Integrity,
    /// How exactly it was measured; absent where that is not known.
    #[serde(default)]
    pub instrument: Option<InstrumentSummary>,
    /// Where measurements are expected, of a prediction by a twin whose accuracy is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<PredictionIntervals>,
    /// Measurements of the client itself; of several agents the sums and the worst.
    pub client: ClientSummary,
    /// The parts of several load generators; empty where one client sent everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentSummary>,
    /// Server metrics.
    pub server: Option<ServerSummary>,
    /// Prefix cache hits.
    #[serde(default)]
    pub cache: Option<CacheSummary>,
    /// The server's own times, where responses carry them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_times: Option<ServerTimesSummary>,
    /// Tokens per GPU, and their price.
    pub cost: Option<CostSummary>,
    /// How far the embedded engine was behind its schedule.
    pub engine_slip_ms: Option<Lag>,
    /// Up to three error messages of the server for each failure class.
    pub failure_samples: BTreeMap<String, Vec<String>>,
    /// Those of them that are Dyno's own, in Chinese.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failure_samples_chinese: BTreeMap<String, String>,
    /// Requests that prolonged the level by themselves.
    pub stragglers: Vec<Straggler>,
}

/// Output tokens that were reasoning, over the completed requests that report them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReasoningTokens {
    /// How many requests report them.
    pub requests: u64,
    /// Per request.
    pub mean: f64,
    /// Share of the output tokens of these requests.
    pub share: Option<f64>,
}

/// Tokens of completed requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    /// In total; absent where the count of any request is unknown.
    pub total: Option<u64>,
    /// Per request whose count is known.
    pub mean: f64,
}

/// Whether responses were really streamed; shares between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Integrity {
    /// Output events that arrived with the same read as the one before.
    pub coalesced_share: Option<f64>,
    /// Output events with several tokens.
    pub multi_token_share: Option<f64>,
    /// Requests whose output arrived in one burst.
    pub one_burst_share: Option<f64>,
    /// Streams without a terminal event.
    pub no_terminal_share: Option<f64>,
}

/// A request that prolonged its level by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Straggler {
    /// Index of the arrival in its level.
    pub index: u64,
    /// How it ended.
    pub outcome: String,
    /// From `sent` to its end.
    pub took_ms: f64,
    /// How much earlier the level would have ended without it and those listed after it.
    pub stretched_s: f64,
}

impl Summary {
    /// The worst verdict of any level; a run without levels is suspect.
    pub fn worst_verdict(&self) -> Verdict {
        self.levels.iter().map(|level| level.verdict).max().unwrap_or(Verdict::Suspect)
    }

    /// Whether its load is trees of sessions, so that a slot of a closed loop is an agent at work.
    pub fn has_trees(&self) -> bool {
        self.levels.iter().any(|level| level.trees.is_some())
    }

    /// These statistics of a time and those that the SLO bounds, each before larger ones: what charts show.
    pub fn charted(&self, time: Time, usual: &[Statistic]) -> Vec<Statistic> {
        let slo: Option<Slo> = self.run.slo.as_ref().and_then(|slo| slo.parse().ok());
        let terms = slo.iter().flat_map(Slo::terms).filter(|term| term.metric.time() == Some(time));
        let mut all: Vec<Statistic> = usual.to_vec();
        for bounded in terms.filter_map(|term| term.statistic) {
            if !all.contains(&bounded) {
                let place = all.iter().position(|which| *which > bounded).unwrap_or(all.len());
                all.insert(place, bounded);
            }
        }
        all
    }

    /// Whether the SLO is met: by the load that a search found, else by any level. Absent without an
    /// SLO.
    pub fn slo_outcome(&self) -> Option<Decision> {
        self.run.slo.as_ref()?;
        let of_level = |level: &LevelSummary| level.slo.as_ref().map(|slo| slo.verdict.outcome);
        let searched = self.search.as_ref().and_then(SearchSummary::outcome);
        Some(searched.unwrap_or_else(|| Decision::any(self.levels.iter().filter_map(of_level))))
    }
}

impl LevelSummary {
    /// Whether requests wait for each other, as turns of conversations or of trees of them.
    pub fn has_turns(&self) -> bool {
        self.sessions.is_some() || self.trees.is_some()
    }

    /// Whether `--until-stable` gave up.
    pub fn gave_up(&self) -> bool {
        self.notes.iter().any(|note| note.code == "not_converged")
    }

    /// Whether it meets the SLO.
    pub fn passes(&self) -> bool {
        self.slo.as_ref().is_some_and(|slo| slo.verdict.outcome == Decision::Met)
    }

    /// Whether it misses the SLO.
    pub fn missed(&self) -> bool {
        self.slo.as_ref().is_some_and(|slo| slo.verdict.outcome == Decision::Missed)
    }

    /// The throughput of the level by itself: over the steady window where there is one, else over the whole level.
    /// Beside other levels it has their [`Basis`].
    pub fn steady_throughput(&self) -> Throughput {
        self.steady.map_or(self.throughput, |steady| steady.throughput)
    }

    /// A message of [`Self::failure_samples`] in a language; a server's own is the same in all.
    pub fn failure_in<'a>(&'a self, sample: &'a str, language: Language) -> &'a str {
        let chinese = self.failure_samples_chinese.get(sample).map_or(sample, String::as_str);
        language.choose([sample, chinese])
    }

    /// Whether texts are embedded or ranked, rather than generated.
    pub fn has_inputs(&self) -> bool {
        self.inputs_per_request.is_some()
    }

    /// Whether the headers came at another time than the whole response: by more than a hundredth.
    pub fn headers_differ(&self) -> bool {
        let [headers, latency] = [Time::Headers, Time::Latency].map(|time| &self.times[time]);
        let (Some(headers), Some(latency)) = (headers, latency) else { return false };
        [Statistic::Mean, Statistic::P50, Statistic::P99].into_iter().any(|which| {
            let both = headers.get(which).zip(latency.get(which));
            both.is_some_and(|(headers, latency)| latency - headers > 0.01 * latency)
        })
    }

    /// What tables call it, whichever round it is.
    pub fn name(&self) -> &str {
        let round = self.repeat.map(|repeat| format!(" #{repeat}"));
        round.and_then(|round| self.label.strip_suffix(&round)).unwrap_or(&self.label)
    }

    /// Whether TTFT equals the latency: responses arrived in one piece, so there is no real TTFT.
    pub fn is_whole(&self) -> bool {
        let [Some(ttft), Some(latency)] = [Time::Ttft, Time::Latency].map(|time| &self.times[time])
        else {
            return false;
        };
        let same = |a: Option<f64>, b: Option<f64>| a.zip(b).is_none_or(|(a, b)| a == b);
        ttft.mean.is_some_and(|mean| mean > 0.0)
            && ttft.mean == latency.mean
            && same(ttft.p50, latency.p50)
            && same(ttft.p90, latency.p90)
    }

    /// The time between tokens: ITL, else TPOT, else the gaps between the events of a stream.
    pub fn token_time(&self) -> Option<&Distribution> {
        let known = [Time::Itl, Time::Tpot, Time::ChunkGap].map(|time| &self.times[time]);
        let positive = |time: &&Distribution| time.mean.is_some_and(|mean| mean > 0.0);
        known.into_iter().flatten().find(positive).filter(|_| !self.is_whole())
    }

    /// Output tokens per second that one user sees: the inverse of the median TPOT.
    pub fn per_user(&self) -> Option<f64> {
        let tpot = self.times[Time::Tpot].as_ref()?.p50?;
        (tpot > 0.0).then_some(1e3 / tpot)
    }

    /// The value that another tool reported under this name.
    pub fn stated(&self, name: &str) -> Option<f64> {
        self.reported.as_ref().and_then(|reported| reported.figures.get(name).copied())
    }
}
