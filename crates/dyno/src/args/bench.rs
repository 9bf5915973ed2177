//! The flags of `dyno bench`.

use super::columns::ColumnArgs;
use super::course::CourseArgs;
use super::language::LanguageArgs;
use super::levels::{self, Concurrency, Requests};
use super::plan::{PlanArgs, ServerArgs};
use super::ramp::ramp;
use super::report::Written;
use super::values::{self, ExtraBody, Header, List, Secret};
use super::versus::VersusArgs;
use clap::{Args, ValueEnum};
use dyno_model::Nanos;
use dyno_model::level_schedule::{MetricStatistic, Spacing};
use dyno_model::plan::{Arrival, UsageWanted};
use dyno_model::ramp::Ramp;
use dyno_model::slo::Slo;
use dyno_run::Sources;
use dyno_workload::data::DataOrder;
use dyno_workload::random::lengths::Lengths;
use std::path::PathBuf;

/// `dyno bench`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/bench.txt"))]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) course: CourseArgs,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) versus: VersusArgs,
}

/// How much load, and for how long.
#[derive(Debug, Default, Args)]
#[command(
    next_help_heading = "Load (at most one of --concurrency, --rate, --ramp, --burst, --sweep)"
)]
pub(crate) struct LoadArgs {
    /// Closed loop with N requests in flight, or N users in conversations. A list (8,16,32) runs as
    /// consecutive levels; `auto` doubles until throughput stops rising, then refines the knee
    #[arg(long, value_name = "N[,N…]|auto", value_parser = levels::concurrency, allow_hyphen_values = true)]
    pub(crate) concurrency: Option<Concurrency>,
    /// Open loop with R requests (or new conversations) per second, on a schedule fixed in advance
    #[arg(long, value_name = "R[,R…]", value_parser = values::rate_list, allow_hyphen_values = true)]
    pub(crate) rate: Option<List<f64>>,
    /// Spacing of open-loop arrivals: constant, poisson or gamma:SHAPE; their number follows from
    /// the rate in any case [default: poisson]
    #[arg(long, value_name = "PROCESS", value_parser = values::parsed::<Arrival>)]
    pub(crate) arrival: Option<Arrival>,
    /// Measure one request at a time, maximum throughput, and rates in between: N levels in all
    /// [default N: 10]
    #[arg(long, value_name = "N", value_parser = levels::sweep, num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub(crate) sweep: Option<u32>,
    /// Spacing of the rates in a sweep: denser near the knee (bend), or equal steps (linear)
    #[arg(long, value_name = "SPACING", value_parser = values::one_of(&[("bend", Spacing::Bend), ("linear", Spacing::Linear)]))]
    pub(crate) sweep_spacing: Option<Spacing>,
    /// Open loop with a changing rate, reported over time: 'A..B/s over TIME', or
    /// 'A..B/s over TIME in N steps'
    #[arg(long, value_name = "RAMP", value_parser = ramp, allow_hyphen_values = true)]
    pub(crate) ramp: Option<Ramp>,
    /// At most N requests in flight: with --rate, --ramp or a trace, arrivals beyond them wait in the
    /// client and are counted; with --sweep and --concurrency auto, the most that is tried [default:
    /// 512 in those two, else no limit]
    #[arg(long, value_name = "N", value_parser = levels::max_concurrency, allow_hyphen_values = true)]
    pub(crate) max_concurrency: Option<u32>,
    /// Send N requests at once
    #[arg(long, value_name = "N[,N…]", value_parser = values::burst_list, allow_hyphen_values = true)]
    pub(crate) burst: Option<List<u64>>,
    /// Stop a level after N measured requests (each conversation turn counts) and wait for all of
    /// them. 10x: ten per slot of a closed loop
    #[arg(long, value_name = "N|Nx", value_parser = levels::level_requests, allow_hyphen_values = true)]
    pub(crate) requests: Option<Requests>,
    /// Stop sending after this time; with --requests, whichever comes first [default: 30s if a
    /// load is given without --requests]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) duration: Option<Nanos>,
    /// Stop a level as soon as this metric is steady and known to --precision [default metric:
    /// latency.mean]
    #[arg(long, value_name = "METRIC", value_parser = levels::figure, num_args = 0..=1, require_equals = true, default_missing_value = "latency.mean")]
    pub(crate) until_stable: Option<MetricStatistic>,
    /// With --until-stable: half-width of the 95 % confidence interval to reach [default: 3%]
    #[arg(long, value_name = "SHARE", value_parser = levels::precision, allow_hyphen_values = true)]
    pub(crate) precision: Option<f64>,
    /// With --until-stable: measure for at least this long [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) min_duration: Option<Nanos>,
    /// With --until-stable: stop sending after this time even if the metric is not stable; the exit
    /// status is then 6 [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, conflicts_with = "duration")]
    pub(crate) max_duration: Option<Nanos>,
    /// Hold one --concurrency or --rate for this time, and check latency, throughput and failures
    /// for drift
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) soak: Option<Nanos>,
}

/// What is sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    #[arg(
        long,
        value_name = "SPEC",
        value_parser = values::some_text,
        help = "What to send: KIND[:PATH][,key=value…], or a file whose contents decide the kind. \
                Kinds: openqa, long, lines, json, csv, parquet, sharegpt, random, session \
                (conversations), agentic (trees of sessions), trace (recorded traffic); see `dyno help data` [default: random]"
    )]
    pub(crate) data: Option<String>,
    /// Length of random prompts, or of each message in synthetic conversations: 512, 128-1024,
    /// normal(512,64), lognormal(512,0.5) or zipf(1.2,1-4096); a list runs as levels [default: 256]
    #[arg(long, value_name = "N[,N…]", value_parser = values::lengths, allow_hyphen_values = true)]
    pub(crate) input_tokens: Option<List<Lengths>>,
    /// Length of responses, written as above and enforced by the best means the server offers; data
    /// with their own output lengths take precedence [default: 64]
    #[arg(long, value_name = "N[,N…]", value_parser = values::lengths, allow_hyphen_values = true)]
    pub(crate) output_tokens: Option<List<Lengths>>,
    /// Texts per request of embeddings, or documents of rerankers; a list runs as levels [default: 1;
    /// 8 documents]
    #[arg(long, value_name = "N[,N…]", value_parser = values::inputs, allow_hyphen_values = true)]
    pub(crate) inputs: Option<List<u32>>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Make every prompt miss the prefix cache, even those of earlier runs with the same seed
    #[arg(long)]
    pub(crate) unique_prefix: bool,
    /// Send the same prompts in every level and round, on both sides of --versus and after --resume,
    /// so that the prefix cache may hit [default: no synthetic prompt is sent twice, and each level
    /// continues in the file where the previous one stopped]
    #[arg(long, conflicts_with = "unique_prefix")]
    pub(crate) same_prompts: bool,
    /// Prefix cache hit rate to aim for: random prompts share prefixes, which are sent before each
    /// level; the hit rate that was reached is checked and reported
    #[arg(long, value_name = "SHARE", value_parser = levels::cache_hit, allow_hyphen_values = true, conflicts_with_all = ["unique_prefix", "same_prompts"])]
    pub(crate) cache_hit: Option<f64>,
}

/// Which prompts of a file, in which order, and counted by which tokenizer.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ChoiceArgs {
    /// Order of the prompts of a file: as in the file, or shuffled by the seed
    #[arg(long, value_name = "ORDER", default_value = "file", value_parser = values::one_of(ORDERS))]
    pub(crate) order: DataOrder,
    /// Use at most the first N prompts of a file
    #[arg(long, value_name = "N", value_parser = values::requests, allow_hyphen_values = true)]
    pub(crate) limit: Option<u64>,
    /// Skip prompts of a file with fewer tokens
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) min_input_tokens: Option<u32>,
    /// Skip prompts of a file with more tokens
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) max_input_tokens: Option<u32>,
    /// Truncate prompts to --max-input-tokens instead of skipping them
    #[arg(long)]
    pub(crate) truncate: bool,
    /// Tokenizer to count with: a tokenizer.json or a model folder [default: the server's own
    /// /tokenize, else an estimate]
    #[arg(long, value_name = "PATH")]
    pub(crate) tokenizer: Option<PathBuf>,
}

/// Orders of prompts by name.
const ORDERS: &[(&str, DataOrder)] = &[("file", DataOrder::File), ("shuffle", DataOrder::Shuffle)];

/// What each request asks for.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArgs {
    /// Model to request [default: the server's only model]
    #[arg(long, value_name = "NAME", value_parser = values::some_text)]
    pub(crate) model: Option<String>,
    /// API dialect, or auto to ask the server [default: from the path of the target, else openai-chat]
    #[arg(long, value_name = "API", value_parser = values::api())]
    pub(crate) api: Option<String>,
    /// Request complete responses instead of streams (no TTFT, TPOT or ITL then)
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Token usage to request: with every chunk where the server supports it (auto), at the end, or
    /// none
    #[arg(long, value_name = "USAGE", default_value = "auto", value_parser = values::one_of(USAGES))]
    pub(crate) usage: UsageWanted,
    /// Sampling temperature [default: not sent]
    #[arg(long, value_name = "T", value_parser = values::temperature, allow_hyphen_values = true)]
    pub(crate) temperature: Option<f64>,
    /// Stop string; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) stop: Vec<String>,
    /// JSON object whose fields are added to every request body
    #[arg(long, value_name = "JSON", value_parser = values::extra_body)]
    pub(crate) extra_body: Option<ExtraBody>,
}

/// How the server is reached.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// Extra header, NAME:VALUE; may be repeated. Values are never written to disk, logs or reports
    #[arg(long, value_name = "K:V", value_parser = values::header)]
    pub(crate) header: Vec<Header>,
    /// File whose first line is the API key [default: $DYNO_API_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// The API key itself; visible in the process list, so prefer --api-key-file
    #[arg(long, value_name = "KEY", value_parser = values::api_key)]
    pub(crate) api_key: Option<Secret>,
    /// Do not verify the server's certificate
    #[arg(long)]
    pub(crate) insecure: bool,
    /// PEM file with the certificates to trust, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// PEM file with a client certificate and its private key
    #[arg(long, value_name = "FILE")]
    pub(crate) client_cert: Option<PathBuf>,
    /// Local addresses to open connections from, each in turn: A,B or a range A-B; may be repeated.
    /// Each has some 28,000 ports to a server, so several allow more streams [default: the system
    /// chooses one]
    #[arg(long, value_name = "A[,B…]", value_parser = values::sources)]
    pub(crate) source_address: Vec<Sources>,
}

/// When a request is abandoned.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Timeouts (each its own failure class)")]
pub(crate) struct TimeoutArgs {
    /// Time until the connection is ready [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) timeout_connect: Option<Nanos>,
    /// Time until the response is complete [default: 1800s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) timeout_total: Option<Nanos>,
    /// Time until the first output [default: --timeout-total]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) timeout_first_token: Option<Nanos>,
    /// Time between bytes, once the stream has begun [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) timeout_idle: Option<Nanos>,
}

/// What is printed and kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Share of failed requests above which the exit status is 5
    #[arg(long, value_name = "SHARE", value_parser = values::share, allow_hyphen_values = true, default_value = "1%")]
    pub(crate) allow_failures: f64,
    /// SLO that a level has to meet, such as 'ttft.p99<500ms and tpot.p95<50ms and errors<1%'; the
    /// exit status is 5 if every level misses it, 6 if that is inconclusive
    #[arg(long, value_name = "TERMS", value_parser = super::slo::slo, allow_hyphen_values = true)]
    pub(crate) slo: Option<Slo>,
    /// Label of the run, shown in reports; `dyno runs label` changes it later
    #[arg(long, value_name = "TEXT", value_parser = values::label)]
    pub(crate) label: Option<String>,
    /// Longer remark, kept with the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Run directory, new or empty [default: dyno-runs/TIME-XXXX, in UTC]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Resume an interrupted run in its directory: finished levels are not repeated. All settings
    /// are taken from the run; load and data flags, if given, must match it
    #[arg(long, value_name = "RUN", conflicts_with = "out", help_heading = "Levels")]
    pub(crate) resume: Option<PathBuf>,
    /// Keep the text of responses in the records
    #[arg(long)]
    pub(crate) save_text: bool,
    /// Print only the summary, as JSON, on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Reports to write into the run directory: html, png, svg, markdown, csv, parquet or another
    /// format of dyno report; or none
    #[arg(long, value_name = "FORMATS", value_parser = super::report::written(), value_delimiter = ',', default_value = "html")]
    pub(crate) report: Vec<Written>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Print no notes and no progress; only warnings, errors and the result
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// How to print progress: as text, or as JSON lines for programs [default: text]
    #[arg(long, value_name = "FORM", value_enum, conflicts_with_all = ["quiet", "no_progress", "live"])]
    pub(crate) progress: Option<ProgressArg>,
    /// Full-screen view of the running benchmark; q closes it without stopping the run
    #[arg(long, conflicts_with_all = ["quiet", "no_progress"])]
    pub(crate) live: bool,
}

/// The usage that may be requested, by name.
const USAGES: &[(&str, UsageWanted)] = &[
    ("auto", UsageWanted::Continuous),
    ("final", UsageWanted::Final),
    ("none", UsageWanted::None),
];

/// The form of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    Text,
    Json,
}
