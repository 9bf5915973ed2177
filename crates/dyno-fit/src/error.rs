//! What makes a table impossible to fit. Every defect is found, so that one refusal names all of
//! them.

use super::table::{Level, Offer, Role, Table};
use dyno_model::plan::Load;
use thiserror::Error;

/// Fewer levels show nothing of how load changes the timing.
const FEWEST: usize = 2;

/// Why a table cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError {
    /// The table has defects.
    #[error("{}", list(.0))]
    Defects(Vec<Defect>),
    /// The options leave nothing to try.
    #[error("no policy, sequence cap and token budget to try; give at least one of each")]
    NothingToTry,
}

/// One thing that makes a table impossible to fit.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Defect {
    /// Too few levels can be fitted.
    #[error(
        "{have} of {all} levels can be fitted; at least {FEWEST} with different loads are needed \
         (5 or more, from one request at a time to past the knee, make a useful twin)"
    )]
    TooFew {
        /// Levels that can be fitted.
        have: usize,
        /// All levels.
        all: usize,
    },
    /// All levels offer the same load.
    #[error("all levels offer the same load ({0}); measure several request rates or concurrencies")]
    NothingVaries(String),
    /// A level has impossible values.
    #[error("level {label}: {problem}")]
    Level {
        /// The level.
        label: String,
        /// What is wrong with it.
        problem: String,
    },
}

fn list(defects: &[Defect]) -> String {
    defects.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Everything that makes `table` impossible to fit; empty if it can be fitted.
pub fn defects(table: &Table) -> Vec<Defect> {
    let used = table.levels.iter().filter(|level| !matches!(level.role, Role::LeftOut(_)));
    let mut found: Vec<Defect> = used
        .flat_map(|level| {
            let defect = |problem| Defect::Level { label: level.label.clone(), problem };
            level_problems(level).into_iter().map(defect)
        })
        .collect();
    let fitted: Vec<&Level> = table.fitted().collect();
    let kind = |level: &Level| (level.offer, level.input.to_bits(), level.output.to_bits());
    if fitted.len() < FEWEST {
        found.push(Defect::TooFew { have: fitted.len(), all: table.levels.len() });
    } else if fitted.iter().all(|level| kind(level) == kind(fitted[0])) {
        found.push(Defect::NothingVaries(fitted[0].label.clone()));
    }
    found
}

fn level_problems(level: &Level) -> Vec<String> {
    let mut problems = Vec::new();
    for (figure, value) in &level.figures {
        if !(value.is_finite() && *value >= 0.0) {
            problems.push(format!("{} is {value}; leave out what was not measured", figure.name()));
        }
    }
    for (figure, _) in level.judged().filter(|(_, value)| *value == 0.0) {
        problems.push(format!("{} is 0; leave out what was not measured", figure.name()));
    }
    if level.judged().count() == 0 {
        problems.push("has neither a rate nor a time; leave the level out".to_owned());
    }
    for (name, length) in [("prompt", level.input), ("response", level.output)] {
        if !(1.0..1e8).contains(&length) {
            problems.push(format!("a {name} of {length} tokens; give at least 1"));
        }
    }
    if level.counted.is_some_and(|counted| counted.is_nan() || counted <= 1.0) {
        problems.push("fewer than 2 tokens counted per response".to_owned());
    }
    match level.offer {
        Offer::Load { load: Load::Rate { rate, .. }, .. } if !(rate.is_finite() && rate > 0.0) => {
            problems.push(format!("a rate of {rate} requests per second; give more than 0"));
        }
        Offer::Load {
            load: Load::Concurrency { concurrency: 0 } | Load::Burst { requests: 0 },
            ..
        }
        | Offer::Cell { requests: 0 } => {
            problems.push("no request in flight; give at least 1".to_owned());
        }
        _ => {}
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::twin::reference::Figure;

    fn level(label: &str, requests: u32, latency_s: f64) -> Level {
        Level {
            label: label.to_owned(),
            offer: Offer::burst(requests),
            input: 64.0,
            output: 16.0,
            counted: None,
            timeout_s: None,
            repeated: false,
            figures: [(Figure::LatencyS, latency_s)].into(),
            role: Role::Fitted,
        }
    }

    fn table(levels: Vec<Level>) -> Table {
        let name = "test".to_owned();
        Table { name, levels, max_seqs: None, kv_tokens: None, context: None, varied: false }
    }

    #[test]
    fn all_defects_of_all_levels_are_reported() {
        let wrong = Level { output: 0.0, ..level("burst 8", 8, f64::NAN) };
        let empty = Level { figures: [].into(), ..level("burst 0", 0, 1.0) };
        let left_out = Level { role: Role::LeftOut("invalid".to_owned()), ..wrong.clone() };
        let found = defects(&table(vec![left_out, wrong, empty]));
        let text = FitError::Defects(found.clone()).to_string();
        assert_eq!(found.len(), 4, "{text}");
        for part in ["latency_s is NaN", "a response of 0 tokens", "neither a rate", "in flight"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn levels_must_be_several_and_differ() {
        assert_eq!(defects(&table(vec![level("a", 1, 1.0), level("b", 2, 1.0)])), []);
        let one = defects(&table(vec![level("a", 1, 1.0)]));
        assert_eq!(one, [Defect::TooFew { have: 1, all: 1 }]);
        let same = defects(&table(vec![level("a", 4, 1.0), level("b", 4, 1.5)]));
        assert_eq!(same, [Defect::NothingVaries("a".to_owned())]);
    }
}
