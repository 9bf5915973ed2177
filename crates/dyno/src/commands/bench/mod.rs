//! `dyno bench`: preflight, levels, records, summary; and an exit status that says how it went.

mod directory;
mod outcome;
pub(crate) mod plan_text;
pub(crate) mod recorded;
pub(crate) mod versus;
mod written;

use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::run::course::Navigator;
use crate::run::levels::Bench as _;
use crate::run::metrics;
use crate::run::navigate::Searching;
use crate::run::signals;
use crate::run::target::{OpenError, OpenTarget, open};
use crate::run::tokenize;
use crate::run::workload::Workload;
use dyno_drive::{Stop, StopSignal};
use dyno_model::Diagnostic;
use dyno_model::SEC;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_net::{Clock, raise_open_files};
use dyno_wire::encode::Encoder;
use dyno_wire::preflight::{PreflightError, PreflightSetup, Settled, preflight};
use dyno_words::Note;
use recorded::{Kit, Ready};

/// Runs the plan.
pub(crate) fn run(resolved: Resolved, printer: &Printer) -> Exit {
    if resolved.dry_run {
        return printer.result(&versus::plan(&resolved));
    }
    if resolved.plan.levels.len() > 1 || resolved.plan.course.search.is_some() {
        printer.remark(versus::plan(&resolved).trim_end());
    }
    if let Some((_, past)) = &resolved.resumed {
        let done = past.finished.len();
        let are = if done == 1 { "level is" } else { "levels are" };
        printer.note(format_args!("going on with {}: {done} {are} done and kept", past.run_id));
    }
    let clock = match &resolved.resumed {
        Some((_, past)) => Clock::resume(past.anchor_unix_ns, past.until + SEC),
        None => Clock::start(),
    };
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
    match measure(resolved, printer, &stop, clock) {
        Ok(exit) => exit,
        Err((exit, words)) => {
            printer.error(words);
            exit
        }
    }
}

/// An ending before anything was measured.
pub(crate) type Refused = (Exit, String);

fn measure(
    mut resolved: Resolved,
    printer: &Printer,
    stop: &StopSignal,
    clock: Clock,
) -> Result<Exit, Refused> {
    if let Some(rival) = resolved.versus.take() {
        return versus::measure(resolved, *rival, printer, stop, clock);
    }
    let ready = prepare(&resolved, None, printer, stop, clock)?;
    let Ready { mut bench, encoder, workload, environment } = ready;
    let (encoder, workload, resolved) = (&encoder, &workload, &resolved);
    let kit = Kit { encoder, workload, resolved, printer, stop, clock };
    let mut navigator = Searching::of(&resolved.plan);
    let navigator = navigator.as_mut().map(|searching| searching as &mut dyn Navigator);
    recorded::run(&mut bench, &kit, environment, navigator)
}

/// Opens the target, asks it what has to be known, and settles what will be sent; unless that is
/// settled.
fn prepare(
    resolved: &Resolved,
    settled_workload: Option<Workload>,
    printer: &Printer,
    stop: &StopSignal,
    clock: Clock,
) -> Result<Ready<OpenTarget>, Refused> {
    let plan = &resolved.plan;
    let url = resolved.target_url.as_deref();
    let sessions = resolved.workload.is_session();
    let mut target = open(plan, url, &resolved.secrets, &resolved.connection, sessions, clock)
        .map_err(cannot_open)?;
    let settled = ask_first(resolved, &mut target, stop)?;
    target.tells_slip = settled.engine;
    let encoder =
        Encoder::new(&target.endpoint, plan.target.api, settled.shape.clone(), &target.headers);
    let workload = match settled_workload {
        Some(workload) => workload,
        None => counted(resolved, &target, &settled.shape.model, stop)?,
    };
    let mut environment = directory::environment(&settled);
    environment.notes.extend(counts_differ(plan, &mut target, &encoder, &workload, stop)?);
    target.metrics = find_metrics(resolved, &target, printer, stop);
    if plan.course.reset_cache {
        target.forget(stop).map_err(|words| (Exit::Usage, format!("--reset-cache: {words}")))?;
    }
    Ok(Ready { bench: target, encoder, workload, environment })
}

/// What is sent, counted with the server's own tokenizer where nobody gave one.
fn counted(
    resolved: &Resolved,
    target: &OpenTarget,
    model: &str,
    stop: &StopSignal,
) -> Result<Workload, Refused> {
    let mut workload = resolved.workload.clone();
    if workload.is_open_to_server()
        && let Some(asking) = tokenize::of_server(&target.client, model, stop)
    {
        workload.count_with(asking);
        workload.check(&resolved.plan).map_err(|(flag, words)| match stop.get() {
            Stop::No => (Exit::Usage, format!("{flag}: {words}")),
            _ => (Exit::Interrupted, "interrupted".to_owned()),
        })?;
    }
    Ok(workload)
}

/// The server's own figures. Where they were asked for by name and are not there, that is said.
fn find_metrics(
    resolved: &Resolved,
    target: &OpenTarget,
    printer: &Printer,
    stop: &StopSignal,
) -> Option<metrics::Metrics> {
    let Resolved { metrics, secrets, connection, .. } = resolved;
    metrics::find(target, metrics.as_ref(), secrets, connection, stop).unwrap_or_else(|words| {
        let words = directory::one_line(&words);
        printer.warn(format_args!("--metrics: no figures of the server's own: {words}"));
        None
    })
}

/// More requests than these are worth one that compares our count of tokens with the server's.
const A_HANDFUL: u64 = 8;

/// Sends the first prompt once, ahead of everything, and holds our count against the server's.
fn counts_differ(
    plan: &Plan,
    target: &mut OpenTarget,
    encoder: &Encoder,
    workload: &Workload,
    stop: &StopSignal,
) -> Result<Option<Diagnostic>, Refused> {
    let few = |level: &LevelPlan| level.requests.is_some_and(|n| n <= A_HANDFUL);
    if plan.levels.iter().all(few) {
        return Ok(None);
    }
    let specimen = workload.specimen(plan).map_err(|words| (Exit::Usage, words))?;
    let Some(item) = specimen else { return Ok(None) };
    let record = tokenize::probe(&mut target.client, encoder, &item, stop)
        .map_err(|error| (Exit::Interrupted, error.to_string()))?;
    let counts = item.input_tokens.zip(record.input.map(|count| count.tokens));
    Ok(counts
        .filter(|(ours, servers)| u64::from(*ours) != *servers)
        .map(|(ours, servers)| Note::TokenCountsDiffer.with([ours.into(), servers])))
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
