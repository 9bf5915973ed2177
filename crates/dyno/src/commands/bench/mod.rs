//! `dyno bench`: preflight, levels, records, summary; and an exit status that says how it went.

mod directory;
mod outcome;

use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::{Live, Progress};
use crate::resolve::Resolved;
use crate::run::levels::Run;
use crate::run::signals;
use crate::run::target::{OpenError, OpenTarget, open};
use directory::Identity;
use dyno_drive::StopSignal;
use dyno_net::{Clock, raise_open_files};
use dyno_record::Recorder;
use dyno_wire::encode::Encoder;
use dyno_wire::preflight::{PreflightError, PreflightSetup, Settled, preflight};
use std::cell::Cell;
use std::sync::Arc;

/// Runs the plan.
pub(crate) fn run(resolved: Resolved, printer: &Printer) -> Exit {
    let clock = Clock::start();
    raise_open_files();
    let stop = StopSignal::new();
    let screen = printer.clone();
    let listening = signals::listen(stop.clone(), move |times| match times {
        1 => screen.note("stopping: no more requests are sent; Ctrl-C again to stop at once"),
        2 => screen.note("stopping at once: what is in flight is recorded as censored"),
        _ => {}
    });
    if let Err(error) = listening {
        printer.warn(format_args!("Ctrl-C will not be handled: {error}"));
    }
    match measure(&resolved, printer, &stop, clock) {
        Ok(exit) => exit,
        Err((exit, words)) => {
            printer.error(words);
            exit
        }
    }
}

/// An ending before anything was measured.
type Refused = (Exit, String);

fn measure(
    resolved: &Resolved,
    printer: &Printer,
    stop: &StopSignal,
    clock: Clock,
) -> Result<Exit, Refused> {
    let plan = &resolved.plan;
    let url = resolved.target_url.as_deref();
    let mut target =
        open(plan, url, &resolved.secrets, &resolved.connection, clock).map_err(cannot_open)?;
    let settled = ask_first(resolved, &mut target, stop)?;
    for note in &settled.notes {
        printer.note(directory::one_line(&note.what));
    }

    let identity = Identity::new(&clock);
    let dir = directory::create(resolved, &identity).map_err(|words| (Exit::Usage, words))?;
    let not_written = |error: dyno_record::RecordError| (Exit::Usage, format!("--out: {error}"));
    dir.write_plan(plan).map_err(not_written)?;
    dir.write_environment(&directory::environment(&settled)).map_err(not_written)?;
    let recorder = Recorder::start(&dir, identity.header(plan, &clock)).map_err(not_written)?;

    let warned = Cell::new(false);
    let live = Arc::new(Live::default());
    let progress = Progress::start(Arc::clone(&live), printer);
    let encoder = Encoder::new(&target.endpoint, plan.target.api, settled.shape, &target.headers);
    let outcome = Run {
        client: &mut target.client,
        endpoint: &target.endpoint,
        encoder: &encoder,
        engine: settled.engine,
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
    Ok(outcome::conclude(&dir, resolved, outcome, recorder.finish(), printer))
}

fn ask_first(
    resolved: &Resolved,
    target: &mut OpenTarget,
    stop: &StopSignal,
) -> Result<Settled, Refused> {
    let setup = PreflightSetup {
        plan: &resolved.plan,
        endpoint: &target.endpoint,
        headers: &target.headers,
        stop,
    };
    preflight(&mut target.client, &setup).map_err(|error| {
        let exit = match &error {
            PreflightError::Target(_) => Exit::TargetUnusable,
            PreflightError::Model(_) => Exit::Usage,
            PreflightError::Interrupted => Exit::Interrupted,
            PreflightError::Client(_) => Exit::Bug,
        };
        let words = directory::one_line(&error.to_string());
        let at = resolved.plan.target.url.as_deref().unwrap_or("the embedded engine");
        (exit, if exit == Exit::TargetUnusable { format!("{at}: {words}") } else { words })
    })
}

fn cannot_open(error: OpenError) -> Refused {
    let exit = match &error {
        OpenError::Usage(_) => Exit::Usage,
        OpenError::Target(_) => Exit::TargetUnusable,
        OpenError::Own(_) => Exit::Bug,
    };
    (exit, error.to_string())
}
