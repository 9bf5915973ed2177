//! The flags of `dyno bench`.

use super::capacity::CapacitySearch;
use super::columns::ColumnArgs;
use super::cost::CostArgs;
use super::course::CourseArgs;
use super::language::LanguageArgs;
use super::levels::{self, Concurrency, Requests};
use super::metrics::MetricsArgs;
use super::ramp::ramp;
use super::report::Written;
use super::target::{TargetUrl, target};
use super::values::{self, ExtraBody, Header, List, Secret};
use super::versus::VersusArgs;
use clap::{Args, ValueEnum};
use dyno_model::Nanos;
use dyno_model::course::Figure;
use dyno_model::plan::{Arrival, Warmup};
use dyno_model::ramp::Ramp;
use dyno_model::slo::Slo;
use dyno_workload::lengths::Lengths;
use std::path::PathBuf;

/// `dyno bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a target, an embedded engine is started on the loopback interface and measured over real
HTTP. Without a load, a closed-loop ladder is run: 1, 4 and 16 requests in flight, or up to 96 on
the embedded engine. Every run leaves a directory with its plan, its records and its summary. Proxy
variables are ignored.

Examples:
  dyno bench
      try it out on the embedded engine, in under a minute
  dyno bench http://localhost:8000 --concurrency 8,16,32 --requests 500
      three closed-loop levels of 500 requests each
  dyno bench http://localhost:8000 --rate 2.5 --arrival poisson --duration 60s --warmup 10s
      open loop: arrivals on their own schedule, whatever the server does
  dyno bench http://localhost:8000 --sweep --input-tokens 512 --output-tokens 128
      the curve from one request at a time to as many as the server completes, in ten levels
  dyno bench http://localhost:8000 --ramp '1..50/s over 5m'
      where it bends: an open loop whose rate rises; `in 10 steps` goes in equal ones
  dyno bench http://localhost:8000 --soak 2h --rate 5
      what drifts in two hours of the same load
  dyno bench http://localhost:8000 --burst 1,2,4,8 --input-tokens 80 --output-tokens 256
      all at once; the number is the number of requests
  dyno bench http://localhost:8000 --concurrency 100 --requests 1000 --data open_qa.jsonl
      questions from a file; `dyno data show open_qa.jsonl` says what is in it
  dyno bench http://localhost:8000 --concurrency 32 --input-tokens 128,2048 --output-tokens 128,512
      a grid of lengths
  dyno bench http://localhost:8000 --concurrency 32 --input-tokens 2048 --cache-hit 60%
      prompts of which the server's prefix cache has about 60 %
  dyno bench http://localhost:8000 --concurrency 32 --duration 10m --data session,turns=8,think=5s
      conversations: 32 users who take 5 s from each answer to their next turn
  dyno bench http://localhost:8000 --data trace:trace.jsonl,speed=2
      recorded traffic, at its own times and lengths, twice as fast
  dyno bench http://localhost:8000 --rate 2,4,8 --requests 1000 --slo 'ttft.p99<500ms, errors<1%'
      which rates keep the SLO, and how much goodput there is
  dyno bench http://localhost:8000 --versus http://localhost:8001 --concurrency 1,8,32 --repeat 4
      two servers in turns, level by level, so that what drifts hits both alike
  DYNO_API_KEY=… dyno bench https://gateway.example/v1 --model qwen2-72b --json
      with a key from the environment, and the summary as JSON on stdout
  dyno bench --config nightly.toml --seed 7
      settings from a file; flags override it

The exit status is explained by `dyno help exit-codes`.")]
pub(crate) struct BenchArgs {
    /// Base URL of the server, with or without /v1, or a full endpoint path [default: an embedded
    /// engine]
    #[arg(value_name = "TARGET", value_parser = target)]
    pub(crate) target: Option<TargetUrl>,

    /// Twin that the embedded engine behaves like: the name of a shipped one, or a file
    #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text, conflicts_with = "target")]
    pub(crate) twin: Option<String>,
    #[command(flatten)]
    pub(crate) versus: VersusArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) course: CourseArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) timeouts: TimeoutArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How much, how long.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Load (at most one of --concurrency, --rate, --ramp, --burst, --sweep)"
)]
pub(crate) struct LoadArgs {
    /// Closed loop with N requests in flight, or N users in conversations; a list (8,16,32) runs as
    /// consecutive levels; auto doubles until throughput stops rising, then fills in the knee
    #[arg(long, value_name = "N[,N…]|auto", value_parser = levels::concurrency, allow_hyphen_values = true)]
    pub(crate) concurrency: Option<Concurrency>,
    /// Open loop with R requests, or new conversations, per second, on a schedule that is fixed
    /// before it starts
    #[arg(long, value_name = "R[,R…]", value_parser = values::rate_list, allow_hyphen_values = true)]
    pub(crate) rate: Option<List<f64>>,
    /// Spacing of open-loop arrivals: constant, poisson or gamma:SHAPE; as many come as the rate
    /// says, whichever it is [default: poisson]
    #[arg(long, value_name = "PROCESS")]
    pub(crate) arrival: Option<Arrival>,
    /// One request at a time, as many as possible, and rates in between: N levels in all [default
    /// N: 10]
    #[arg(long, value_name = "N", value_parser = levels::sweep, num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub(crate) sweep: Option<u32>,
    /// Where the rates of a sweep lie: where the curve bends, or in equal steps
    #[arg(long, value_name = "SPACING")]
    pub(crate) sweep_spacing: Option<SpacingArg>,
    /// Open loop whose rate changes, reported over time: 'A..B/s over TIME', or in equal steps with
    /// ' in N steps' after it
    #[arg(long, value_name = "RAMP", value_parser = ramp, allow_hyphen_values = true)]
    pub(crate) ramp: Option<Ramp>,
    /// At most N requests in flight: with --rate, --ramp or a trace, arrivals beyond them wait in the
    /// client and are counted; with --sweep and --concurrency auto, the most that is tried [default:
    /// 512 in those two, else no limit]
    #[arg(long, value_name = "N", value_parser = levels::max_concurrency, allow_hyphen_values = true)]
    pub(crate) max_concurrency: Option<u32>,
    /// N requests all at once
    #[arg(long, value_name = "N[,N…]", value_parser = values::burst_list, allow_hyphen_values = true)]
    pub(crate) burst: Option<List<u64>>,
    /// Stop a level after N measured requests (each turn is one); it then runs until each has
    /// ended. 10x: ten for each slot of a closed loop
    #[arg(long, value_name = "N|Nx", value_parser = levels::level_requests, allow_hyphen_values = true)]
    pub(crate) requests: Option<Requests>,
    /// Stop sending after this time; with --requests, whichever comes first [default: 30s, where
    /// a load is given and --requests is not]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) duration: Option<Nanos>,
    /// Stop a level as soon as this figure of its requests is steady and known to --precision
    /// [default figure: latency.mean]
    #[arg(long, value_name = "FIGURE", value_parser = levels::figure, num_args = 0..=1, require_equals = true, default_missing_value = "latency.mean")]
    pub(crate) until_stable: Option<Figure>,
    /// With --until-stable: the 95 % interval may be this wide on either side [default: 3%]
    #[arg(long, value_name = "SHARE", value_parser = levels::precision, allow_hyphen_values = true)]
    pub(crate) precision: Option<f64>,
    /// With --until-stable: measure for at least this long [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) min_duration: Option<Nanos>,
    /// With --until-stable: stop sending after this time in any case; the exit status is then 6
    /// [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, conflicts_with = "duration")]
    pub(crate) max_duration: Option<Nanos>,
    /// Keep one --concurrency or --rate up for this time, and look for drift of latency,
    /// throughput and failures
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) soak: Option<Nanos>,
    /// Send N requests, or for a time such as 10s, before each level; labelled and not measured
    #[arg(long, value_name = "N|TIME", value_parser = values::warmup, allow_hyphen_values = true)]
    pub(crate) warmup: Option<Warmup>,
    /// What `dyno capacity` looks for.
    #[arg(skip)]
    pub(crate) capacity: Option<CapacitySearch>,
    /// Grace after --duration or Ctrl-C; what still runs then is recorded as censored
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "30s")]
    pub(crate) drain: Nanos,
    /// Seed of arrivals and prompts: the same seed sends the same again [default: a new one for each
    /// run, which is printed and kept; 0 for predictions]
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
}

/// Where the rates of a sweep lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpacingArg {
    Bend,
    Linear,
}

/// What is sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    #[arg(
        long,
        value_name = "SPEC",
        value_parser = values::some_text,
        help = "What is sent: KIND[:PATH][,key=value…] or a file whose shape says what it is. Kinds: \
                openqa, long, lines, json, csv, parquet, sharegpt, random, session (conversations), \
                trace (recorded traffic) [default: random]"
    )]
    pub(crate) data: Option<String>,
    /// Length of random prompts, or of each message in made-up conversations: 512, 128-1024,
    /// normal(512,64), lognormal(512,0.5) or zipf(1.2,1-4096); a list runs as levels [default: 256]
    #[arg(long, value_name = "N[,N…]", value_parser = values::lengths, allow_hyphen_values = true)]
    pub(crate) input_tokens: Option<List<Lengths>>,
    /// Length of the answers, as above, fixed with the best means that the server has; data that
    /// say how long theirs are come first
    #[arg(long, value_name = "N[,N…]", value_parser = values::lengths, allow_hyphen_values = true, default_value = "64")]
    pub(crate) output_tokens: List<Lengths>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Make every prompt miss a prefix cache, also prompts of earlier runs with the same seed
    #[arg(long)]
    pub(crate) unique_prefix: bool,
    /// Send the same prompts in every level and round, on both sides of --versus and after --resume,
    /// so that a prefix cache may have them [default: no synthetic prompt is sent twice, and files are
    /// read on]
    #[arg(long, conflicts_with = "unique_prefix")]
    pub(crate) same_prompts: bool,
    /// Random prompts with shared prefixes, so that about this share of their tokens comes from the
    /// server's prefix cache; the prefixes are sent before each level, and what came of it is checked
    #[arg(long, value_name = "SHARE", value_parser = levels::cache_hit, allow_hyphen_values = true, conflicts_with_all = ["unique_prefix", "same_prompts"])]
    pub(crate) cache_hit: Option<f64>,
}

/// Which prompts of a file, in which order, and by whose count.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ChoiceArgs {
    /// Order of prompts from a file: as they stand, or shuffled by the seed
    #[arg(long, value_name = "ORDER", default_value = "file")]
    pub(crate) order: OrderArg,
    /// Use no more than the first N prompts of a file
    #[arg(long, value_name = "N", value_parser = values::requests, allow_hyphen_values = true)]
    pub(crate) limit: Option<u64>,
    /// Leave out prompts of a file with fewer tokens
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) min_input_tokens: Option<u32>,
    /// Leave out prompts of a file with more tokens
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) max_input_tokens: Option<u32>,
    /// Cut prompts to --max-input-tokens instead of leaving them out
    #[arg(long)]
    pub(crate) truncate: bool,
    /// Tokenizer to count with: a tokenizer.json or a model folder [default: the server's own
    /// /tokenize, else an estimate]
    #[arg(long, value_name = "PATH")]
    pub(crate) tokenizer: Option<PathBuf>,
}

/// Order of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    File,
    Shuffle,
}

/// What is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArgs {
    /// Model to ask for [default: the one the server has, if it has exactly one]
    #[arg(long, value_name = "NAME", value_parser = values::some_text)]
    pub(crate) model: Option<String>,
    /// Dialect to speak [default: by the path of the target, else openai-chat]
    #[arg(long, value_name = "API")]
    pub(crate) api: Option<ApiArg>,
    /// Ask for whole answers instead of streams (there is then no TTFT, TPOT or ITL)
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// How much token accounting to ask for: with every chunk where the server can (auto), at the
    /// end, or none
    #[arg(long, value_name = "USAGE", default_value = "auto")]
    pub(crate) usage: UsageArg,
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
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// Extra header, NAME:VALUE; may be repeated. Values never reach disk, logs or reports
    #[arg(long, value_name = "K:V", value_parser = values::header)]
    pub(crate) header: Vec<Header>,
    /// File whose first line is the API key [default: the environment's DYNO_API_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// The API key itself: works, but shows in the process list
    #[arg(long, value_name = "KEY", value_parser = values::api_key)]
    pub(crate) api_key: Option<Secret>,
    /// Do not check the server's certificate
    #[arg(long)]
    pub(crate) insecure: bool,
    /// PEM file with the certificates to trust, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// PEM file with a client certificate and its private key
    #[arg(long, value_name = "FILE")]
    pub(crate) client_cert: Option<PathBuf>,
}

/// When a request is given up.
#[derive(Debug, Args)]
#[command(next_help_heading = "Timeouts (each its own failure class)")]
pub(crate) struct TimeoutArgs {
    /// Until the connection is ready
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, default_value = "5s")]
    pub(crate) timeout_connect: Nanos,
    /// Until the answer is over
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, default_value = "1800s")]
    pub(crate) timeout_total: Nanos,
    /// Until the first output [default: --timeout-total]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) timeout_first_token: Option<Nanos>,
    /// Between bytes, once the stream has begun
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, default_value = "60s")]
    pub(crate) timeout_idle: Nanos,
}

/// What comes out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Share of failed requests above which the exit status is 5
    #[arg(long, value_name = "SHARE", value_parser = values::share, allow_hyphen_values = true, default_value = "1%")]
    pub(crate) allow_failures: f64,
    /// What a level has to keep, such as 'ttft.p99<500ms and tpot.p95<50ms and errors<1%'; the exit
    /// status is 5 if every level misses it, 6 if that is inconclusive
    #[arg(long, value_name = "TERMS", value_parser = super::slo::slo, allow_hyphen_values = true)]
    pub(crate) slo: Option<Slo>,
    /// Short name of the run
    #[arg(long, value_name = "TEXT", value_parser = values::label)]
    pub(crate) label: Option<String>,
    /// Remark that is kept with the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Run directory, new or empty [default: dyno-runs/TIME-XXXX, in UTC]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with a run that was cut short, in its directory: levels that it finished are not run
    /// again. Alone, it takes everything from there; flags of load and data must say the same
    #[arg(long, value_name = "DIR", conflicts_with = "out", help_heading = "Levels")]
    pub(crate) resume: Option<PathBuf>,
    /// Keep the answers in the records
    #[arg(long)]
    pub(crate) save_text: bool,
    /// Print the summary as JSON on stdout, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// Reports to write beside the run: html, png, svg, markdown, csv, parquet or another format of
    /// dyno report; or none
    #[arg(long, value_name = "FORMATS", value_parser = super::report::written(), value_delimiter = ',', default_value = "html")]
    pub(crate) report: Vec<Written>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// No notes and no progress; warnings, errors and the result remain
    #[arg(long)]
    pub(crate) quiet: bool,
    /// No progress
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// Full-screen view of the run while it goes on; q closes it and the run goes on
    #[arg(long, conflicts_with_all = ["quiet", "no_progress"])]
    pub(crate) live: bool,
    /// TOML file with settings named like these flags; flags override it
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Names of the flags that were given, on the command line or in a file.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
}

/// The dialects, named after what they are; a comment here would lengthen the help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApiArg {
    #[value(name = "openai-chat")]
    Chat,
    #[value(name = "openai-completions")]
    Completions,
}

/// How much usage is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageArg {
    Auto,
    Final,
    None,
}
