//! From an order to a target that is ready: opened, preflight done, request shape settled.

use crate::api::dialect_of;
use crate::error::RunError;
use crate::fleet;
use crate::identity::{self, on_one_line, one_line};
use crate::instead::Refused;
use crate::levels::Backend;
use crate::metrics::{self, Metrics};
use crate::observer::RunObserver;
use crate::order::Order;
use crate::prediction;
use crate::shared;
use crate::target::{OpenTarget, ServerBackend, at, open, unreachable_at};
use crate::tokenize::{self, CountedBy, Failure};
use crate::workload::{BY_COUNTS, SettingError, Workload};
use dyno_drive::{Stop, StopSignal};
use dyno_model::environment::{Environment, Made, Server};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Plan, Task};
use dyno_model::prompt::Item;
use dyno_model::record::RequestRecord;
use dyno_model::{Diagnostic, Message, message};
use dyno_net::Clock;
use dyno_wire::encode::Encoder;
use dyno_wire::preflight::{PreflightError, PreflightSetup, Settled, is_about_length, preflight};
use dyno_words::Note;
use dyno_workload::tokenizer::Tokenizer;
use std::sync::Arc;
use std::time::Duration;

/// A target that is ready, and what will be sent to it.
pub(crate) struct PreparedRun {
    /// The plan as it is saved.
    pub(crate) plan: Arc<Plan>,
    pub(crate) backend: Box<dyn Backend>,
    pub(crate) workload: Workload,
    pub(crate) environment: Environment,
    /// The interval that contains a twin's capacity in requests per second, for rate levels.
    pub(crate) capacity: Option<[f64; 2]>,
}

impl PreparedRun {
    /// Prepares an order. `counted` is the workload, where its tokenizer is settled already.
    pub(crate) fn of(
        order: &Order,
        counted: Option<Workload>,
        clock: Clock,
        observer: &dyn RunObserver,
    ) -> Result<Self, RunError> {
        let is_counted = counted.is_some();
        let mut workload = match counted.or_else(|| order.workload.clone()) {
            Some(workload) => workload,
            None => {
                let workload = Workload::open(&order.plan)?;
                workload.check(&order.plan)?;
                workload
            }
        };
        workload.set_attempt(&order.plan, identity::attempt(order, &clock));
        let begun_with = order.past().map(|past| past.files.as_slice());
        let files = workload.settle_files(&order.plan, begun_with)?;
        let mut prepared = match order.plan.target.predicted {
            true => prediction::prepare(&order.plan, workload, is_counted),
            false => measured(order, workload, is_counted, clock, observer),
        }?;
        prepared.environment.notes.extend(order.notes.iter().cloned());
        prepared.environment.attempts = order.past().map(|past| past.attempts + 1);
        prepared.environment.made = Made { command: order.command.clone(), directory: None, files };
        Ok(prepared)
    }

    /// Between levels: rests, resets the cache if asked to, and checks that the target responds.
    pub(crate) fn between(
        &mut self,
        stop: &StopSignal,
        observer: &dyn RunObserver,
    ) -> Result<(), Message> {
        if self.plan.course.cooldown_ns > 0 {
            observer.rests(Duration::from_nanos(self.plan.course.cooldown_ns));
            self.backend.rest(self.plan.course.cooldown_ns, stop);
        }
        if self.plan.course.reset_cache {
            self.backend.reset_cache(stop)?;
        }
        self.backend.check_health(stop)
    }
}

/// Prepares a server, or the embedded engine in its place.
fn measured(
    order: &Order,
    mut workload: Workload,
    is_counted: bool,
    clock: Clock,
    observer: &dyn RunObserver,
) -> Result<PreparedRun, RunError> {
    let Order { plan, stop, .. } = order;
    let mut target = open(order, workload.needs_answers(), clock)?;
    let settled = ask_first(plan, &mut target, stop)?;
    target.tells_slip = settled.engine;
    let Settled { shape, preflight, server, notes, .. } = settled;
    let counting = match is_counted {
        true => Vec::new(),
        false => {
            let at = fleet::bare_url(plan, &target);
            count_by_server(plan, &mut workload, &target, (&at, &shape.model), stop)?.0
        }
    };
    let addresses = target.addresses.clone();
    let settled = fleet::AgreedWorkload::new(&shape, addresses, (&server, &preflight), &workload);
    let encoder = Encoder::new(&target.endpoint, dialect_of(plan)?, shape, &target.headers);
    let server = Server { addresses: std::mem::take(&mut target.addresses), ..server };
    let mut environment = identity::environment(server, preflight, notes);
    workload.set_context(environment.context());
    environment.notes.extend(counting);
    environment.notes.extend(counts_differ(plan, &mut target, &encoder, &workload, stop)?);
    target.metrics = find_metrics(order, &target, observer);
    if let Some(preflight) = &mut environment.preflight
        && plan.request.task.generates()
    {
        preflight.shared_tokens = shared::measure(&mut target, &encoder, workload.run(), stop)?;
    }
    let mut backend = ServerBackend { target, encoder };
    if plan.course.reset_cache {
        backend.reset_cache(stop).map_err(|message| RunError::setting("--reset-cache", message))?;
    }
    let backend: Box<dyn Backend> = match &plan.fleet {
        Some(wanted) => {
            let run = identity::run_id(order, &clock);
            Box::new(fleet::gather(order, wanted, backend, &settled, clock, &run)?)
        }
        None => Box::new(backend),
    };
    let plan = Arc::new(plan.clone());
    Ok(PreparedRun { plan, backend, workload, environment, capacity: None })
}

/// Sends the preflight requests.
pub(crate) fn ask_first(
    plan: &Plan,
    target: &mut OpenTarget,
    stop: &StopSignal,
) -> Result<Settled, RunError> {
    let (endpoint, headers) = (&target.endpoint, &target.headers);
    let setup = PreflightSetup { plan, endpoint, headers, stop };
    let error = match preflight(&mut target.client, &setup) {
        Ok(settled) => return Ok(settled),
        Err(error) => error,
    };
    let message = on_one_line(&error);
    Err(match &error {
        PreflightError::Target(_) => {
            RunError::Target(message!("{}: {message}", "{}：{message}", at(plan)))
        }
        PreflightError::Other { other, .. } => Refused { plan, target, stop }.other(message, other),
        PreflightError::NoSuchApi(_) => Refused { plan, target, stop }.missing(message),
        PreflightError::Unreachable { tls, .. } => {
            let dialect = target.client.rules().dialect;
            unreachable_at(plan, (endpoint, dialect), tls.as_deref(), message)
        }
        PreflightError::Model(_) => RunError::Usage(message),
        PreflightError::Interrupted => RunError::Interrupted(message),
        PreflightError::Client(_) => RunError::Own(message),
    })
}

/// Counts tokens with the tokenizer of the server at a URL, for a model, where none was given; the
/// estimate takes its place where it fails. Returns notes, and why the server does not count.
pub(crate) fn count_by_server(
    plan: &Plan,
    workload: &mut Workload,
    target: &OpenTarget,
    (at, model): (&str, &str),
    stop: &StopSignal,
) -> Result<(Vec<Diagnostic>, Option<Message>), RunError> {
    let mut notes = Vec::new();
    if !workload.is_open_to_server() {
        return Ok((notes, Some(message!("there is a tokenizer", "已有分词器"))));
    }
    let server = match tokenize::of_server(&target.client, model, stop) {
        Ok(server) => server,
        Err(why) => return Ok((notes, Some(why))),
    };
    let counting = CountedBy {
        at: at.to_owned(),
        path: server.path.to_owned(),
        model: model.to_owned(),
        text_only: server.text_only.is_some(),
    };
    if let Some(why) = server.text_only {
        notes.push(Note::TokenizerTextOnly.with([on_one_line(&why)]));
    }
    workload.count_with(server.tokenizer, server.failure.clone(), Some(counting));
    let mut checked = workload.check(plan);
    // Prompts cannot be made with its counts, but perhaps without them: then it is no tokenizer.
    let by_counts = |(flag, _): &&SettingError| *flag == BY_COUNTS && stop.get() == Stop::No;
    let unusable = checked.as_ref().err().filter(by_counts).map(|(_, why)| why.clone());
    let failed = server.failure.get().or(unusable);
    if let Some(why) = &failed {
        notes = vec![Note::TokenizerFailed.with([on_one_line(why)])];
        workload.count_with(Tokenizer::estimate(), Failure::default(), None);
        checked = workload.check(plan);
    }
    checked.map_err(|fault| match stop.get() {
        Stop::No => RunError::from(fault),
        _ => RunError::Interrupted(message!("interrupted", "已中断")),
    })?;
    Ok((notes, failed))
}

/// Sends a prompt as long as the first once before the run, and compares our token count with the
/// server's.
fn counts_differ(
    plan: &Plan,
    target: &mut OpenTarget,
    encoder: &Encoder,
    workload: &Workload,
    stop: &StopSignal,
) -> Result<Option<Diagnostic>, RunError> {
    // A reranker counts the query with each document.
    if plan.request.task == Task::Rank {
        return Ok(None);
    }
    let Some(item) = workload.specimen(plan).map_err(RunError::Usage)? else { return Ok(None) };
    let record = tokenize::probe(&mut target.client, encoder, &item, stop)
        .map_err(|error| RunError::Interrupted(Message::of(error)))?;
    if let Some(error) = too_long(plan, &item, &record) {
        return Err(error);
    }
    let counts = item.input_tokens.zip(record.input.map(|count| count.tokens));
    Ok(counts.filter(|(ours, servers)| u64::from(*ours) != *servers).map(|(ours, servers)| {
        Note::TokenCountsDiffer.with(vec![ours.to_string(), servers.to_string()])
    }))
}

/// The server refuses a prompt for its length, and all of the first level are as long: the level could
/// only fail. Prompts of a file or of various lengths may fit where this one does not.
fn too_long(plan: &Plan, item: &Item, record: &RequestRecord) -> Option<RunError> {
    let Outcome::Failed(FailureClass::Http(status)) = record.outcome else { return None };
    let asked = &plan.levels.first()?.input_tokens;
    let fixed = plan.data.spec.is_none() && asked.0.trim().parse::<u32>().is_ok();
    let message = record.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    if !fixed || !is_about_length(status, &message) {
        return None;
    }
    let (at, tokens, said) = (at(plan), item.input_tokens?, one_line(&message));
    let refused = message!(
        "{at}: the server refuses prompts of {tokens} tokens as too long: HTTP {status}: {said}",
        "{at}：服务器因过长而拒绝 {tokens} 个 token 的提示词：HTTP {status}：{said}",
    );
    Some(RunError::Target(refused.with_hint(message!(
        "lower --input-tokens, or start the server with a longer context",
        "请减小 --input-tokens，或以更长的上下文启动服务器",
    ))))
}

/// Finds the server's metrics. Warns where they were requested and are not available.
fn find_metrics(order: &Order, target: &OpenTarget, observer: &dyn RunObserver) -> Option<Metrics> {
    metrics::find(target, &order.reach, &order.stop).unwrap_or_else(|why| {
        observer.warn(&message!(
            "--metrics: server metrics are not available: {}",
            "--metrics：无法获取服务器指标：{}",
            on_one_line(&why),
        ));
        None
    })
}
