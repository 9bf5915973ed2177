//! The front end's time per chunk, and steps that are planned ahead.

use super::recovered;
use crate::steps::Planning;
use crate::steps::simulated::{Load, Setup};

#[test]
fn the_time_of_a_chunk_is_found_from_4_to_56_in_flight() {
    println!("in flight  truth µs  found µs");
    for (slots, chunk) in [(4, 50_000), (16, 20_000), (16, 150_000), (32, 80_000), (56, 50_000)] {
        let setup = Setup { chunk, ..Setup::new(Load::Closed(slots), 12 * slots) };
        let found = recovered(&setup.run()).unwrap().front_end.unwrap();
        let truth = 1e-9 * chunk as f64;
        println!("{slots:9}  {:8.1}  {:8.1}", 1e6 * truth, 1e6 * found.chunk);
        assert!((found.chunk / truth - 1.0).abs() < 0.15, "{slots} in flight: {found:?}");
        assert_eq!(found.tokens as usize, slots);
    }
}

#[test]
fn a_server_that_plans_ahead_is_told_from_one_that_does_not() {
    for ahead in [false, true] {
        let setup = Setup { ahead, ..Setup::new(Load::Poisson(8.0), 120) };
        let run = setup.run();
        let found = recovered(&run).unwrap().ahead.unwrap();
        println!("ahead {ahead}: {found:?}");
        // 512 tokens at 20 µs, and 2 ms for the step.
        assert!((found.extra / 12.24e-3 - 1.0).abs() < 0.1, "{}", found.extra);
        match ahead {
            true => {
                assert_eq!(found.planning, Planning::OneAhead);
                // A step, and 80 % of one that prefills.
                assert!((found.launch.unwrap() / 18.0e-3 - 1.0).abs() < 0.1, "{found:?}");
            }
            false => {
                assert_eq!((found.planning, found.launch), (Planning::InTime, None));
            }
        }
    }
}

#[test]
fn prompts_too_short_to_be_seen_leave_it_open() {
    let mut setup = Setup { prompt: [16; 2], ..Setup::new(Load::Poisson(8.0), 120) };
    setup.cost.prefill_base = 0.0;
    let found = recovered(&setup.run()).unwrap().ahead.unwrap();
    assert_eq!(found.planning, Planning::Unclear, "{found:?}");
}
