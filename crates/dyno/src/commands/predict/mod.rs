//! `dyno predict`: the levels of a plan, answered by a twin in virtual time.

mod capacity;
mod range;

use super::announced;
use super::bench::Refused;
use super::bench::recorded::{self, Kit, Ready};
use super::bench::versus;
use crate::args::predict::PredictArgs;
use crate::exit::Exit;
use crate::host;
use crate::printer::Printer;
use crate::resolve::{Aim, Resolved, Surroundings, resolve};
use crate::run::course::Navigator;
use crate::run::navigate::Searching;
use crate::run::predicted::Predicted;
use crate::run::signals;
use crate::run::workload::Workload;
use crate::usage::{UsageError, from_clap};
use dyno_drive::StopSignal;
use dyno_engine::twin::Twin;
use dyno_model::LevelSummary;
use dyno_model::course::Search;
use dyno_model::environment::{Environment, Preflight, Server};
use dyno_model::plan::{LevelPlan, Load, Plan};
use dyno_model::versus::Side;
use dyno_net::Clock;
use dyno_wire::dialect::Shape;
use dyno_wire::encode::{Encoder, SecretHeaders};
use dyno_wire::endpoint::Endpoint;
use dyno_workload::tokenizer::{Ask, Tokenizer};

/// Decides what will be predicted, says so, and does it.
pub(crate) fn run(args: PredictArgs, printer: &Printer) -> Exit {
    let resolved = args
        .into_bench()
        .map_err(|error| from_clap(&error, "dyno predict"))
        .and_then(|bench| resolve(bench, &Surroundings::of_process(), Aim::Predict));
    match resolved {
        Ok(resolved) => answer(resolved, printer),
        Err(error) => {
            printer.error(error);
            Exit::Usage
        }
    }
}

/// Predicts what was decided.
pub(crate) fn answer(mut resolved: Resolved, printer: &Printer) -> Exit {
    let (twin, rival) = match (load(&resolved), resolved.versus.as_deref().map(load).transpose()) {
        (Ok(twin), Ok(rival)) => (twin, rival),
        (Err(error), _) | (_, Err(error)) => {
            printer.error(error);
            return Exit::Usage;
        }
    };
    if resolved.dry_run {
        return printer.result(&versus::plan(&resolved));
    }
    let printer = announced(&resolved, printer);
    let predicted = match rival.zip(resolved.versus.take()) {
        None => predict(&twin, &mut resolved, &printer),
        Some((rival, other)) => in_turns([&twin, &rival], resolved, *other, &printer),
    };
    match predicted {
        Ok(exit) => exit,
        Err((exit, words)) => {
            printer.error(words);
            exit
        }
    }
}

/// The twin that the plan names.
fn load(resolved: &Resolved) -> Result<Twin, UsageError> {
    let name = resolved.plan.target.embedded.as_deref().unwrap_or(Twin::default_name());
    Twin::load(name).map_err(|error| UsageError::new("--twin", error.to_string()))
}

/// Without it, Ctrl-C ends the program; what was written stays readable.
fn heeded() -> StopSignal {
    let stop = StopSignal::new();
    let _listening = signals::listen(stop.clone(), |_| {});
    stop
}

fn predict(twin: &Twin, resolved: &mut Resolved, printer: &Printer) -> Result<Exit, Refused> {
    let (clock, stop) = (Clock::start(), heeded());
    let ready = prepare(twin, resolved)?;
    let plan = &resolved.plan;
    let Ready { mut bench, encoder, workload, environment } = ready;
    let kit = Kit { encoder: &encoder, workload: &workload, resolved, printer, stop: &stop, clock };
    let mut navigator = match Searching::of(plan) {
        Some(searching) => Some(Foreseen { searching, capacity: of_sweep(twin, plan, &workload)? }),
        None => None,
    };
    let navigator = navigator.as_mut().map(|foreseen| foreseen as &mut dyn Navigator);
    recorded::run(&mut bench, &kit, environment, navigator)
}

/// Two twins, level by level, whose clocks go on together.
fn in_turns(
    twins: [&Twin; 2],
    mut a: Resolved,
    mut b: Resolved,
    printer: &Printer,
) -> Result<Exit, Refused> {
    let (clock, stop) = (Clock::start(), heeded());
    versus::link(&mut a.plan, &mut b.plan, &clock);
    let mut ready_a = prepare(twins[0], &mut a)?;
    let mut ready_b = prepare(twins[1], &mut b)?;
    let (of_a, of_b) = (printer.about(Side::A), printer.about(Side::B));
    let seat_a = ready_a.seat(&a, &of_a, &stop, clock);
    let seat_b = ready_b.seat(&b, &of_b, &stop, clock);
    versus::run(seat_a, seat_b, printer)
}

/// Sets the twin up, and settles what will be sent.
fn prepare(twin: &Twin, resolved: &mut Resolved) -> Result<Ready<Predicted>, Refused> {
    let wrong = |words: String| (Exit::Usage, words);
    let mut workload = resolved.workload.clone();
    if workload.is_open_to_server() {
        workload.count_with(Tokenizer::by_asking(Box::new(words)));
        workload.check(&resolved.plan).map_err(|(flag, what)| wrong(format!("{flag}: {what}")))?;
    }
    let notes = foresee(twin, resolved, &workload).map_err(wrong)?;
    let plan = &resolved.plan;
    let core = twin.core(plan.seed).map_err(|error| wrong(format!("--twin: {error}")))?;
    let endpoint = Endpoint::parse("http://twin", plan.target.api)
        .map_err(|error| (Exit::Bug, error.to_string()))?;
    let model = plan.request.model.clone().unwrap_or_else(|| twin.name.clone());
    let shape = Shape {
        model: model.clone(),
        stream: plan.request.stream,
        ignore_eos: true,
        ..Shape::default()
    };
    let encoder = Encoder::new(&endpoint, plan.target.api, shape, &SecretHeaders::default());
    let environment = Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        server: Server::default(),
        preflight: Some(Preflight {
            model,
            length_field: Some("ignore_eos".to_owned()),
            ..Preflight::default()
        }),
        notes,
    };
    let answers = workload.is_session();
    let bench = Predicted::new(core, plan.target.api, plan.request.stream, answers);
    Ok(Ready { bench, encoder, workload, environment })
}

/// What is known before anything is simulated: how much the twin carries at each level, and how
/// far the levels are from what it was fitted on.
fn foresee(
    twin: &Twin,
    resolved: &mut Resolved,
    workload: &Workload,
) -> Result<Vec<dyno_model::Diagnostic>, String> {
    let mut asked = Vec::new();
    for number in 0..resolved.plan.levels.len() as u32 {
        asked.push(workload.typical(&resolved.plan, number)?);
    }
    for (level, lengths) in resolved.plan.levels.iter_mut().zip(&asked) {
        if let (Load::Rate { .. }, Some(lengths)) = (level.load, lengths) {
            level.capacity = capacity::interval(twin, *lengths);
        }
    }
    Ok(range::notes(twin, &resolved.plan.levels, &asked))
}

/// How much the twin carries, for the rates of a sweep: beyond, no latency holds. (A search for a
/// capacity needs to know by how much a rate is too high, and so has its latencies.)
fn of_sweep(twin: &Twin, plan: &Plan, workload: &Workload) -> Result<Option<[f64; 2]>, Refused> {
    let Some(Search::Sweep { .. }) = plan.course.search else { return Ok(None) };
    let lengths = workload.typical(plan, 0).map_err(|words| (Exit::Usage, words))?;
    Ok(lengths.and_then(|lengths| capacity::interval(twin, lengths)))
}

/// A search whose rates know how much the twin carries.
struct Foreseen<'a> {
    searching: Searching<'a>,
    capacity: Option<[f64; 2]>,
}

impl Navigator for Foreseen<'_> {
    fn next(&mut self, so_far: &[&LevelSummary]) -> Option<LevelPlan> {
        let mut level = self.searching.next(so_far)?;
        level.capacity = self.capacity.filter(|_| matches!(level.load, Load::Rate { .. }));
        Some(level)
    }

    fn at_most(&self) -> Option<usize> {
        self.searching.at_most()
    }
}

/// Tokens as the engine counts them: words.
fn words(what: &Ask<'_>) -> Result<u32, String> {
    let count = |text: &str| text.split_whitespace().count();
    let counted = match what {
        Ask::Text(text) => count(text),
        Ask::Messages(messages) => messages.iter().map(|message| count(&message.content)).sum(),
    };
    u32::try_from(counted).map_err(|_| "a prompt of more than four thousand million words".into())
}
