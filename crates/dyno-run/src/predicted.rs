//! Runs levels on a twin instead of a server.

use super::levels::Backend;
use super::pulse::Pulse;
use super::workload::Items;
use dyno_drive::{
    LevelOutcome, LevelSetup, Lookahead, StopSignal, Transport, TransportError, run_level,
};
use dyno_engine::predicted::{Predicted, Prompts};
use dyno_model::frame::EngineSlip;
use dyno_model::{Message, Nanos};
use dyno_stats::rng::SplitMix;

/// A twin and the prompts for it.
pub(crate) struct SimulatedBackend {
    pub(crate) engine: Predicted,
    pub(crate) prompts: Prompts,
    /// The seed of the plan.
    pub(crate) seed: u64,
}

/// The seed of the noise in a round of repeated levels. The first round has the plan's own, so that
/// `--repeat` adds rounds and changes none.
fn round_seed(seed: u64, round: Option<u32>) -> u64 {
    match round {
        None | Some(0 | 1) => seed,
        Some(round) => SplitMix::new(seed ^ u64::from(round).rotate_right(8)).next_u64(),
    }
}

impl Backend for SimulatedBackend {
    fn now(&self) -> Nanos {
        self.engine.now()
    }

    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        items: Items,
        ahead: usize,
    ) -> Result<LevelOutcome, TransportError> {
        self.engine.reseed(round_seed(self.seed, setup.plan.repeat));
        let mut prompts = Lookahead::prepare(ahead, items, self.prompts)?;
        run_level(setup, &mut self.engine, &mut prompts)
    }

    fn slip(&mut self) -> Option<EngineSlip> {
        None
    }

    fn rest(&mut self, time: Nanos, _stop: &StopSignal) {
        self.engine.rest(time);
    }

    fn check_health(&mut self, _stop: &StopSignal) -> Result<(), Message> {
        Ok(())
    }

    fn reset_cache(&mut self, _stop: &StopSignal) -> Result<(), Message> {
        self.engine.forget();
        Ok(())
    }

    fn pulse(&self, _stop: &StopSignal) -> Option<Pulse> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_its_own_seed_and_the_first_the_plans() {
        assert_eq!(round_seed(7, None), 7);
        let seeds: Vec<u64> = (1..=5).map(|round| round_seed(7, Some(round))).collect();
        assert_eq!(seeds[0], 7);
        for (at, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..at].contains(seed), "round {}", at + 1);
            assert_eq!(*seed, round_seed(7, Some(at as u32 + 1)));
        }
    }
}
