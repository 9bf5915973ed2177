//! `dyno data show` of the traffic of coding agents, recorded or generated: trees of sessions, what they wait for and what
//! they share.

use super::in_spec;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_model::plan::DataPlan;
use dyno_model::{Localized, Message, message};
use dyno_workload::agentic::{
    AgenticLoad, AgenticOptions, AgenticProfile, GeneratedTrees, TreeSelection, Trees,
};
use dyno_workload::data::{DataKind, DataSpec};
use dyno_workload::random::key::Key;

/// How many trees are generated to be described.
const GENERATED: u64 = 100;

/// Whether a specification names agentic traffic, of which nothing is selected: a folder, or a file that is some by its
/// contents. With a kind, with keys or with a selection it names the replay of a trace or of sessions, which has a
/// description of its own, but none in JSON.
pub(super) fn is_named(spec: &DataSpec, plan: &DataPlan, json: bool) -> bool {
    let Some(path) = &spec.path else { return spec.kind == Some(DataKind::Agentic) };
    let plain = DataSpec { path: spec.path.clone(), kind: spec.kind, ..DataSpec::default() };
    let kind = match spec.kind {
        None => json || path.is_dir() || selects(plan).is_none(),
        Some(DataKind::Trace | DataKind::Session) => json || path.is_dir(),
        Some(DataKind::Agentic) => return true,
        Some(_) => false,
    };
    kind && *spec == plain && (path.is_dir() || Trees::format_of(path).is_some())
}

/// The flag that selects some of the data.
fn selects(plan: &DataPlan) -> Option<&'static str> {
    let flags = [
        (plan.shuffle, "--order"),
        (plan.limit.is_some(), "--limit"),
        (plan.min_input_tokens.is_some(), "--min-input-tokens"),
        (plan.max_input_tokens.is_some(), "--max-input-tokens"),
        (plan.truncate, "--truncate"),
        (plan.tokenizer.is_some(), "--tokenizer"),
    ];
    flags.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
}

pub(super) fn show(
    spec: &DataSpec,
    (plan, seed): (&DataPlan, u64),
    json: bool,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    let Some(path) = &spec.path else {
        return show_generated(spec, (plan, seed), json, printer);
    };
    AgenticLoad::of(spec, TreeSelection::default()).map_err(in_spec)?;
    if let Some(flag) = selects(plan) {
        let message = message!(
            "agentic traffic is described whole, with the lengths that were recorded; remove it",
            "agentic 流量按录制的长度整体描述；请去掉"
        );
        return Err(UsageError::new(flag, message));
    }
    spec.only(&[]).map_err(in_spec)?;
    let profile = AgenticProfile::open(path).map_err(in_spec)?;
    Ok(print(&profile, json, printer))
}

/// Describes the first trees that a run with this seed would generate.
fn show_generated(
    spec: &DataSpec,
    (plan, seed): (&DataPlan, u64),
    json: bool,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    let count = plan.limit.unwrap_or(GENERATED);
    let unlimited = DataPlan { limit: None, ..plan.clone() };
    if let Some(flag) = selects(&unlimited) {
        let message = message!(
            "agentic traffic is generated as its options say; remove it, or name how many trees with --limit",
            "agentic 流量按其选项生成；请去掉，或用 --limit 指定树的数量"
        );
        return Err(UsageError::new(flag, message));
    }
    let options = AgenticOptions::new(spec).map_err(in_spec)?;
    let trees = GeneratedTrees::new(options, Key::new(seed, 0));
    let profile = AgenticProfile::of_generated(spec.to_string(), &trees, count);
    Ok(print(&profile, json, printer))
}

fn print(profile: &AgenticProfile, json: bool, printer: &Printer) -> Exit {
    printer.result(&match json {
        true => format!("{:#}\n", profile.json()),
        false => profile.text(printer.language()),
    })
}

/// Why there is no JSON of other data.
pub(super) fn only_agentic() -> Message {
    message!(
        "only agentic traffic is described as JSON, and this is none; remove it",
        "只有 agentic 流量能以 JSON 描述，而这不是；请去掉"
    )
}
