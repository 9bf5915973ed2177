//! Resuming an interrupted run: its plan must match the arguments.

use super::notes::{Note, Notes};
use super::{Aim, Inputs, Resolved, Showing, Surroundings, connection, data, fleet, opened};
use crate::args::metrics::metrics;
use crate::args::target::{TargetUrl, target};
use crate::usage::UsageError;
use dyno_model::limits;
use dyno_model::plan::{Plan, Shard};
use dyno_record::RunDir;
use dyno_run::{Order, Past, Place, StopSignal};
use dyno_words::escape::escape;
use serde_json::Value;
use std::path::Path;

/// The run in `dir`, to be resumed with this plan.
pub(super) fn place(dir: &Path, plan: &Plan, aim: Aim) -> Result<Place, UsageError> {
    if aim == Aim::Predict {
        return Err(wrong("a prediction takes seconds; run it again instead"));
    }
    let (dir, stored) = open(dir)?;
    let differ = differences(&stored, plan);
    if !differ.is_empty() {
        return Err(wrong(format!(
            "the plan of `{}` differs: {}",
            dir.path().display(),
            differ.join("; ")
        ))
        .hint("give --resume alone to use its plan"));
    }
    let past = Past::read(&dir, plan).map_err(wrong)?;
    if past.complete {
        return Err(wrong(format!(
            "the run in `{}` is complete; there is nothing to resume",
            dir.path().display()
        ))
        .hint(format!("dyno report {} prints it again", dir.path().display())));
    }
    Ok(Place::Resumed(dir, Box::new(past)))
}

/// Whether a run with this plan could be resumed.
pub(crate) fn may_resume(plan: &Plan) -> bool {
    !plan.target.predicted && plan.course.versus.is_none() && !data::is_stdin(plan)
}

/// Flags that are not part of the plan.
const NOT_IN_PLAN: &[&str] = &[
    "resume",
    "dry-run",
    "target",
    "header",
    "api-key",
    "api-key-file",
    "insecure",
    "ca-cert",
    "client-cert",
    "source-address",
    "agents",
    "pin",
    "agents-within",
    "bus",
    "bus-prefix",
    "bus-creds",
    "bus-nkey",
    "bus-token",
    "bus-ca",
    "bus-cert",
    "bus-key",
    "quiet",
    "json",
    "lang",
    "details",
    "report",
    "no-progress",
    "progress",
    "live",
    "config",
];

/// Whether no flag concerns the plan, so that the one in the directory is used.
pub(super) fn is_alone(given: &[String]) -> bool {
    given.iter().all(|flag| NOT_IN_PLAN.contains(&flag.as_str()))
}

/// Resolves the resumption of the run in `dir` with its own plan.
pub(super) fn again(
    inputs: Inputs,
    dir: &Path,
    surroundings: &Surroundings,
) -> Result<Resolved, UsageError> {
    let (args, dry_run) = (inputs.server, inputs.plan.each.dry_run);
    let (typed, agents) = (args.target, args.fleet);
    let showing = Showing::of(&inputs.plan.output, surroundings);
    let (mut notes, mut warnings) = (Notes::new(showing.language), Vec::new());
    let (opened_dir, plan) = open(dir)?;
    fleet::check_resumed(&agents, &plan)?;
    let shown = typed.as_ref().map(TargetUrl::shown);
    if let Some(shown) = shown.filter(|shown| Some(shown) != plan.target.url.as_ref()) {
        let stored = plan.target.url.as_deref().unwrap_or("an embedded engine");
        return Err(wrong(format!("this run measured {stored}, not {shown}")));
    }
    confirm(&opened_dir, &plan, typed.is_some(), args.connection.insecure)?;
    let target = match (typed, &plan.target.url) {
        (None, Some(url)) => Some(target(url).map_err(wrong)?),
        (typed, _) => typed,
    };
    let metrics = plan.server.metrics.as_deref().map(metrics).transpose().map_err(wrong)?;
    let mut reach = connection::reach(
        args.connection,
        target,
        metrics.as_ref(),
        surroundings,
        &mut notes,
        &mut warnings,
    )?;
    if let Some(url) = &plan.target.url {
        let say = |note: Note| notes.text(note, &[""; 0]);
        let shown = |text: &String| escape(text, LONGEST);
        let data = plan.data.spec.as_ref().map_or_else(|| say(Note::Nothing), shown);
        let key = say(if reach.secrets.api_key.is_some() { Note::Given } else { Note::Nothing });
        notes.add(Note::Resuming, &[shown(url), data, key]);
    }
    if connection::header_names(&reach) != plan.target.header_names {
        return Err(wrong(format!(
            "this run used the headers {:?}, whose values are not stored; give them again with --header",
            plan.target.header_names
        )));
    }
    if connection::count_of(&reach.sources) != plan.target.source_addresses {
        let (then, now) = (plan.target.source_addresses.unwrap_or(0), reach.sources.count());
        return Err(wrong(format!(
            "this run used {then} source addresses, which are not stored, and {now} are given; give as \
             many with --source-address"
        )));
    }
    reach.tls.insecure = plan.target.insecure;
    let aim = if plan.target.predicted { Aim::Predict } else { Aim::Measure };
    let place = place(dir, &plan, aim)?;
    let workload = opened(&plan)?;
    let (workload, stop) = (Some(workload), StopSignal::new());
    let crew = fleet::crew(&agents, &plan, showing.language, &mut warnings)?;
    let command = surroundings.command.clone();
    let order = Order { plan, reach, workload, place, stop, notes: Vec::new(), crew, command };
    let notes = notes.into_texts();
    Ok(Resolved { order, versus: None, showing, dry_run, notes, warnings })
}

/// The maker of a run directory chose its target and its data file, and a resumed run sends the file there with
/// the user's key. The user has typed both if the run was made in this directory; for a copy, or what
/// somebody else packed, the target must be typed again.
fn confirm(dir: &RunDir, plan: &Plan, typed: bool, insecure: bool) -> Result<(), UsageError> {
    let Some(url) = &plan.target.url else { return Ok(()) };
    let unchecked = plan.target.insecure && !insecure;
    if typed && !unchecked || dir.is_original() {
        return Ok(());
    }
    let (path, url) = (dir.path().display(), escape(url, LONGEST));
    let sent = match &plan.data.spec {
        Some(spec) => format!("the prompts of `{}`", escape(spec, LONGEST)),
        None => "synthetic prompts".to_owned(),
    };
    let flag = if plan.target.insecure { " --insecure" } else { "" };
    Err(wrong(format!(
        "`{path}` is a copy, or was made by somebody else, and would send {sent} and your key to {url}"
    ))
    .hint(format!("if that is right, name the target: dyno bench {url} --resume {path}{flag}")))
}

/// The longest text of a plan that is shown.
const LONGEST: usize = 300;

/// The run in `dir`, and its plan, which is that of its records and within the limits of the command line.
fn open(dir: &Path) -> Result<(RunDir, Plan), UsageError> {
    let dir = RunDir::open(dir).map_err(wrong)?;
    let plan = dir.read_plan().map_err(wrong)?;
    if data::is_stdin(&plan) {
        return Err(wrong(
            "this run read its prompts from standard input, which is not stored; start a new run, from \
             a file if it is to be resumed",
        ));
    }
    if dir.records().map_err(wrong)?.header().plan_hash != plan.hash() {
        return Err(wrong(format!(
            "the records in `{}` belong to another plan than its plan.json, which was changed or replaced",
            dir.path().display()
        ))
        .hint("put the original plan.json back, or start a new run"));
    }
    limits::check_plan(&plan).map_err(|why| wrong(format!("plan.json: {why}")))?;
    if plan.shard != Shard::WHOLE {
        return Err(wrong(format!(
            "`{}` holds the part of one agent, {} of {}; resume the coordinator's run",
            dir.path().display(),
            plan.shard.index + 1,
            plan.shard.of
        )));
    }
    if plan.course.search.is_none() {
        let ends = plan.levels.iter().try_for_each(limits::check_end);
        ends.map_err(|why| wrong(format!("plan.json: {why}")))?;
    }
    if let Some(versus) = &plan.course.versus {
        return Err(wrong(format!(
            "this run alternated with {} and cannot be resumed, because they would no longer alternate; \
             run both again",
            versus.other_run
        )));
    }
    Ok((dir, plan))
}

fn wrong(message: impl std::fmt::Display) -> UsageError {
    UsageError::new("--resume", message.to_string())
}

/// More differences would not help.
const MOST_SHOWN: usize = 5;

/// The differences between two plans, as text.
fn differences(stored: &Plan, asked: &Plan) -> Vec<String> {
    let json = |plan: &Plan| serde_json::to_value(plan).unwrap_or_default();
    let mut found = Vec::new();
    compare("", &json(stored), &json(asked), &mut found);
    let more = found.len().saturating_sub(MOST_SHOWN);
    found.truncate(MOST_SHOWN);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

fn compare(at: &str, stored: &Value, asked: &Value, found: &mut Vec<String>) {
    match (stored, asked) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            for key in keys {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                let of = |map: &serde_json::Map<_, _>| map.get(key).cloned().unwrap_or_default();
                compare(&at, &of(a), &of(b), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{at}[{number}]"), a, b, found);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            found.push(format!(
                "{at} has {} entries in the run and {} in the arguments",
                a.len(),
                b.len()
            ));
        }
        (a, b) if a != b => found.push(format!("{at} is {a} in the run and {b} in the arguments")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::frame::RunHeader;
    use dyno_model::plan::{LevelPlan, Target};
    use dyno_record::{FORMAT, Recorder};

    /// Records and plan that agree, as somebody else may have made them.
    fn opened(change: impl Fn(&mut Plan)) -> Result<(), String> {
        let place = tempfile::tempdir().unwrap();
        let dir = RunDir::create(place.path().join("run")).unwrap();
        let mut plan = Plan::new(Target::at("http://127.0.0.1:9"));
        plan.levels.push(LevelPlan::closed_loop(4, 100));
        change(&mut plan);
        dir.write_plan(&plan).unwrap();
        let header = RunHeader {
            format: FORMAT,
            run_id: "run".to_owned(),
            shard: 0,
            shards: 1,
            anchor_unix_ns: 1,
            plan_hash: plan.hash(),
            version: "0.1.0".to_owned(),
        };
        Recorder::start(&dir, header).unwrap().finish();
        open(dir.path()).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn m2_a_plan_beyond_the_limits_of_the_command_line_is_refused() {
        assert_eq!(opened(|_| ()), Ok(()));
        let refused = |change: &dyn Fn(&mut Plan), words: &str| {
            let error = opened(change).unwrap_err();
            assert!(error.contains("plan.json: the plan") && error.contains(words), "{error}");
        };
        refused(&|plan| plan.shard = Shard { index: 5, of: 0 }, "shard.of = 0");
        let part = opened(|plan| plan.shard = Shard { index: 1, of: 3 }).unwrap_err();
        assert!(
            part.contains("the part of one agent, 2 of 3; resume the coordinator's run"),
            "{part}"
        );
        refused(&|plan| plan.levels[0].drain_ns = u64::MAX, "drain_ns = ");
        refused(&|plan| plan.levels[0] = LevelPlan::closed_loop(1 << 31, 9), "concurrency = ");
        refused(&|plan| plan.levels[0].requests = None, "a level without an end");
    }

    #[test]
    fn differences_are_named_by_their_place() {
        let mut found = Vec::new();
        let one = serde_json::json!({"seed": 1, "levels": [{"a": 1}, {"a": 2}], "note": null});
        let other = serde_json::json!({"seed": 2, "levels": [{"a": 1}, {"a": 3}]});
        compare("", &one, &other, &mut found);
        found.sort();
        assert_eq!(
            found,
            [
                "levels[1].a is 2 in the run and 3 in the arguments",
                "seed is 1 in the run and 2 in the arguments"
            ]
        );
    }
}
