//! Parses the bound of a term, and spells a corrected term for errors.

use super::error::SloError;
use super::parse::{Reading, Use};
use super::{Bound, Metric, Operator, Statistic, Term, Unit};
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
    ) -> Result<Bound, SloError> {
        let right = || self.spelt(metric, statistic, self.operator);
        let kind = kind(metric);
        if self.right.starts_with(['-', '−']) {
            return Err(self.impossible(metric, statistic, "is negative"));
        }
        if number(self.right).is_some() {
            return Err(SloError::NoUnit { kind, right: right() });
        }
        let wrong = || SloError::Bound { text: self.right.to_owned(), kind, right: right() };
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
                    return Err(self.impossible(metric, statistic, "is over a day"));
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
    ) -> Result<Bound, SloError> {
        use Operator::{Above, AtLeast, Below};
        let why = match (bound, self.operator) {
            (Bound::Time(0), _) if self.purpose == Use::Keep => "can never be met",
            (Bound::Time(0), _) => "always holds",
            (Bound::Time(nanos), _) if nanos > LONGEST => "is over a day",
            (Bound::Percent(value), _) if value > 100.0 => "is more than all requests",
            (Bound::Percent(0.0), Below) => "can never be met",
            (Bound::Percent(0.0), AtLeast) => "always holds",
            (Bound::Percent(100.0), Above) => "can never be met",
            (Bound::PerSecond(0.0), _) => "requires no throughput",
            (Bound::PerSecond(value), _) if value > MOST_PER_SECOND => {
                "is over 1,000,000,000 per second"
            }
            _ => return Ok(bound),
        };
        Err(self.impossible(metric, statistic, why))
    }

    fn impossible(
        &self,
        metric: Metric,
        statistic: Option<Statistic>,
        why: &'static str,
    ) -> SloError {
        let right = match (metric, self.purpose) {
            (Metric::Errors, Use::Keep) => {
                "`errors<1%`, or `errors<=0%` for none at all".to_owned()
            }
            (Metric::Errors, Use::Stop) => "`errors>5%`".to_owned(),
            _ => format!("`{}`", self.spelt(metric, statistic, self.operator)),
        };
        SloError::Impossible { text: self.text.to_owned(), why, right }
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

fn kind(metric: Metric) -> &'static str {
    match metric.unit() {
        Unit::Percent => "a share",
        Unit::RequestsPerSecond => "a rate of requests",
        Unit::TokensPerSecond => "a rate of tokens",
        Unit::InputsPerSecond => "a rate of inputs",
        _ => "a time",
    }
}

/// Digits and a point, and nothing else.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|value: &f64| plain && value.is_finite())
}
