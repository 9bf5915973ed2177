//! One level: prepared everywhere, started together, watched, and over when every agent is done or lost.

use super::{AgentPart, BEAT, Fleet, FleetError, GLANCE, Heard, LOST_AFTER, LevelWatch, Member};
use crate::message::{AgentLevelEnd, FromAgent, PrepareLevel, ToAgent};
use crate::patience::Late;
use dyno_model::Nanos;
use dyno_model::fleet::AgentSeen;
use dyno_model::frame::Ending;
use std::time::{Duration, Instant};

/// A level in progress.
struct Level {
    ready: Vec<bool>,
    done: Vec<Option<AgentLevelEnd>>,
    /// How urgently agents were told to stop.
    stopped: usize,
    /// When it was prepared, or, once they are told, when all start.
    began: Nanos,
    /// When agents were told last to prepare, start or stop.
    since: Instant,
}

/// Whether the level is over for all when one agent ended like this.
fn ends_it(ending: Ending) -> bool {
    !ending.carried_out() || ending == Ending::BehindSchedule
}

impl Fleet {
    /// Leads the agents through a level. A lost agent ends it: the others stop sending and drain. An error
    /// means that the level has not begun.
    pub fn level(
        &mut self,
        prepare: &PrepareLevel,
        watch: &mut dyn LevelWatch,
    ) -> Result<Vec<AgentPart>, FleetError> {
        self.all_there()?;
        self.compare_clocks();
        let count = self.members.len();
        let began = self.clock.now();
        let mut level = Level {
            ready: vec![false; count],
            done: vec![None; count],
            stopped: 0,
            began,
            since: Instant::now(),
        };
        for member in &mut self.members {
            (member.beat, member.beats, member.longest_silence) = (None, 0, 0);
            member.at_rest = None;
            member.told = None;
        }
        for number in 0..count {
            self.send(number, &ToAgent::Prepare(Box::new(prepare.clone())), &[]);
        }
        let mut started = false;
        let mut shown = Instant::now();
        loop {
            let heard = self.pump(Instant::now() + GLANCE);
            if let Some((number, Heard::Said(message, _))) = heard {
                match message {
                    FromAgent::Ready { level: of } if of == prepare.level => {
                        level.ready[number] = true;
                    }
                    // One that was given up may still end: its records are not asked for.
                    FromAgent::Done(done)
                        if done.level == prepare.level && self.members[number].lost.is_none() =>
                    {
                        level.done[number] = Some(*done);
                    }
                    FromAgent::Refused { why } if !started => {
                        self.halt(prepare.level, &mut level, 2);
                        self.drained(prepare.level, &mut level);
                        let name = self.members[number].name(number);
                        return Err(FleetError::Refused { name, why });
                    }
                    FromAgent::Refused { why } => {
                        self.members[number].lost.get_or_insert(why);
                    }
                    _ => {}
                }
            }
            if self.is_over(&level) {
                break;
            }
            self.find_late(prepare, &level, started);
            let broken = self.members.iter().any(|member| member.lost.is_some())
                || level.done.iter().flatten().any(|done| ends_it(done.ending))
                || self.too_many_failures(prepare.failures);
            let urgency = watch.stop().max(usize::from(broken));
            if urgency > level.stopped {
                self.halt(prepare.level, &mut level, urgency);
            }
            if !started && level.stopped == 0 && level.ready.iter().all(|ready| *ready) {
                level.began = self.start(prepare.level);
                self.members.iter_mut().for_each(|member| member.at_rest = None);
                watch.started(level.began);
                (started, level.since) = (true, Instant::now());
                // What is counted begins here.
                watch.beats(&self.seen(&level));
            }
            if started && shown.elapsed() >= BEAT {
                shown = Instant::now();
                watch.beats(&self.seen(&level));
            }
        }
        watch.beats(&self.seen(&level));
        self.compare_clocks();
        Ok(self.parts(level))
    }

    /// Gives up agents that do not do what they were told last.
    fn find_late(&mut self, prepare: &PrepareLevel, level: &Level, started: bool) {
        let patience = self.patience;
        let drain = Some(prepare.plan.drain_ns).filter(|_| started && level.stopped == 1);
        let took = level.since.elapsed();
        let (may_take, what) = match (level.stopped, started) {
            (1.., _) => (patience.of_stop(drain), Late::Stopping),
            (0, false) => (patience.to_prepare, Late::Preparing),
            (0, true) => return self.find_unending(prepare, level),
        };
        for number in 0..self.members.len() {
            let waits = level.stopped == 0 && !started && level.ready[number];
            if level.done[number].is_none() && !waits {
                self.give_up(number, took, may_take, what);
            }
        }
    }

    /// Gives up agents that should have ended the level: those that do nothing any more soon, those that
    /// say that they do something later.
    fn find_unending(&mut self, prepare: &PrepareLevel, level: &Level) {
        let Some(limit) = self.patience.of_level(prepare, self.requests) else { return };
        let (took, now) = (level.since.elapsed(), self.clock.now());
        for number in 0..self.members.len() {
            let since = self.members[number].at_rest;
            let at_rest = since.map(|since| Duration::from_nanos(now.saturating_sub(since)));
            if let Some(exceeded) = limit.exceeded(took, at_rest)
                && level.done[number].is_none()
            {
                self.give_up(number, took, exceeded, Late::Ending);
            }
        }
    }

    /// The time at which all start: far enough ahead for the order to arrive everywhere.
    fn start(&mut self, level: u32) -> Nanos {
        let round_trips = self.members.iter().filter_map(|member| member.clock.fit());
        let slowest = round_trips.map(|fit| fit.round_trip_ns).max().unwrap_or(0);
        let lead = (self.lead.as_nanos() as u64).max(20 * slowest);
        let at = self.clock.now() + lead;
        for number in 0..self.members.len() {
            let fit = self.members[number].clock.fit_at(at);
            let at = fit.map_or(at, |fit| fit.to_agent(at));
            self.members[number].told = Some(at);
            self.send(number, &ToAgent::Start { level, at }, &[]);
        }
        at
    }

    /// Tells agents that are not done to stop.
    fn halt(&mut self, number: u32, level: &mut Level, urgency: usize) {
        (level.stopped, level.since) = (urgency, Instant::now());
        for agent in 0..self.members.len() {
            if level.done[agent].is_none() {
                self.send(agent, &ToAgent::Stop { level: number, now: urgency > 1 }, &[]);
            }
        }
    }

    /// Waits for agents that were told to stop before the level began.
    fn drained(&mut self, number: u32, level: &mut Level) {
        let until = Instant::now() + LOST_AFTER;
        while !self.is_over(level) && Instant::now() < until {
            let heard = self.pump(Instant::now() + GLANCE);
            let Some((agent, Heard::Said(message, _))) = heard else { continue };
            match message {
                FromAgent::Done(done) if done.level == number => level.done[agent] = Some(*done),
                FromAgent::Refused { why } => {
                    self.members[agent].lost.get_or_insert(why);
                }
                _ => {}
            }
        }
    }

    fn is_over(&self, level: &Level) -> bool {
        let mut both = self.members.iter().zip(&level.done);
        both.all(|(member, done)| member.lost.is_some() || done.is_some())
    }

    fn too_many_failures(&self, most: Option<u64>) -> bool {
        let failed = |member: &Member| member.beat.map_or(0, |beat| beat.failed);
        most.is_some_and(|most| self.members.iter().map(failed).sum::<u64>() >= most)
    }

    fn seen(&self, level: &Level) -> Vec<AgentSeen> {
        let members = self.members.iter().enumerate().zip(&level.done);
        members
            .map(|((number, member), done)| AgentSeen {
                name: member.name(number),
                beat: member.beat,
                heard: member.heard,
                done: done.is_some(),
                lost: member.lost.clone(),
            })
            .collect()
    }

    fn parts(&self, level: Level) -> Vec<AgentPart> {
        let (now, began) = (self.clock.now(), level.began);
        let part = |((number, member), done): ((usize, &Member), Option<AgentLevelEnd>)| {
            // Of an agent that was lost, nothing is known after its last beat.
            let clock = member.clock.fit_between(began, now.min(member.heard));
            let told = clock.zip(member.told).map(|(clock, told)| clock.to_coordinator(told));
            let late = done.as_ref().map(|done| done.start_error_ns);
            AgentPart {
                name: member.name(number),
                host: member.hello.as_ref().map_or_else(String::new, |hello| hello.host.clone()),
                lost: member.lost.clone().filter(|_| done.is_none()),
                done,
                // By what is known of its clock now, which may not be what it was told by.
                start_error_ns: told
                    .zip(late)
                    .map(|(told, late)| told as i64 - began as i64 + late),
                clock,
                beats: member.beats,
                longest_silence_ns: member.longest_silence,
            }
        };
        self.members.iter().enumerate().zip(level.done).map(part).collect()
    }
}
