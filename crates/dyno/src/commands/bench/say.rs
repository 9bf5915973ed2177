//! What `dyno bench` says of a run that can be resumed.

use crate::resolve::may_resume;
use dyno_model::plan::Plan;
use dyno_model::{Message, message};
use dyno_words::escape::shell;
use std::path::Path;

/// The command that runs the rest of the run at `path`; nothing where it cannot be resumed.
pub(crate) fn resuming(path: &Path, plan: &Plan) -> Option<String> {
    let path = shell(&[path.display().to_string()])?;
    may_resume(plan).then(|| format!("dyno bench --resume {path}"))
}

/// How to run the rest.
pub(crate) fn to_resume(command: String) -> Message {
    message!("to resume: {command}", "继续测试：{command}")
}
