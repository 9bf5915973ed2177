//! From a target that is ready, or something in its place, to the exit status: the run directory,
//! the levels, every frame, the summary.

use super::Refused;
use super::directory::{self, Identity};
use super::outcome;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::{Live, Progress};
use crate::resolve::Resolved;
use crate::run::levels::{Bench, Run};
use crate::run::workload::Workload;
use dyno_core::environment::Environment;
use dyno_core::frame::Ending;
use dyno_drive::StopSignal;
use dyno_net::Clock;
use dyno_record::Recorder;
use dyno_wire::encode::Encoder;
use std::cell::Cell;
use std::sync::Arc;

/// What a recorded run needs besides its target.
pub(crate) struct Kit<'a> {
    pub(crate) encoder: &'a Encoder,
    pub(crate) workload: &'a Workload,
    pub(crate) resolved: &'a Resolved,
    pub(crate) printer: &'a Printer,
    pub(crate) stop: &'a StopSignal,
    pub(crate) clock: Clock,
}

/// Runs all levels and keeps everything.
pub(crate) fn run(
    bench: &mut dyn Bench,
    kit: &Kit<'_>,
    mut environment: Environment,
) -> Result<Exit, Refused> {
    let Kit { encoder, workload, resolved, printer, stop, clock } = *kit;
    let plan = &resolved.plan;
    for note in &environment.notes {
        printer.note(directory::one_line(&note.what));
    }

    let identity = Identity::new(&clock);
    let dir = directory::create(resolved, &identity).map_err(|words| (Exit::Usage, words))?;
    let not_written = |error: dyno_record::RecordError| (Exit::Usage, format!("--out: {error}"));
    dir.write_plan(plan).map_err(not_written)?;
    dir.write_environment(&environment).map_err(not_written)?;
    let recorder = Recorder::start(&dir, identity.header(plan, &clock)).map_err(not_written)?;

    let warned = Cell::new(false);
    let live = Arc::new(Live::of(plan, clock));
    let progress = Progress::start(Arc::clone(&live), printer, resolved.live);
    let outcome = Run {
        bench,
        encoder,
        workload,
        live: &live,
        stop,
        sink: &|frame| recorder.send(frame),
        aborted: &|| {
            // Told once; the frames wait in memory until the disk takes them.
            if let Some(words) = recorder.trouble().filter(|_| !warned.replace(true)) {
                printer.warn(words);
            }
            recorder.is_losing()
        },
    }
    .all(plan);
    drop(progress);
    environment.notes.extend(workload.notes(&outcome.sent));
    let cut_short = outcome.ending == Ending::Aborted;
    if let Err(error) = dir.write_environment(&environment) {
        printer.error(error);
    }
    let exit = outcome::conclude(&dir, resolved, outcome, recorder.finish(), printer);
    // An error beyond the last prompt that was needed is no one's concern.
    Ok(match workload.error().filter(|_| cut_short) {
        None => exit,
        Some(words) => {
            printer.error(format_args!("--data: {words}"));
            exit.and(Exit::Usage)
        }
    })
}
