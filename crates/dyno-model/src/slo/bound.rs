//! Parses the bound of a term, and spells a corrected term for errors.

use super::parse::{Reading, Use};
use super::{Bound, Metric, Operator, Statistic, Term, Unit};
use crate::message::{Message, message};
use crate::units::{UnitError, parse_duration, parse_number};
use crate::{MS, Nanos, SEC};

/// The longest bound on a time.
const LONGEST: Nanos = 24 * 3600 * SEC;
const MOST_PER_SECOND: f64 = 1e9;
const EXAMPLE: Bound = Bound::Time(500 * MS);

impl Reading<'_> {
    pub(super) fn bound(
        &self,
        metric: Metric,
        statistic: Option<Statistic>,
    ) -> Result<Bound, Message> {
        let right = || self.spelt(metric, statistic, self.operator);
        if self.right.starts_with(['-', '−']) {
            return Err(self.impossible(metric, statistic, message!("is negative", "为负数")));
        }
        if number(self.right).is_some() {
            return Err(message!(
                "{kind} needs a unit: write `{right}`",
                "{kind}需要单位：请写 `{right}`",
                kind = kind(metric),
                right = right()
            ));
        }
        let wrong = || {
            let (text, kind) = (self.right.to_owned(), kind(metric));
            message!(
                "`{text}` is not {kind}; write `{right}`",
                "`{text}` 不是{kind}；请写 `{right}`",
                right = right()
            )
        };
        let bound = match metric.unit() {
            Unit::Percent => {
                Bound::Percent(self.right.strip_suffix('%').and_then(number).ok_or_else(wrong)?)
            }
            Unit::RequestsPerSecond => {
                self.per_second(&["req/s", "requests/s", "/s"]).ok_or_else(wrong)?
            }
            Unit::TokensPerSecond => {
                self.per_second(&["tok/s", "tokens/s", "/s"]).ok_or_else(wrong)?
            }
            Unit::InputsPerSecond => self.per_second(&["inputs/s", "/s"]).ok_or_else(wrong)?,
            _ => match parse_duration(self.right) {
                Ok(nanos) => Bound::Time(nanos),
                Err(UnitError::TooLong(_)) => {
                    return Err(self.impossible(
                        metric,
                        statistic,
                        message!("is over a day", "超过一天"),
                    ));
                }
                Err(_) => return Err(wrong()),
            },
        };
        self.sensible(metric, statistic, bound)
    }

    fn per_second(&self, units: &[&str]) -> Option<Bound> {
        let value = units.iter().find_map(|unit| self.right.strip_suffix(unit))?.trim_end();
        let multiplied = |value: &str| {
            let digits = value.trim_end_matches(['k', 'm', 'g']);
            // Terms are in lower case here, so `2M` has become `2m`.
            let value = value.replace('m', "M").replace('g', "G");
            number(digits).and_then(|_| parse_number(&value).ok())
        };
        number(value).or_else(|| multiplied(value)).map(Bound::PerSecond)
    }

    /// Refuses a bound that everything or nothing meets.
    fn sensible(
        &self,
        metric: Metric,
        statistic: Option<Statistic>,
        bound: Bound,
    ) -> Result<Bound, Message> {
        use Operator::{Above, AtLeast, Below};
        let why = match (bound, self.operator) {
            (Bound::Time(0), _) if self.purpose == Use::Keep => {
                message!("can never be met", "永远无法满足")
            }
            (Bound::Time(0), _) => message!("always holds", "总是成立"),
            (Bound::Time(nanos), _) if nanos > LONGEST => message!("is over a day", "超过一天"),
            (Bound::Percent(value), _) if value > 100.0 => {
                message!("is more than all requests", "超过全部请求")
            }
            (Bound::Percent(0.0), Below) => message!("can never be met", "永远无法满足"),
            (Bound::Percent(0.0), AtLeast) => message!("always holds", "总是成立"),
            (Bound::Percent(100.0), Above) => message!("can never be met", "永远无法满足"),
            (Bound::PerSecond(0.0), _) => message!("requires no throughput", "没有要求任何吞吐量"),
            (Bound::PerSecond(value), _) if value > MOST_PER_SECOND => {
                message!("is over 1,000,000,000 per second", "超过每秒 1,000,000,000")
            }
            _ => return Ok(bound),
        };
        Err(self.impossible(metric, statistic, why))
    }

    fn impossible(&self, metric: Metric, statistic: Option<Statistic>, why: Message) -> Message {
        let right = match (metric, self.purpose) {
            (Metric::Errors, Use::Keep) => {
                message!(
                    "`errors<1%`, or `errors<=0%` for none at all",
                    "`errors<1%`；若不允许任何失败，请写 `errors<=0%`"
                )
            }
            (Metric::Errors, Use::Stop) => Message::quoted("`errors>5%`"),
            _ => {
                Message::quoted(format_args!("`{}`", self.spelt(metric, statistic, self.operator)))
            }
        };
        message!("`{text}` {why}; write {right}", "`{text}` {why}；请写 {right}", text = self.text)
    }

    /// The term as it should be, with the bound that was written if it is one.
    pub(super) fn spelt(
        &self,
        metric: Metric,
        statistic: Option<Statistic>,
        operator: Operator,
    ) -> String {
        let typed = number(self.right);
        let bound = match metric.unit() {
            Unit::Percent => {
                let typed = typed.or_else(|| number(self.right.strip_suffix('%')?));
                Bound::Percent(typed.filter(|v| (0.0..=100.0).contains(v)).unwrap_or(1.0))
            }
            Unit::RequestsPerSecond | Unit::TokensPerSecond | Unit::InputsPerSecond => {
                let digits = self.right.trim_end_matches(|c: char| c.is_alphabetic() || c == '/');
                let usual = if metric.unit() == Unit::TokensPerSecond { 1000.0 } else { 5.0 };
                let typed = typed.or_else(|| number(digits));
                let possible = typed.filter(|v| *v > 0.0 && *v <= MOST_PER_SECOND);
                Bound::PerSecond(possible.unwrap_or(usual))
            }
            _ => {
                let given = match typed {
                    Some(_) => parse_duration(&format!("{}ms", self.right)),
                    None => parse_duration(self.right),
                };
                given.ok().filter(|n| (1..=LONGEST).contains(n)).map_or(EXAMPLE, Bound::Time)
            }
        };
        Term { metric, statistic, operator, bound }.to_string()
    }
}

fn kind(metric: Metric) -> Message {
    match metric.unit() {
        Unit::Percent => message!("a share", "比例"),
        Unit::RequestsPerSecond => message!("a rate of requests", "请求速率"),
        Unit::TokensPerSecond => message!("a rate of tokens", "token 速率"),
        Unit::InputsPerSecond => message!("a rate of inputs", "输入条数速率"),
        _ => message!("a time", "时间"),
    }
}

/// Digits and a point, and nothing else.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|value: &f64| plain && value.is_finite())
}
