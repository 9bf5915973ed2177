//! Runs the client that made a level against a simulated engine, and reads off the figures as
//! that client would.

mod cell;
mod client;
mod figures;
mod front;
mod lengths;

use crate::model::Model;
use crate::table::{Level, Offer};
use client::Client;
use dyno_engine::twin::reference::Figure;
use dyno_model::plan::Load;
use std::collections::BTreeMap;

/// The figures that `level` would have shown, had the engine been `model`; nothing if the engine
/// takes no such request, or if none ended in time.
pub(crate) fn replay(level: &Level, model: &Model) -> Option<BTreeMap<Figure, f64>> {
    let (load, at_most, end) = match level.offer {
        Offer::Load { load, at_most, end } => (load, at_most, end),
        Offer::Unknown { end } => {
            (Load::Concurrency { concurrency: model.client.in_flight? }, None, end)
        }
        Offer::Cell { requests } => return cell::replay(level, model, requests),
    };
    let mut timings = Client::new(level, model)?.run(load, at_most, end)?;
    if model.client.token_us > 0.0 {
        front::wait(&mut timings, 1e-6 * model.client.token_us);
    }
    figures::figures(level, &timings)
}
