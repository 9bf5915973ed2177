//! A description of a trace: the lengths of its requests, how they arrive, and how much of their input
//! was seen before.

use std::fmt;

use dyno_model::message::In;
use dyno_model::{Language, Localized, Message, Nanos, SEC, message};

use super::words::{self, grouped, spoken};
use super::{Reuse, Trace};
use crate::data::{DataSpread, samples};

const SAMPLES: usize = 3;
const SAMPLE_IDS: usize = 8;
/// Arrivals that a window has on average, and the fewest windows that say anything.
const PER_WINDOW: u64 = 10;
const FEWEST_WINDOWS: u64 = 10;

/// How unevenly requests arrive: the variance of the number of arrivals in windows of equal
/// length, divided by its mean. Poisson arrivals have 1, even ones 0, bursts more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispersion {
    /// Variance over mean.
    pub index: f64,
    /// The length of a window.
    pub window: Nanos,
}

impl Dispersion {
    /// Of arrivals in order; absent if there are too few.
    fn of(trace: &Trace) -> Option<Self> {
        let windows = trace.len() / PER_WINDOW;
        let first = trace.schedule().next()?;
        let span = trace.duration() - first;
        if windows < FEWEST_WINDOWS || span == 0 {
            return None;
        }
        let mut counts = vec![0_u64; windows as usize];
        for at in trace.schedule() {
            let window = u128::from(at - first) * u128::from(windows) / u128::from(span);
            counts[(window as usize).min(windows as usize - 1)] += 1;
        }
        let mean = trace.len() as f64 / windows as f64;
        let squares: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum();
        let variance = squares / (windows - 1) as f64;
        Some(Self { index: variance / mean, window: span / windows })
    }
}

/// What a trace holds, as it is replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceProfile {
    /// How many requests there are.
    pub requests: u64,
    /// When the last one is due.
    pub duration: Nanos,
    /// Arrivals per second from the first to the last; absent if all arrive at once.
    pub rate: Option<f64>,
    /// How unevenly they arrive; absent where they are too few to tell.
    pub dispersion: Option<Dispersion>,
    /// Input tokens.
    pub input: DataSpread,
    /// Output tokens.
    pub output: DataSpread,
    /// How much of the input was seen before; absent without hash ids.
    pub reuse: Option<Reuse>,
    /// The first requests.
    pub samples: Vec<Message>,
}

impl TraceProfile {
    /// Describes a trace.
    pub fn of(trace: &Trace) -> Self {
        let (mut input, mut output) = (DataSpread::default(), DataSpread::default());
        for request in trace.requests() {
            input.add(request.input);
            output.add(request.output);
        }
        let span = trace.duration() - trace.schedule().next().unwrap_or(0);
        let gaps = trace.len().saturating_sub(1);
        let samples = trace.requests().take(SAMPLES).map(|request| {
            let ids = request.hashes.iter().take(SAMPLE_IDS).map(ToString::to_string);
            let ids = ids.collect::<Vec<_>>().join(", ");
            let more = request.hashes.len().saturating_sub(SAMPLE_IDS);
            let ids = match (ids.as_str(), more) {
                ("", _) => Message::quoted(""),
                (ids, 0) => message!(", ids {ids}", "，id {ids}"),
                (ids, more) => {
                    message!(", ids {ids}, … ({more} more)", "，id {ids}……（另有 {more} 个）")
                }
            };
            let [input, output] = [request.input, request.output].map(|n| grouped(n.into()));
            message!(
                "at {at}: {input} in, {output} out{ids}",
                "{at}：输入 {input}，输出 {output}{ids}",
                at = spoken(request.at)
            )
        });
        Self {
            requests: trace.len(),
            duration: trace.duration(),
            rate: (span > 0).then(|| gaps as f64 * SEC as f64 / span as f64),
            dispersion: Dispersion::of(trace),
            input,
            output,
            reuse: trace.has_hashes().then(|| {
                let request = |index| trace.inner.rows.get(index);
                Reuse::of(trace.inner.rows.len(), trace.block(), request)
            }),
            samples: samples.collect(),
        }
    }
}

impl Localized for TraceProfile {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let mut line = |said: Message| writeln!(f, "{}", In(&said, language));
        line(message!(
            "replayed: {} in {}\n",
            "回放：{}，用时 {}\n",
            words::requests(self.requests),
            spoken(self.duration)
        ))?;
        line(message!("arrivals", "到达"))?;
        line(match self.rate {
            Some(rate) => message!("  {rate:.3} per second on average", "  平均每秒 {rate:.3} 个"),
            None => message!("  all at once", "  同时到达"),
        })?;
        if let Some(Dispersion { index, window }) = self.dispersion {
            line(message!(
                "  index of dispersion {index:.2} in windows of {window} (Poisson has 1)",
                "  离散指数 {index:.2}，窗口 {window}（泊松为 1）",
                window = spoken(window)
            ))?;
        }
        line(message!("\ninput tokens\n{}", "\n输入 token\n{}", self.input))?;
        line(message!("output tokens", "输出 token"))?;
        write!(f, "{}", In(&self.output, language))?;
        if let Some(reuse) = self.reuse
            && let Some(share) = reuse.share()
        {
            let seen = message!(
                "seen before\n  {seen} of {all} input tokens: a prefix cache can save {:.1} % at most",
                "重复出现\n  {all} 个输入 token 中的 {seen} 个：前缀缓存最多可节省 {:.1} %",
                share * 100.0,
                seen = grouped(reuse.seen),
                all = grouped(reuse.input)
            );
            writeln!(f, "\n{}", In(&seen, language))?;
        }
        samples(f, &self.samples, language)
    }
}

impl fmt::Display for TraceProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}
