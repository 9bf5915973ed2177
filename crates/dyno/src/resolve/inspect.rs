//! The order of `dyno init`: a server to ask, and nothing to measure.

use super::notes::Notes;
use super::{ProcessEnv, connection, target};
use crate::args::init::InitArgs;
use crate::usage::UsageError;
use dyno_model::Message;
use dyno_model::plan::{Api, Plan, Target};
use dyno_run::Order;

/// The order, and what its user should know.
pub(crate) fn order_to_inspect(
    args: InitArgs,
    surroundings: &ProcessEnv,
) -> Result<(Order, Vec<Message>), UsageError> {
    let (mut notes, mut warnings) = (Notes::default(), Vec::new());
    let auto = Api::AUTO;
    let typed = args.api.as_deref().unwrap_or(auto.name());
    let api = target::dialect(Some(typed), Some(&args.target))?;
    let insecure = args.connection.insecure;
    let url = args.target;
    let reach = connection::reach(
        args.connection,
        Some(url.clone()),
        None,
        surroundings,
        &mut notes,
        &mut warnings,
    )?;
    let mut plan = Plan::new(Target { api, insecure, ..Target::at(&url.shown()) });
    plan.target.header_names = connection::header_names(&reach);
    plan.request.model = args.model;
    warnings.extend(notes.into_messages());
    Ok((Order { reach, ..Order::new(plan) }, warnings))
}
