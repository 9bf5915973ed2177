//! Tables that cannot be fitted, and why.

use super::table::{Level, Offer, Role, Table};
use dyno_model::plan::Load;
use thiserror::Error;

/// The fewest levels that say anything of how load matters.
const FEWEST: usize = 2;

/// Why a table cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError {
    /// Too few levels that may be fitted.
    #[error(
        "{have} of {all} levels can be fitted; at least {FEWEST} are needed, at different loads \
         (5 or more, from one request at a time to past the knee, give a twin worth having)"
    )]
    TooFew {
        /// Levels that may be fitted.
        have: usize,
        /// All levels.
        all: usize,
    },
    /// All levels are alike.
    #[error("all levels offer the same load ({0}); measure at several rates or numbers in flight")]
    NothingVaries(String),
    /// A level that nothing can have measured.
    #[error("level {label}: {problem}")]
    Level {
        /// The level.
        label: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No engine comes near.
    #[error("no choice of policy, cap and budget could be tried; give at least one of each")]
    NothingFits,
}

/// Refuses tables that nothing can be fitted to.
pub(super) fn check(table: &Table) -> Result<(), FitError> {
    for level in table.levels.iter().filter(|level| !matches!(level.role, Role::LeftOut(_))) {
        check_level(level)
            .map_err(|problem| FitError::Level { label: level.label.clone(), problem })?;
    }
    let fitted: Vec<&Level> = table.fitted().collect();
    if fitted.len() < FEWEST {
        return Err(FitError::TooFew { have: fitted.len(), all: table.levels.len() });
    }
    let kind = |level: &Level| (level.offer, level.input.to_bits(), level.output.to_bits());
    if fitted.iter().all(|level| kind(level) == kind(fitted[0])) {
        return Err(FitError::NothingVaries(fitted[0].label.clone()));
    }
    Ok(())
}

fn check_level(level: &Level) -> Result<(), String> {
    if let Some((figure, value)) =
        level.figures.iter().find(|(_, v)| !(v.is_finite() && **v >= 0.0))
    {
        return Err(format!("{} is {value}; leave out what was not measured", figure.name()));
    }
    if let Some((figure, _)) = level.judged().find(|(_, value)| *value <= 0.0) {
        return Err(format!("{} is 0; leave out what was not measured", figure.name()));
    }
    if level.judged().count() == 0 {
        return Err("has neither a rate nor a time; leave the level out".to_owned());
    }
    for (name, length) in [("prompt", level.input), ("answer", level.output)] {
        if !(1.0..1e8).contains(&length) {
            return Err(format!("a {name} of {length} tokens; give at least 1"));
        }
    }
    if level.counted.is_some_and(|counted| counted.is_nan() || counted <= 1.0) {
        return Err("fewer than 2 tokens counted of an answer".to_owned());
    }
    match level.offer {
        Offer::Load { load: Load::Rate { rate, .. }, .. } if !(rate.is_finite() && rate > 0.0) => {
            Err(format!("a rate of {rate} requests a second; give more than 0"))
        }
        Offer::Load {
            load: Load::Concurrency { concurrency: 0 } | Load::Burst { requests: 0 },
            ..
        }
        | Offer::Cell { requests: 0 } => Err("no request in flight; give at least 1".to_owned()),
        _ => Ok(()),
    }
}
