//! Resuming an interrupted run: its plan must match the arguments.

use super::notes::Notes;
use super::{Aim, Inputs, ProcessEnv, Resolved, Showing, connection, data, fleet, opened};
use crate::args::metrics::metrics;
use crate::args::target::{TargetUrl, target};
use crate::usage::UsageError;
use dyno_model::limits;
use dyno_model::message::clauses;
use dyno_model::plan::{Plan, Shard};
use dyno_model::{Message, message};
use dyno_record::{RecordError, RunDir};
use dyno_run::{Order, Past, RunOutput, StopSignal};
use dyno_words::escape::escape;
use serde_json::Value;
use std::path::Path;

/// The run in `dir`, to be resumed with this plan.
pub(super) fn place(dir: &Path, plan: &Plan, aim: Aim) -> Result<RunOutput, UsageError> {
    if aim == Aim::Predict {
        return Err(wrong(message!(
            "a prediction takes seconds; run it again instead",
            "预测只需几秒；请重新运行"
        )));
    }
    let (dir, stored) = open(dir)?;
    let differ = differences(&stored, plan);
    if !differ.is_empty() {
        return Err(wrong(message!(
            "the plan of `{}` differs: {}",
            "`{}` 的计划不同：{}",
            dir.path().display(),
            clauses(&differ)
        ))
        .hint(message!("give --resume alone to use its plan", "如需沿用其计划，请只写 --resume")));
    }
    let past = Past::read(&dir, plan).map_err(|error| wrong(Message::of(error)))?;
    if past.complete {
        return Err(wrong(message!(
            "the run in `{}` is complete; there is nothing to resume",
            "`{}` 中的测试已完成，无需继续",
            dir.path().display()
        ))
        .hint(message!(
            "dyno report {} prints it again",
            "用 `dyno report {}` 可再次打印结果",
            dir.path().display()
        )));
    }
    Ok(RunOutput::Resumed(dir, Box::new(past)))
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
    surroundings: &ProcessEnv,
) -> Result<Resolved, UsageError> {
    let (args, dry_run) = (inputs.server, inputs.plan.each.dry_run);
    let (typed, agents) = (args.target, args.fleet);
    let showing = Showing::of(&inputs.plan.output, surroundings);
    let (mut notes, mut warnings) = (Notes::default(), Vec::new());
    let (opened_dir, plan) = open(dir)?;
    fleet::check_resumed(&agents, &plan)?;
    let shown = typed.as_ref().map(TargetUrl::shown);
    if let Some(shown) = shown.filter(|shown| Some(shown) != plan.target.url.as_ref()) {
        return Err(wrong(match &plan.target.url {
            Some(stored) => message!(
                "this run measured {stored}, not {shown}",
                "该测试的目标是 {stored}，不是 {shown}"
            ),
            None => message!(
                "this run measured an embedded engine, not {shown}",
                "该测试的目标是内置引擎，不是 {shown}"
            ),
        }));
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
        let shown = |text: &String| Message::quoted(escape(text, LONGEST));
        let none = || message!("none", "无");
        let data = plan.data.spec.as_ref().map_or_else(none, shown);
        let key = reach.secrets.api_key.as_ref();
        let key = key.map_or_else(none, |_| message!("given", "已提供"));
        notes.push(message!(
            "resuming: target {}, data {data}, key {key}",
            "继续运行：目标 {}，数据 {data}，密钥 {key}",
            shown(url)
        ));
    }
    if connection::header_names(&reach) != plan.target.header_names {
        return Err(wrong(message!(
            "this run used the headers {:?}, whose values are not stored; give them again with \
             --header",
            "该测试使用了请求头 {:?}，其值没有保存；请用 --header 重新提供",
            plan.target.header_names
        )));
    }
    if connection::count_of(&reach.sources) != plan.target.source_addresses {
        let (then, now) = (plan.target.source_addresses.unwrap_or(0), reach.sources.count());
        return Err(wrong(message!(
            "this run used {then} source addresses, which are not stored, and {now} are given; \
             give as many with --source-address",
            "该测试使用了 {then} 个源地址（未保存），而现在给出了 {now} 个；请用 \
             --source-address 提供同样数量的地址"
        )));
    }
    reach.tls.insecure = plan.target.insecure;
    let aim = if plan.target.predicted { Aim::Predict } else { Aim::Measure };
    let place = place(dir, &plan, aim)?;
    let workload = opened(&plan)?;
    let (workload, stop) = (Some(workload), StopSignal::new());
    let crew = fleet::crew(&agents, &plan, &mut warnings)?;
    let command = surroundings.command.clone();
    let order = Order { plan, reach, workload, place, stop, notes: Vec::new(), crew, command };
    let notes = notes.into_messages();
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
        Some(spec) => message!("the prompts of `{}`", "`{}` 中的提示词", escape(spec, LONGEST)),
        None => message!("synthetic prompts", "合成提示词"),
    };
    let flag = if plan.target.insecure { " --insecure" } else { "" };
    Err(wrong(message!(
        "`{path}` is a copy, or was made by somebody else, and would send {sent} and your key to \
         {url}",
        "`{path}` 是副本，或由他人制作；继续运行会将{sent}和您的密钥发往 {url}"
    ))
    .hint(message!(
        "if that is right, name the target: dyno bench {url} --resume {path}{flag}",
        "如果无误，请写明目标：dyno bench {url} --resume {path}{flag}"
    )))
}

/// The longest text of a plan that is shown.
const LONGEST: usize = 300;

/// The run in `dir`, and its plan, which is that of its records and within the limits of the command line.
fn open(dir: &Path) -> Result<(RunDir, Plan), UsageError> {
    let unread = |error: RecordError| wrong(Message::of(error));
    let dir = RunDir::open(dir).map_err(unread)?;
    let plan = dir.read_plan().map_err(unread)?;
    if data::is_stdin(&plan) {
        return Err(wrong(message!(
            "this run read its prompts from standard input, which is not stored; start a new \
             run, from a file if it is to be resumed",
            "该测试的提示词来自标准输入，未被保存；请重新开始测试，如需断点续跑请使用文件"
        )));
    }
    if dir.records().map_err(unread)?.header().plan_hash != plan.hash() {
        return Err(wrong(message!(
            "the records in `{}` belong to another plan than its plan.json, which was changed or \
             replaced",
            "`{}` 中的记录属于另一个计划，而不是其 plan.json；后者已被修改或替换",
            dir.path().display()
        ))
        .hint(message!(
            "put the original plan.json back, or start a new run",
            "请恢复原来的 plan.json，或重新测试"
        )));
    }
    limits::check_plan(&plan)
        .map_err(|why| wrong(message!("plan.json: {why}", "plan.json：{why}")))?;
    if plan.shard != Shard::WHOLE {
        return Err(wrong(message!(
            "`{}` holds the part of one agent, {} of {}; resume the coordinator's run",
            "`{}` 只有一个压测端的部分（第 {} 个，共 {} 个）；请恢复协调端的测试",
            dir.path().display(),
            plan.shard.index + 1,
            plan.shard.of
        )));
    }
    if plan.course.search.is_none() {
        let ends = plan.levels.iter().try_for_each(limits::check_end);
        ends.map_err(|why| wrong(message!("plan.json: {why}", "plan.json：{why}")))?;
    }
    if let Some(versus) = &plan.course.versus {
        return Err(wrong(message!(
            "this run alternated with {} and cannot be resumed, because they would no longer \
             alternate; run both again",
            "该测试曾与 {} 交替进行，无法继续，因为不能再交替；请重新运行两者",
            versus.other_run
        )));
    }
    Ok((dir, plan))
}

fn wrong(message: Message) -> UsageError {
    UsageError::new("--resume", message)
}

/// More differences would not help.
const MOST_SHOWN: usize = 5;

/// The differences between two plans.
fn differences(stored: &Plan, asked: &Plan) -> Vec<Message> {
    let json = |plan: &Plan| serde_json::to_value(plan).unwrap_or_default();
    let mut found = Vec::new();
    compare("", &json(stored), &json(asked), &mut found);
    let more = found.len().saturating_sub(MOST_SHOWN);
    found.truncate(MOST_SHOWN);
    if more > 0 {
        found.push(message!("and {more} more", "另有 {more} 处"));
    }
    found
}

fn compare(at: &str, stored: &Value, asked: &Value, found: &mut Vec<Message>) {
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
            found.push(message!(
                "{at} has {} entries in the run and {} in the arguments",
                "{at} 在测试中有 {} 项，在参数中有 {} 项",
                a.len(),
                b.len()
            ));
        }
        (a, b) if a != b => found.push(message!(
            "{at} is {a} in the run and {b} in the arguments",
            "{at} 在测试中为 {a}，在参数中为 {b}"
        )),
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
    fn a_plan_beyond_the_limits_of_the_command_line_is_refused() {
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
        let mut found: Vec<String> = found.iter().map(ToString::to_string).collect();
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
