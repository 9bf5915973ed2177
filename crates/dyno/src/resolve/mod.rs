//! From arguments to a plan: fills in defaults, reads files, refuses contradictions. The plan contains
//! no secrets; those are passed separately.

mod capacity;
mod course;
mod data;
pub(crate) mod fleet;
mod load;
mod notes;
mod overload;
mod ramp;
mod resume;
mod search;
mod secrets;
mod seed;
mod server;
mod slo;
mod surroundings;
mod task;
mod versus;

pub(crate) use data::choice_plan;
pub(crate) use resume::may_resume;
pub(crate) use surroundings::Surroundings;

use crate::args::bench::{
    BenchArgs, ConnectionArgs, OutputArgs, ProgressArg, RequestArgs, UsageArg,
};
use crate::args::metrics::MetricsArg;
use crate::args::report::Written;
use crate::args::target::TargetUrl;
use crate::commands::RUNS;
use crate::commands::loaded::meant;
use crate::usage::UsageError;
use data::{Nature, Usual};
use dyno_engine::twin::Twin;
use dyno_model::Language;
use dyno_model::nearest::nearest;
use dyno_model::plan::{
    Api, PLAN_SCHEMA, Plan, RequestPlan, Shard, Target, Task, Timeouts, UsageWanted,
};
use dyno_report::Selection;
use dyno_report::layout::Layout;
use dyno_run::{
    Embedded, MetricsFrom, Order, Place, Reach, Sources, StopSignal, TlsSettings, Workload,
    api_of_path, apis,
};
use dyno_words::InLanguage;
use notes::{Note, Notes};
use std::fmt;
use std::path::Path;
use versus::Rival;

/// All that `dyno bench` needs to know.
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
    pub(crate) notes: Vec<String>,
    /// What the user should fix.
    pub(crate) warnings: Vec<String>,
}

/// How a run is shown.
pub(crate) struct Showing {
    /// The summary goes to stdout as JSON.
    pub(crate) json: bool,
    /// The language of the summary that people read.
    pub(crate) language: Language,
    /// The columns of tables that were asked for.
    pub(crate) selection: Selection,
    /// Every level is shown with its details.
    pub(crate) details: bool,
    /// The reports that are written into the run directory.
    pub(crate) reports: Vec<Layout>,
    /// No notes, no progress.
    pub(crate) quiet: bool,
    /// No progress.
    pub(crate) no_progress: bool,
    /// Progress and messages as JSON lines.
    pub(crate) json_progress: bool,
    /// A full-screen view while it runs.
    pub(crate) live: bool,
}

impl Showing {
    fn of(output: &OutputArgs, surroundings: &Surroundings) -> Self {
        Self {
            json: output.json,
            language: output.language.or(surroundings.language),
            selection: output.columns.selection(),
            details: output.columns.details,
            reports: reports(&output.report),
            quiet: output.quiet,
            no_progress: output.no_progress,
            json_progress: output.progress == ProgressArg::Json,
            live: output.live,
        }
    }
}

/// Each report once, in the order in which they were named.
fn reports(asked: &[Written]) -> Vec<Layout> {
    let mut reports = Vec::new();
    for written in asked {
        if let Written::As(layout) = written
            && !reports.contains(layout)
        {
            reports.push(*layout);
        }
    }
    reports
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
    mut args: BenchArgs,
    surroundings: &Surroundings,
    aim: Aim,
) -> Result<Resolved, UsageError> {
    if let Some(run) = &mut args.output.resume {
        *run = meant(run).map_err(|error| UsageError::new("--resume", error))?;
    }
    if let Some(dir) = args.output.resume.clone()
        && resume::is_alone(&args.output.given)
    {
        return resume::again(args, &dir, surroundings);
    }
    let BenchArgs { target, twin, load, course, mut data, request, connection, timeouts, .. } =
        args;
    let (metrics, cost, output) = (args.metrics.metrics, args.cost, args.output);
    let shed_retries = overload::retries(&args.overload)?;
    let showing = Showing::of(&output, surroundings);
    let rival = Rival::of(args.versus, &connection, surroundings, &output, aim)?;
    let mut notes = Notes::new(showing.language);
    let mut warnings = Vec::new();

    let api = dialect(request.api.as_deref(), target.as_ref())?;
    let seed = seed::settle(load.seed, output.resume.as_deref(), aim)?;
    let nature = data::nature(&mut data, &api)?;
    task::check(&api, (&data, nature), &request, &load, aim)?;
    let purpose = task::of(&api);
    let fitted = twin.as_deref().filter(|_| aim == Aim::Predict && nature == Nature::Made);
    let fitted = fitted.and_then(|name| Usual::of(&Twin::load(name).ok()?));
    let sizes = data::sizes(&data, nature, purpose, fitted.unwrap_or(Usual::DEFAULT));
    if let Some(Usual { input, output }) = fitted {
        if data.input_tokens.is_none() {
            notes.add(Note::FittedInput, &[input.to_string()]);
        }
        if data.output_tokens.is_none() {
            notes.add(Note::FittedOutput, &[output.to_string()]);
        }
    }
    if purpose.generates() && data::fixed_by_default(&data, nature) {
        notes.add(Note::FixedLength, &[data::DEFAULT_OUTPUT.to_string()]);
    }
    let slo = output.slo.clone();
    let (levels, search) =
        load::levels(load, &sizes, nature, slo.as_ref(), target.is_none(), &mut notes)?;
    let dry_run = course.dry_run;
    let (levels, course) = course::course(&course, levels, search, seed.value)?;
    let secrets =
        secrets::gather(&connection, surroundings, target.is_some(), &mut notes, &mut warnings)?;
    let sources = sources(&connection)?;
    let connection = tls(connection, target.as_ref(), &mut notes)?;
    if let Some(slo) = &output.slo {
        task::check_slo(slo, &api)?;
        slo::check(slo, !request.no_stream, &levels, &mut notes)?;
    }
    if let Some(dir) = &output.out {
        versus::directories(dir, rival.is_some()).iter().try_for_each(|dir| check_out(dir))?;
    }
    let default = || Twin::default_name().to_owned();
    let embedded = target.is_none().then(|| twin.unwrap_or_else(default));
    if let Some(name) = &embedded {
        Embedded::named(name).map_err(|error| UsageError::new("--twin", error))?;
    }
    if let Some(embedded) = &embedded {
        let note = match aim {
            Aim::Measure => Note::Embedded,
            Aim::Predict => Note::Predicting,
        };
        notes.add(note, &[embedded]);
    } else if !surroundings.proxies.is_empty() {
        notes.add(Note::ProxyIgnored, &[surroundings.proxies.join(", ")]);
    }
    notes.add(seed.note(), &[seed.value.to_string()]);

    let mut plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        target: Target {
            url: target.as_ref().map(TargetUrl::shown),
            embedded,
            predicted: aim == Aim::Predict,
            api,
            insecure: connection.insecure,
            header_names: secrets.headers.iter().map(|(name, _)| name.clone()).collect(),
            source_addresses: count_of(&sources),
            accuracy: None,
        },
        levels,
        data: data::plan(data, nature)?,
        request: request_plan(request, purpose),
        timeouts: Timeouts {
            connect_ns: timeouts.timeout_connect,
            total_ns: timeouts.timeout_total,
            first_token_ns: timeouts.timeout_first_token.unwrap_or(timeouts.timeout_total),
            idle_ns: timeouts.timeout_idle,
        },
        allow_failures: output.allow_failures,
        shed_retries,
        max_failures: args.overload.max_failures,
        slo: output.slo,
        seed: seed.value,
        shard: Shard::WHOLE,
        fleet: None,
        label: output.label,
        note: output.note,
        save_text: output.save_text,
        course,
        server: server::plan(metrics.as_ref(), cost)?,
    };
    let host = target.as_ref().map(TargetUrl::host);
    plan.fleet = fleet::plan(&args.fleet, &plan, aim, host, showing.language, &mut notes)?;
    if let Some(fleet) = plan.fleet.as_ref().filter(|_| rival.is_some()) {
        let each = fleet.agents.to_string();
        let all = fleet.agents.saturating_mul(2).to_string();
        notes.add(if fleet.bus { Note::VersusBus } else { Note::VersusAgents }, &[all, each]);
    }
    let place = match &output.resume {
        Some(dir) => resume::place(dir, &plan, aim)?,
        None => output.out.map_or(Place::Below(RUNS.into()), Place::At),
    };
    let workload = opened(&plan)?;
    workload.recognised().into_iter().for_each(|text| notes.push(text));
    warnings.extend(workload.warnings());
    for note in workload.checked() {
        notes.push(note.in_language(showing.language).what.clone());
    }
    let metrics = metrics_from(metrics.as_ref());
    let reach =
        Reach { url: target, tls: connection, secrets, metrics, sources, ..Reach::default() };
    let (workload, stop) = (Some(workload), StopSignal::new());
    let crew = fleet::crew(&args.fleet, &plan, showing.language, &mut warnings)?;
    let command = surroundings.command.clone();
    let order = Order { plan, reach, workload, place, stop, notes: Vec::new(), crew, command };
    let notes = notes.into_texts();
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

/// How an agent reaches the servers that it may measure, and what its user should know.
pub(crate) fn reach_of_agent(
    connection: ConnectionArgs,
    surroundings: &Surroundings,
) -> Result<(Reach, Vec<String>), UsageError> {
    let (mut notes, mut warnings) = (Notes::new(surroundings.language), Vec::new());
    let secrets = secrets::gather(&connection, surroundings, true, &mut notes, &mut warnings)?;
    let sources = sources(&connection)?;
    let tls = tls(connection, None, &mut notes)?;
    Ok((Reach { tls, secrets, sources, ..Reach::default() }, warnings))
}

/// Where the server metrics are scraped.
fn metrics_from(asked: Option<&MetricsArg>) -> MetricsFrom {
    match asked {
        None => MetricsFrom::Target,
        Some(MetricsArg::Off) => MetricsFrom::Nowhere,
        Some(MetricsArg::At(url)) => MetricsFrom::Url(url.clone()),
    }
}

fn request_plan(request: RequestArgs, task: Task) -> RequestPlan {
    RequestPlan {
        model: request.model,
        stream: !request.no_stream && task.generates(),
        temperature: request.temperature,
        stop: request.stop,
        extra_body: request.extra_body.map(|body| body.0),
        task,
        usage: match request.usage {
            UsageArg::Auto => UsageWanted::Continuous,
            UsageArg::Final => UsageWanted::Final,
            UsageArg::None => UsageWanted::None,
        },
    }
}

/// A full endpoint path determines the dialect; a flag that contradicts it is an error.
fn dialect(typed: Option<&str>, target: Option<&TargetUrl>) -> Result<Api, UsageError> {
    let named = |name: &str| apis().find(|about| about.name == name);
    let auto = typed == Some(Api::AUTO.name());
    let typed = typed.and_then(named).map(|about| Api::named(about.name));
    let path = target.map(|url| url.path().trim_end_matches('/')).unwrap_or_default();
    let by_path = api_of_path(path);
    if let (None, Some(meant)) = (&typed, misspelt(path, by_path.as_ref())) {
        let wrong = UsageError::new("TARGET", format!("`{path}` is the path of no API"));
        return Err(wrong.hint(format!("did you mean {meant}?")));
    }
    match (typed, by_path) {
        (Some(typed), Some(by_path)) if !may_have_path(&typed, &by_path) => Err(UsageError::new(
            "--api",
            format!("`{typed}` contradicts TARGET, whose path `{path}` is {by_path}"),
        )
        .hint("remove --api, or shorten TARGET to its base URL")),
        (None, None) if auto => Ok(Api::AUTO),
        (typed, by_path) => Ok(typed.or(by_path).unwrap_or_default()),
    }
}

/// Whether the requests of an API may go to a path that is usually that of another: some servers have one
/// API where others have the other.
fn may_have_path(typed: &Api, by_path: &Api) -> bool {
    let path = |api: &Api| apis().find(|about| about.name == api.name()).map(|about| about.path);
    typed == by_path || path(typed) == path(by_path)
}

/// The path of an API that is nearly this one, where the last part is misspelt. What is the path of an API
/// in full, or ends like that of one with a prefix, is meant.
fn misspelt(path: &str, by_path: Option<&Api>) -> Option<String> {
    let prefix = |api: &Api| apis().find(|about| about.name == api.name()).map(|a| a.prefix);
    if by_path.and_then(prefix).is_some_and(|prefix| !prefix.is_empty()) {
        return None;
    }
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let near = apis().map(|about| about.whole_path()).filter(|whole| {
        let parts = whole.matches('/').count();
        let tail = path.rmatch_indices('/').nth(parts - 1).map(|(at, _)| &path[at..]);
        tail.is_some_and(|tail| {
            last(tail) != last(whole) && nearest(tail, &[whole.as_str()]).is_some()
        })
    });
    let longest = near.max_by_key(|whole| whole.matches('/').count())?;
    let exact = apis().any(|about| path == about.whole_path());
    (!exact).then_some(longest)
}

/// The source addresses, all of this machine.
fn sources(args: &ConnectionArgs) -> Result<Sources, UsageError> {
    let sources: Sources = args.source_address.iter().cloned().collect();
    let local = sources.are_local();
    local.map(|()| sources).map_err(|error| UsageError::new("--source-address", error.to_string()))
}

/// What the plan says of them.
fn count_of(sources: &Sources) -> Option<u32> {
    u32::try_from(sources.count()).ok().filter(|count| *count > 0)
}

fn tls(
    args: ConnectionArgs,
    target: Option<&TargetUrl>,
    notes: &mut Notes,
) -> Result<TlsSettings, UsageError> {
    for (flag, file) in [("--ca-cert", &args.ca_cert), ("--client-cert", &args.client_cert)] {
        if let Some(path) = file {
            std::fs::File::open(path)
                .map_err(|error| UsageError::new(flag, cannot_read(path, &error)))?;
        }
    }
    if !target.is_some_and(TargetUrl::is_https) {
        for (flag, given) in [
            ("--insecure", args.insecure),
            ("--ca-cert", args.ca_cert.is_some()),
            ("--client-cert", args.client_cert.is_some()),
        ] {
            if given {
                notes.add(Note::NotHttps, &[flag]);
            }
        }
    }
    Ok(TlsSettings {
        ca_cert: args.ca_cert,
        client_cert: args.client_cert,
        insecure: args.insecure,
    })
}

fn check_out(dir: &Path) -> Result<(), UsageError> {
    let wrong = |message| UsageError::new("--out", message);
    match std::fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(wrong(format!("`{}` is not empty; name a new directory", dir.display()))
            .hint("a run never overwrites another")),
        Ok(false) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(_) if dir.is_file() => {
            Err(wrong(format!("`{}` is a file; name a new directory", dir.display())))
        }
        Err(error) => Err(wrong(format!("cannot use `{}`: {error}", dir.display()))),
    }
}

/// Names the file and the reason.
pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

#[cfg(test)]
mod tests;
