//! Comparisons of runs on a shipped twin in virtual time, where the true change is known.
//! `compare_truth` does the same with more pairs.

#![allow(clippy::expect_used)]

use crate::compare_truth::bench::{Bench, FIGURES};
use crate::compare_truth::trials::{Design, Fared, Luck, ONE, ONE_AGAINST, PAIRED, RUNS, SEVERAL};
use crate::support::served::Load;
use dyno_engine::twin::Twin;
use dyno_stats::compare::BETWEEN_RUNS;
use dyno_stats::rng::SplitMix;

const PAIRS: u32 = 24;
const LATENCY: usize = 1;

/// Compares servers of which B is slower by this share, by each design, so many times.
fn compared(load: Load, slower: f64, designs: &[Design], pairs: u32) -> Vec<Fared> {
    let twin = Twin::load("generic-7b-24gb").expect("a shipped twin");
    let bench = Bench { twin, load, requests: 600 };
    let mut luck = Luck { bench: &bench, between: BETWEEN_RUNS, random: SplitMix::new(5) };
    // In a closed loop everything takes longer by the same share.
    let mut truth = [slower; FIGURES];
    truth[0] = 1.0 / (1.0 + slower) - 1.0;
    let mut fared = vec![Fared::default(); designs.len()];
    for _ in 0..pairs {
        let (a, b) = (luck.side(1.0, RUNS), luck.side(1.0 + slower, RUNS));
        for (design, fared) in designs.iter().zip(&mut fared) {
            fared.add(&bench, *design, [&a, &b], &truth);
        }
    }
    fared
}

#[test]
fn equal_servers_pass_and_are_seldom_called_different() {
    let designs = [ONE, ONE_AGAINST, SEVERAL, PAIRED];
    for (design, fared) in designs.iter().zip(compared(Load::InFlight(32), 0.0, &designs, PAIRS)) {
        assert!(fared.any <= 4, "{design:?}: {fared:?}");
        assert!(fared.covered.iter().all(|count| *count >= 20), "{design:?}: {fared:?}");
        assert!(fared.gate.iter().all(|[_, fails, _]| *fails == 0), "{design:?}: {fared:?}");
        if design.runs == [RUNS, RUNS] {
            assert!(fared.gate[LATENCY][0] >= 22, "{design:?}: {fared:?}");
            assert!(fared.no_larger[LATENCY] >= 20, "{design:?}: {fared:?}");
        }
    }
}

#[test]
fn a_tenth_slower_is_called_and_fails() {
    let designs = [SEVERAL, PAIRED];
    for (design, fared) in designs.iter().zip(compared(Load::InFlight(32), 0.1, &designs, PAIRS)) {
        assert_eq!((fared.called[LATENCY], fared.wrong), (PAIRS, 0), "{design:?}: {fared:?}");
        assert!(fared.covered[LATENCY] >= 20, "{design:?}: {fared:?}");
        assert_eq!(fared.gate[LATENCY][0], 0, "{design:?}: {fared:?}");
        // Tests that are corrected for four metrics find one less often, and some metric nearly always.
        assert!(fared.gate[LATENCY][1] >= 16, "{design:?}: {fared:?}");
        assert!(fared.any_fails >= 21, "{design:?}: {fared:?}");
    }
}

#[test]
fn an_open_loop_has_no_throughput_to_compare_and_one_run_no_tail() {
    let fared = compared(Load::Rate(6.0), 0.0, &[ONE, SEVERAL], 2);
    assert_eq!((fared[0].all, fared[0].compared), (2, [0, 2, 0, 2]));
    assert_eq!((fared[1].all, fared[1].compared), (2, [0, 2, 2, 2]));
}
