//! From arguments to a plan: fills in defaults, reads files, refuses contradictions. The plan contains
//! no secrets; those are passed separately.

mod capacity;
mod connection;
mod course;
mod data;
pub(crate) mod fleet;
mod inputs;
mod inspect;
mod load;
mod notes;
mod output;
mod overload;
mod process_env;
mod ramp;
mod resume;
mod search;
mod secrets;
mod seed;
mod server;
mod slo;
mod target;
mod task;
mod versus;

pub(crate) use connection::reach_of_agent;
pub(crate) use data::choice_plan;
pub(crate) use inputs::Inputs;
pub(crate) use inspect::order_to_inspect;
pub(crate) use notes::Notes;
pub(crate) use output::Showing;
pub(crate) use process_env::ProcessEnv;
pub(crate) use resume::may_resume;

use crate::args::bench::RequestArgs;
use crate::args::target::TargetUrl;
use crate::commands::RUNS;
use crate::commands::loaded::resolve_run_name;
use crate::config::{Given, presets};
use crate::usage::UsageError;
use dyno_model::plan::{Plan, RequestPlan, Target, Task};
use dyno_model::{Message, message};
use dyno_run::{Order, RunOutput, StopSignal, Workload};
use dyno_words::{InLanguage, values};
use std::fmt;
use std::path::Path;
use versus::Rival;

/// All that is needed to carry out a plan.
pub(crate) struct Resolved {
    /// What will be done.
    pub(crate) order: Order,
    /// The same for the second target of --versus.
    pub(crate) versus: Option<Box<Order>>,
    /// How it is shown.
    pub(crate) showing: Showing,
    /// Only the plan is printed.
    pub(crate) dry_run: bool,
    /// What the user should know before it starts.
    pub(crate) notes: Vec<Message>,
    /// What the user should fix.
    pub(crate) warnings: Vec<Message>,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved").field("plan", &self.order.plan).finish_non_exhaustive()
    }
}

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A server is measured, or the embedded engine.
    Measure,
    /// A twin answers in virtual time.
    Predict,
}

/// Decides everything that can be decided before the first request.
pub(crate) fn resolve(
    mut inputs: Inputs,
    given: &Given,
    surroundings: &ProcessEnv,
) -> Result<Resolved, UsageError> {
    if let Some(run) = &mut inputs.plan.output.resume {
        *run = resolve_run_name(run).map_err(|error| UsageError::new("--resume", error))?;
    }
    if let Some(dir) = inputs.plan.output.resume.clone()
        && resume::is_alone(&given.keys)
    {
        return resume::again(inputs, &dir, surroundings);
    }
    let Inputs { plan: args, server, load, course, search, versus, aim } = inputs;
    let (each, mut data, output) = (args.each, args.data, args.output);
    let showing = Showing::of(&output, surroundings);
    let (mut notes, mut warnings) = (Notes::default(), Vec::new());
    given.announce(&mut notes);
    let shed_retries = overload::retries(&server.overload)?;
    let rival = Rival::of(versus, &server.connection, surroundings, &output, aim)?;

    let api = target::dialect(server.request.api.as_deref(), server.target.as_ref())?;
    let seed = seed::settle(each.seed, output.resume.as_deref(), aim)?;
    let nature = data::nature(&mut data, &api)?;
    task::check(&api, (&data, nature), &server.request, &load, aim)?;
    let task = task::of(&api);
    let twin = server.twin.as_deref().filter(|_| aim == Aim::Predict);
    let sizes = data::settled_sizes(&data, nature, task, twin, &mut notes);
    let wanted = load::Wanted { load: &load, each: &each, search: search.as_ref() };
    let slo = output.slo.as_ref();
    let levels = load::levels(&wanted, &sizes, nature, slo, server.target.is_none(), &mut notes)?;
    let (levels, course) = course::course(&course, &each, levels, seed.value)?;
    let metrics = server.metrics.metrics;
    let insecure = server.connection.insecure;
    let reach = connection::reach(
        server.connection,
        server.target,
        metrics.as_ref(),
        surroundings,
        &mut notes,
        &mut warnings,
    )?;
    if let Some(slo) = slo {
        task::check_slo(slo, &api)?;
        slo::check(slo, !server.request.no_stream, &levels, &mut notes)?;
    }
    output::check(output.out.as_deref(), rival.is_some())?;
    let url = reach.url.as_ref();
    let embedded = target::embedded(server.twin, url, aim, surroundings, &mut notes)?;
    notes.push(seed.note());

    let usual = Plan::new(Target {
        url: url.map(TargetUrl::shown),
        embedded,
        predicted: aim == Aim::Predict,
        api,
        insecure,
        header_names: connection::header_names(&reach),
        source_addresses: connection::count_of(&reach.sources),
        accuracy: None,
    });
    let mut plan = Plan {
        levels,
        data: data::plan(data, nature)?,
        request: request_plan(server.request, task),
        timeouts: connection::timeouts(&server.timeouts, usual.timeouts),
        allow_failures: output.allow_failures,
        shed_retries,
        max_failures: server.overload.max_failures,
        slo: output.slo,
        seed: seed.value,
        label: output.label,
        note: output.note,
        save_text: output.save_text,
        course,
        server: server::plan(metrics.as_ref(), args.cost)?,
        ..usual
    };
    let host = url.map(TargetUrl::host);
    plan.fleet = fleet::plan(&server.fleet, &plan, aim, host, &mut notes)?;
    if rival.is_some() {
        fleet::note_two(&plan, &mut notes);
    }
    let place = match &output.resume {
        Some(dir) => resume::place(dir, &plan, aim)?,
        None => output.out.map_or(RunOutput::Below(RUNS.into()), RunOutput::At),
    };
    let workload = opened(&plan)?;
    workload.recognised().into_iter().for_each(|text| notes.push(text));
    warnings.extend(workload.warnings());
    for note in workload.checked() {
        notes.push(Message::each(|language| note.in_language(language).what.clone()));
    }
    let (workload, stop) = (Some(workload), StopSignal::new());
    let crew = fleet::crew(&server.fleet, &plan, &mut warnings)?;
    let command = surroundings.command.clone();
    let preset = args.settings.preset.as_deref().and_then(presets::find);
    let used =
        preset.map(|preset| dyno_words::Note::Preset.with(values![preset.name, preset.version()]));
    let used = used.into_iter().collect();
    let order = Order { plan, reach, workload, place, stop, notes: used, crew, command };
    let (notes, dry_run) = (notes.into_messages(), each.dry_run);
    let mut resolved = Resolved { order, versus: None, showing, dry_run, notes, warnings };
    if let Some(rival) = rival {
        rival.join(&mut resolved)?;
    }
    Ok(resolved)
}

/// The data of a plan, with something to send in every level.
fn opened(plan: &Plan) -> Result<Workload, UsageError> {
    let opened = Workload::open(plan).and_then(|data| data.check(plan).map(|()| data));
    opened.map_err(|(flag, message)| UsageError::new(flag, message))
}

fn request_plan(request: RequestArgs, task: Task) -> RequestPlan {
    RequestPlan {
        model: request.model,
        stream: !request.no_stream && task.generates(),
        temperature: request.temperature,
        stop: request.stop,
        extra_body: request.extra_body.map(|body| body.0),
        task,
        usage: request.usage,
    }
}

/// Refuses flags that have no effect without another one.
fn needs(flags: &[(&str, bool)], other: &str, is_given: bool) -> Result<(), UsageError> {
    match flags.iter().find(|(_, given)| *given && !is_given) {
        Some((flag, _)) => Err(UsageError::new(
            *flag,
            message!(
                "only applies to {other}; add that, or remove it",
                "仅用于 {other}；请加上它，或去掉此参数"
            ),
        )),
        None => Ok(()),
    }
}

/// Names the file and the reason.
pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> Message {
    message!("cannot read `{}`: {error}", "无法读取 `{}`：{error}", path.display(),)
}

#[cfg(test)]
mod tests;
