//! From a target that is ready, or something in its place, to the exit status: the run directory,
//! the levels, every frame, the summary.

use super::Refused;
use super::directory::{self, Identity};
use super::outcome;
use crate::commands::show;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::{Live, Progress};
use crate::resolve::Resolved;
use crate::run::course::{Course, Navigator};
use crate::run::journey::Journey;
use crate::run::levels::{Bench, News, Run, RunOutcome};
use crate::run::watch::{EndsWith, Watch};
use crate::run::workload::Workload;
use dyno_drive::StopSignal;
use dyno_model::Diagnostic;
use dyno_model::Summary;
use dyno_model::environment::Environment;
use dyno_model::frame::{Ending, Frame, RunHeader};
use dyno_model::plan::Plan;
use dyno_model::versus::Versus;
use dyno_net::Clock;
use dyno_record::{Finished, RecordError, Recorder, RunDir};
use dyno_wire::encode::Encoder;
use dyno_words::Note;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// What answers, and what will be sent to it.
pub(crate) struct Ready<B> {
    pub(crate) bench: B,
    pub(crate) encoder: Encoder,
    pub(crate) workload: Workload,
    pub(crate) environment: Environment,
}

/// What a recorded run needs besides its target.
pub(crate) struct Kit<'a> {
    pub(crate) encoder: &'a Encoder,
    pub(crate) workload: &'a Workload,
    pub(crate) resolved: &'a Resolved,
    pub(crate) printer: &'a Printer,
    pub(crate) stop: &'a StopSignal,
    pub(crate) clock: Clock,
}

/// A run directory that takes records.
pub(crate) struct Opened {
    dir: RunDir,
    header: RunHeader,
    recorder: Recorder,
}

/// A run that is over and not summed up yet.
pub(crate) struct Over {
    pub(crate) dir: RunDir,
    outcome: RunOutcome,
    finished: Finished,
}

/// Runs all levels and keeps everything.
pub(crate) fn run(
    bench: &mut dyn Bench,
    kit: &Kit<'_>,
    environment: Environment,
    navigator: Option<&mut dyn Navigator>,
) -> Result<Exit, Refused> {
    let opened = open(kit, &environment)?;
    let over = record(bench, kit, opened, environment, navigator, |journey| journey.all());
    let Kit { resolved, printer, .. } = *kit;
    Ok(over.conclude(kit, &mut |summary| {
        show::summary(summary, resolved.json, resolved.language, printer)
    }))
}

/// Has `drive` run the levels, and keeps everything.
pub(crate) fn record(
    bench: &mut dyn Bench,
    kit: &Kit<'_>,
    opened: Opened,
    mut environment: Environment,
    navigator: Option<&mut dyn Navigator>,
    drive: impl FnOnce(&mut Journey<'_, '_, '_>),
) -> Over {
    let Kit { encoder, workload, resolved, printer, stop, clock } = *kit;
    let Opened { dir, header, recorder } = opened;
    let plan = &resolved.plan;
    for note in &environment.notes {
        printer.note(directory::one_line(&note.what));
    }
    let warned = Cell::new(false);
    let enough: RefCell<Option<Diagnostic>> = RefCell::new(None);
    let live = Arc::new(Live::of(plan, clock));
    let past = resolved.resumed.as_ref().map(|(_, past)| past);
    let course = Course::new(plan, navigator, past);
    let (watch, metrics) = (Watch::new(), bench.metrics());
    let outcome = std::thread::scope(|scope| {
        let ends = EndsWith(&watch);
        let asking = metrics.map(|mut metrics| {
            recorder.send(Frame::Server(metrics.first));
            watch.start(scope, move |stop| metrics.ask(stop), |frame| recorder.send(frame))
        });
        if let Some(Err(error)) = &asking {
            printer.warn(format_args!("the server's own figures cannot be asked for: {error}"));
        }
        let run = Run {
            bench,
            encoder,
            workload,
            live: &live,
            stop,
            header,
            sink: &|frame| {
                watch.heed(&frame);
                recorder.send(frame);
            },
            aborted: &|| {
                // Told once; the frames wait in memory until the disk takes them.
                if let Some(words) = recorder.trouble().filter(|_| !warned.replace(true)) {
                    printer.warn(words);
                }
                recorder.is_losing()
            },
            news: &|news| match news {
                News::Left { after, of, time } => {
                    let turns = plan.course.versus.as_ref().map_or("", |_| " of its own turns");
                    printer.note(left(after, of, time) + turns);
                }
                News::Enough(why) => *enough.borrow_mut() = Some(why.clone()),
            },
        };
        let show = || Progress::start(Arc::clone(&live), printer, resolved.live);
        let mut journey = Journey::new(run, Some(&show), plan, course);
        drive(&mut journey);
        let outcome = journey.end();
        drop(ends);
        let _ = asking.and_then(Result::ok).map(ScopedJoinHandle::join);
        outcome
    });
    environment.notes.extend(in_turns(plan));
    environment.notes.extend(workload.notes(&outcome.sent));
    environment.notes.extend(watch.note());
    environment.notes.extend(enough.into_inner());
    environment.notes.extend(target_lost(&outcome, plan, clock));
    let before = resolved.resumed.as_ref().and_then(|(dir, _)| dir.read_environment().ok()?);
    keep(&mut environment.notes, before.map(|before| before.notes).unwrap_or_default());
    if let Err(error) = dir.write_environment(&environment) {
        printer.error(error);
    }
    Over { dir, outcome, finished: recorder.finish() }
}

impl Over {
    /// Sums the run up, has it shown, and decides the exit status.
    pub(crate) fn conclude(self, kit: &Kit<'_>, show: &mut dyn FnMut(&Summary) -> Exit) -> Exit {
        let Kit { workload, resolved, printer, .. } = *kit;
        let Self { dir, outcome, finished } = self;
        let cut_short = outcome.ending == Ending::Aborted;
        let exit = outcome::conclude(&dir, resolved, outcome, finished, printer, show);
        // An error beyond the last prompt that was needed is no one's concern.
        match workload.error().filter(|_| cut_short) {
            None => exit,
            Some(words) => {
                printer.error(format_args!("--data: {words}"));
                exit.and(Exit::Usage)
            }
        }
    }
}

/// The directory and the record file: new ones, or those of the run that is gone on with.
pub(crate) fn open(kit: &Kit<'_>, environment: &Environment) -> Result<Opened, Refused> {
    let plan = &kit.resolved.plan;
    if let Some((dir, past)) = &kit.resolved.resumed {
        let not_resumed = |error: RecordError| (Exit::Usage, format!("--resume: {error}"));
        let recorder = Recorder::resume(dir).map_err(not_resumed)?;
        let header = Identity::known(&past.run_id).header(plan, &kit.clock);
        return Ok(Opened { dir: dir.clone(), header, recorder });
    }
    let identity = match &plan.course.versus {
        Some(versus) => Identity::of_side(&kit.clock, versus.side),
        None => Identity::new(&kit.clock),
    };
    let dir = directory::create(kit.resolved, &identity).map_err(|words| (Exit::Usage, words))?;
    let not_written = |error: RecordError| (Exit::Usage, format!("--out: {error}"));
    dir.write_plan(plan).map_err(not_written)?;
    dir.write_environment(environment).map_err(not_written)?;
    let header = identity.header(plan, &kit.clock);
    let recorder = Recorder::start(&dir, header.clone()).map_err(not_written)?;
    Ok(Opened { dir, header, recorder })
}

/// How long it will take, to two figures.
fn left(after: usize, of: usize, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let time = match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        100.0..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    };
    match after {
        0 => format!("by the first answer, the {of} levels will take about {time}"),
        _ => format!("{after} of {of} levels done; the rest will take about {time}"),
    }
}

/// What an earlier process of a resumed run had to say still holds.
fn keep(notes: &mut Vec<Diagnostic>, earlier: Vec<Diagnostic>) {
    let new: Vec<Diagnostic> = earlier.into_iter().filter(|note| !notes.contains(note)).collect();
    notes.extend(new);
}

/// There is another run to be read with this one.
fn in_turns(plan: &Plan) -> Option<Diagnostic> {
    let Versus { side, other_run, other_target } = plan.course.versus.as_ref()?;
    let values =
        [side.to_string(), side.other().to_string(), other_run.clone(), other_target.clone()];
    Some(Note::Interleaved.with(values.to_vec()))
}

/// When the target was lost, and what it had done last. One of two runs is not gone on with.
fn target_lost(outcome: &RunOutcome, plan: &Plan, clock: Clock) -> Option<Diagnostic> {
    let lost = outcome.lost.as_ref()?;
    let note = outcome::lost_note(lost, clock.anchor_unix_ns());
    let advice = note.advice.filter(|_| plan.course.versus.is_none());
    Some(Diagnostic { advice, ..note })
}
