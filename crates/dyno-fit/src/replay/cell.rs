//! A cell of a matrix: a single request for the times, and a saturated engine for the rates.

use crate::model::Model;
use crate::table::{Offer, TableLevel};
use dyno_engine::twin::reference::ReferenceValue;
use std::collections::BTreeMap;

const RATES: [ReferenceValue; 3] = [
    ReferenceValue::CompletedRate,
    ReferenceValue::OutputTokensPerS,
    ReferenceValue::TotalTokensPerS,
];

/// The metrics of a cell; `requests` at once saturate the engine.
pub(super) fn replay(
    level: &TableLevel,
    model: &Model,
    requests: u32,
) -> Option<BTreeMap<ReferenceValue, f64>> {
    let burst = |requests| {
        super::replay(&TableLevel { offer: Offer::burst(requests), ..level.clone() }, model)
    };
    let mut metrics = burst(1)?;
    let busy = burst(requests)?;
    for rate in RATES {
        if let Some(value) = busy.get(&rate) {
            metrics.insert(rate, *value);
        }
    }
    Some(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Role;
    use dyno_engine::core::{Cost, Policy, Scheduler};
    use dyno_engine::twin::profile::TwinClient;

    #[test]
    fn times_are_of_one_request_and_rates_of_many() {
        let scheduler = Scheduler {
            policy: Policy::PrefillFirst,
            max_seqs: 256,
            token_budget: 2048,
            block: 16,
            // Room for two requests of 96 tokens.
            kv_blocks: 12,
            prefix_cache: false,
            context: None,
            steps_ahead: 0,
        };
        let cost = Cost { base: 0.01, ..Cost::default() };
        let model = Model { scheduler, cost, client: TwinClient::default(), spread: 0.0 };
        let metrics = [ReferenceValue::OutputTokensPerS, ReferenceValue::LatencyPerOutputTokenMs];
        let level = TableLevel {
            label: String::new(),
            offer: Offer::Cell { requests: 40 },
            input: 80.0,
            output: 16.0,
            counted: None,
            timeout_s: None,
            repeated: false,
            metrics: metrics.into_iter().map(|figure| (figure, 1.0)).collect(),
            role: Role::Fitted,
        };
        let metrics = replay(&level, &model, 40).unwrap();
        // Sixteen steps of 10 ms for sixteen tokens of one request, or of two.
        assert!(
            (metrics[&ReferenceValue::LatencyPerOutputTokenMs] - 10.0).abs() < 1e-6,
            "{metrics:?}"
        );
        assert!((metrics[&ReferenceValue::OutputTokensPerS] - 200.0).abs() < 1e-3, "{metrics:?}");
    }
}
