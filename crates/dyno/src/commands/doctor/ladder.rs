//! One step: the client on so many streams of an engine in a process of its own.

use crate::resolve::{ConnectionSettings, Secrets};
use crate::run::course::Course;
use crate::run::journey::Journey;
use crate::run::levels::Run;
use crate::run::target::{Measured, open};
use crate::run::workload::Workload;
use dyno_analysis::{VecSource, summarise};
use dyno_drive::StopSignal;
use dyno_live::Live;
use dyno_model::frame::{Frame, RunHeader};
use dyno_model::metric::Time;
use dyno_model::plan::{
    Api, DataPlan, LengthSpec, LevelPlan, Load, PLAN_SCHEMA, Plan, RequestPlan, Shard, Target,
    Timeouts, UsageWanted, Warmup,
};
use dyno_model::summary::{Distribution, LevelSummary};
use dyno_model::{MS, SEC};
use dyno_net::Clock;
use dyno_wire::encode::Encoder;
use dyno_wire::preflight::{PreflightSetup, preflight};
use dyno_wire::url::TargetUrl;
use serde::Serialize;
use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// How fast the engine emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// A token every 20 ms.
    Steady,
    /// As fast as it goes.
    FlatOut,
}

const TTFT_MS: f64 = 100.0;
const ITL_MS: f64 = 20.0;

impl Pace {
    fn script(self) -> &'static str {
        match self {
            Self::Steady => "ttft=100ms,itl=20ms,tokens=32",
            Self::FlatOut => "ttft=1ms,itl=0ms,tokens=2048,batch=16",
        }
    }

    fn tokens(self) -> u32 {
        match self {
            Self::Steady => 32,
            Self::FlatOut => 2048,
        }
    }
}

/// What was measured at one stream count.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Step {
    pub(super) streams: u32,
    pub(super) tokens_per_s: Option<f64>,
    /// Measured mean less the engine's schedule.
    ttft_bias_ms: Option<f64>,
    ttft_jitter_ms: Option<f64>,
    itl_bias_ms: Option<f64>,
    itl_p99_excess_ms: Option<f64>,
    send_lag_p99_ms: Option<f64>,
    read_lag_p99_ms: Option<f64>,
    cpu_share: Option<f64>,
    engine_slip_p99_ms: Option<f64>,
    pub(super) client_valid: bool,
    pub(super) engine_on_time: bool,
    /// Why not, in words.
    reasons: Vec<String>,
}

/// An engine in a process of its own; it ends with this value.
struct EngineProcess {
    child: Child,
    url: String,
}

impl EngineProcess {
    fn start(script: &str) -> Result<Self, String> {
        let start = || -> std::io::Result<(Child, String)> {
            let mut child = Command::new(std::env::current_exe()?)
                .args(["engine", "--port", "0", "--until-stdin-closes", "--scripted", script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            let mut line = String::new();
            if let Some(stdout) = child.stdout.take() {
                BufReader::new(stdout).read_line(&mut line)?;
            }
            Ok((child, line))
        };
        let (child, line) =
            start().map_err(|error| format!("the engine did not start: {error}"))?;
        let process = Self { child, url: line.trim().rsplit(' ').next().unwrap_or("").to_owned() };
        match process.url.starts_with("http://") {
            true => Ok(process),
            false => Err("the engine did not say where it listens".to_owned()),
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn plan(pace: Pace, streams: u32, seconds: u64) -> Plan {
    Plan {
        schema: PLAN_SCHEMA.to_owned(),
        target: Target {
            url: None,
            embedded: Some(pace.script().to_owned()),
            predicted: false,
            api: Api::OpenAiChat,
            insecure: false,
            header_names: Vec::new(),
        },
        levels: vec![LevelPlan {
            label: format!("{streams} streams"),
            load: Load::Concurrency { concurrency: streams },
            requests: None,
            duration_ns: Some(seconds * SEC),
            warmup: Some(Warmup::Requests(u64::from(streams))),
            drain_ns: 5 * SEC,
            input_tokens: LengthSpec::fixed(16),
            output_tokens: LengthSpec::fixed(pace.tokens()),
            capacity: None,
            repeat: None,
            until: None,
            soak: false,
        }],
        data: DataPlan::default(),
        request: RequestPlan {
            model: None,
            stream: true,
            temperature: None,
            stop: Vec::new(),
            extra_body: None,
            usage: UsageWanted::Continuous,
        },
        timeouts: Timeouts {
            connect_ns: 5 * SEC,
            total_ns: 60 * SEC,
            first_token_ns: 60 * SEC,
            idle_ns: 500 * MS * 20,
        },
        allow_failures: 0.01,
        slo: None,
        seed: 0,
        shard: Shard::WHOLE,
        label: None,
        note: None,
        save_text: false,
        course: Default::default(),
        server: Default::default(),
    }
}

/// Measures one step.
pub(super) fn climb(
    pace: Pace,
    streams: u32,
    seconds: u64,
    stop: &StopSignal,
) -> Result<Step, String> {
    let engine = EngineProcess::start(pace.script())?;
    let plan = plan(pace, streams, seconds);
    let clock = Clock::start();
    let connection = ConnectionSettings { ca_cert: None, client_cert: None, insecure: false };
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let url = TargetUrl::parse(&engine.url).map_err(|error| words(&error))?;
    let mut target = open(&plan, Some(&url), &Secrets::default(), &connection, false, clock)
        .map_err(|error| words(&error))?;
    let setup =
        PreflightSetup { plan: &plan, endpoint: &target.endpoint, headers: &target.headers, stop };
    let settled = preflight(&mut target.client, &setup).map_err(|error| words(&error))?;
    target.tells_slip = settled.engine;
    let encoder = Encoder::new(&target.endpoint, plan.target.api, settled.shape, &target.headers);
    let workload = Workload::open(&plan).map_err(|(_, words)| words)?;
    let header = RunHeader {
        format: 0,
        run_id: "doctor".to_owned(),
        shard: 0,
        shards: 1,
        anchor_unix_ns: clock.anchor_unix_ns(),
        plan_hash: plan.hash(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let frames: RefCell<Vec<Frame>> = RefCell::default();
    let run = Run {
        bench: &mut Measured { target, encoder },
        workload: &workload,
        live: &Live::default(),
        stop,
        header: header.clone(),
        sink: &|frame| frames.borrow_mut().push(frame),
        aborted: &|| false,
        news: &|_| {},
    };
    let mut journey = Journey::new(run, None, &plan, Course::new(&plan, None, None));
    journey.all();
    journey.end();
    let source = VecSource { header, frames: frames.into_inner(), damaged: None };
    let summary = summarise(&plan, None, &source);
    let level = summary.levels.first().ok_or("the step measured nothing")?;
    Ok(Step::new(pace, streams, level))
}

impl Step {
    fn new(pace: Pace, streams: u32, level: &LevelSummary) -> Self {
        // With no schedule to hold against, there is no bias to tell.
        let against = |figure: Option<&Distribution>, truth: f64| {
            figure.filter(|_| pace == Pace::Steady).and_then(|figure| Some(figure.mean? - truth))
        };
        let throughput = level.steady.map_or(level.throughput, |steady| steady.throughput);
        let lag_codes = ["send_lag", "read_lag", "out_of_files", "out_of_ports", "off_schedule"];
        let client_valid =
            !level.reasons.iter().any(|reason| lag_codes.contains(&reason.code.as_str()));
        let failed = level.requests.bad().unwrap_or_default();
        Self {
            streams,
            tokens_per_s: throughput.output_tokens_per_s,
            ttft_bias_ms: against(level.times[Time::Ttft].as_ref(), TTFT_MS),
            ttft_jitter_ms: level.times[Time::Ttft]
                .as_ref()
                .filter(|_| pace == Pace::Steady)
                .and_then(|ttft| ttft.std),
            itl_bias_ms: against(level.times[Time::Itl].as_ref(), ITL_MS),
            itl_p99_excess_ms: level.times[Time::Itl]
                .as_ref()
                .filter(|_| pace == Pace::Steady)
                .and_then(|itl| itl.p99)
                .map(|p99| p99 - ITL_MS),
            send_lag_p99_ms: level.client.send_lag_ms.as_ref().map(|lag| lag.p99),
            read_lag_p99_ms: level.client.read_lag_ms.as_ref().map(|lag| lag.p99),
            cpu_share: level.client.cpu_share,
            engine_slip_p99_ms: level.engine_slip_ms.as_ref().map(|lag| lag.p99),
            client_valid: client_valid && failed == 0,
            engine_on_time: !level.reasons.iter().any(|reason| reason.code == "engine_slip"),
            reasons: level.reasons.iter().map(|reason| reason.what.clone()).collect(),
        }
    }

    /// The step as a row of the table.
    pub(super) fn row(&self) -> String {
        let shown = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let pair = |a: Option<f64>, b: Option<f64>| format!("{}/{}", shown(a, 2), shown(b, 2));
        let verdict = match (self.client_valid, self.engine_on_time) {
            (true, true) => "valid",
            (true, false) => "engine late",
            (false, _) => "LATE",
        };
        format!(
            "{:>7}{:>9}{:>13}{:>13}{:>9}{:>9}{:>4}  {verdict}",
            self.streams,
            shown(self.tokens_per_s, 0),
            pair(self.ttft_bias_ms, self.ttft_jitter_ms),
            pair(self.itl_bias_ms, self.itl_p99_excess_ms),
            shown(self.send_lag_p99_ms, 2),
            shown(self.read_lag_p99_ms, 2),
            shown(self.cpu_share.map(|share| share * 100.0), 0),
        )
    }
}
