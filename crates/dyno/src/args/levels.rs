//! Parses the values of flags that define the levels and when they stop.

use super::values::{List, in_flight, list, parsed, rate, requests};
use dyno_model::level_schedule::{MetricStatistic, Range};
use dyno_model::limits::{HIGHEST_RATE, MOST_IN_FLIGHT, MOST_REQUESTS};
use dyno_model::slo::Condition;
use dyno_model::units::{parse_count, parse_rate, parse_share};
use dyno_model::{Message, message};
use dyno_run::can_watch;

/// The levels of a closed loop.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Concurrency {
    /// These.
    List(List<u32>),
    /// Chosen during the run.
    Auto,
}

/// `--concurrency`.
pub(crate) fn concurrency(text: &str) -> Result<Concurrency, Message> {
    match text.trim() {
        "auto" => Ok(Concurrency::Auto),
        text => list(text, in_flight).map(Concurrency::List),
    }
}

/// `--max-concurrency`.
pub(crate) fn max_concurrency(text: &str) -> Result<u32, Message> {
    in_flight(text).map_err(|_| {
        message!(
            "`{text}` is not a number of requests in flight; write one whole number from 1 to \
             {MOST_IN_FLIGHT}",
            "`{text}` 不是并发数；请写一个 1 到 {MOST_IN_FLIGHT} 的整数"
        )
    })
}

/// `--sweep`.
pub(crate) fn sweep(text: &str) -> Result<u32, Message> {
    match text.parse::<u32>() {
        Ok(value) if (4..=100).contains(&value) => Ok(value),
        _ => Err(message!(
            "`{text}` is not a number of levels; write a whole number from 4 to 100",
            "`{text}` 不是档位数；请写 4 到 100 的整数"
        )),
    }
}

/// `--between`.
pub(crate) fn between(text: &str) -> Result<Range, Message> {
    let ends = text.split_once("..").and_then(|(low, high)| {
        let (low, high) = (parse_rate(low).ok()?, parse_rate(high).ok()?);
        (0.0 < low && low < high && high <= HIGHEST_RATE).then_some([low, high])
    });
    ends.map(Range::Between).ok_or_else(|| {
        message!(
            "`{text}` is not a range of loads; write the lower one first: 10..60",
            "`{text}` 不是负载范围；请先写较低的一端：10..60"
        )
    })
}

/// `--near`.
pub(crate) fn near(text: &str) -> Result<Range, Message> {
    rate(text).map(Range::Near).map_err(|_| {
        message!(
            "`{text}` is not a load; write a number, such as 40",
            "`{text}` 不是负载；请写一个数，例如 40"
        )
    })
}

/// `--levels`.
pub(crate) fn capacity_levels(text: &str) -> Result<u32, Message> {
    match text.parse::<u32>() {
        Ok(value) if (4..=100).contains(&value) => Ok(value),
        _ => Err(message!(
            "`{text}` is not a number of levels; write a whole number from 4 to 100",
            "`{text}` 不是档位数；请写 4 到 100 的整数"
        )),
    }
}

/// `--width`.
pub(crate) fn width(text: &str) -> Result<f64, Message> {
    match parse_share(text) {
        Ok(share) if (0.005..=1.0).contains(&share) => Ok(share),
        _ => Err(message!(
            "`{text}` is not a width; write a share from 0.5% to 100%, such as 6%",
            "`{text}` 不是宽度；请写 0.5% 到 100% 的比例，例如 6%"
        )),
    }
}

/// `--until-stable`.
pub(crate) fn figure(text: &str) -> Result<MetricStatistic, Message> {
    let figure: MetricStatistic = parsed(text)?;
    match can_watch(&figure) {
        true => Ok(figure),
        false => Err(message!(
            "`{text}` cannot end a level; write ttft, tpot or latency, with .mean, .p50, .p90, \
             .p95 or .p99",
            "`{text}` 不能作为档位的结束条件；请写 ttft、tpot 或 latency，加 .mean、.p50、.p90、\
             .p95 或 .p99"
        )),
    }
}

/// `--precision`.
pub(crate) fn precision(text: &str) -> Result<f64, Message> {
    match parse_share(text) {
        Ok(share) if (0.001..=0.5).contains(&share) => Ok(share),
        _ => Err(message!(
            "`{text}` is not a precision; write a share from 0.1% to 50%, such as 3%",
            "`{text}` 不是精度；请写 0.1% 到 50% 的比例，例如 3%"
        )),
    }
}

/// `--cache-hit`.
pub(crate) fn cache_hit(text: &str) -> Result<f64, Message> {
    match parse_share(text) {
        Ok(share) if (0.01..=0.95).contains(&share) => Ok(share),
        _ => Err(message!(
            "`{text}` is not a share of cached tokens; write one from 1% to 95%, such as 60%",
            "`{text}` 不是缓存命中比例；请写 1% 到 95% 的比例，例如 60%"
        )),
    }
}

/// How many requests a level takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requests {
    /// In total.
    Number(u64),
    /// Per slot of a closed loop.
    PerSlot(u64),
}

/// `--requests`.
pub(crate) fn level_requests(text: &str) -> Result<Requests, Message> {
    match text.strip_suffix(['x', 'X', '×']) {
        None => requests(text).map(Requests::Number),
        Some(times) => match parse_count(times) {
            Ok(times) if (1..=MOST_REQUESTS / u64::from(MOST_IN_FLIGHT)).contains(&times) => {
                Ok(Requests::PerSlot(times))
            }
            _ => Err(message!(
                "`{text}` is not a number of requests per slot; write 10x",
                "`{text}` 不是每个并发名额的请求数；请写成 10x 的形式"
            )),
        },
    }
}

/// `--repeat`.
pub(crate) fn repeats(text: &str) -> Result<u32, Message> {
    match text.parse::<u32>() {
        Ok(value) if (1..=1000).contains(&value) => Ok(value),
        _ => Err(message!(
            "`{text}` is not a number of rounds; write a whole number from 1 to 1000",
            "`{text}` 不是轮数；请写 1 到 1000 的整数"
        )),
    }
}

/// `--stop-on`.
pub(crate) fn condition(text: &str) -> Result<Condition, Message> {
    parsed(text)
}
