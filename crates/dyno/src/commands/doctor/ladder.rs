//! One step: the client with N streams of an engine in a separate process.

use dyno_model::instrument::is_judged_alone;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::plan::{LengthSpec, LevelPlan, Load, Timeouts, Warmup};
use dyno_model::summary::{Distribution, LevelSummary, Ranges};
use dyno_model::{Language, Localized, Message, SEC, message};
use dyno_run::{MetricsFrom, Order, RunError, StopSignal};
use dyno_words::columns::millis;
use serde::Serialize;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// How fast the engine emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// A token every 20 ms.
    Steady,
    /// As fast as possible.
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
    read_delay_p99_ms: Option<f64>,
    longest_stall_ms: Option<f64>,
    cpu_share: Option<f64>,
    engine_slip_p99_ms: Option<f64>,
    /// ITL p99 is known only roughly, which does not make the client invalid.
    itl_p99_uncertain: bool,
    /// The first value that does, with its instrument range.
    #[serde(skip)]
    uncertain: Vec<String>,
    #[serde(skip)]
    failed: bool,
    pub(super) client_valid: bool,
    pub(super) engine_on_time: bool,
    /// Why not.
    reasons: Vec<String>,
}

/// The first time for whose sake the client is not valid.
fn uncertain(level: &LevelSummary) -> Vec<String> {
    let times = [Time::Ttft, Time::Itl, Time::Tpot, Time::Latency].map(Metric::Time);
    let all = times.into_iter().flat_map(|metric| Ranges::OF.map(|which| (metric, which)));
    let of = |(metric, which): (Metric, Statistic)| {
        let counts = !is_judged_alone(metric, Some(which));
        let uncertain = counts && level.is_uncertain(metric, Some(which));
        let [low, high] = level.instrument_range(metric, Some(which)).filter(|_| uncertain)?;
        let name = metric.info().short[0];
        Some(format!("{name} {} {}–{} ms", which.name(), millis(low), millis(high)))
    };
    all.filter_map(of).take(1).collect()
}

/// An engine in a separate process, which ends when this value is dropped.
struct EngineProcess {
    child: Child,
    url: String,
}

impl EngineProcess {
    fn start(mut command: Command) -> Result<Self, Message> {
        let mut start = || -> std::io::Result<(Child, String)> {
            let mut child = command
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
        let (child, line) = start().map_err(|error| {
            message!("the engine did not start: {error}", "引擎未能启动：{error}")
        })?;
        let process = Self { child, url: line.trim().rsplit(' ').next().unwrap_or("").to_owned() };
        match process.url.starts_with("http://") {
            true => Ok(process),
            false => Err(message!("the engine did not report its address", "引擎没有报告其地址")),
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// How the client is tested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    pub(super) pace: Pace,
    pub(super) streams: u32,
    pub(super) seconds: u64,
    /// With the kernel's receive times.
    pub(super) stamps: bool,
}

/// One level on the engine at `url`.
fn order(trial: Trial, url: &str) -> Result<Order, RunError> {
    let Trial { pace, streams, seconds, stamps } = trial;
    let mut order = Order::server(url)?.level(LevelPlan {
        label: format!("{streams} streams"),
        duration_ns: Some(seconds * SEC),
        warmup: Some(Warmup::Requests(u64::from(streams))),
        drain_ns: 5 * SEC,
        input_tokens: LengthSpec::fixed(16),
        output_tokens: LengthSpec::fixed(pace.tokens()),
        ..LevelPlan::new(Load::Concurrency { concurrency: streams })
    });
    let (connect_ns, minute) = (5 * SEC, 60 * SEC);
    order.plan.timeouts =
        Timeouts { connect_ns, total_ns: minute, first_token_ns: minute, idle_ns: 10 * SEC };
    order.reach.metrics = MetricsFrom::Nowhere;
    order.reach.without_stamps = !stamps;
    Ok(order)
}

/// Measures one step.
pub(super) fn climb(
    trial: Trial,
    engine: &dyn Fn(&str) -> Command,
    stop: &StopSignal,
) -> Result<Step, Message> {
    let Trial { pace, streams, .. } = trial;
    let engine = EngineProcess::start(engine(pace.script()))?;
    let said = |error: RunError| Message::of(error);
    let order = order(trial, &engine.url).map_err(said)?;
    let order = Order { stop: stop.clone(), ..order };
    let summary = dyno_run::run(order, &()).and_then(|finished| finished.summary).map_err(said)?;
    let level = summary.levels.first();
    let level =
        level.ok_or_else(|| message!("the step measured nothing", "这一步没有测到任何数据"))?;
    Ok(Step::new(pace, streams, level))
}

impl Step {
    fn new(pace: Pace, streams: u32, level: &LevelSummary) -> Self {
        // Without a schedule to compare with, there is no bias.
        let against = |figure: Option<&Distribution>, truth: f64| {
            figure.filter(|_| pace == Pace::Steady).and_then(|figure| Some(figure.mean? - truth))
        };
        let throughput = level.steady_throughput();
        let own = ["instrument_range", "effective_concurrency", "off_schedule", "behind_schedule"];
        let client_valid = !level.reasons.iter().any(|reason| own.contains(&reason.code.as_str()));
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
            read_delay_p99_ms: level.client.read_delay_ms.as_ref().map(|lag| lag.p99),
            longest_stall_ms: level.client.longest_stall_ms,
            cpu_share: level.client.cpu_share,
            engine_slip_p99_ms: level.engine_slip_ms.as_ref().map(|lag| lag.p99),
            itl_p99_uncertain: level.is_uncertain(Metric::Time(Time::Itl), Some(Statistic::P99)),
            uncertain: uncertain(level),
            failed: failed > 0,
            client_valid: client_valid && failed == 0,
            engine_on_time: !level.notes.iter().any(|note| note.code == "engine_slip"),
            reasons: level.reasons.iter().map(|reason| reason.what.clone()).collect(),
        }
    }

    /// Whether its ITL p99 is known only roughly.
    pub(super) fn is_marked(&self) -> bool {
        self.itl_p99_uncertain
    }

    /// The step as a row of the table.
    pub(super) fn row(&self, language: Language) -> String {
        // Of a busy machine, delays are hundreds of milliseconds: their decimals would fill the gaps.
        let shown = |value: Option<f64>, digits: usize| {
            let digits = if value.is_some_and(|value| value.abs() >= 100.0) { 0 } else { digits };
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let pair = |a: Option<f64>, b: Option<f64>, mark: &str| {
            format!("{}/{mark}{}", shown(a, 2), shown(b, 2))
        };
        let rough = if self.itl_p99_uncertain { "~" } else { "" };
        let verdict = match (self.client_valid, self.engine_on_time) {
            _ if self.failed => message!("requests failed", "有请求失败").text(language),
            (true, true) => message!("accurate", "准确").text(language),
            (true, false) => message!("accurate, engine late", "准确，引擎滞后").text(language),
            (false, _) => {
                message!("UNCERTAIN: {}", "不确定：{}", self.uncertain.join(language.comma()))
                    .text(language)
            }
        };
        format!(
            "{:>7}{:>9}{:>13}{:>13}{:>9}{:>9}{:>4}  {verdict}",
            self.streams,
            shown(self.tokens_per_s, 0),
            pair(self.ttft_bias_ms, self.ttft_jitter_ms, ""),
            pair(self.itl_bias_ms, self.itl_p99_excess_ms, rough),
            shown(self.send_lag_p99_ms, 2),
            shown(self.read_delay_p99_ms, 2),
            shown(self.cpu_share.map(|share| share * 100.0), 0),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_apart_whatever_was_measured() {
        for ms in [0.04, 7.5, 99.99, 543.39, 12_345.6] {
            let mut level = LevelSummary::default();
            level.throughput.output_tokens_per_s = Some(123_456.7);
            let (mean, std, p99) = (Some(ms + TTFT_MS), Some(ms), Some(ms + ITL_MS));
            for time in [Time::Ttft, Time::Itl] {
                level.times[time] =
                    Some(Distribution { mean, std, p99, ..Distribution::default() });
            }
            let row = Step::new(Pace::Steady, 2048, &level).row(Language::English);
            assert_eq!(row.split_whitespace().count(), 8, "{row}");
            assert_eq!(row.matches('/').count(), 2, "{row}");
        }
    }

    #[test]
    fn a_row_says_what_is_uncertain_and_not_that_good_numbers_are_bad() {
        let itl = |p50: [f64; 2], p99: [f64; 2]| {
            let mut level = LevelSummary::default();
            let ranges = |statistic| match statistic {
                Statistic::P99 => Some(p99),
                _ => Some(p50),
            };
            level.times[Time::Itl] = Some(Distribution {
                mean: Some(20.0),
                p50: Some(20.0),
                p99: Some(20.7),
                instrument: Some(Ranges::new(ranges)),
                ..Distribution::default()
            });
            level
        };
        // Without receive times, p99 alone is uncertain: the row is accurate, the value marked.
        let step = Step::new(Pace::Steady, 16, &itl([20.0; 2], [19.0, 21.4]));
        let row = step.row(Language::English);
        assert!(row.contains("0.00/~0.70") && row.ends_with("  accurate"), "{row}");
        let mut level = itl([18.0, 20.0], [19.0, 21.4]);
        level.reasons.push(dyno_words::Measuring::Fair.with(["ITL"]));
        let row = Step::new(Pace::Steady, 16, &level).row(Language::English);
        assert!(row.ends_with("UNCERTAIN: ITL mean 18.0–20.0 ms"), "{row}");
        level.requests.failed = Some(1);
        let row = Step::new(Pace::Steady, 16, &level).row(Language::English);
        assert!(row.ends_with("  requests failed"), "{row}");
    }
}
