//! A run in progress, one level at a time, so that two runs can alternate.

use crate::alternating::AlternatingRun;
use crate::error::RunError;
use crate::estimate::RunEstimate;
use crate::finished::{FinishedRun, Lost, LostAgent};
use crate::level_queue::LevelQueue;
use crate::levels::{self, LevelToRun};
use crate::observer::RunObserver;
use crate::order::Order;
use crate::prediction::PredictionPace;
use crate::prepared::PreparedRun;
use crate::recording::LastSuccess;
use crate::run_writer::RunWriter;
use dyno_analysis::search::Chosen;
use dyno_drive::{Stop, StopSignal, TransportError};
use dyno_model::frame::{Ending, Frame, LevelChosen, RunEnd};
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::versus::Versus;
use dyno_model::{Diagnostic, Message, Nanos, message};
use dyno_net::Clock;
use dyno_words::Note;
use std::borrow::Cow;
use std::time::Instant;

/// The reason for a level's length, and the length: its time and its number of requests.
type Explained = (Option<Cow<'static, str>>, Option<Nanos>, Option<u64>);

/// A run in progress.
pub(crate) struct Session<'a> {
    prepared: PreparedRun,
    writer: RunWriter,
    observer: &'a dyn RunObserver,
    stop: StopSignal,
    clock: Clock,
    course: LevelQueue,
    estimate: RunEstimate,
    /// Takes the place of the estimate in a prediction, whose clock is virtual.
    pace: Option<PredictionPace>,
    /// The levels, as far as they are known.
    known: Vec<LevelPlan>,
    /// The reason for the length of the last level, and the length.
    explained: Option<Explained>,
    /// A level ran before, so that a rest is due.
    follows: bool,
    last_success: Option<LastSuccess>,
    /// Failures so far.
    failed: u64,
    ending: Ending,
    /// Prompts or conversations taken by each level, warm-up included.
    sent: Vec<u64>,
    lost: Option<Lost>,
    lost_agents: Vec<LostAgent>,
    error: Option<TransportError>,
    /// Why the remaining levels are not run.
    enough: Option<Diagnostic>,
}

impl<'a> Session<'a> {
    /// Opens the run directory. Runs nothing yet.
    pub(crate) fn open(
        order: &Order,
        prepared: PreparedRun,
        clock: Clock,
        observer: &'a dyn RunObserver,
    ) -> Result<Self, RunError> {
        let writer = RunWriter::open(order, &prepared.plan, &prepared.environment, &clock)?;
        Ok(Self {
            course: LevelQueue::new(prepared.plan.clone(), prepared.capacity, order.past()),
            known: prepared.plan.levels.clone(),
            pace: prepared.plan.target.predicted.then(PredictionPace::default),
            prepared,
            writer,
            observer,
            stop: order.stop.clone(),
            clock,
            estimate: RunEstimate::default(),
            explained: None,
            follows: false,
            last_success: None,
            failed: 0,
            ending: Ending::Requests,
            sent: Vec::new(),
            lost: None,
            lost_agents: Vec::new(),
            error: None,
            enough: None,
        })
    }

    /// Prints the notes, and starts to poll the server's metrics.
    pub(crate) fn begin(&mut self) {
        for note in &self.prepared.environment.notes {
            self.observer.remark(note);
        }
        self.observer.begins(&self.prepared.plan, self.writer.path(), self.clock);
        if let Some(metrics) = self.prepared.backend.metrics() {
            self.writer.ask(metrics, self.observer);
        }
    }

    /// Runs all levels, or as many as the target, the user and this machine allow.
    pub(crate) fn all(&mut self) {
        self.observer.side_begins();
        while self.step() {}
        self.observer.side_ends();
    }

    /// Runs the next level; `false` if there is none, or if it was the last that is run.
    fn step(&mut self) -> bool {
        let Some((number, Chosen { level, length })) = self.course.next() else { return false };
        if std::mem::replace(&mut self.follows, true)
            && let Err(message) = self.prepared.between(&self.stop, self.observer)
        {
            self.cut_short(message);
            return false;
        }
        let from = if self.course.wants_results() { self.writer.place() } else { None };
        if number as usize >= self.prepared.plan.levels.len() {
            self.known.push(level.clone());
            self.observer.levels_known(&self.known);
            self.explain(&level, length);
            let chosen = LevelChosen { level: number, plan: level.clone() };
            self.writer.send(Frame::LevelChosen(Box::new(chosen)));
        }
        let to_come = self.course.to_come();
        // The responses of agents come when the level is over.
        let by_first_response = self.prepared.plan.fleet.is_none() && self.pace.is_none();
        let began = Instant::now();
        let done = levels::run(LevelToRun {
            number,
            plan: &level,
            known: self.course.known(),
            unestimated: (self.estimate.is_empty() && by_first_response).then_some(to_come),
            last_success: &mut self.last_success,
            failed: &mut self.failed,
            prepared: &mut self.prepared,
            writer: &self.writer,
            observer: self.observer,
            stop: &self.stop,
        });
        match done {
            Ok(done) if done.end.ending.carried_out() => {
                self.ending = done.end.ending;
                self.sent.push(done.sent);
                let left = match &mut self.pace {
                    Some(pace) => pace.learn(&level, &done.progress, began.elapsed(), to_come),
                    None => self.estimate.news(&level, &done.progress, to_come),
                };
                if let Some(time) = left {
                    let of = self.course.known();
                    self.observer.time_left(of - to_come.len(), of, time);
                }
                self.learn(number, from)
            }
            Ok(done) => {
                self.ending = done.end.ending;
                self.sent.push(done.sent);
                self.lost = done.lost;
                self.lost_agents = LostAgent::of(&done.end);
                false
            }
            Err(error) => {
                self.ending = Ending::Aborted;
                self.error = Some(error);
                false
            }
        }
    }

    /// Says why a level is as long as it is, unless the last one was so for the same reason.
    fn explain(&mut self, level: &LevelPlan, why: Option<Diagnostic>) {
        let length = why.as_ref().map(|why| (why.key.clone(), level.duration_ns, level.requests));
        if let Some(why) = why.filter(|_| length != self.explained) {
            self.observer.remark(&why);
        }
        self.explained = length;
    }

    /// The target failed between levels, or the run was interrupted there.
    fn cut_short(&mut self, message: Message) {
        self.ending = Ending::Interrupted;
        if self.stop.get() == Stop::No {
            let (at, last_success) = (self.now(), self.last_success.take());
            self.ending = Ending::TargetLost;
            self.lost = Some(Lost::new(at, &message, last_success));
        }
    }

    /// Reads back the results of a level whose frames begin at `from`, where they are needed; `false` if
    /// no more levels are to be run.
    fn learn(&mut self, number: u32, from: Option<u64>) -> bool {
        let PreparedRun { plan, environment, .. } = &self.prepared;
        let read = |from| self.writer.level(plan, environment, number, from);
        let Some(summary) = from.and_then(read) else { return true };
        let enough = self.course.enough(&summary);
        self.course.learn(summary);
        self.enough = enough;
        self.enough.is_none()
    }

    /// Ends the run: writes the notes and the summary.
    pub(crate) fn end(mut self) -> FinishedRun {
        let ended = self.now();
        self.writer.send(Frame::RunEnd(RunEnd { ended, ending: self.ending }));
        let gaps = self.writer.stop_polling();
        let Self { prepared, writer, observer, clock, sent, lost, lost_agents, .. } = self;
        let PreparedRun { plan, workload, mut environment, .. } = prepared;
        let lost_at = lost.as_ref().map(|lost| lost.note(&plan, writer.path(), clock));
        environment.notes.extend(in_turns(&plan));
        environment.notes.extend(workload.notes(&sent, plan.request.task));
        environment.notes.extend(gaps.into_iter().chain(self.enough).chain(lost_at));
        writer.write_environment(environment, observer);
        let (ending, error) = (self.ending, self.error);
        // An agent reads the data itself.
        let stuck = lost_agents.first().map(|LostAgent { name, why, .. }| {
            message!("agent {name}: {why}", "压测端 {name}：{why}")
        });
        let data = workload.error().or(stuck);
        let mut finished = FinishedRun::of(writer.close(), &plan, ending, lost, error, data);
        finished.lost_agents = lost_agents;
        finished.lost_agents.retain(|_| ending == Ending::AgentLost);
        finished
    }
}

/// The note that names the other of two alternating runs.
fn in_turns(plan: &Plan) -> Option<Diagnostic> {
    let Versus { side, other_run, other_target } = plan.course.versus.as_ref()?;
    let values =
        [side.to_string(), side.other().to_string(), other_run.clone(), other_target.clone()];
    Some(Note::Interleaved.with(values.to_vec()))
}

impl AlternatingRun for Session<'_> {
    fn now(&mut self) -> Nanos {
        self.prepared.backend.now()
    }

    fn follow(&mut self, time: Nanos) {
        self.follows = true;
        let now = self.now();
        if time > now {
            self.prepared.backend.rest(time - now, &self.stop);
        }
    }

    fn turn(&mut self) {
        self.observer.side_begins();
        self.step();
        self.observer.side_ends();
    }

    fn ending(&self) -> Ending {
        self.ending
    }

    fn enough(&self) -> Option<Diagnostic> {
        self.enough.clone()
    }

    fn stop_here(&mut self, why: Diagnostic) {
        self.enough = Some(why);
    }

    fn give_up(&mut self, ending: Ending, why: Diagnostic) {
        if self.course.has_more() {
            self.ending = ending;
            self.enough = Some(why);
        }
    }
}
