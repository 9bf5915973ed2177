//! Which requests a fault affects: every Nth, a share of them, or those with certain numbers.

use dyno_stats::rng::SplitMix;
use std::fmt;
use std::num::NonZeroU64;

const BILLION: usize = 1_000_000_000;

/// Which requests a fault affects. Requests are counted from 1, without preflight requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// Every Nth request; with 1, all of them.
    Every(NonZeroU64),
    /// A share of the requests, chosen by the server's seed.
    Rate(Rate),
    /// The requests with these numbers, in ascending order.
    At(Vec<NonZeroU64>),
}

/// A share of more than 0 and at most 1, to a billionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(u32);

impl Rate {
    /// A share; nothing if it is not one, or if it rounds to 0.
    pub fn new(share: f64) -> Option<Self> {
        let billionths = (share * BILLION as f64).round();
        (1.0..=BILLION as f64).contains(&billionths).then_some(Self(billionths as u32))
    }
}

impl When {
    /// Always.
    pub(super) const ALWAYS: Self = Self::Every(NonZeroU64::MIN);

    /// Reads `every=N`, `rate=P` or `at=N,N,…`.
    pub(super) fn parse(option: &str) -> Option<Self> {
        let (key, value) = option.split_once('=')?;
        match key.trim() {
            "every" => value.trim().parse().ok().map(Self::Every),
            "rate" => value.trim().parse().ok().and_then(Rate::new).map(Self::Rate),
            "at" => {
                let numbers = value.split(',').map(|number| number.trim().parse());
                let mut numbers: Vec<_> = numbers.collect::<Result<_, _>>().ok()?;
                numbers.sort_unstable();
                numbers.dedup();
                Some(Self::At(numbers))
            }
            _ => None,
        }
    }

    /// Whether it affects this request. The key decides which requests form a share.
    pub(super) fn strikes(&self, number: u64, key: u64) -> bool {
        match self {
            Self::Every(n) => number.is_multiple_of(n.get()),
            Self::Rate(Rate(billionths)) => {
                let scattered = SplitMix::new(number).next_u64();
                SplitMix::new(key ^ scattered).below(BILLION) < *billionths as usize
            }
            Self::At(numbers) => numbers.binary_search_by_key(&number, |n| n.get()).is_ok(),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(n) => write!(f, "every={n}"),
            Self::Rate(Rate(billionths)) => {
                write!(f, "rate={}", f64::from(*billionths) / BILLION as f64)
            }
            Self::At(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
                write!(f, "at={}", numbers.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back() {
        for text in ["every=3", "rate=0.05", "rate=1", "rate=0.000000001", "at=3,7,12"] {
            assert_eq!(When::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(When::parse("at= 7,3 ,7").unwrap().to_string(), "at=3,7");
        for wrong in ["every=0", "rate=0", "rate=1.1", "rate=-1", "rate=NaN", "at=", "at=0", "at"] {
            assert_eq!(When::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_share_is_about_that_large_and_the_same_each_time() {
        let rate = When::parse("rate=0.1").unwrap();
        let struck = |key| -> Vec<u64> { (1..=10_000).filter(|n| rate.strikes(*n, key)).collect() };
        assert!((900..1_100).contains(&struck(1).len()), "{}", struck(1).len());
        assert_eq!(struck(1), struck(1));
        assert_ne!(struck(1), struck(2));
        let all = When::parse("rate=1").unwrap();
        assert!((1..1_000).all(|n| all.strikes(n, 5)));
    }

    #[test]
    fn numbers_are_met_exactly() {
        let at = When::parse("at=3,7").unwrap();
        assert_eq!((1..20).filter(|n| at.strikes(*n, 0)).collect::<Vec<_>>(), [3, 7]);
    }
}
