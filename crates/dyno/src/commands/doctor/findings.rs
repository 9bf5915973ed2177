//! What was found, as text and as JSON.

use super::ladder::{self, Step, Trial};
use super::limits::Limits;
use dyno_model::{Language, Localized, Message, message};
use dyno_run::{Stop, StopSignal};
use serde::{Serialize, Serializer};
use std::process::Command;

/// The results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Findings {
    schema: &'static str,
    limits: Limits,
    /// The kernel reports receive times.
    kernel_stamps: Option<bool>,
    /// One step per stream count, each stream a token every 20 ms.
    ladder: Vec<Step>,
    /// The same without the kernel's receive times.
    without_stamps: Vec<Step>,
    /// Tokens per second that the client receives when the engine sends as fast as possible, 16
    /// events per packet: its throughput, not what it can time accurately.
    flat_out_tokens_per_s: Option<f64>,
    /// Most streams with accurate metrics.
    streams: Option<u32>,
    /// Highest token rate with accurate metrics.
    tokens_per_s: Option<f64>,
    /// Most streams with accurate metrics without the kernel's receive times.
    streams_without_stamps: Option<u32>,
    #[serde(serialize_with = "english")]
    advice: Vec<Message>,
}

impl Findings {
    /// Measures what this machine can handle. `engine` is the command of an engine with a script, and
    /// `remark` takes what is done meanwhile.
    pub(crate) fn measure(
        quick: bool,
        stop: &StopSignal,
        engine: &dyn Fn(&str) -> Command,
        remark: &dyn Fn(Message),
    ) -> Result<Self, Message> {
        let limits = Limits::of_this_machine();
        let kernel_stamps = dyno_net::stamps_work();
        let MachineMeasured { ladder, without_stamps, flat_out_tokens_per_s } =
            measure(quick, &limits, stop, engine, remark)?;
        let good = || ladder.iter().filter(|step| step.client_valid);
        let without = without_stamps.iter().filter(|step| step.client_valid);
        Ok(Self {
            schema: "dyno.doctor/1",
            streams: good().map(|step| step.streams).max(),
            tokens_per_s: good().filter_map(|step| step.tokens_per_s).reduce(f64::max),
            streams_without_stamps: without.map(|step| step.streams).max(),
            advice: limits.advice(&ladder, kernel_stamps),
            kernel_stamps,
            without_stamps,
            limits,
            ladder,
            flat_out_tokens_per_s,
        })
    }

    /// For people.
    pub(crate) fn text(&self, language: Language) -> String {
        let say = |said: Message| said.text(language);
        let mut lines = vec![say(message!(
            "                  TTFT ms       ITL ms     send     read CPU\n\
         streams tokens/s  bias/jitter     bias/p99 delay ms delay ms   %  metrics",
            "                      TTFT ms       ITL ms     发送     读取 CPU\n   \
         流数 tokens/s    偏差/抖动     偏差/p99  延迟 ms  延迟 ms   %  指标"
        ))];
        lines.extend(self.ladder.iter().map(|step| step.row(language)));
        if !self.without_stamps.is_empty() {
            lines
                .push(say(message!("without the kernel's receive times:", "不使用内核接收时间：")));
            lines.extend(self.without_stamps.iter().map(|step| step.row(language)));
        }
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.0}"));
        let accurate = accurate(self, shown(self.tokens_per_s), language);
        lines.extend([String::new(), say(message!(
            "The client is judged: whether it can be sure of its own times, however close they \
             happened to be. Bias and jitter also contain delays of the engine.",
            "判定针对客户端：无论实测值多接近，客户端能否确定自身的时间。偏差和抖动还包含引擎的延\
             迟。"
        ))]);
        if self.ladder.iter().chain(&self.without_stamps).any(Step::is_marked) {
            lines.push(say(message!(
                "~: known only to lie within a range; a run marks such a percentile and stays \
                 valid.",
                "~：只能确定在一定范围内；测试会标记该百分位，判定仍为有效。"
            )));
        }
        lines.push(accurate);
        lines.push(say(message!(
            "At maximum throughput, with 16 events per packet, the client receives {} tokens/s.",
            "在最大吞吐量下（每个数据包 16 个事件），客户端每秒接收 {} 个 token。",
            shown(self.flat_out_tokens_per_s)
        )));
        let stamps = match self.kernel_stamps {
            Some(true) => message!("The kernel provides receive times.", "内核提供接收时间。"),
            Some(false) => message!(
                "The kernel provides no receive times: times are taken in this program.",
                "内核不提供接收时间：时间由本程序记录。"
            ),
            None => message!(
                "Whether the kernel provides receive times could not be determined.",
                "无法确定内核是否提供接收时间。"
            ),
        };
        lines.push(say(stamps));
        lines.extend(self.limits.said().iter().map(|line| line.text(language)));
        if self.advice.is_empty() {
            lines.push(say(message!("Nothing to change.", "无需调整。")));
        }
        lines.extend(self.advice.iter().map(|advice| format!("→ {}", advice.text(language))));
        lines.join("\n") + "\n"
    }
}

/// Programs read English.
fn english<S: Serializer>(said: &[Message], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(said.iter().map(ToString::to_string))
}

#[derive(Default)]
struct MachineMeasured {
    ladder: Vec<Step>,
    without_stamps: Vec<Step>,
    flat_out_tokens_per_s: Option<f64>,
}

fn measure(
    quick: bool,
    limits: &Limits,
    stop: &StopSignal,
    engine: &dyn Fn(&str) -> Command,
    remark: &dyn Fn(Message),
) -> Result<MachineMeasured, Message> {
    let counts: &[u32] = if quick { &[16, 256] } else { &[16, 64, 128, 256, 512, 1024, 2048] };
    let without: &[u32] = if quick { &[16] } else { &[16, 256, 1024] };
    let seconds = if quick { 2 } else { 3 };
    let mut measured = MachineMeasured::default();
    for (stamps, counts) in [(true, counts), (false, without)] {
        let steps = match stamps {
            true => &mut measured.ladder,
            false => &mut measured.without_stamps,
        };
        for streams in counts.iter().copied().filter(|n| limits.allow(*n)) {
            if stop.get() > Stop::No {
                return Ok(measured);
            }
            remark(match stamps {
                true => message!(
                    "{streams} streams at 20 ms per token, {seconds} s …",
                    "{streams} 个流，每个 token 20 ms，{seconds} s …",
                ),
                false => message!(
                    "{streams} streams at 20 ms per token, without the kernel's receive times, \
                     {seconds} s …",
                    "{streams} 个流，每个 token 20 ms，不使用内核接收时间，{seconds} s …",
                ),
            });
            let pace = ladder::Pace::Steady;
            let step = ladder::climb(Trial { pace, streams, seconds, stamps }, engine, stop)?;
            let fell = !step.client_valid;
            steps.push(step);
            // After two failed steps, the following ones would fail, too.
            if fell && steps.iter().rev().nth(1).is_some_and(|before| !before.client_valid) {
                break;
            }
        }
    }
    remark(message!("maximum throughput, {seconds} s …", "最大吞吐量，{seconds} s …"));
    let (pace, stamps) = (ladder::Pace::FlatOut, true);
    let flat_out = ladder::climb(Trial { pace, streams: 16, seconds, stamps }, engine, stop)?;
    measured.flat_out_tokens_per_s = flat_out.tokens_per_s;
    Ok(measured)
}

/// Up to where metrics are accurate, as far as it was tried.
fn accurate(findings: &Findings, tokens: String, language: Language) -> String {
    let tried = || findings.ladder.iter().map(|step| (step.streams, step.client_valid));
    let Some(most) = findings.streams else {
        let least = tried().map(|(streams, _)| streams).min().unwrap_or(0);
        return message!(
            "Metrics are not accurate on this machine, even with {least} streams.",
            "在本机上即使只有 {least} 路流，指标也不准确。"
        )
        .text(language);
    };
    let fails = tried().filter(|(streams, valid)| *streams > most && !valid);
    match fails.map(|(streams, _)| streams).min() {
        Some(fails) => message!(
            "Metrics are accurate up to {most} streams and {tokens} tokens/s on this machine, but \
             not with {fails} streams; nothing between was tried.",
            "在本机上，指标在 {most} 路流、{tokens} token/秒以内准确，但 {fails} 路流时不准确；两\
             者之间未测试。"
        )
        .text(language),
        None => message!(
            "Metrics are accurate up to at least {most} streams and {tokens} tokens/s on this \
             machine; more was not tried.",
            "在本机上，指标至少在 {most} 路流、{tokens} token/秒以内准确；更高负载未测试。"
        )
        .text(language),
    }
}
