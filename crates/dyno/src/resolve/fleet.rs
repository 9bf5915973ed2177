//! Several load generators: what the plan says of them, and how they are started.

use super::Aim;
use crate::args::fleet::FleetArgs;
use crate::usage::UsageError;
use dyno_model::fleet::FleetPlan;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_run::fleet::{Crew, Local};
use std::process::Command;

/// The load generators of a plan.
pub(super) fn plan(
    args: &FleetArgs,
    levels: &[LevelPlan],
    aim: Aim,
) -> Result<Option<FleetPlan>, UsageError> {
    let Some(agents) = args.agents else { return Ok(None) };
    let wrong = |message: &str| Err(UsageError::new("--agents", message.to_owned()));
    if aim == Aim::Predict {
        return wrong("a prediction sends nothing, so it needs no agents");
    }
    if levels.iter().any(|level| level.until.is_some()) {
        return wrong(
            "--until-stable looks at every response while it runs, but agents report once a level is \
             over; use --duration or --requests",
        );
    }
    Ok(Some(FleetPlan { agents, bus: false }))
}

/// How the agents of a plan are started.
pub(super) fn crew(plan: &Plan) -> Option<Crew> {
    plan.fleet.as_ref()?;
    let own = std::env::current_exe().unwrap_or_else(|_| "dyno".into());
    let command = move |number: usize| {
        let mut command = Command::new(&own);
        command.args(["agent", "--child", &(number + 1).to_string()]);
        command
    };
    Some(Crew::Local(Local { command: Box::new(command) }))
}
