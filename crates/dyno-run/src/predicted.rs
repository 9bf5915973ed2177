//! A twin in the place of a server, for the levels of a run.

use super::levels::Bench;
use super::pulse::Pulse;
use super::workload::Items;
use dyno_drive::{
    LevelOutcome, LevelSetup, Lookahead, StopSignal, Transport, TransportError, run_level,
};
use dyno_fit::{Predicted, Prompts};
use dyno_model::Nanos;
use dyno_model::frame::EngineSlip;

/// A twin and the prompts for it.
pub(crate) struct OfTwin {
    pub(crate) engine: Predicted,
    pub(crate) prompts: Prompts,
}

impl Bench for OfTwin {
    fn now(&self) -> Nanos {
        self.engine.now()
    }

    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        items: Items,
        ahead: usize,
    ) -> Result<LevelOutcome, TransportError> {
        let mut prompts = Lookahead::prepare(ahead, items, self.prompts)?;
        run_level(setup, &mut self.engine, &mut prompts)
    }

    fn slip(&mut self) -> Option<EngineSlip> {
        None
    }

    fn rest(&mut self, time: Nanos, _stop: &StopSignal) {
        self.engine.rest(time);
    }

    fn answers(&mut self, _stop: &StopSignal) -> Result<(), String> {
        Ok(())
    }

    fn forget(&mut self, _stop: &StopSignal) -> Result<(), String> {
        self.engine.forget();
        Ok(())
    }

    fn pulse(&self, _stop: &StopSignal) -> Option<Pulse> {
        None
    }
}
