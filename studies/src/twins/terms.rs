//! Which error each term of the model removes: the same records are fitted with the whole model and once
//! without each term, and every fit predicts the same levels.

mod errors;

mod tables;

use super::levels::{self, Group};
use anyhow::{Context as _, Result, ensure};
use dyno_fit::{CalibrateOptions, Calibrated, FitSettings, Shared, Trial, Without, calibrate};
use errors::Errors;

/// What is left out of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// A term that is fitted.
    Term(Without),
    /// The prefix cache holds prompts, not responses.
    Responses,
    /// Nothing is found in the prefix cache.
    Cache,
}

impl Left {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Term(Without::Ahead) => "steps decided ahead",
            Self::Term(Without::Launch) => "launches",
            Self::Term(Without::Captured) => "captured sizes (`captured`, `large_ms`)",
            Self::Term(Without::LaunchSequence) => "launch of each sequence (`sequence_us`)",
            Self::Term(Without::Front) => "the front end's work, all of it",
            Self::Term(Without::FrontChunk) => "its work on tokens (`chunk_us`)",
            Self::Term(Without::FrontRequest) => "its work on requests (`request_ms`)",
            Self::Term(Without::FrontInput) => "its work on prompt tokens (`input_us`)",
            Self::Term(Without::Turns) => "turns of a request (`turns`)",
            Self::Term(Without::Merging) => "merging of tokens (`merges`)",
            Self::Term(Without::Attention) => "attention (`attention_ns`)",
            Self::Term(Without::Context) => "context of decoding (`kv_ns`)",
            Self::Responses => "responses in the prefix cache",
            Self::Cache => "the prefix cache",
        }
    }

    /// Whether the fit to these levels is another one without it.
    fn changes(self, fitted: &[Group]) -> bool {
        let mut levels = fitted.iter().flat_map(|group| &group.levels);
        match self {
            Self::Nothing => false,
            Self::Term(_) => true,
            Self::Responses | Self::Cache => {
                levels.any(|level| self.seen(&level.trial) != level.trial)
            }
        }
    }

    /// A level as an engine without this term sees it.
    fn seen(self, trial: &Trial) -> Trial {
        let mut trial = trial.clone();
        for request in &mut trial.requests {
            request.shared = match (self, request.shared) {
                (Self::Responses, Shared::Conversation(session)) => Shared::Prompts(session),
                (Self::Cache, _) => Shared::Nothing,
                (_, shared) => shared,
            };
        }
        trial
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut parts = arguments.split(|argument| argument == "--predict");
    let fitted = levels::read(parts.next().unwrap_or_default())?;
    let predicted = levels::read(parts.next().unwrap_or_default())?;
    ensure!(!fitted.is_empty(), "give at least one RUN to fit");
    let terms = Without::ALL.map(Left::Term);
    let all = [&[Left::Nothing], &terms[..], &[Left::Responses, Left::Cache]].concat();
    let whole = fit(Left::Nothing, &fitted)?;
    let mut found: Vec<(&'static str, Errors)> = Vec::new();
    for left in all {
        // A cache that no fitted level uses does not change the fit.
        let other = left.changes(&fitted).then(|| fit(left, &fitted)).transpose()?;
        let engine = other.as_ref().unwrap_or(&whole);
        found.push((left.name(), errors(left, engine, &predicted)?));
        // Each takes a while.
        eprintln!("without {}", left.name());
    }
    println!("{}", tables::all(&found, &predicted));
    Ok(())
}

/// The engine that is found without a term.
fn fit(left: Left, fitted: &[Group]) -> Result<Calibrated> {
    let levels = || fitted.iter().flat_map(|group| &group.levels);
    let trials: Vec<Trial> = levels().map(|level| left.seen(&level.trial)).collect();
    let steps: Vec<_> = levels().map(|level| level.steps.clone()).collect();
    let without = match left {
        Left::Term(term) => vec![term],
        _ => Vec::new(),
    };
    let options = CalibrateOptions { threads: 2, progress: Default::default(), without };
    let found = calibrate(&trials, &steps, &FitSettings::default(), &options);
    found.context("no engine gives the times of these runs")
}

/// Its errors.
fn errors(left: Left, engine: &Calibrated, predicted: &[Group]) -> Result<Errors> {
    let twin = engine.twin("terms");
    let of_group = |group: &Group| {
        let trials = group.levels.iter().map(|level| left.seen(&level.trial));
        errors::predicted(&twin, trials)
    };
    Ok(Errors {
        fitted: errors::of_levels(&engine.levels),
        left_out: errors::left_out(&engine.left_out.levels),
        predicted: predicted.iter().map(of_group).collect::<Result<_>>()?,
    })
}
