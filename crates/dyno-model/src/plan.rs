//! The plan of a run: everything that was decided before the first request, without secrets. It is
//! saved, never changed, and identified by its hash.

use crate::fleet::FleetPlan;
use crate::level_schedule::{LevelSchedule, Until};
pub use crate::load::{Arrival, Load};
use crate::server::ServerPlan;
use crate::slo::Slo;
use crate::{Nanos, SEC};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;

/// Version tag of the saved form.
pub const PLAN_SCHEMA: &str = "dyno.plan/1";

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_SCHEMA`].
    pub schema: String,
    /// The target.
    pub target: Target,
    /// The levels, in order.
    pub levels: Vec<LevelPlan>,
    /// Where prompts come from.
    pub data: DataPlan,
    /// What each request asks for.
    pub request: RequestPlan,
    /// When a request is abandoned.
    pub timeouts: Timeouts,
    /// Allowed share of failures.
    pub allow_failures: f64,
    /// How often a request is sent again that the server refused because it was overloaded; absent
    /// where refusals are recorded as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shed_retries: Option<u32>,
    /// Stop the run after this many failures; requests that were shed do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_failures: Option<u64>,
    /// The SLO that a level has to meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<Slo>,
    /// Seed of arrivals and prompts.
    pub seed: u64,
    /// The part of the arrivals that this process sends.
    pub shard: Shard,
    /// The load generators, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetPlan>,
    /// The label of the run.
    pub label: Option<String>,
    /// The user's remark.
    pub note: Option<String>,
    /// Keep the text of responses.
    pub save_text: bool,
    /// What happens between levels, and how they are chosen.
    #[serde(default, skip_serializing_if = "LevelSchedule::is_plain")]
    pub course: LevelSchedule,
    /// Server metrics and hardware.
    #[serde(default, skip_serializing_if = "ServerPlan::is_empty")]
    pub server: ServerPlan,
}

/// The target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Base or endpoint URL, without credentials; absent for the embedded engine.
    pub url: Option<String>,
    /// The embedded engine's twin or script, when no target was given.
    pub embedded: Option<String>,
    /// The twin answers in virtual time: nothing is measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub predicted: bool,
    /// The API dialect.
    pub api: Api,
    /// Server certificates are not checked.
    pub insecure: bool,
    /// Names of the extra headers; their values are never kept.
    pub header_names: Vec<String>,
    /// How many local addresses connections are opened from; absent: the system chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_addresses: Option<u32>,
    /// For a prediction: how far the twin is from what is measured, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<PredictionAccuracy>,
}

/// Half the widths of the intervals around predictions that hold 95 % of measurements, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PredictionAccuracy {
    /// Of requests per second.
    pub rate: f64,
    /// Of TTFT.
    pub ttft: f64,
    /// Of ITL; absent if the twin was fitted to responses of one token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itl: Option<f64>,
    /// Of latency.
    pub latency: f64,
}

/// The name of an API dialect. Which there are, `dyno-wire` knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Api(Cow<'static, str>);

impl Api {
    /// The API with this name.
    pub const fn named(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The API is not known yet: it is found out by asking the server. No run is saved with it.
    pub const AUTO: Self = Self::named("auto");

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Api {
    /// What nearly every server has.
    fn default() -> Self {
        Self::named("openai-chat")
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What requests are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Text is generated.
    #[default]
    Generate,
    /// Texts are turned into vectors.
    Embed,
    /// Documents are ranked, or pairs of texts scored.
    Rank,
}

impl Task {
    /// Whether text is generated, token by token.
    pub fn generates(&self) -> bool {
        *self == Self::Generate
    }

    /// Texts per request where nothing else is asked for.
    pub fn usual_inputs(self) -> u32 {
        match self {
            Self::Generate | Self::Embed => 1,
            Self::Rank => 8,
        }
    }
}

/// One load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelPlan {
    /// What tables call it.
    pub label: String,
    /// How requests are offered.
    pub load: Load,
    /// Stop after this many measured requests.
    pub requests: Option<u64>,
    /// Stop sending after this time.
    pub duration_ns: Option<Nanos>,
    /// The warm-up.
    pub warmup: Option<Warmup>,
    /// How long to wait for running requests after `duration_ns` or an interrupt.
    pub drain_ns: Nanos,
    /// Length of synthetic prompts.
    pub input_tokens: LengthSpec,
    /// Output length to request, unless the data have their own.
    pub output_tokens: LengthSpec,
    /// For a prediction: the estimated capacity of the twin, in requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<[f64; 2]>,
    /// For a prediction: it is so far outside of what the twin was fitted to that its accuracy is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extrapolated: bool,
    /// Which repetition of the same level it is, from 1, where levels are repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Stop as soon as this metric is stable, within the bounds above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Check for drift under constant load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soak: bool,
    /// The most requests in flight; an arrival of an open loop that is due beyond them waits in the
    /// client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u32>,
    /// Texts per request, where they are embedded or ranked and the data are single texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u32>,
    /// The data are sent once, which ends the level where nothing else does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// A length or a distribution of lengths, as it is typed: `512`, `128-1024`, `normal(512,64)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LengthSpec(pub String);

impl LengthSpec {
    /// Always the same length.
    pub fn fixed(tokens: u32) -> Self {
        Self(tokens.to_string())
    }
}

/// Where prompts come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DataPlan {
    /// `KIND[:PATH][,key=value…]`, as it was typed; absent: random prompts.
    pub spec: Option<String>,
    /// In the order of the file, or shuffled by the seed.
    pub shuffle: bool,
    /// Use at most this many prompts.
    pub limit: Option<u64>,
    /// Shortest prompt to use.
    pub min_input_tokens: Option<u32>,
    /// Longest prompt to use.
    pub max_input_tokens: Option<u32>,
    /// Truncate prompts that are too long, instead of skipping them.
    pub truncate: bool,
    /// Make every prompt miss a prefix cache.
    pub unique_prefix: bool,
    /// A tokenizer file or model folder.
    pub tokenizer: Option<String>,
    /// Levels, rounds, resumed attempts and both sides of a comparison send the same prompts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_prompts: bool,
    /// The prefix cache hit rate to aim for, by prompt tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit: Option<f64>,
}

impl DataPlan {
    /// How many prefixes prompts share where a cache hit rate is aimed for, unless the data say so.
    pub const CACHE_GROUPS: u32 = 8;
}

/// The warm-up before the measured part of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmup {
    /// A number of requests.
    Requests(u64),
    /// A time, in nanoseconds.
    Duration(Nanos),
}

/// What each request asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestPlan {
    /// What requests are for.
    #[serde(default, skip_serializing_if = "Task::generates")]
    pub task: Task,
    /// The requested model; absent: the server's only model.
    pub model: Option<String>,
    /// Ask for a stream.
    pub stream: bool,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Stop strings.
    pub stop: Vec<String>,
    /// Extra fields, merged into every body.
    pub extra_body: Option<serde_json::Map<String, serde_json::Value>>,
    /// Token usage to request.
    pub usage: UsageWanted,
}

/// How much token usage is requested from the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageWanted {
    /// With every chunk where the server supports it, else at the end.
    #[default]
    Continuous,
    /// At the end.
    Final,
    /// Not at all.
    None,
}

/// When a request is abandoned; each timeout has its own failure class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// From dispatch to a ready connection.
    pub connect_ns: Nanos,
    /// From dispatch to the end.
    pub total_ns: Nanos,
    /// From `sent` to the first output.
    pub first_token_ns: Nanos,
    /// Between bytes, once the stream has begun.
    pub idle_ns: Nanos,
}

/// Part `index` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl Shard {
    /// The whole.
    pub const WHOLE: Self = Self { index: 0, of: 1 };
}

impl Target {
    /// The server at `url`, which holds no credentials.
    pub fn at(url: &str) -> Self {
        Self { url: Some(url.to_owned()), embedded: None, ..Self::engine("") }
    }

    /// An embedded engine, by its twin or script.
    pub fn engine(name: &str) -> Self {
        Self {
            url: None,
            embedded: Some(name.to_owned()),
            predicted: false,
            api: Api::default(),
            insecure: false,
            header_names: Vec::new(),
            source_addresses: None,
            accuracy: None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.url, &self.embedded) {
            (Some(url), _) => f.write_str(url),
            (None, Some(twin)) => write!(f, "twin:{twin}"),
            (None, None) => f.write_str("the embedded engine"),
        }
    }
}

impl LevelPlan {
    /// A level without limits yet, with 256 input and 64 output tokens.
    pub fn new(load: Load) -> Self {
        Self {
            label: format!("{} {}", load.kind(), load.value()),
            load,
            requests: None,
            duration_ns: None,
            warmup: None,
            drain_ns: 30 * SEC,
            input_tokens: LengthSpec::fixed(256),
            output_tokens: LengthSpec::fixed(64),
            capacity: None,
            extrapolated: false,
            repeat: None,
            until: None,
            soak: false,
            max_concurrency: None,
            inputs: None,
            once: false,
        }
    }

    /// A closed loop with this concurrency and number of requests.
    pub fn closed_loop(concurrency: u32, requests: u64) -> Self {
        Self { requests: Some(requests), ..Self::new(Load::Concurrency { concurrency }) }
    }
}

impl Plan {
    /// A plan with the defaults of the command line, and no levels.
    pub fn new(target: Target) -> Self {
        Self {
            schema: PLAN_SCHEMA.to_owned(),
            target,
            levels: Vec::new(),
            data: DataPlan::default(),
            request: RequestPlan {
                task: Task::default(),
                model: None,
                stream: true,
                temperature: None,
                stop: Vec::new(),
                extra_body: None,
                usage: UsageWanted::Continuous,
            },
            timeouts: Timeouts {
                connect_ns: 5 * SEC,
                total_ns: 1800 * SEC,
                first_token_ns: 1800 * SEC,
                idle_ns: 60 * SEC,
            },
            allow_failures: 0.01,
            shed_retries: None,
            max_failures: None,
            slo: None,
            seed: 0,
            shard: Shard::WHOLE,
            fleet: None,
            label: None,
            note: None,
            save_text: false,
            course: LevelSchedule::default(),
            server: ServerPlan::default(),
        }
    }

    /// SHA-256 of the saved form, in hexadecimal. It shows whether records belong to a plan.
    pub fn hash(&self) -> String {
        sha256(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The same without the seed and what follows from it (the order of levels, the capacity and the
    /// accuracy of a prediction) and without the name of a run beside it: two runs of the same command
    /// have the same.
    pub fn id(&self) -> String {
        let mut plan = Self { seed: 0, ..self.clone() };
        if let Some(versus) = &mut plan.course.versus {
            versus.other_run.clear();
        }
        plan.target.accuracy = None;
        for level in &mut plan.levels {
            (level.capacity, level.extrapolated) = (None, false);
        }
        plan.levels.sort_by_cached_key(|level| serde_json::to_string(level).unwrap_or_default());
        sha256(&serde_json::to_vec(&plan).unwrap_or_default())
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_plan_leaves_the_seed_out_and_the_hash_does_not() {
        let mut one = Plan::new(Target::at("http://localhost:8000"));
        one.levels = vec![LevelPlan::closed_loop(1, 10), LevelPlan::closed_loop(8, 10)];
        let mut other = Plan { seed: 7, ..one.clone() };
        // `--level-order shuffle` orders by the seed.
        other.levels.reverse();
        assert_eq!(one.id(), other.id());
        assert_ne!(one.hash(), other.hash());
        other.levels[0].requests = Some(11);
        assert_ne!(one.id(), other.id());
    }
}
