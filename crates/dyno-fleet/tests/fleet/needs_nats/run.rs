//! A coordinator's run, as short as possible.

use super::agents::{VERSION, Work, records};
use dyno_fleet::nats::{Bus, BusError, BusOptions, Call, hub};
use dyno_fleet::{AgentPart, Fleet, FleetError, LevelWatch, PrepareLevel};
use dyno_model::Nanos;
use dyno_model::fleet::AgentSeen;
use dyno_model::load::Load;
use dyno_model::plan::LevelPlan;
use dyno_net::Clock;
use std::time::Duration;

/// A run with its agents. The fleet is dropped before the bus.
pub(crate) struct Run {
    pub(crate) fleet: Fleet,
    _bus: Bus,
}

struct Quiet;

impl LevelWatch for Quiet {
    fn started(&mut self, _: Nanos) {}

    fn beats(&mut self, _: &[AgentSeen]) {}

    fn stop(&self) -> usize {
        0
    }
}

pub(crate) fn call(run: &str, agents: usize, within: Duration) -> Call {
    Call { run: run.to_owned(), version: VERSION.to_owned(), agents, within }
}

impl Run {
    /// Calls for agents, and waits for them.
    pub(crate) fn begin(options: &BusOptions, run: &str, agents: usize) -> Self {
        Self::within(options, run, agents, Duration::from_secs(30))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn within(
        options: &BusOptions,
        run: &str,
        agents: usize,
        within: Duration,
    ) -> Result<Self, BusError> {
        let clock = Clock::start();
        let (bus, hub) = hub(options, &call(run, agents, within), clock, &|| false)?;
        let (lead, within) = (Duration::from_millis(200), Duration::from_secs(10));
        let fleet = Fleet::gather(hub, clock, VERSION, lead, within, &|| false).unwrap();
        Ok(Self { fleet, _bus: bus })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.fleet.hellos().into_iter().map(|hello| hello.name).collect()
    }

    pub(crate) fn level(&mut self, level: u32) -> Result<Vec<AgentPart>, FleetError> {
        self.watched(level, &mut Quiet)
    }

    pub(crate) fn watched(
        &mut self,
        level: u32,
        watch: &mut dyn LevelWatch,
    ) -> Result<Vec<AgentPart>, FleetError> {
        let plan = LevelPlan::new(Load::Concurrency { concurrency: 4 });
        let prepare = PrepareLevel { level, plan, taken: 0, failures: None };
        self.fleet.level(&prepare, watch)
    }

    /// Fetches the records of all agents, and compares them with what they had.
    pub(crate) fn pull(&mut self, work: Work) -> Result<(), FleetError> {
        for (number, name) in self.names().into_iter().enumerate() {
            let mut pulled = Vec::new();
            let mut keep = |piece: &[u8]| {
                pulled.extend_from_slice(piece);
                Ok(())
            };
            self.fleet.pull(number, work.bytes as u64, &mut keep)?;
            assert!(pulled == records(&name, work.bytes), "{name}: other records");
        }
        Ok(())
    }

    /// A whole level that nothing disturbs.
    pub(crate) fn carries_out(&mut self, level: u32, work: Work) {
        let parts = self.level(level).unwrap();
        for part in &parts {
            assert!(part.done.is_some() && part.lost.is_none() && part.clock.is_some(), "{part:?}");
        }
        self.pull(work).unwrap();
    }
}
