//! `dyno data show` of the recorded traffic of coding agents: trees of sessions, what they wait for and what they share.

use super::in_spec;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_model::{Localized, Message, message};
use dyno_workload::agentic::{AgenticProfile, Trees};
use dyno_workload::data::{DataKind, DataSpec};

/// Whether a specification names agentic traffic: a folder, or a file that is some by its contents. With a kind it names
/// the replay of a trace or of sessions, which has a description of its own, but none in JSON.
pub(super) fn is_named(spec: &DataSpec, json: bool) -> bool {
    let Some(path) = &spec.path else { return false };
    let kind = match spec.kind {
        None => true,
        Some(DataKind::Trace | DataKind::Session) => json || path.is_dir(),
        Some(_) => false,
    };
    kind && (path.is_dir() || Trees::format_of(path).is_some())
}

pub(super) fn show(spec: &DataSpec, json: bool, printer: &Printer) -> Result<Exit, UsageError> {
    let Some(path) = &spec.path else { return Err(UsageError::new("SPEC", only_agentic())) };
    let profile = AgenticProfile::open(path).map_err(in_spec)?;
    Ok(printer.result(&match json {
        true => format!("{:#}\n", profile.json()),
        false => profile.text(printer.language()),
    }))
}

/// Why there is no JSON of other data.
pub(super) fn only_agentic() -> Message {
    message!(
        "only agentic traffic is described as JSON, and this is none; remove it",
        "只有 agentic 流量能以 JSON 描述，而这不是；请去掉"
    )
}
