//! Parses terms. Case does not matter, and blanks are allowed between words.

use super::metrics;
use super::{Metric, Operator, Statistic, Term};
use crate::message::{Message, message};
use crate::metric::Time;
use crate::nearest::nearest;

/// Words that other tools use.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("e2e", "latency"),
    ("e2el", "latency"),
    ("failures", "errors"),
    ("rps", "throughput"),
    ("qps", "throughput"),
    ("tps", "tokens"),
    ("avg", "mean"),
    ("average", "mean"),
    ("median", "p50"),
];

/// The purpose of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It has to hold.
    Keep,
    /// It stops a run.
    Stop,
}

impl Use {
    fn example(self) -> &'static str {
        match self {
            Self::Keep => "ttft.p99<500ms",
            Self::Stop => "errors>5%",
        }
    }

    fn form(self) -> Message {
        match self {
            Self::Keep => message!(
                "METRIC.STATISTIC<BOUND, such as `ttft.p99<500ms`",
                "指标.统计量<界限，例如 `ttft.p99<500ms`"
            ),
            Self::Stop => message!(
                "METRIC.STATISTIC>BOUND, such as `ttft.p99>10s` or `errors>5%`, or `saturated`",
                "指标.统计量>界限（例如 `ttft.p99>10s` 或 `errors>5%`），或 `saturated`"
            ),
        }
    }

    /// The side of a bound that makes sense.
    fn side(self, metric: Metric) -> Operator {
        match self {
            Self::Keep if !metric.is_work() => Operator::Below,
            _ => Operator::Above,
        }
    }
}

/// All terms of an SLO.
pub(super) fn slo(text: &str) -> Result<Vec<Term>, Message> {
    let mut terms: Vec<Term> = Vec::new();
    for piece in pieces(text)? {
        let term = term(&piece, Use::Keep)?;
        if terms.iter().any(|before| before.figure() == term.figure()) {
            return Err(message!(
                "`{}` is bounded twice; keep one of the two",
                "`{}` 有两个界限；请只保留一个",
                term.figure()
            ));
        }
        terms.push(term);
    }
    if terms.is_empty() { Err(empty(Use::Keep.example())) } else { Ok(terms) }
}

/// The one term of a condition.
pub(super) fn condition(text: &str) -> Result<Term, Message> {
    let text = text.trim().to_lowercase();
    if text.is_empty() { Err(empty(Use::Stop.example())) } else { term(&text, Use::Stop) }
}

/// The texts between commas, line breaks, `&&` and the word `and`, in lower case.
fn pieces(text: &str) -> Result<Vec<String>, Message> {
    let mut pieces: Vec<String> = Vec::new();
    let mut and = true;
    for line in text.to_lowercase().replace("&&", " and ").split([',', '\n']) {
        let mut words: Vec<&str> = Vec::new();
        for word in line.split_whitespace() {
            if word != "and" {
                words.push(word);
                and = false;
            } else if and {
                return Err(dangling());
            } else {
                pieces.push(std::mem::take(&mut words).join(" "));
                and = true;
            }
        }
        pieces.push(words.join(" "));
    }
    pieces.retain(|piece| !piece.is_empty());
    if and && !pieces.is_empty() { Err(dangling()) } else { Ok(pieces) }
}

fn term(text: &str, purpose: Use) -> Result<Term, Message> {
    let no_bound = || no_bound(text, purpose.form());
    let at = text.find(['<', '>', '≤', '≥', '=']).ok_or_else(no_bound)?;
    let (left, rest) = text.split_at(at);
    let operators = [
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("≤", Operator::AtMost),
        ("≥", Operator::AtLeast),
        ("<", Operator::Below),
        (">", Operator::Above),
    ];
    let (operator, right) = operators
        .iter()
        .find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)))
        .filter(|(_, right)| !right.trim().is_empty())
        .ok_or_else(no_bound)?;
    let reading = Reading { text, right: right.trim(), operator, purpose };
    let (metric, statistic) = reading.figure(left)?;
    let side = purpose.side(metric);
    if operator.is_ceiling() != side.is_ceiling() {
        return Err(reading.wrong_side(metric, statistic, side));
    }
    let bound = reading.bound(metric, statistic)?;
    Ok(Term { metric, statistic, operator, bound })
}

/// A term that is being parsed.
pub(super) struct Reading<'a> {
    pub(super) text: &'a str,
    pub(super) right: &'a str,
    pub(super) operator: Operator,
    pub(super) purpose: Use,
}

impl Reading<'_> {
    fn figure(&self, left: &str) -> Result<(Metric, Option<Statistic>), Message> {
        let words: Vec<&str> =
            left.split(|c: char| c == '.' || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
        let (scheduled, words) = match words.split_first() {
            Some((&"scheduled", rest)) => (true, rest),
            _ => (false, words.as_slice()),
        };
        let (name, statistic) = match words.split_first() {
            Some((name, rest)) => (*name, rest.join(".")),
            None if scheduled => return Err(no_metric("scheduled")),
            None => {
                let form = self.purpose.form();
                return Err(no_bound(self.text, form));
            }
        };
        let plain = metrics().into_iter().find(|metric| metric.name() == name);
        let metric = plain.ok_or_else(|| no_metric(name))?;
        let metric = match (scheduled, metric) {
            (false, metric) => metric,
            (true, Metric::Time(Time::Ttft)) => Metric::Time(Time::TtftScheduled),
            (true, Metric::Time(Time::Latency)) => Metric::Time(Time::LatencyScheduled),
            (true, other) => {
                return Err(message!(
                    "`{name}` does not depend on the schedule: write `{name}` without `scheduled.`",
                    "`{name}` 与计划时间无关：请去掉 `scheduled.`，只写 `{name}`",
                    name = other.name()
                ));
            }
        };
        Ok((metric, self.statistic(metric, &statistic)?))
    }

    fn statistic(&self, metric: Metric, name: &str) -> Result<Option<Statistic>, Message> {
        let side = self.purpose.side(metric);
        if !metric.is_time() {
            return if name.is_empty() {
                Ok(None)
            } else {
                let right = self.spelt(metric, None, side);
                Err(message!(
                    "`{name}` has no statistics: write `{right}`",
                    "`{name}` 没有统计量：请写 `{right}`",
                    name = metric.name()
                ))
            };
        }
        let right = || self.spelt(metric, Some(Statistic::P99), side);
        match name {
            "" => Err(message!(
                "`{name}` needs a statistic: write `{right}`. Known: {known}",
                "`{name}` 需要统计量：请写 `{right}`。可用的有：{known}",
                name = metric.name(),
                right = right(),
                known = known_statistics()
            )),
            "max" => Err(message!(
                "`max` is not supported, because a single request decides it; write `{right}`",
                "不支持 `max`，因为单个请求就能决定它；请写 `{right}`",
                right = right()
            )),
            _ => match Statistic::bounded().find(|statistic| statistic.name() == name) {
                Some(statistic) => Ok(Some(statistic)),
                None => {
                    let known: Vec<&str> = Statistic::bounded().map(Statistic::name).collect();
                    let near = match percentile(name) {
                        Some(wanted) => percentile_near(wanted, &known),
                        None => meant(name, &known),
                    };
                    Err(message!(
                        "there is no statistic `{name}`{near} Known: {known}",
                        "没有统计量 `{name}`{near}可用的有：{known}",
                        near = did_you_mean(near),
                        known = known_statistics()
                    ))
                }
            },
        }
    }

    fn wrong_side(&self, metric: Metric, statistic: Option<Statistic>, side: Operator) -> Message {
        let why = match (self.purpose, metric.is_work()) {
            (Use::Stop, _) => {
                message!("a condition is met above its bound", "条件在超过界限时成立")
            }
            (Use::Keep, true) => {
                message!("in an SLO, throughput has a lower bound", "在 SLO 中，吞吐量用下限")
            }
            (Use::Keep, false) if metric.is_time() => {
                message!("in an SLO, times have an upper bound", "在 SLO 中，时间用上限")
            }
            (Use::Keep, false) => {
                message!("in an SLO, failures have an upper bound", "在 SLO 中，失败用上限")
            }
        };
        let right = self.spelt(metric, statistic, side);
        message!(
            "`{text}` is the wrong way round: {why}; write `{right}`",
            "`{text}` 的方向反了：{why}；请写 `{right}`",
            text = self.text
        )
    }
}

fn no_metric(name: &str) -> Message {
    let known: Vec<&str> = metrics().into_iter().map(Metric::name).collect();
    message!(
        "there is no metric `{name}`{near} Known: {known}",
        "没有指标 `{name}`{near}可用的有：{known}",
        near = did_you_mean(meant(name, &known)),
        known = known_metrics()
    )
}

/// The number of a percentile, whether there is one or not.
fn percentile(word: &str) -> Option<f64> {
    word.strip_prefix('p')?.parse().ok()
}

/// The percentile of `known` that is nearest to one that is not offered; above 100 none was meant.
fn percentile_near<'a>(wanted: f64, known: &[&'a str]) -> Option<&'a str> {
    if !(0.0..=100.0).contains(&wanted) {
        return None;
    }
    let distance = |name: &str| Some((percentile(name)? - wanted).abs());
    let percentiles = known.iter().filter_map(|name| Some((distance(name)?, *name)));
    percentiles.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// The one of `known` that was probably meant.
fn meant<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let other = OTHER_WORDS.iter().find(|(other, _)| *other == word).map(|(_, ours)| *ours);
    match other.and_then(|ours| known.iter().find(|name| **name == ours)) {
        Some(name) => Some(name),
        None => nearest(word, known),
    }
}

fn did_you_mean(near: Option<&str>) -> Message {
    match near {
        Some(near) => message!("; did you mean `{near}`?", "；是否想写 `{near}`？"),
        None => message!(".", "。"),
    }
}

fn known_metrics() -> String {
    metrics().into_iter().map(Metric::name).collect::<Vec<_>>().join(", ")
}

fn known_statistics() -> String {
    Statistic::bounded().map(Statistic::name).collect::<Vec<_>>().join(", ")
}

fn empty(example: &str) -> Message {
    message!(
        "it is empty; write a bound such as `{example}`",
        "内容为空；请写一个界限，例如 `{example}`"
    )
}

fn dangling() -> Message {
    message!(
        "a term is missing beside `and`; write `ttft.p99<500ms and errors<1%`",
        "`and` 旁缺少一个条件；请写 `ttft.p99<500ms and errors<1%`"
    )
}

fn no_bound(text: &str, form: Message) -> Message {
    message!("`{text}` has no bound; write {form}", "`{text}` 没有界限；请写 {form}")
}
