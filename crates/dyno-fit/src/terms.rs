//! Further terms of the model, each of which has to earn its place: it is added to the best basic model
//! if the price of its parameters is paid and levels that are left out are predicted better.

use super::choice::Choice;
use super::parameters::Parameter;
use super::search::{Candidate, TableSearch, parallel};
use super::table::TableLevel;
use dyno_engine::twin::reference::ReferenceValue;

/// With fewer levels, leaving one out says nothing about a term.
const FEWEST: usize = 4;
/// By how much the score has to be lower: a term that changes nothing may leave out levels more luckily.
const MARGIN: f64 = 2.0;
/// By how much the score of a coarse fit may be higher; refining gains no more.
const COARSE: f64 = 5.0;
/// The share of the leave-one-out error that may remain. A smaller gain is an accident.
const REMAINS: f64 = 0.9;
/// How often a request may have to wait for the front end.
const TURNS: [u32; 2] = [1, 12];

/// A term that a basic model does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitTerm {
    /// Steps are decided while the one before still runs.
    Ahead,
    /// A step that prefills takes at least as long as its launch.
    Launch,
    /// Tokens leave through a queue, and requests wait for it.
    Front,
}

impl FitTerm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ahead, Self::Launch, Self::Front];

    /// A choice with this term; none if it has it already, or if the levels do not show it: without times
    /// to the first token, neither launches nor the front end can be told from the rest.
    fn on(self, choice: &Choice, streamed: bool) -> Vec<Choice> {
        match self {
            Self::Launch | Self::Front if !streamed => Vec::new(),
            Self::Ahead if choice.steps_ahead == 0 => vec![Choice { steps_ahead: 1, ..*choice }],
            Self::Launch if !choice.launch => vec![Choice { launch: true, ..*choice }],
            Self::Front if choice.turns.is_none() => {
                TURNS.map(|turns| Choice { turns: Some(turns), ..*choice }).to_vec()
            }
            _ => Vec::new(),
        }
    }
}

/// The candidate with all terms that earn their place.
pub(crate) fn extend(search: &TableSearch<'_>, basic: Candidate) -> Candidate {
    let mut best = basic;
    if search.levels.len() < FEWEST {
        return best;
    }
    let first = |level: &&TableLevel| level.metrics.contains_key(&ReferenceValue::TtftMs);
    let streamed = search.levels.iter().any(first);
    loop {
        let choices: Vec<Choice> =
            search.options.terms.iter().flat_map(|term| term.on(&best.choice, streamed)).collect();
        search.expect_steps(0, 0, choices.len());
        let found = parallel(search.options.threads, &choices, |choice| {
            let coarse = search.near(*choice, &best);
            (coarse.score < best.score + COARSE).then(|| search.polish(&coarse))
        });
        let found: Vec<Candidate> = found.into_iter().flatten().collect();
        let better = found.into_iter().filter(|other| Scored::of(other).earns(Scored::of(&best)));
        match better.min_by(|a, b| a.left_out.total_cmp(&b.left_out)) {
            Some(other) => best = other,
            None => return best,
        }
    }
}

/// What decides about a term.
#[derive(Debug, Clone, Copy)]
struct Scored {
    score: f64,
    left_out: f64,
}

impl Scored {
    fn of(candidate: &Candidate) -> Self {
        Self { score: candidate.score, left_out: candidate.left_out }
    }

    /// Whether a model with a further term takes the place of the one without it.
    fn earns(self, without: Self) -> bool {
        self.score <= without.score - MARGIN && self.left_out <= REMAINS * without.left_out
    }
}

impl TableSearch<'_> {
    /// A coarse fit of a choice that starts from a candidate with one term less.
    fn near(&self, choice: Choice, from: &Candidate) -> Candidate {
        let mut from = from.clone();
        // What the client took for each token is what the queue takes for it.
        let model = from.model();
        let token_us = model.get(Parameter::ClientToken);
        if choice.turns.is_some() && token_us > 0.0 {
            let mut base = model;
            base.set(Parameter::FrontChunk, token_us);
            from.space = from.space.on(base);
        }
        self.coarse(choice, &[&from])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::FitCurve;
    use crate::table::{FitTable, Offer, Role};
    use dyno_engine::core::Policy;

    const BASIC: Choice = Choice {
        policy: Policy::PrefillFirst,
        max_seqs: 8,
        token_budget: 2048,
        prefix_cache: false,
        curve: FitCurve::Straight,
        front: true,
        pool: false,
        steps_ahead: 0,
        launch: false,
        turns: None,
    };

    fn level(requests: u32) -> TableLevel {
        let figures = [
            ReferenceValue::LatencyS,
            ReferenceValue::TtftMs,
            ReferenceValue::ItlMs,
            ReferenceValue::DurationS,
        ];
        TableLevel {
            label: format!("burst {requests}"),
            offer: Offer::burst(requests),
            input: 64.0,
            output: 16.0,
            counted: None,
            timeout_s: None,
            repeated: false,
            metrics: figures.into_iter().map(|figure| (figure, 1.0)).collect(),
            role: Role::Fitted,
        }
    }

    #[test]
    fn a_term_is_added_once() {
        let mut choice = BASIC;
        for (term, alternatives) in [(FitTerm::Ahead, 1), (FitTerm::Launch, 1), (FitTerm::Front, 2)]
        {
            let with = term.on(&choice, true);
            assert_eq!(with.len(), alternatives, "{term:?}");
            assert_eq!(term.on(&with[0], true), [], "{term:?}");
            choice = with[0];
        }
        let all = Choice { steps_ahead: 1, launch: true, turns: Some(1), ..BASIC };
        assert_eq!(choice, all);
        assert_eq!(FitTerm::ALL.map(|term| term.on(&BASIC, false).len()), [1, 0, 0]);
    }

    #[test]
    fn a_term_takes_the_place_of_a_simpler_one() {
        let levels = [1, 2, 4, 8, 16].map(level);
        let name = "test".to_owned();
        let levels_of = levels.to_vec();
        let table = FitTable {
            name,
            levels: levels_of,
            max_seqs: None,
            kv_tokens: None,
            context: None,
            varied: false,
        };
        let levels: Vec<&TableLevel> = levels.iter().collect();
        let basic = BASIC.parameters(&table, &levels);
        let replaced = [
            (FitTerm::Launch, Parameter::PrefillBase, Parameter::LaunchPrefill),
            (FitTerm::Front, Parameter::ClientToken, Parameter::FrontChunk),
        ];
        for (term, old, new) in replaced {
            let with = term.on(&BASIC, true)[0].parameters(&table, &levels);
            assert!(basic.contains(&old) && !basic.contains(&new), "{basic:?}");
            assert!(!with.contains(&old) && with.contains(&new), "{with:?}");
            assert_eq!(with.len(), basic.len());
        }
        let queue = Choice { turns: Some(12), steps_ahead: 1, ..BASIC }.model(&table);
        assert_eq!((queue.cost.front.turns, queue.scheduler.steps_ahead), (12, 1));
    }

    #[test]
    fn both_the_price_and_the_levels_left_out_decide() {
        let scored = |score, left_out| Scored { score, left_out };
        let without = scored(-50.0, 0.01);
        assert!(scored(-52.0, 0.009).earns(without));
        // No gain that pays the price, and no better prediction.
        assert!(!scored(-51.9, 0.001).earns(without));
        assert!(!scored(-90.0, 0.0091).earns(without));
    }
}
