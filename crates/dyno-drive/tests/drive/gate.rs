//! Levels that are held back until they may start.
#![allow(clippy::unwrap_used)]

use crate::simulated::{OpensAt, Simulated, level, run, run_with};
use dyno_drive::StopSignal;
use dyno_model::frame::Ending;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::{MS, SEC};

fn loads() -> [Load; 4] {
    let arrival = Arrival::Poisson;
    [
        Load::Concurrency { concurrency: 3 },
        Load::Rate { rate: 100.0, arrival },
        Load::Ramp { from: 5.0, to: 50.0, over_ns: SEC, steps: None, arrival },
        Load::Burst { requests: 20 },
    ]
}

fn plan(load: Load) -> LevelPlan {
    LevelPlan { requests: Some(20), warmup: Some(Warmup::Requests(2)), ..level(load) }
}

fn held(opens_at: Option<u64>) -> Simulated {
    let mut server = Simulated::new(10 * MS, 0);
    server.gate = Some(OpensAt(opens_at));
    server
}

#[test]
fn a_level_starts_exactly_when_its_gate_says() {
    for load in loads() {
        let plan = plan(load);
        let (free, freely) = run(&plan, &mut Simulated::new(10 * MS, 0));
        let at = 9 * SEC + 1;
        let (outcome, records) = run(&plan, &mut held(Some(at)));
        assert_eq!(outcome.started, at, "{load:?}");
        let offsets = |started: u64, records: &[dyno_model::record::RequestRecord]| {
            records.iter().map(|r| (r.intended - started, r.end - started)).collect::<Vec<_>>()
        };
        assert_eq!(offsets(at, &records), offsets(free.started, &freely), "{load:?}");
    }
}

#[test]
fn a_gate_that_opened_before_is_the_start_all_the_same() {
    let at = 7 * SEC - 3 * MS;
    let plan = LevelPlan {
        requests: Some(5),
        ..level(Load::Rate { rate: 1000.0, arrival: Arrival::Constant })
    };
    let (outcome, records) = run(&plan, &mut held(Some(at)));
    assert_eq!((outcome.started, records[0].intended), (at, at));
    // The first ones are late, and their records say so.
    assert_eq!(records[0].dispatched, Some(7 * SEC));
}

#[test]
fn a_level_whose_gate_stays_shut_sends_nothing() {
    for load in loads() {
        let mut server = held(None);
        let (outcome, records) = run(&plan(load), &mut server);
        assert_eq!((outcome.end.ending, records.len()), (Ending::Interrupted, 0), "{load:?}");
        assert_eq!((outcome.end.issued, outcome.end.warmup, outcome.taken), (0, 0, 0));
        assert!(server.got.is_empty());
    }
}

#[test]
fn ctrl_c_at_the_gate_ends_the_level() {
    for load in loads() {
        let mut server = held(Some(100 * SEC));
        let signal = StopSignal::new();
        server.stop_at = Some((8 * SEC, signal.clone()));
        let (outcome, records) = run_with(&plan(load), &mut server, Shard::WHOLE, &signal);
        assert_eq!((outcome.end.ending, records.len()), (Ending::Interrupted, 0), "{load:?}");
        assert!(server.now < 9 * SEC, "it does not wait for the gate");
    }
}
