//! Terms of the model that a fit can leave out, to see which error each removes.

use super::choice::Choice;
use crate::parameters::Parameter;

/// A part of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// Steps are not decided ahead.
    Ahead,
    /// Launches take no time.
    Launch,
    /// Steps of all sizes are launched alike.
    Captured,
    /// Launches take no time for each sequence.
    LaunchSequence,
    /// The front end has no work, only a constant delay.
    Front,
    /// The front end has no work on tokens.
    FrontChunk,
    /// The front end has no work on requests.
    FrontRequest,
    /// The front end has no work on the tokens of prompts.
    FrontInput,
    /// A request waits for the front end once.
    Turns,
    /// Tokens that wait for the front end never leave it together.
    Merging,
    /// Pairs of tokens cost nothing.
    Attention,
    /// Contexts cost nothing.
    Context,
}

impl Without {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Ahead,
        Self::Launch,
        Self::Captured,
        Self::LaunchSequence,
        Self::Front,
        Self::FrontChunk,
        Self::FrontRequest,
        Self::FrontInput,
        Self::Turns,
        Self::Merging,
        Self::Attention,
        Self::Context,
    ];

    /// The parameters that are 0 without it.
    fn parameters(self) -> &'static [Parameter] {
        use Parameter::{
            Attention, FrontChunk, FrontInput, FrontRequest, Kv, LaunchLarge, LaunchPrefill,
            LaunchSequence,
        };
        match self {
            Self::Launch => &[LaunchPrefill, LaunchLarge, LaunchSequence],
            Self::LaunchSequence => &[LaunchSequence],
            Self::Front => &[FrontChunk, FrontRequest, FrontInput],
            Self::FrontChunk => &[FrontChunk],
            Self::FrontRequest => &[FrontRequest],
            Self::FrontInput => &[FrontInput],
            Self::Attention => &[Attention],
            Self::Context => &[Kv],
            Self::Ahead | Self::Captured | Self::Turns | Self::Merging => &[],
        }
    }

    /// Whether a parameter stays.
    pub(super) fn leaves(without: &[Self], parameter: Parameter) -> bool {
        !without.iter().any(|term| term.parameters().contains(&parameter))
    }

    /// The choice without these terms.
    pub(super) fn of(without: &[Self], choice: Choice) -> Choice {
        without.iter().fold(choice, |choice, term| match term {
            Self::Ahead => Choice { steps_ahead: 0, ..choice },
            Self::Captured => Choice { captured: 0, ..choice },
            Self::Launch => Choice { captured: 0, launches: false, ..choice },
            Self::Turns | Self::Front => Choice { turns: 1, ..choice },
            Self::Merging => Choice { merges: false, ..choice },
            _ => choice,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::FitSettings;
    use crate::calibrate::start::Start;

    const PARAMETERS: [Parameter; 8] = [
        Parameter::Attention,
        Parameter::Kv,
        Parameter::FrontChunk,
        Parameter::FrontRequest,
        Parameter::FrontInput,
        Parameter::LaunchPrefill,
        Parameter::LaunchLarge,
        Parameter::LaunchSequence,
    ];

    #[test]
    fn every_term_is_a_parameter_or_a_setting_of_the_usual_model() {
        let usual = Choice::usual(&FitSettings::default(), &Start::default());
        for term in Without::ALL {
            let gone = PARAMETERS.iter().filter(|one| !Without::leaves(&[term], **one)).count();
            assert!(gone > 0 || Without::of(&[term], usual) != usual, "{term:?}");
        }
        assert!(PARAMETERS.iter().all(|parameter| Without::leaves(&[], *parameter)));
        assert_eq!(Without::of(&[], usual), usual);
    }

    #[test]
    fn a_term_takes_nothing_else_with_it() {
        let usual = Choice::usual(&FitSettings::default(), &Start::default());
        let without = Without::of(&[Without::Ahead, Without::Merging], usual);
        assert_eq!(without, Choice { steps_ahead: 0, merges: false, ..usual });
        let stay = |parameter| Without::leaves(&[Without::FrontChunk], parameter);
        assert!(!stay(Parameter::FrontChunk) && stay(Parameter::FrontRequest));
    }
}
