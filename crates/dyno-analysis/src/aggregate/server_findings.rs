//! The rules on server metrics. They need a minimum number of samples.

use super::server::ServerWatch;
use dyno_model::plan::Plan;
use dyno_model::summary::{Concurrency, LevelSummary, ServerSummary};
use dyno_model::{Diagnostic, Message, message};
use dyno_words::escape::escape;
use dyno_words::number::{digits, percent};
use dyno_words::{ServerFinding, level_value, values};

/// Fewer samples do not describe a level.
const SAMPLES: u64 = 3;
/// Above this share of the level, something held for most of it.
const MOST: f64 = 0.5;
/// A difference of fewer requests than these may be chance.
const REQUESTS: f64 = 2.0;
const FAR_FEWER: f64 = 0.5;
const FAR_MORE: f64 = 1.5;

/// The findings about a level with so many texts per request, where it embeds or ranks texts. The server
/// may have refused requests, and its batch may have been full while requests waited.
pub(super) fn of_level(
    plan: &Plan,
    (server, full): (&ServerSummary, Option<bool>),
    here: Option<Concurrency>,
    inputs: Option<f64>,
    refused: bool,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if server.samples >= SAMPLES {
        found.extend(queue(server, full, inputs.is_some()));
        // One shard sees a part of the load, the server all of it.
        let here = here.filter(|_| plan.shard.of == 1);
        found.extend(here.and_then(|here| others(server, here.mean, inputs, refused)));
    }
    found
}

fn queue(server: &ServerSummary, full: Option<bool>, texts: bool) -> Option<Diagnostic> {
    let waiting = server.waiting?.mean;
    let share = server.waiting_share.filter(|share| *share > MOST)?;
    let running = server.running.map(|running| digits(running.mean, 1));
    let running = running.map_or(Message::quoted(""), |running| {
        message!(", with {running} in the batch", "，同时批次中有 {running} 个")
    });
    let what = match server.kv_full_share.map(|share| share > MOST) {
        _ if texts => ServerFinding::QueueTexts,
        Some(true) => ServerFinding::QueueKv,
        Some(false) if full == Some(false) => ServerFinding::QueuePrompts,
        Some(false) => ServerFinding::QueueCap,
        None => ServerFinding::Queue,
    };
    Some(what.with(values![percent(share), digits(waiting, 1), running]))
}

fn others(
    server: &ServerSummary,
    here: f64,
    inputs: Option<f64>,
    refused: bool,
) -> Option<Diagnostic> {
    let server = server.running?.mean + server.waiting?.mean;
    // What it refused is in flight here while it waits to be sent again, and nothing holds it back.
    if !refused && server < FAR_FEWER * here && server + REQUESTS < here {
        return Some(ServerFinding::Fewer.with([here, server].map(|n| digits(n, 1))));
    }
    // Many servers count each text of a request.
    let here = here * inputs.unwrap_or(1.0).max(1.0);
    (server > FAR_MORE * here && server > here + REQUESTS)
        .then(|| ServerFinding::More.with([server, here].map(|n| digits(n, 1))))
}

/// Whose counters they are, and where preemptions begin, over all levels.
pub(super) fn of_run(watch: &ServerWatch, levels: &[LevelSummary]) -> Option<Diagnostic> {
    match watch.is_mixed() {
        true => Some(ServerFinding::CountersMixed.into()),
        false => preemptions(levels),
    }
}

fn preemptions(levels: &[LevelSummary]) -> Option<Diagnostic> {
    let preempted = |level: &LevelSummary| {
        level.server.as_ref().and_then(|server| server.preemptions).filter(|n| *n > 0)
    };
    let at = levels.iter().position(|level| preempted(level).is_some())?;
    let first = &levels[at];
    let all_after = levels[at + 1..].iter().all(|level| preempted(level).is_some());
    let what = if all_after { ServerFinding::KvFullFrom } else { ServerFinding::KvFullAt };
    let used = first.server.as_ref().and_then(|server| server.kv_use_max);
    let used = used
        .map_or(Message::quoted(""), |share| message!(", {} in use", "，已用 {}", percent(share)));
    if levels.len() == 1 {
        return Some(ServerFinding::KvFull.with(values![preempted(first)?, used]));
    }
    let label = level_value(&escape(&first.label, 80));
    Some(what.with(values![label, preempted(first)?, used]))
}
