//! Random engines of the whole family: wide ranges around real servers. Some of their settings are none that
//! the fit tries.

use super::random::Draws;
use dyno_engine::core::{Core, Cost, Front, Launch, Policy, Scheduler};

/// An engine, and the lengths of its users' requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct System {
    pub(super) seed: u64,
    pub(super) scheduler: Scheduler,
    pub(super) cost: Cost,
    /// Tokens of a prompt.
    pub(super) input: u32,
    /// Tokens of a response.
    pub(super) output: u32,
}

impl System {
    pub(super) fn random(seed: u64) -> Self {
        let mut draws = Draws::new(seed, 1);
        let scheduler = Scheduler {
            policy: draws.one_of(&[Policy::Chunked, Policy::PrefillFirst]),
            max_seqs: draws.one_of(&[48, 64, 100, 128, 200, 256, 300, 512]),
            token_budget: draws.one_of(&[1024, 2048, 3000, 4096, 8192, 16_384]),
            block: 16,
            kv_blocks: 1 << 20,
            prefix_cache: true,
            context: None,
            steps_ahead: draws.one_of(&[0, 1]),
        };
        let base = draws.scale(3e-3, 40e-3);
        let prefill_token = draws.scale(5e-6, 150e-6);
        let cost = Cost {
            base,
            prefill_token,
            attention: prefill_token * draws.scale(5e-6, 1e-4),
            decode: base * draws.scale(1e-3, 1e-2),
            kv: base * draws.scale(5e-7, 1e-5),
            launch: launch(&mut draws),
            noise: draws.between(0.02, 0.05),
            ..front(&mut draws)
        };
        let input = draws.one_of(&[256, 512, 1024]);
        let output = draws.one_of(&[64, 128, 192]);
        Self { seed, scheduler, cost, input, output }
    }

    /// The engine with noise of its own for each level.
    pub(super) fn core(&self, level: u64) -> Option<Core> {
        Core::new(self.scheduler, self.cost, self.seed ^ (level << 32)).ok()
    }
}

/// Launches that take no time in three of ten engines.
fn launch(draws: &mut Draws) -> Launch {
    if draws.chance(0.3) {
        return Launch::default();
    }
    let slow = draws.scale(4e-3, 25e-3);
    let captured = draws.one_of(&[0, 200, 256, 512]);
    let each = Launch { decode: 0.5e-3, sequence: draws.between(0.0, 1e-4), ..Launch::default() };
    match captured {
        0 => Launch { prefill: slow, ..each },
        _ => Launch { prefill: slow * draws.between(0.1, 0.6), captured, large: slow, ..each },
    }
}

/// A front end that takes nearly no time in three of ten engines.
fn front(draws: &mut Draws) -> Cost {
    let (front_end, front) = if draws.chance(0.3) {
        let front = Front { request: draws.scale(5e-5, 3e-4), chunk: 10e-6, ..Front::default() };
        (draws.scale(2e-4, 2e-3), front)
    } else {
        let front = Front {
            request: draws.scale(3e-4, 3e-3),
            input: draws.between(0.0, 1e-6),
            turns: draws.one_of(&[1, 4, 6, 8, 12, 16]),
            chunk: draws.scale(15e-6, 150e-6),
            merges: draws.one_of(&[0, 128]),
        };
        (draws.scale(5e-4, 6e-3), front)
    };
    Cost { front_end, front, ..Cost::default() }
}
