//! Plan and environment: the most important parts as a table, and all of it as JSON.

use super::Page;
use super::markup::{Markup, class, tag};
use super::numbers::counted;
use super::tables::{Cell, Row, pairs, table};
use super::words::Word;
use crate::text::ABSENT;
use dyno_model::environment::Environment;
use dyno_model::plan::{LevelPlan, Plan, Task, Warmup};
use dyno_model::units::format_duration;
use serde::Serialize;

/// Both parts; nothing where neither is known.
pub(super) fn setup(page: &Page) -> Option<Markup> {
    let plan = page.plan.map(|plan| planned(page, plan));
    let place = page.environment.map(|environment| place(page, environment));
    let parts: Vec<Markup> = [plan, place].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.into_iter().collect())
}

/// The whole file, folded away.
fn raw(page: &Page, name: &str, value: &impl Serialize) -> Markup {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| error.to_string());
    let head = tag("summary").text(&page.fill(Word::Raw, &[name]));
    let raw = class("pre", "raw").attr("tabindex", "0").attr("aria-label", name).lines(&text);
    tag("details").add(head).add(raw).into()
}

fn planned(page: &Page, plan: &Plan) -> Markup {
    let yes_or_no = |yes: bool| page.say(if yes { Word::Yes } else { Word::No }).to_owned();
    let say = |word: Word| page.say(word).to_owned();
    let (data, request, times) = (&plan.data, &plan.request, &plan.timeouts);
    let (server, run) = (&plan.server, &page.summary.run);
    let facts = vec![
        (say(Word::Model), request.model.clone()),
        (say(Word::Streamed), Some(yes_or_no(request.stream))),
        (say(Word::Temperature), request.temperature.map(|value| value.to_string())),
        (say(Word::Data), Some(data.spec.clone().unwrap_or_else(|| say(Word::RandomPrompts)))),
        (say(Word::Tokenizer), data.tokenizer.clone()),
        (say(Word::UniquePrefix), data.unique_prefix.then(|| yes_or_no(true))),
        (say(Word::Slo), run.slo.clone()),
        (say(Word::AllowFailures), Some(format!("{} %", plan.allow_failures * 100.0))),
        (
            say(Word::OnShed),
            plan.shed_retries.map(|most| page.fill(Word::SentAgain, &[&most.to_string()])),
        ),
        (say(Word::TotalTimeout), Some(format_duration(times.total_ns))),
        (say(Word::Gpus), server.gpus.map(|gpus| gpus.to_string())),
        (say(Word::Seed), Some(plan.seed.to_string())),
        (say(Word::PlanHash), run.plan_hash.clone()),
        (say(Word::Command), run.command.clone()),
    ];
    let task = request.task;
    let generates = task.generates();
    let heads = [
        Word::Level,
        Word::LevelRequests,
        Word::Time,
        Word::Warmup,
        Word::InputTokens,
        // Where nothing is generated, there is no length of the output.
        if generates { Word::OutputTokens } else { Word::PlannedInputs },
    ];
    let heads = heads.map(|head| page.say(head).to_owned());
    let levels = table(
        page.say(Word::PlannedLevels),
        &heads,
        plan.levels.iter().map(|one| level(one, task)).collect(),
    );
    let folded = plan.levels.len() > 12;
    let head =
        tag("summary").text(&page.fill(Word::PlannedCount, &[&plan.levels.len().to_string()]));
    let levels = tag("details").maybe("open", (!folded).then_some("")).add(head).add(levels);
    tag("div")
        .add(tag("h3").text(page.say(Word::Plan)))
        .adds(pairs(facts))
        .add(levels)
        .add(raw(page, "plan.json", plan))
        .into()
}

fn level(level: &LevelPlan, task: Task) -> Row {
    let warmup = level.warmup.map(|warmup| match warmup {
        Warmup::Requests(requests) => counted(requests),
        Warmup::Duration(nanos) => format_duration(nanos),
    });
    let requests = level.requests.map(counted);
    let time = level.duration_ns.map(format_duration);
    // Data may have lists of texts, of which each has its own number.
    let usual = (level.input_tokens.0 != "data").then(|| task.usual_inputs());
    let inputs = level.inputs.or(usual);
    let shown = |value: Option<String>| Cell::number(value.as_deref().unwrap_or(ABSENT));
    Row::plain(vec![
        Cell::head(&level.label),
        shown(requests),
        shown(time),
        shown(warmup),
        Cell::number(&level.input_tokens.0),
        shown(match task.generates() {
            true => Some(level.output_tokens.0.clone()),
            false => inputs.map(|inputs| inputs.to_string()),
        }),
    ])
}

fn place(page: &Page, environment: &Environment) -> Markup {
    let (host, server) = (&environment.host, &environment.server);
    let say = |word: Word| page.say(word).to_owned();
    let mut facts = vec![
        (say(Word::Client), Some(host.name.clone())),
        (say(Word::System), Some(host.os.clone())),
        (say(Word::Cpu), host.cpu.clone()),
        (say(Word::Cores), Some(host.cores.to_string())),
        (say(Word::OpenFiles), host.open_files.map(counted)),
        (say(Word::Version), Some(environment.dyno.clone())),
    ];
    let header = |header: &str| {
        let found = server.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(header));
        found.map(|(_, value)| value.clone())
    };
    facts.push((say(Word::ServerSoftware), header("server")));
    let used = server.addresses.iter().filter(|address| address.unused.is_none());
    let used: Vec<&str> = used.map(|address| address.address.as_str()).collect();
    facts.push((say(Word::Addresses), (!used.is_empty()).then(|| used.join(", "))));
    if let Some(preflight) = &environment.preflight {
        let refused: Vec<&str> =
            preflight.refused.iter().map(|(field, _)| field.as_str()).collect();
        facts.push((say(Word::LengthField), preflight.length_field.clone()));
        facts.push((say(Word::Refused), Some(refused.join(", "))));
    }
    tag("div")
        .add(tag("h3").text(page.say(Word::Environment)))
        .adds(pairs(facts))
        .add(raw(page, "environment.json", environment))
        .into()
}
