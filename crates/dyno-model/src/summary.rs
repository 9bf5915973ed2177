//! The summary of a run as it stands in `summary.json`. Absent figures are `null`, never 0.

mod cache;
mod digits;
mod extras;
mod instrument;
mod origin;
mod repeats;
mod requests;
mod search;
mod server;
mod sessions;
mod slices;
mod slo;

pub use crate::load::{LoadKind, LoadSummary};
pub use cache::{CacheFigures, CacheSource, CacheSummary};
pub use digits::{round6, tidy};
pub use extras::{Burstiness, Extras, LevelExtras};
pub use instrument::{Instrument, Ranges, Stamps, ThroughputRanges};
pub use origin::{Origin, Reported};
pub use repeats::{Repeated, Spread};
pub use requests::RequestCounts;
pub use search::SearchSummary;
pub use server::{CostSummary, Gauge, Resident, ServerSummary};
pub use sessions::{Sessions, TurnFigures};
pub use slices::Slice;
pub use slo::{SloSummary, SloVerdict, TermVerdict};

use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
use crate::frame::Ending;
use crate::metric::{PerTime, Time};
use crate::server::GpuCost;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version tag of the saved form.
pub const SUMMARY_SCHEMA: &str = "dyno.summary/1";

/// Everything a report says about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: String,
    /// The run as a whole.
    pub run: RunSummary,
    /// Its levels, in order; those that never began are not here.
    pub levels: Vec<LevelSummary>,
    /// Levels that were run more than once, and how far their rounds lie apart.
    #[serde(default)]
    pub repeats: Vec<Repeated>,
    /// What levels that were chosen as the run went have found.
    #[serde(default)]
    pub search: Option<SearchSummary>,
    /// What should be known when reading any of it.
    pub notes: Vec<Diagnostic>,
}

/// The run as a whole. By default, nothing is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunSummary {
    /// Identity of the run.
    pub id: String,
    /// The user's short name for it.
    pub label: Option<String>,
    /// The user's remark.
    pub note: Option<String>,
    /// The records end before the run did.
    pub partial: bool,
    /// How the run ended; absent where the records do not tell.
    pub ending: Option<Ending>,
    /// The target was the embedded engine, or said that it is one: no real model was measured.
    pub simulated: bool,
    /// A twin answered in virtual time: nothing was measured at all.
    pub predicted: bool,
    /// The engine's twin or script.
    pub engine: Option<String>,
    /// Another tool's results, which were read in: nothing of it was measured by Dyno.
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
    /// The dialect spoken.
    pub api: Option<String>,
    /// The model asked for.
    pub model: Option<String>,
    /// Version of Dyno that ran it or read it in.
    pub version: String,
    /// Seed of arrivals and prompts.
    pub seed: Option<u64>,
    /// Share of failures above which the bar is missed.
    pub allow_failures: f64,
    /// What a level has to keep to pass.
    pub slo: Option<String>,
    /// Whether some level keeps it, or the search found a load that does; absent without an SLO,
    /// and in what version 0.1 wrote.
    #[serde(default)]
    pub slo_outcome: Option<Decision>,
    /// Levels the plan has.
    pub levels_planned: u64,
    /// Where token counts came from, over all levels.
    pub token_source: TokenSources,
    /// How many GPUs the server runs on, by the user's word.
    pub gpus: Option<u32>,
    /// What each of them costs, by the user's word.
    pub gpu_cost: Option<GpuCost>,
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
    /// Its place in the order in which levels ran, from 0.
    #[serde(default)]
    pub index: u32,
    /// Which repetition of the same level it is, from 1, where levels are repeated.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// What tables call it.
    pub label: String,
    /// How requests were offered.
    pub load: LoadSummary,
    /// Input tokens asked for, where all requests were to have the same.
    #[serde(default)]
    pub input_length: Option<u32>,
    /// Output tokens asked for, where all requests were to have the same.
    #[serde(default)]
    pub output_length: Option<u32>,
    /// What another tool said of it, in its own words.
    #[serde(default)]
    pub reported: Option<Reported>,
    /// Whether to believe it.
    pub verdict: Verdict,
    /// Why the verdict is not `valid`.
    pub reasons: Vec<Diagnostic>,
    /// What else should be known; no part of the verdict.
    pub notes: Vec<Diagnostic>,
    /// The records of this level end before it did.
    pub partial: bool,
    /// Why sending stopped.
    pub ending: Option<Ending>,
    /// What became of the arrivals.
    pub requests: RequestCounts,
    /// First `sent` to the last end or failure.
    pub duration_s: Option<f64>,
    /// Over the whole duration.
    pub throughput: Throughput,
    /// Over the steady window.
    pub steady: Option<Steady>,
    /// Requests that arrived per second, of a level at a fixed rate.
    #[serde(default)]
    pub offered_per_s: Option<f64>,
    /// More was offered than the server carries; absent where that cannot be told.
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
    /// Where these counts came from.
    pub token_source: TokenSources,
    /// Conversations, where requests are turns of some.
    pub sessions: Option<Sessions>,
    /// Whether it keeps the SLO, where there is one.
    pub slo: Option<SloSummary>,
    /// Over time, where it is a ramp or a soak.
    pub slices: Option<Vec<Slice>>,
    /// Whether the streams were streams.
    pub integrity: Integrity,
    /// How exactly it was measured; absent where that is not known.
    #[serde(default)]
    pub instrument: Option<Instrument>,
    /// What the client saw of itself.
    pub client: Client,
    /// What the server said of itself.
    pub server: Option<ServerSummary>,
    /// How much of the prompts the server's prefix cache had.
    #[serde(default)]
    pub cache: Option<CacheSummary>,
    /// Tokens per GPU, and their price.
    pub cost: Option<CostSummary>,
    /// How late the embedded engine was.
    pub engine_slip_ms: Option<Lag>,
    /// The server's words for up to three failures of each class.
    pub failure_samples: BTreeMap<String, Vec<String>>,
    /// Requests that alone stretched the level.
    pub stragglers: Vec<Straggler>,
}

/// Work per second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Throughput {
    /// Completed requests.
    pub requests_per_s: Option<f64>,
    /// Output tokens of completed requests.
    pub output_tokens_per_s: Option<f64>,
    /// Input and output tokens of completed requests.
    pub total_tokens_per_s: Option<f64>,
}

/// Work per second while the level ran steadily, counted by token events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Length of the window.
    pub window_s: f64,
    /// Work per second within it.
    #[serde(flatten)]
    pub throughput: Throughput,
}

/// Requests in flight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Concurrency {
    /// Time-weighted mean.
    pub mean: f64,
    /// The most at once.
    pub peak: u64,
    /// By how much it changed over an open loop, where it has a trend: 0.5 is half as many more.
    pub growth: Option<f64>,
}

/// A distribution of exact samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub count: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub std: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 66th percentile.
    pub p66: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 80th percentile.
    pub p80: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 98th percentile.
    pub p98: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// 95 % intervals.
    pub ci95: Intervals95,
    /// What the client can be sure of; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Ranges>,
    /// Percentiles with fewer than ten samples beyond them.
    pub marked: Vec<String>,
}

/// 95 % intervals, `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Intervals95 {
    /// Of the mean.
    pub mean: Option<[f64; 2]>,
    /// Of the median.
    pub p50: Option<[f64; 2]>,
    /// Of the 90th percentile.
    pub p90: Option<[f64; 2]>,
    /// Of the 99th percentile.
    pub p99: Option<[f64; 2]>,
}

/// Tokens of completed requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    /// Over all; absent where the count of any request is not known.
    pub total: Option<u64>,
    /// Per request whose count is known.
    pub mean: f64,
}

/// Whether the streams were streams; shares between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Integrity {
    /// Output events that came with the same read as the one before.
    pub coalesced_share: Option<f64>,
    /// Output events with several tokens.
    pub multi_token_share: Option<f64>,
    /// Requests whose output arrived in one burst.
    pub one_burst_share: Option<f64>,
    /// Streams without a terminal event.
    pub no_terminal_share: Option<f64>,
}

/// What the client saw of itself.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Client {
    /// `dispatched − intended`; in a replayed trace, the replay lag.
    pub send_lag_ms: Option<Lag>,
    /// `connected − dispatched`, where a connection was opened.
    pub connect_ms: Option<Lag>,
    /// Return of the poll to the time of a read, in runs of versions before 0.2.
    pub read_lag_ms: Option<Lag>,
    /// The kernel's stamp of what came to the read of it.
    #[serde(default)]
    pub read_delay_ms: Option<Lag>,
    /// Oversleep of a 10 ms timer.
    pub timer_lag_ms: Option<Lag>,
    /// Ticks of that timer that were late by 10 ms or more.
    #[serde(default)]
    pub missed_ticks: Option<u64>,
    /// How long the client stood still in all, in stalls of more than 2 ms.
    #[serde(default)]
    pub blind_s: Option<f64>,
    /// The longest of these stalls.
    #[serde(default)]
    pub longest_stall_ms: Option<f64>,
    /// How long the client waited for prompts to be made.
    #[serde(default)]
    pub awaited_prompts_s: Option<f64>,
    /// How long the client waited for its records to be written.
    #[serde(default)]
    pub awaited_records_s: Option<f64>,
    /// CPU time of the client's thread over wall time.
    pub cpu_share: Option<f64>,
}

/// Arrivals of an open loop that waited in the client for a free slot. The wait is part of the
/// times that count from the schedule, and not of those that count from sending.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClientWait {
    /// The most requests in flight.
    pub max_concurrency: u32,
    /// Arrivals that had to wait.
    pub waited: u64,
    /// Those of them that still waited when sending stopped, and were never sent.
    pub never_sent: u64,
    /// Mean wait of those that had to.
    pub mean_ms: Option<f64>,
    /// Longest wait.
    pub longest_ms: Option<f64>,
}

/// How late something was, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// How many times it was looked at.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Worst.
    pub max: f64,
}

/// A request that alone stretched its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Straggler {
    /// Index of the arrival in its level.
    pub index: u64,
    /// How it ended.
    pub outcome: String,
    /// From `sent` to its end.
    pub took_ms: f64,
    /// How much sooner the level would have been over without it and those listed after it.
    pub stretched_s: f64,
}

impl Summary {
    /// The worst verdict of any level; a run without levels is suspect.
    pub fn worst_verdict(&self) -> Verdict {
        self.levels.iter().map(|level| level.verdict).max().unwrap_or(Verdict::Suspect)
    }

    /// Some level had a larger share of failures than the plan allows.
    pub fn failure_bar_missed(&self) -> bool {
        self.levels.iter().any(|level| level.requests.bar_missed(self.run.allow_failures))
    }

    /// Whether the SLO is met: by the load that a search found, else by any level. Nothing where
    /// there is none.
    pub fn slo_outcome(&self) -> Option<Decision> {
        self.run.slo.as_ref()?;
        let of_level = |level: &LevelSummary| level.slo.as_ref().map(|slo| slo.verdict.outcome);
        let searched = self.search.as_ref().and_then(SearchSummary::outcome);
        Some(searched.unwrap_or_else(|| Decision::any(self.levels.iter().filter_map(of_level))))
    }
}

impl LevelSummary {
    /// It was to run until a figure is known, and ended before.
    pub fn gave_up(&self) -> bool {
        self.notes.iter().any(|note| note.code == "not_converged")
    }

    /// It is known to keep the SLO.
    pub fn passes(&self) -> bool {
        self.slo.as_ref().is_some_and(|slo| slo.verdict.outcome == Decision::Met)
    }

    /// What tables call it, whichever round it is.
    pub fn name(&self) -> &str {
        let round = self.repeat.map(|repeat| format!(" #{repeat}"));
        round.and_then(|round| self.label.strip_suffix(&round)).unwrap_or(&self.label)
    }

    /// TTFT repeats the latency: answers came whole, and there is no TTFT.
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

    /// What tells the time between tokens: ITL, TPOT where there is none, or the gaps between the
    /// events of a stream.
    pub fn token_time(&self) -> Option<&Distribution> {
        let known = [Time::Itl, Time::Tpot, Time::ChunkGap].map(|time| &self.times[time]);
        let told = |figure: &&Distribution| figure.mean.is_some_and(|mean| mean > 0.0);
        known.into_iter().flatten().find(told).filter(|_| !self.is_whole())
    }

    /// Output tokens per second that one user sees: the inverse of the median TPOT.
    pub fn per_user(&self) -> Option<f64> {
        let tpot = self.times[Time::Tpot].as_ref()?.p50?;
        (tpot > 0.0).then_some(1e3 / tpot)
    }

    /// What another tool stated by this name, where the level is its.
    pub fn stated(&self, name: &str) -> Option<f64> {
        self.reported.as_ref().and_then(|reported| reported.figures.get(name).copied())
    }
}
