//! A backend of several agents in place of one client: a level is run by all of them, and their records are
//! passed on as if it had sent everything itself.

use super::folder::Folder;
use super::merge::{AgentStream, Bounds, merge};
use super::outcome::{blame, lost_before, together};
use super::served::{Served, Signs};
use super::told::{Learned, Numbers, ToldByAgent, joined};
use crate::identity::on_one_line;
use crate::levels::Backend;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::target::ServerBackend;
use crate::workload::Items;
use dyno_drive::{
    LevelOutcome, LevelRecorder, LevelSetup, LostTarget, Observer, Stop, StopSignal, TransportError,
};
use dyno_fleet::pipe::Children;
use dyno_fleet::{AgentLevelEnd, AgentPart, Fleet, FleetError, LevelWatch, PrepareLevel, nats};
use dyno_model::environment::Address;
use dyno_model::fleet::AgentSeen;
use dyno_model::frame::{Ending, EngineSlip, LevelEnd};
use dyno_model::{Message, Nanos, message};
use dyno_net::Clock;
use dyno_record::RunDir;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// A target that is measured by several agents.
pub(crate) struct Coordinated {
    /// This process's own client: health, metrics, the cache.
    pub(super) own: ServerBackend,
    pub(super) fleet: Fleet,
    /// Prompts or conversations taken by earlier levels.
    pub(super) taken: u64,
    pub(super) failed: u64,
    /// Output tokens that agents reported in earlier levels.
    pub(super) tokens: u64,
    pub(super) max_failures: Option<u64>,
    /// The target's addresses by number, those of all agents included.
    pub(super) addresses: Vec<Address>,
    pub(super) learned: Learned,
    /// They end after the fleet was told to leave.
    pub(super) _children: Option<Children>,
    pub(super) _bus: Option<nats::Bus>,
    /// Temporary files of this process and of its children, which may be killed: removed when all have
    /// ended.
    pub(super) folder: Folder,
}

/// Passes what agents do on to the level's recorder and observer.
struct Watching<'a, 'o> {
    recorder: &'o mut (dyn LevelRecorder + 'a),
    observer: &'o dyn Observer,
    stop: &'o StopSignal,
    clock: Clock,
    /// What was received and when that changed last.
    progress: (u64, Nanos),
    /// The target has gone silent.
    silent: bool,
    served: Served,
    started: Option<Nanos>,
    /// Output tokens of earlier levels, and of this one.
    pub(super) tokens: (u64, u64),
}

impl LevelWatch for Watching<'_, '_> {
    fn started(&mut self, at: Nanos) {
        self.started = Some(at);
        self.recorder.started(at);
        self.observer.tokens_received(self.tokens.0);
    }

    fn beats(&mut self, seen: &[AgentSeen]) {
        let beats = || seen.iter().filter_map(|agent| agent.beat);
        let sum = |of: fn(&dyno_model::fleet::Beat) -> u64| beats().map(|beat| of(&beat)).sum();
        let in_flight: u64 = sum(|beat| beat.in_flight);
        let tokens: u64 = sum(|beat| beat.tokens);
        let done: u64 = sum(|beat| beat.tokens + beat.completed + beat.failed + beat.shed);
        self.observer.in_flight(in_flight as usize);
        self.tokens.1 = self.tokens.1.max(tokens);
        self.observer.tokens_received(self.tokens.0 + self.tokens.1);
        self.observer.agents(seen);
        let now = self.clock.now();
        self.served.beats(seen, now);
        if done != self.progress.0 || in_flight == 0 {
            self.progress = (done, now);
        }
        self.silent |= self.recorder.silent(now.saturating_sub(self.progress.1));
    }

    fn stop(&self) -> usize {
        let by_user = match self.stop.get() {
            Stop::No => 0,
            Stop::Sending => 1,
            Stop::Now => 2,
        };
        let by_us = match self.silent {
            true => 2,
            false => usize::from(self.served.lost.is_some() || self.recorder.must_stop()),
        };
        by_user.max(by_us)
    }
}

impl Backend for Coordinated {
    fn now(&self) -> Nanos {
        self.own.now()
    }

    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        _items: Items,
        _ahead: usize,
    ) -> Result<LevelOutcome, TransportError> {
        let prepare = PrepareLevel {
            level: setup.level,
            plan: setup.plan.clone(),
            taken: self.taken,
            failures: self.max_failures.map(|most| most.saturating_sub(self.failed)),
        };
        let clock = self.own.target.client.clock();
        let mut watching = Watching {
            recorder: &mut *setup.recorder,
            observer: setup.observer,
            stop: setup.stop,
            clock,
            progress: (0, clock.now()),
            silent: false,
            served: Served::default(),
            started: None,
            tokens: (self.tokens, 0),
        };
        let mut parts = match self.fleet.level(&prepare, &mut watching) {
            Ok(parts) => parts,
            Err(FleetError::Lost { name, why }) => {
                let now = clock.now();
                setup.recorder.started(now);
                return Ok(lost_before(setup.level, &name, why, now));
            }
            Err(error) => {
                return Err(TransportError::from(io::Error::other(on_one_line(&error))));
            }
        };
        let (silent, started) = (watching.silent, watching.started);
        let unserved = watching.served.lost;
        self.tokens += watching.tokens.1;
        let started = started.unwrap_or_else(|| {
            // It has records of its end, so it has one of its beginning.
            let now = clock.now();
            setup.recorder.started(now);
            now
        });
        let mut signs = Signs::default();
        let bounds = Bounds { level: setup.level, from: started, until: clock.now() };
        let ends =
            self.collect(&mut parts, bounds, (setup.recorder, setup.observer), &mut signs)?;
        parts.iter_mut().zip(&ends).for_each(|(part, end)| blame(part, end.as_ref(), &signs));
        let now = clock.now();
        let mut outcome = together(setup.level, &parts, ends, started, now);
        let over = prepare.failures.is_some_and(|most| outcome.failed >= most);
        if parts.iter().any(|part| part.lost.is_some() || part.done.is_none()) {
            outcome.end.ending = Ending::AgentLost;
        } else if silent {
            outcome.end.ending = Ending::TargetLost;
        } else if let Some((failures, time)) = unserved {
            let lost =
                |last: Box<_>| LostTarget { unreachable: false, failures, time, last: *last };
            (outcome.end.ending, outcome.lost) = (Ending::TargetLost, signs.failure.map(lost));
        } else if outcome.end.ending == Ending::Interrupted
            && setup.stop.get() == Stop::No
            && parts.iter().flat_map(|part| &part.done).any(is_behind)
        {
            // The others were told to stop because of that.
            outcome.end.ending = Ending::BehindSchedule;
        } else if over && !outcome.end.ending.carried_out() {
            outcome.end.ending = Ending::MaxFailures;
        }
        self.failed += outcome.failed;
        Ok(outcome)
    }

    fn taken_so_far(&mut self, taken: u64) {
        self.taken = taken;
    }

    fn agent_reports(&mut self) -> Learned {
        std::mem::take(&mut self.learned)
    }

    fn prime(&mut self, setup: LevelSetup<'_>, items: Items) -> Result<(), TransportError> {
        self.own.prime(setup, items)
    }

    fn slip(&mut self) -> Option<EngineSlip> {
        self.own.slip()
    }

    fn rest(&mut self, time: Nanos, stop: &StopSignal) {
        self.own.rest(time, stop);
    }

    fn check_health(&mut self, stop: &StopSignal) -> Result<(), Message> {
        self.own.check_health(stop)
    }

    fn reset_cache(&mut self, stop: &StopSignal) -> Result<(), Message> {
        self.own.reset_cache(stop)
    }

    fn pulse(&self, stop: &StopSignal) -> Option<Pulse> {
        self.own.pulse(stop)
    }

    fn metrics(&mut self) -> Option<Metrics> {
        self.own.metrics()
    }
}

impl Coordinated {
    /// Fetches the records of all agents, and passes them on in the order in which they ended. What came
    /// of an agent that is lost meanwhile is kept.
    fn collect(
        &mut self,
        parts: &mut [AgentPart],
        bounds: Bounds,
        (recorder, observer): (&mut dyn LevelRecorder, &dyn Observer),
        signs: &mut Signs,
    ) -> Result<Vec<Option<LevelEnd>>, TransportError> {
        let mut numbers = self.hear(parts).into_iter();
        let folder = tempfile::Builder::new().prefix("records-").tempdir_in(self.folder.path())?;
        let mut streams = Vec::new();
        let mut of_agent = Vec::new();
        for (number, part) in parts.iter_mut().enumerate() {
            let addresses = numbers.next().unwrap_or_default();
            let (Some(done), Some(clock)) = (&part.done, part.clock) else { continue };
            let path = folder.path().join(number.to_string());
            let dir = RunDir::create(&path).map_err(io::Error::other)?;
            let records = path.join("records.dyno");
            let mut file = OpenOptions::new().create_new(true).write(true).open(&records)?;
            let pulled = self.fleet.pull(number, done.bytes, &mut |piece| file.write_all(piece));
            match pulled {
                Ok(()) => {}
                Err(FleetError::Lost { why, .. }) => (part.done, part.lost) = (None, Some(why)),
                Err(error) => return Err(io::Error::other(error).into()),
            }
            // Less than the head of the file may have come.
            let Ok(reader) = dir.records() else { continue };
            streams.push(AgentStream::new(number as u32, clock, addresses, reader));
            of_agent.push(number);
        }
        let merged = merge(streams, bounds, |record| {
            signs.note(&record);
            observer.ended(&record);
            recorder.record(record);
        });
        let mut ends: Vec<Option<LevelEnd>> = parts.iter().map(|_| None).collect();
        for (number, end) in of_agent.into_iter().zip(merged) {
            match end {
                Ok(end) => ends[number] = end,
                Err(why) => {
                    (parts[number].done, parts[number].lost) = (None, Some(why));
                }
            }
        }
        for (part, _) in parts.iter_mut().zip(&ends).filter(|(_, end)| end.is_none()) {
            // Without them the level would look as if it had been smaller.
            if part.done.take().is_some() {
                let why = match part.clock {
                    Some(_) => message!(
                        "its records end before the end of the level",
                        "其记录在该档位结束之前中断",
                    ),
                    None => message!("its clock could not be compared", "无法比对其时钟"),
                };
                part.lost.get_or_insert(why);
            }
        }
        Ok(ends)
    }

    /// Takes what agents tell of the data and of the target; the numbers of each one's addresses.
    fn hear(&mut self, parts: &[AgentPart]) -> Vec<Numbers> {
        let done = |part: &AgentPart| part.done.as_ref().map(|done| ToldByAgent::read(&done.told));
        let told: Vec<ToldByAgent> =
            parts.iter().map(|part| done(part).unwrap_or_default()).collect();
        let known = self.addresses.clone();
        let (addresses, data): (Vec<_>, Vec<_>) =
            told.into_iter().map(|told| (told.addresses, told.data)).unzip();
        let numbers = joined(&mut self.addresses, &addresses);
        let addresses = (self.addresses != known).then(|| self.addresses.clone());
        self.learned = Learned { data: (0..).zip(data).collect(), addresses };
        numbers
    }
}

fn is_behind(done: &AgentLevelEnd) -> bool {
    done.ending == Ending::BehindSchedule
}
