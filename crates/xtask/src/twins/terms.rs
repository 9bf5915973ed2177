//! Which error each term of the model removes: the same records are fitted with the whole model and once
//! without each term, and every fit predicts the same levels.

mod errors;
mod levels;
mod tables;

use anyhow::{Result, ensure};
use dyno_fit::{CalibrateOptions, Settings, Shared, Start, Trial, Without, calibrate};
use errors::Errors;
use levels::Group;

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
    let found: Vec<(&'static str, Errors)> = all
        .into_iter()
        .map(|left| {
            let errors = errors(left, &fitted, &predicted)?;
            // Each takes a while.
            eprintln!("without {}", left.name());
            Ok((left.name(), errors))
        })
        .collect::<Result<_>>()?;
    println!("{}", tables::all(&found, &predicted));
    Ok(())
}

/// The errors of the model without a term.
fn errors(left: Left, fitted: &[Group], predicted: &[Group]) -> Result<Errors> {
    let levels = || fitted.iter().flat_map(|group| &group.levels);
    let trials: Vec<Trial> = levels().map(|level| left.seen(&level.trial)).collect();
    let steps: Vec<_> = levels().filter_map(|level| level.steps.clone()).collect();
    let without = match left {
        Left::Term(term) => vec![term],
        _ => Vec::new(),
    };
    let options = CalibrateOptions { threads: 2, progress: Default::default(), without };
    let start = Start::of(&trials, &steps);
    let found = calibrate(&trials, &start, &Settings::default(), &options);
    let found = found.ok_or_else(|| anyhow::anyhow!("no engine gives the times of these runs"))?;
    let twin = found.twin("terms");
    let of_group = |group: &Group| {
        let trials = group.levels.iter().map(|level| left.seen(&level.trial));
        errors::predicted(&twin, trials)
    };
    Ok(Errors {
        fitted: errors::of_levels(&found.levels),
        left_out: errors::left_out(&found.left_out.levels),
        predicted: predicted.iter().map(of_group).collect::<Result<_>>()?,
    })
}
