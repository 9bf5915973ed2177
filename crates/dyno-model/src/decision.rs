//! Whether a requirement is met, missed or inconclusive. Inconclusive is not a failure: it means that
//! more or better measurements are needed.

use crate::language::Language;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The decision on a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is met.
    Met,
    /// It is missed.
    Missed,
    /// The measurements do not decide it.
    #[default]
    Inconclusive,
}

impl Decision {
    /// From a known outcome.
    pub fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::Missed }
    }

    /// Whether it is met; nothing where that is not decided.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::Met => Some(true),
            Self::Missed => Some(false),
            Self::Inconclusive => None,
        }
    }

    /// All must be met: a single missed one decides.
    pub fn all(each: impl IntoIterator<Item = Self>) -> Self {
        each.into_iter().fold(Self::Met, |all, one| match (all, one) {
            (Self::Missed, _) | (_, Self::Missed) => Self::Missed,
            (Self::Met, one) => one,
            (Self::Inconclusive, _) => Self::Inconclusive,
        })
    }

    /// One must be met: a single met one decides. Inconclusive for an empty list.
    pub fn any(each: impl IntoIterator<Item = Self>) -> Self {
        let best = |best: Self, one| match (best, one) {
            (Self::Met, _) | (_, Self::Met) => Self::Met,
            (Self::Missed, one) => one,
            (Self::Inconclusive, _) => Self::Inconclusive,
        };
        each.into_iter().reduce(best).unwrap_or_default()
    }

    /// What it is called.
    pub fn name(self, language: Language) -> &'static str {
        language.choose(match self {
            Self::Met => ["met", "满足"],
            Self::Missed => ["missed", "未满足"],
            Self::Inconclusive => ["inconclusive", "无法判定"],
        })
    }
}

impl From<Option<bool>> for Decision {
    fn from(known: Option<bool>) -> Self {
        known.map_or(Self::Inconclusive, Self::of)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name(Language::English))
    }
}

#[cfg(test)]
mod tests {
    use super::Decision::{Inconclusive, Met, Missed};
    use super::*;

    #[test]
    fn a_missed_term_wins_over_one_that_is_not_decided() {
        assert_eq!(Decision::all([Met, Inconclusive, Missed]), Missed);
        assert_eq!(Decision::all([Inconclusive, Met]), Inconclusive);
        assert_eq!(Decision::all([Met, Met]), Met);
        assert_eq!(Decision::all([]), Met);
    }

    #[test]
    fn a_level_that_is_met_wins_over_those_that_are_not() {
        assert_eq!(Decision::any([Missed, Inconclusive, Met]), Met);
        assert_eq!(Decision::any([Missed, Inconclusive]), Inconclusive);
        assert_eq!(Decision::any([Inconclusive, Missed]), Inconclusive);
        assert_eq!(Decision::any([Missed, Missed]), Missed);
        assert_eq!(Decision::any([]), Inconclusive);
    }

    #[test]
    fn saved_as_a_word() {
        assert_eq!(serde_json::to_string(&Inconclusive).unwrap(), "\"inconclusive\"");
        assert_eq!(serde_json::from_str::<Decision>("\"missed\"").unwrap(), Missed);
    }
}
