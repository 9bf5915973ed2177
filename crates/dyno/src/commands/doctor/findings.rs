//! What was found, as text and as JSON.

use super::ladder::{self, Step, Trial};
use super::limits::Limits;
use super::words::Say;
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
        let mut lines = vec![Say::Head.text(language).to_owned()];
        lines.extend(self.ladder.iter().map(|step| step.row(language)));
        if !self.without_stamps.is_empty() {
            lines.push(Say::WithoutStamps.text(language).to_owned());
            lines.extend(self.without_stamps.iter().map(|step| step.row(language)));
        }
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.0}"));
        let accurate = accurate(self, shown(self.tokens_per_s), language);
        lines.extend([String::new(), Say::Judged.text(language).to_owned()]);
        if self.ladder.iter().chain(&self.without_stamps).any(Step::is_marked) {
            lines.push(Say::Rough.text(language).to_owned());
        }
        lines.push(accurate);
        lines.push(Say::FlatOut.with(language, &[shown(self.flat_out_tokens_per_s)]));
        let stamps = match self.kernel_stamps {
            Some(true) => Say::Stamps,
            Some(false) => Say::NoStamps,
            None => Say::StampsUnknown,
        };
        lines.push(stamps.text(language).to_owned());
        lines.push(self.limits.text(language));
        if self.advice.is_empty() {
            lines.push(Say::NothingToChange.text(language).to_owned());
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
        return Say::NotAccurate.with(language, &[least.to_string()]);
    };
    let fails = tried().filter(|(streams, valid)| *streams > most && !valid);
    match fails.map(|(streams, _)| streams).min() {
        Some(fails) => {
            Say::UpToButNot.with(language, &[most.to_string(), tokens, fails.to_string()])
        }
        None => Say::UpToAtLeast.with(language, &[most.to_string(), tokens]),
    }
}
