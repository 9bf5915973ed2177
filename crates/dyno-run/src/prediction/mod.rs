//! Prepares a prediction: a twin in virtual time instead of a server, its capacity at each level, and
//! how far the levels are outside the range that it was fitted to.

mod capacity;
mod pace;
mod range;

pub(crate) use pace::PredictionPace;

use crate::api::has_messages;
use crate::error::RunError;
use crate::identity;
use crate::predicted::SimulatedBackend;
use crate::prepared::PreparedRun;
use crate::tokenize::Failure;
use crate::workload::Workload;
use dyno_engine::Prompt;
use dyno_engine::predicted::{ClientBehaviour, Predicted};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Accuracy;
use dyno_model::environment::{Preflight, Server};
use dyno_model::level_schedule::Search;
use dyno_model::plan::{Arrival, LevelPlan, Load, Plan, PredictionAccuracy};
use dyno_model::{Diagnostic, Message, Nanos, message};
use dyno_words::Note;
use dyno_workload::tokenizer::{Ask, Tokenizer};
use std::sync::Arc;

/// Network delay to a server nearby: as short as possible.
const WAY: Nanos = 1_000;

/// Sets up the twin of the plan and what will be sent.
pub(crate) fn prepare(
    plan: &Plan,
    mut workload: Workload,
    is_counted: bool,
) -> Result<PreparedRun, RunError> {
    let name = plan.target.embedded.as_deref().unwrap_or(Twin::default_name());
    let twin = Twin::load(name).map_err(|error| RunError::setting("--twin", error))?;
    if workload.is_open_to_server() && !is_counted {
        let counter = Tokenizer::by_asking(Box::new(count_words));
        workload.count_with(counter, Failure::default(), None);
        workload.check(plan)?;
    }
    workload.set_context(Some(twin.context()));
    if !twin.scheduler.prefix_cache {
        workload.leave_text_out();
    }
    let mut plan = plan.clone();
    plan.target.accuracy = twin.accuracy.map(|Accuracy { rate, ttft, itl, latency }| {
        PredictionAccuracy { rate, ttft, itl, latency }
    });
    let notes = assess(&twin, &mut plan, &workload).map_err(RunError::Usage)?;
    let core = twin.core(plan.seed).map_err(|error| RunError::setting("--twin", error))?;
    let model = plan.request.model.clone().unwrap_or_else(|| twin.name.clone());
    let length_field = Some("ignore_eos".to_owned());
    let preflight = Preflight { model, length_field, ..Preflight::default() };
    let environment = identity::environment(Server::default(), preflight, notes);
    let capacity = of_sweep(&twin, &plan, &workload).map_err(RunError::Usage)?;
    let (streamed, answers) = (plan.request.stream, workload.needs_answers());
    let client = ClientBehaviour { way: WAY, streamed, details: true, answers, patience: None };
    let engine = Predicted::new(core, client);
    let prompts = engine.prompts(has_messages(&plan));
    let backend = Box::new(SimulatedBackend { engine, prompts, seed: plan.seed });
    Ok(PreparedRun { plan: Arc::new(plan), backend, workload, environment, capacity })
}

/// Puts the twin's capacity into each level; returns notes on levels outside its fitted range.
fn assess(twin: &Twin, plan: &mut Plan, workload: &Workload) -> Result<Vec<Diagnostic>, Message> {
    let mut typical = Vec::new();
    for number in 0..plan.levels.len() as u32 {
        typical.push(workload.typical(plan, number)?);
    }
    for (level, lengths) in plan.levels.iter_mut().zip(&typical) {
        if let (Load::Rate { .. }, Some(lengths)) = (level.load, lengths) {
            level.capacity = capacity::interval(twin, *lengths);
        }
        level.extrapolated = range::is_far(twin, level, *lengths);
    }
    let mut notes = range::notes(twin, &plan.levels, &typical);
    if twin.cost.noise == 0.0 && plan.levels.iter().any(is_equal_in_all_rounds) {
        notes.push(Note::RoundsEqual.with([&twin.name]));
    }
    Ok(notes)
}

/// Whether a repeated level draws nothing at random but noise: lengths are the same in all rounds.
fn is_equal_in_all_rounds(level: &LevelPlan) -> bool {
    let has_random_arrivals = match level.load {
        Load::Rate { arrival, .. } | Load::Ramp { arrival, .. } => arrival != Arrival::Constant,
        Load::Concurrency { .. } | Load::Burst { .. } | Load::Trace { .. } => false,
    };
    level.repeat.is_some() && !has_random_arrivals
}

/// The twin's capacity, for the rates of a sweep: above it, latencies depend on the length of the run.
/// (A capacity search needs to know by how much a rate is too high, and so keeps its latencies.)
fn of_sweep(twin: &Twin, plan: &Plan, workload: &Workload) -> Result<Option<[f64; 2]>, Message> {
    let Some(Search::Sweep { .. }) = plan.course.search else { return Ok(None) };
    let lengths = workload.typical(plan, 0)?;
    Ok(lengths.and_then(|lengths| capacity::interval(twin, lengths)))
}

/// Tokens as the engine counts them: words.
fn count_words(what: &Ask<'_>) -> Result<u32, Message> {
    let count = |text: &str| text.split_whitespace().count();
    let counted = match what {
        Ask::Text(text) => count(text),
        Ask::Messages(messages) => messages.iter().map(|message| count(&message.content)).sum(),
        Ask::Recorded(prompt) => {
            let prompt = Prompt::of_recorded(prompt, true, 1).map_err(Message::quoted)?;
            return Ok(prompt.tokens);
        }
    };
    u32::try_from(counted)
        .map_err(|_| message!("a prompt has more than 4 billion words", "有提示词超过 40 亿个词"))
}
