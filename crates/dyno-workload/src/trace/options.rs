//! The options of a trace: its speed, a part of it, the size of its blocks, and which fields hold what.

use dyno_model::message::list;
use dyno_model::units::parse_duration;
use dyno_model::{Message, Nanos, message};

use super::mapping::{self, Mapping};
use super::words::{grouped, spoken};
use crate::data::{DataKind, DataSpec, true_or_false};

/// The keys of `trace`, beside those of a mapping.
const KEYS: [&str; 5] = ["speed", "from", "to", "block", "skip_bad"];
/// Those of `session:FILE`, where the file is a trace of sessions that a load starts.
const OF_SESSIONS: [&str; 4] = ["turns", "think", "block", "skip_bad"];
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;
const LARGEST_BLOCK: u32 = 1_000_000;

/// How a trace is read and replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceOptions {
    /// How much faster than it was recorded.
    pub speed: f64,
    /// The part to take begins so long after the first request, on the trace's own clock.
    pub from: Option<Nanos>,
    /// The part to take ends before this time, on the trace's own clock.
    pub to: Option<Nanos>,
    /// Tokens that a hash id stands for; absent: what is usual for the form of the file.
    pub block: Option<u32>,
    /// Whether to skip rows that cannot be used.
    pub skip_bad: bool,
    pub(super) mapping: Mapping,
}

impl Default for TraceOptions {
    fn default() -> Self {
        let mapping = Mapping::default();
        Self { speed: 1.0, from: None, to: None, block: None, skip_bad: false, mapping }
    }
}

/// Which requests of a trace are taken, beside its options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceLimits {
    /// No more than these, the earliest.
    pub limit: Option<u64>,
    /// The fewest input tokens a request may have.
    pub min_input: Option<u32>,
    /// The most input tokens a request may have.
    pub max_input: Option<u32>,
    /// Whether longer requests are cut to the maximum, instead of left out.
    pub truncate: bool,
}

impl TraceOptions {
    /// The options of a specification, without touching its file.
    pub fn of(spec: &DataSpec) -> Result<Self, Message> {
        let keys = match spec.kind {
            Some(DataKind::Session) => &OF_SESSIONS[..],
            _ => &KEYS[..],
        };
        spec.only(&[keys, &mapping::KEYS].concat())?;
        let mapping = Mapping::of(spec)?;
        let mut options = Self { skip_bad: spec.skip_bad, mapping, ..Self::default() };
        if let Some(text) = spec.option("speed") {
            let speed = text.parse().ok().filter(|speed| SPEEDS.contains(speed));
            options.speed = speed.ok_or_else(|| {
                let number = message!(
                    "2 for twice as fast: a number from 0.000001 to 1000000",
                    "2（两倍速度）：0.000001 到 1000000 之间的数"
                );
                spec.bad_option("speed", number)
            })?;
        }
        let time = |key: &str, allowed| match spec.option(key).map(parse_duration) {
            None => Ok(None),
            Some(Ok(time)) => Ok(Some(time)),
            Some(Err(_)) => Err(spec.bad_option(key, allowed)),
        };
        let such_as = |time: &str| {
            message!(
                "{time}: a time from the first request on, with its unit",
                "{time}：从首个请求起的时间，带单位"
            )
        };
        options.from = time("from", such_as("10s"))?;
        options.to = time("to", such_as("5m"))?;
        if options.to.is_some_and(|to| to <= options.from.unwrap_or(0)) {
            let later = message!(
                "70s with from=10s: it must be after from",
                "70s（from=10s 时）：必须晚于 from"
            );
            return Err(spec.bad_option("to", later));
        }
        if let Some(text) = spec.option("block") {
            let block = text.parse().ok().filter(|block| (1..=LARGEST_BLOCK).contains(block));
            options.block = Some(block.ok_or_else(|| {
                let tokens = message!(
                    "512: the tokens of a block, 1 to 1000000",
                    "512：每块的 token 数，1 到 1000000"
                );
                spec.bad_option("block", tokens)
            })?);
        }
        match spec.option("skip_bad") {
            None => {}
            Some("true") => options.skip_bad = true,
            Some("false") => options.skip_bad = false,
            Some(_) => return Err(spec.bad_option("skip_bad", true_or_false())),
        }
        Ok(options)
    }

    /// An offset on the trace's own clock, at the speed of the replay.
    pub(super) fn at_speed(&self, offset: Nanos) -> Nanos {
        match self.speed {
            1.0 => offset,
            speed => (offset as f64 / speed).round() as Nanos,
        }
    }

    /// What is taken of a trace, for the line that says what it is; nothing if it is all of it.
    pub(super) fn cut_in_words(&self, taken: u64, of: u64) -> Message {
        let mut parts = Vec::new();
        if taken < of {
            parts.push(message!("{} of them", "取其中 {} 个", grouped(taken)));
        }
        match (self.from, self.to) {
            (None, None) => {}
            (Some(from), None) => parts.push(message!("from {} on", "从 {} 起", spoken(from))),
            (from, Some(to)) => parts.push(message!(
                "from {} to {}",
                "从 {} 到 {}",
                spoken(from.unwrap_or(0)),
                spoken(to)
            )),
        }
        if self.speed != 1.0 {
            parts.push(message!("at {} times the speed", "{} 倍速", self.speed));
        }
        match parts.is_empty() {
            true => Message::quoted(""),
            false => message!("; {}", "；{}", list(parts)),
        }
    }
}
