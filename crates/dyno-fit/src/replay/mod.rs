//! Runs the client of a level against a simulated engine and computes metrics as that client does.

mod cell;
mod client;
mod front;
mod lengths;
mod metrics;

use crate::model::Model;
use crate::table::{Offer, TableLevel};
use client::ReplayClient;
use dyno_engine::twin::reference::ReferenceValue;
use dyno_model::plan::Load;
use std::collections::BTreeMap;

/// The metrics of `level` with the engine `model`; nothing if the engine rejects its requests, or if
/// none ended in time.
pub(crate) fn replay(level: &TableLevel, model: &Model) -> Option<BTreeMap<ReferenceValue, f64>> {
    let (load, at_most, end) = match level.offer {
        Offer::Load { load, at_most, end } => (load, at_most, end),
        Offer::Unknown { end } => {
            (Load::Concurrency { concurrency: model.client.in_flight? }, None, end)
        }
        Offer::Cell { requests } => return cell::replay(level, model, requests),
    };
    let mut timings = ReplayClient::new(level, model)?.run(load, at_most, end)?;
    if model.client.token_us > 0.0 {
        front::wait(&mut timings, 1e-6 * model.client.token_us);
    }
    metrics::metrics(level, &timings)
}
