//! Runs one level of a plan after the previous one has drained, and records every frame.

use super::convergence::ConvergenceWatch;
use super::estimate::LevelProgress;
use super::finished::Lost;
use super::fleet::Learned;
use super::metrics::Metrics;
use super::observer::{LevelBegins, RunObserver};
use super::prepared::PreparedRun;
use super::pulse::Pulse;
use super::recording::{LastSuccess, Recording};
use super::run_writer::RunWriter;
use super::workload::{Items, Workload};
use dyno_drive::{
    LevelOutcome, LevelRecorder, LevelSetup, LostTarget, OnFailure, Retry, Sending, Stop,
    StopSignal, TransportError,
};
use dyno_model::frame::{Ending, EngineSlip, Frame, LevelEnd};
use dyno_model::plan::{LevelPlan, Load, Plan, Shard, Warmup};
use dyno_model::prompt::Item;
use dyno_model::record::RequestRecord;
use dyno_model::units::{format_duration, to_s};
use dyno_model::{Message, Nanos, SEC, message};
use dyno_words::number::digits;
use dyno_words::{Finding, values};
use std::sync::Arc;

/// A server, or a twin in its place.
pub(crate) trait Backend {
    /// Time on its clock.
    fn now(&self) -> Nanos;

    /// Runs a level from its start to the end of its last request; `ahead` requests are prepared in
    /// advance.
    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        items: Items,
        ahead: usize,
    ) -> Result<LevelOutcome, TransportError>;

    /// Earlier levels took this many prompts or conversations of the data.
    fn taken_so_far(&mut self, _taken: u64) {}

    /// What is known after a level that only those who sent it could know.
    fn agent_reports(&mut self) -> Learned {
        Learned::default()
    }

    /// Sends requests that belong to no level, one after the other.
    fn prime(&mut self, setup: LevelSetup<'_>, items: Items) -> Result<(), TransportError> {
        self.run_level(setup, items, 1).map(drop)
    }

    /// How late Dyno's own engine was since the last call; `None` for other servers.
    fn slip(&mut self) -> Option<EngineSlip>;

    /// Rests for a while, or until the run is interrupted.
    fn rest(&mut self, time: Nanos, stop: &StopSignal);

    /// Whether it still responds; the reason if not.
    fn check_health(&mut self, stop: &StopSignal) -> Result<(), Message>;

    /// Resets its prefix cache; the message for the user if it cannot.
    fn reset_cache(&mut self, stop: &StopSignal) -> Result<(), Message>;

    /// Watches its health while requests are in flight, where it has a health endpoint.
    fn pulse(&self, stop: &StopSignal) -> Option<Pulse>;

    /// The server's metrics, if it has any; can be taken once.
    fn metrics(&mut self) -> Option<Metrics> {
        None
    }
}

/// A level to run.
pub(crate) struct LevelToRun<'a> {
    pub(crate) number: u32,
    pub(crate) plan: &'a LevelPlan,
    /// Levels in all, as far as known.
    pub(crate) known: usize,
    /// The remaining levels, while there is no estimate of their duration yet.
    pub(crate) unestimated: Option<&'a [LevelPlan]>,
    pub(crate) last_success: &'a mut Option<LastSuccess>,
    /// Failures of the run so far.
    pub(crate) failed: &'a mut u64,
    pub(crate) prepared: &'a mut PreparedRun,
    pub(crate) writer: &'a RunWriter,
    pub(crate) observer: &'a dyn RunObserver,
    pub(crate) stop: &'a StopSignal,
}

/// The outcome of a level.
pub(crate) struct CompletedLevel {
    pub(crate) end: LevelEnd,
    /// Prompts or conversations taken, warm-up included.
    pub(crate) sent: u64,
    pub(crate) lost: Option<Lost>,
    /// Input for the estimate of other levels.
    pub(crate) progress: LevelProgress,
}

/// Runs a level.
pub(crate) fn run(level: LevelToRun<'_>) -> Result<CompletedLevel, TransportError> {
    let LevelToRun {
        number,
        plan: level,
        known,
        unestimated,
        last_success,
        failed,
        prepared,
        writer,
        observer,
        stop,
    } = level;
    let plan = Arc::clone(&prepared.plan);
    let planned = planned(level, &prepared.workload);
    let prompts = || {
        let workload = &prepared.workload;
        let primers = workload.primers(&plan, level, number, planned.unwrap_or(u64::MAX))?;
        Ok((workload.items(&plan, level, number)?, primers))
    };
    let not_begun = |ending| {
        let end = LevelEnd::at(number, ending, 0);
        Ok(CompletedLevel { end, sent: 0, lost: None, progress: LevelProgress::default() })
    };
    if !prepared.workload.is_unchanged() {
        return not_begun(Ending::Aborted);
    }
    let (items, primers) = match prompts() {
        // Preparing prompts may ask the server to count tokens, which Ctrl-C interrupts.
        Err(_) if stop.get() > Stop::No => return not_begun(Ending::Interrupted),
        Err(why) => {
            prepared.workload.fail(why);
            return not_begun(Ending::Aborted);
        }
        Ok(prompts) => prompts,
    };
    let PreparedRun { workload, backend, environment, .. } = prepared;
    prime(&mut **backend, primers, stop)?;
    // The server counts test and priming requests, too, and they belong to no level.
    writer.sample_now();
    observer.level_begins(LevelBegins { index: number as usize, known, plan: level, planned });
    backend.slip();
    let mut pulse = backend.pulse(stop);
    let until = level.until.as_ref();
    let enough = until.and_then(|until| ConvergenceWatch::new(until, plan.target.predicted));
    let mut recording = Recording {
        number,
        level,
        observer,
        writer,
        unestimated,
        last_success,
        pulse: pulse.as_mut(),
        enough,
        lost: None,
        failed_last: false,
        began: 0,
        progress: LevelProgress::default(),
    };
    let setup = LevelSetup {
        level: number,
        plan: level,
        seed: plan.seed,
        trace: workload.schedule(),
        sessions: workload.is_session(),
        once: level.once,
        max_idle: workload.max_idle(),
        at_most: level.max_concurrency,
        shard: plan.shard,
        on_failure: on_failure(&plan, plan.max_failures.map(|most| most.saturating_sub(*failed))),
        gate: None,
        stop,
        recorder: &mut recording,
        observer,
    };
    backend.taken_so_far(workload.attempt().taken);
    let done = backend.run_level(setup, items, ahead(level.load, plan.shard))?;
    workload.took(&plan, level, done.taken);
    let Learned { data, addresses } = backend.agent_reports();
    data.into_iter().for_each(|(agent, report)| workload.hear(agent, number, report));
    if let Some(addresses) = addresses {
        environment.server.addresses = addresses;
        // Records have their numbers, which a run that is resumed must know.
        writer.write_environment(environment.clone(), observer);
    }
    *failed += done.failed;
    let Recording { lost: mut silent, failed_last, progress, .. } = recording;
    let mut end = done.end;
    // A server that failed the last request may be gone, and then the level is not complete.
    if end.ending.carried_out()
        && failed_last
        && let Err(message) = backend.check_health(stop)
        && stop.get() == Stop::No
    {
        (end.ending, silent) = (Ending::TargetLost, Some(message));
    }
    if end.ending.carried_out() && !workload.is_unchanged() {
        end.ending = Ending::Aborted;
    }
    end.slip = backend.slip();
    if end.ending == Ending::BehindSchedule {
        let late = digits(to_s(end.client.behind_ns), 2);
        let planned = end.planned.unwrap_or(end.issued);
        observer.remark(&Finding::BehindSchedule.with(values![late, end.issued, planned]));
    }
    observer.level_ends(&end);
    writer.send(Frame::LevelEnd(Box::new(end.clone())));
    let to_agent = done.lost_to_agent.map(Message::of);
    let message = silent.or_else(|| done.lost.map(|lost| served_nothing(&lost))).or(to_agent);
    let lost = message
        .filter(|_| end.ending == Ending::TargetLost)
        .map(|message| Lost::new(end.sending_stopped, &message, last_success.take()));
    Ok(CompletedLevel { end, sent: done.taken, lost, progress })
}

/// Sends prompts one after the other, so that their shared prefixes are in the server's cache. They
/// belong to no level and leave no records.
fn prime(
    backend: &mut dyn Backend,
    primers: Vec<Item>,
    stop: &StopSignal,
) -> Result<(), TransportError> {
    if primers.is_empty() {
        return Ok(());
    }
    let plan = LevelPlan::closed_loop(1, primers.len() as u64);
    let mut primers = primers.into_iter();
    let items = Box::new(move |_| primers.next().map(|item| Sending::Single(item, 1)));
    let setup = LevelSetup {
        level: 0,
        plan: &plan,
        seed: 0,
        trace: None,
        sessions: false,
        once: false,
        max_idle: None,
        at_most: None,
        shard: Shard::WHOLE,
        on_failure: OnFailure::default(),
        gate: None,
        stop,
        recorder: &mut Unrecorded,
        observer: &(),
    };
    backend.prime(setup, items)
}

/// Records nothing.
struct Unrecorded;

impl LevelRecorder for Unrecorded {
    fn record(&mut self, _record: Box<RequestRecord>) {}
}

/// The number of requests that bounds a level, warm-up included.
fn planned(level: &LevelPlan, workload: &Workload) -> Option<u64> {
    let planned = level.requests.or(match level.load {
        Load::Burst { requests } => Some(requests),
        _ => workload.trace_length(),
    });
    let warmup = match level.warmup {
        Some(Warmup::Requests(n)) => n,
        _ => 0,
    };
    planned.map(|n| n + warmup)
}

/// What refusals and failures lead to, with so many failures left until sending stops.
pub(crate) fn on_failure(plan: &Plan, at_most: Option<u64>) -> OnFailure {
    let retry = |at_most| Retry { at_most, within: plan.timeouts.total_ns };
    OnFailure { retry: plan.shed_retries.map(retry), at_most, seen_by_others: false }
}

/// How many requests are prepared ahead of the driver of a part of the load.
pub(crate) fn ahead(load: Load, shard: Shard) -> usize {
    let ahead = match load {
        Load::Concurrency { concurrency } => 2 * concurrency as usize,
        Load::Rate { .. } | Load::Ramp { .. } => (2.0 * load.value()) as usize,
        Load::Burst { requests } => requests as usize,
        Load::Trace { .. } => 1024,
    };
    ahead.div_ceil(shard.of.max(1) as usize).clamp(64, 8192)
}

/// Why a target that failed every request was given up.
pub(crate) fn served_nothing(lost: &LostTarget) -> Message {
    let record = &lost.last;
    let detail = record.detail.clone();
    let detail = detail.unwrap_or_else(|| message!("no message", "没有消息"));
    let time = format_duration(lost.time / SEC * SEC);
    if lost.unreachable {
        return message!(
            "no connection could be opened for {time}: {detail}",
            "{time} 内无法建立连接：{detail}",
        );
    }
    let class = record.outcome.class().unwrap_or_else(|| "dropped".to_owned());
    let failures = lost.failures;
    message!(
        "no request completed for {time}, and {failures} failed, the last with {class}: {detail}",
        "{time} 内没有请求完成，{failures} 个失败，最后一个为 {class}：{detail}",
    )
}
