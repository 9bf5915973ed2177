//! What a server says about itself before anything is measured: its API, model and limits, found as they are
//! before the first level of a run, and nothing is written.

use crate::api::{ask, dialect_of};
use crate::error::RunError;
use crate::identity::environment;
use crate::metrics;
use crate::order::Order;
use crate::prepared::ask_first;
use crate::target::open;
use crate::tokenize;
use dyno_model::Message;
use dyno_model::environment::Environment;
use dyno_model::plan::Api;
use dyno_wire::dialect::About;

/// What was found.
#[derive(Debug, Clone)]
pub struct Inspected {
    /// The facts about its API.
    pub about: &'static About,
    /// Why it is that one; absent where the caller chose it, or nothing spoke for any.
    pub why: Option<Message>,
    /// The model, the fields that the server takes, its headers and models, and notes.
    pub environment: Environment,
    /// The path at which it counts tokens, if it does.
    pub counts_at: Option<&'static str>,
    /// It publishes metrics beside its API.
    pub has_metrics: bool,
}

/// Asks the server of an order, which needs no levels. A few requests of a few tokens are sent.
pub fn inspect(mut order: Order) -> Result<Inspected, RunError> {
    let clock = order.clock();
    let mut why = None;
    if order.plan.target.api == Api::AUTO {
        let found = ask(&order, &mut open(&order, false, clock)?)?;
        order.plan.target.api = Api::named(found.dialect.about().name);
        why = found.why;
    }
    let about = dialect_of(&order.plan)?.about();
    order.plan.request.task = about.task;
    order.plan.request.stream = about.task.generates();
    let mut target = open(&order, false, clock)?;
    let settled = ask_first(&order.plan, &mut target, &order.stop)?;
    let counting = tokenize::of_server(&target.client, &settled.shape.model, &order.stop);
    let metrics = metrics::find(&target, &order.reach, &order.stop);
    Ok(Inspected {
        about,
        why,
        environment: environment(settled.server, settled.preflight, settled.notes),
        counts_at: counting.ok().map(|counting| counting.path),
        has_metrics: metrics.is_ok_and(|found| found.is_some()),
    })
}
