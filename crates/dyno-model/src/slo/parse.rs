//! Parses terms. Case does not matter, and blanks are allowed between words.

use super::error::SloError;
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
pub(super) fn slo(text: &str) -> Result<Vec<Term>, SloError> {
    let mut terms: Vec<Term> = Vec::new();
    for piece in pieces(text)? {
        let term = term(&piece, Use::Keep)?;
        if terms.iter().any(|before| before.figure() == term.figure()) {
            return Err(SloError::Twice(term.figure()));
        }
        terms.push(term);
    }
    if terms.is_empty() { Err(SloError::Empty(Use::Keep.example())) } else { Ok(terms) }
}

/// The one term of a condition.
pub(super) fn condition(text: &str) -> Result<Term, SloError> {
    let text = text.trim().to_lowercase();
    if text.is_empty() { Err(SloError::Empty(Use::Stop.example())) } else { term(&text, Use::Stop) }
}

/// The texts between commas, line breaks, `&&` and the word `and`, in lower case.
fn pieces(text: &str) -> Result<Vec<String>, SloError> {
    let mut pieces: Vec<String> = Vec::new();
    let mut and = true;
    for line in text.to_lowercase().replace("&&", " and ").split([',', '\n']) {
        let mut words: Vec<&str> = Vec::new();
        for word in line.split_whitespace() {
            if word != "and" {
                words.push(word);
                and = false;
            } else if and {
                return Err(SloError::Dangling);
            } else {
                pieces.push(std::mem::take(&mut words).join(" "));
                and = true;
            }
        }
        pieces.push(words.join(" "));
    }
    pieces.retain(|piece| !piece.is_empty());
    if and && !pieces.is_empty() { Err(SloError::Dangling) } else { Ok(pieces) }
}

fn term(text: &str, purpose: Use) -> Result<Term, SloError> {
    let no_bound = || SloError::NoBound { text: text.to_owned(), form: purpose.form() };
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
    fn figure(&self, left: &str) -> Result<(Metric, Option<Statistic>), SloError> {
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
                return Err(SloError::NoBound { text: self.text.to_owned(), form });
            }
        };
        let plain = metrics().into_iter().find(|metric| metric.name() == name);
        let metric = plain.ok_or_else(|| no_metric(name))?;
        let metric = match (scheduled, metric) {
            (false, metric) => metric,
            (true, Metric::Time(Time::Ttft)) => Metric::Time(Time::TtftScheduled),
            (true, Metric::Time(Time::Latency)) => Metric::Time(Time::LatencyScheduled),
            (true, other) => return Err(SloError::NotScheduled { name: other.name() }),
        };
        Ok((metric, self.statistic(metric, &statistic)?))
    }

    fn statistic(&self, metric: Metric, name: &str) -> Result<Option<Statistic>, SloError> {
        let side = self.purpose.side(metric);
        if !metric.is_time() {
            return if name.is_empty() {
                Ok(None)
            } else {
                let right = self.spelt(metric, None, side);
                Err(SloError::OneFigure { name: metric.name(), right })
            };
        }
        let right = || self.spelt(metric, Some(Statistic::P99), side);
        match name {
            "" => Err(SloError::NoStatistic { name: metric.name(), right: right() }),
            "max" => Err(SloError::Max { right: right() }),
            _ => match Statistic::bounded().find(|statistic| statistic.name() == name) {
                Some(statistic) => Ok(Some(statistic)),
                None => {
                    let known: Vec<&str> = Statistic::bounded().map(Statistic::name).collect();
                    let near = match percentile(name) {
                        Some(wanted) => percentile_near(wanted, &known),
                        None => meant(name, &known),
                    };
                    let near = near.map(str::to_owned);
                    Err(SloError::Statistic { name: name.to_owned(), near })
                }
            },
        }
    }

    fn wrong_side(&self, metric: Metric, statistic: Option<Statistic>, side: Operator) -> SloError {
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
        SloError::WrongSide { text: self.text.to_owned(), why, right }
    }
}

fn no_metric(name: &str) -> SloError {
    let known: Vec<&str> = metrics().into_iter().map(Metric::name).collect();
    SloError::Metric { name: name.to_owned(), near: meant(name, &known).map(str::to_owned) }
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
