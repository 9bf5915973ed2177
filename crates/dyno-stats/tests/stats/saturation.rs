//! The saturation test on simulated queues: a small version of `examples/saturation_table.rs`,
//! and cases that must not deceive it.

#![allow(clippy::unwrap_used)]

use crate::queues::table::{JUDGED_ON, said};
use crate::queues::{Queue, Seen, Server, Shape};
use dyno_stats::rng::SplitMix;
use dyno_stats::saturation::FEWEST_ARRIVALS;
use dyno_stats::{Offered, Saturation, saturation};
use proptest::prelude::*;

const LENGTH: usize = 4_000;
const RUNS: usize = 40;

fn judged(name: &str) -> Queue {
    *JUDGED_ON.iter().find(|q| q.name == name).unwrap()
}

/// A stretch from an instant to the last arrival.
fn test_from(seen: &Seen, from: f64) -> Saturation {
    let to = *seen.arrivals.last().unwrap();
    saturation(Offered { arrivals: &seen.arrivals, ends: &seen.ends, from, to })
}

/// With the rates that the table shows, more than one alarm in 40, or more than three misses, is
/// a matter of less than 1 in 1,000.
fn holds(name: &str, seed: u64) {
    let queue = judged(name);
    for load in [0.5, 0.9] {
        let got = said(&queue, seed, load, LENGTH, RUNS);
        assert!(got.saturated <= 2.5, "{name} at {load}: {got:?}");
        assert!(got.cannot_tell <= 5.0, "{name} at {load}: {got:?}");
    }
    let got = said(&queue, seed + 1, 1.1, LENGTH, RUNS);
    assert!(got.saturated >= 92.5, "{name} at 1.1: {got:?}");
    let got = said(&queue, seed + 2, 1.5, LENGTH, RUNS);
    assert!(got.saturated >= 97.5, "{name} at 1.5: {got:?}");
}

#[test]
fn one_server() {
    holds("M/M/1", 11);
}

#[test]
fn many_servers_of_constant_time() {
    holds("M/D/16", 21);
}

#[test]
fn constant_arrivals() {
    holds("D/M/16", 31);
}

#[test]
fn a_batch_that_slows_as_it_fills() {
    holds("batch of 64, exponential work", 41);
}

/// 1,000 servers that take 10 s each, offered a fifth of what they carry.
fn unlimited(count: usize) -> Seen {
    let queue = Queue {
        name: "plenty",
        arrivals: Shape::Exponential,
        service: Shape::Constant,
        server: Server::Many { servers: 1_000 },
    };
    let mut seen = queue.run(&mut SplitMix::new(5), 0.2, count);
    for times in [&mut seen.arrivals, &mut seen.ends] {
        times.iter_mut().for_each(|t| *t *= 10.0);
    }
    seen
}

#[test]
fn filling_is_not_overload() {
    // 200 in flight, so 700 arrivals are three and a half services, and 3,000 are fifteen.
    let Saturation::Inconclusive(Some(more)) = test_from(&unlimited(700), 0.0) else {
        panic!("{:?}", test_from(&unlimited(700), 0.0));
    };
    assert!((55.0..80.0).contains(&more.seconds), "{more:?}");
    let long = test_from(&unlimited(3_000), 0.0);
    assert!(matches!(long, Saturation::Carried(_)), "{long:?}");
}

#[test]
fn after_a_warm_up_fewer_arrivals_are_enough() {
    let got = test_from(&unlimited(1_500), 15.0);
    assert!(matches!(got, Saturation::Carried(_)), "{got:?}");
}

#[test]
fn gross_overload_is_found_and_measured() {
    for (name, load) in [("batch of 64, equal work", 3.0), ("M/M/16", 5.0), ("M/D/16", 20.0)] {
        let seen = judged(name).run(&mut SplitMix::new(8), load, 4_000 * load as usize);
        let Saturation::Saturated(surplus) = test_from(&seen, 0.0) else {
            panic!("{name} at {load}: {:?}", test_from(&seen, 0.0));
        };
        assert!((surplus.share - (1.0 - 1.0 / load)).abs() < 0.03, "{name} at {load}: {surplus:?}");
    }
}

#[test]
fn the_suggested_extension_is_enough() {
    let queue = judged("M/M/1");
    let mut rng = SplitMix::new(77);
    let (mut asked, mut told) = (0, 0);
    for _ in 0..60 {
        let seen = queue.run(&mut rng, 1.1, 6_000);
        let first = |count: usize| {
            let to = seen.arrivals[count - 1];
            saturation(Offered { arrivals: &seen.arrivals, ends: &seen.ends, from: 0.0, to })
        };
        if let Saturation::Inconclusive(Some(more)) = first(800) {
            asked += 1;
            assert!(more.arrivals > 0 && more.seconds > 0.0, "{more:?}");
            let enough = (800 + more.arrivals as usize).min(6_000);
            told += usize::from(!matches!(first(enough), Saturation::Inconclusive(_)));
        }
    }
    assert!(asked >= 10 && told * 10 >= asked * 8, "{told} of {asked}");
}

#[test]
fn one_out_one_in_at_the_same_instant_is_no_overload() {
    let arrivals: Vec<f64> = (0..1_000).map(f64::from).collect();
    for ends in [3.0, 2.5] {
        let ends: Vec<f64> = arrivals.iter().map(|t| t + ends).collect();
        let seen = Seen { arrivals: arrivals.clone(), ends, latencies: Vec::new() };
        let got = test_from(&seen, 0.0);
        assert!(matches!(got, Saturation::Carried(_)), "{got:?}");
    }
}

#[test]
fn without_data_it_is_inconclusive() {
    let times: Vec<f64> = (0..400).map(f64::from).collect();
    let tell =
        |arrivals: &[f64], ends: &[f64], from, to| saturation(Offered { arrivals, ends, from, to });
    assert_eq!(tell(&[], &[], 0.0, 10.0), Saturation::Inconclusive(None));
    assert_eq!(tell(&times, &[], 0.0, 400.0), Saturation::Inconclusive(None));
    assert_eq!(tell(&times, &times, 10.0, 10.0), Saturation::Inconclusive(None));
    assert_eq!(tell(&times, &times, 0.0, f64::NAN), Saturation::Inconclusive(None));
    let few = &times[..FEWEST_ARRIVALS / 2];
    let Saturation::Inconclusive(Some(more)) = tell(few, few, 0.0, few.len() as f64) else {
        panic!("fifty arrivals are too few");
    };
    assert_eq!(more.arrivals, FEWEST_ARRIVALS as u64 / 2);
}

proptest! {
    #[test]
    fn any_input_gives_a_result(
        mut arrivals in prop::collection::vec(-10.0..100.0, 0..400),
        mut ends in prop::collection::vec(-10.0..100.0, 0..400),
        from in -20.0..120.0,
        to in -20.0..120.0,
        sorted: bool,
    ) {
        if sorted {
            arrivals.sort_by(f64::total_cmp);
            ends.sort_by(f64::total_cmp);
        }
        match saturation(Offered { arrivals: &arrivals, ends: &ends, from, to }) {
            Saturation::Saturated(s) | Saturation::Carried(s) => {
                prop_assert!(s.share.is_finite() && s.error >= 0.0);
            }
            Saturation::Inconclusive(Some(more)) => {
                prop_assert!(more.seconds.is_finite() && more.seconds > 0.0);
                prop_assert!(more.arrivals > 0);
            }
            Saturation::Inconclusive(None) => {}
        }
    }

    #[test]
    fn the_unit_of_time_does_not_matter(seed: u64, load in 0.3..2.0) {
        let seen = judged("M/M/16").run(&mut SplitMix::new(seed), load, 1_200);
        // A power of two, so that no rounding differs.
        let scaled = |times: &[f64]| times.iter().map(|t| t * 8.0).collect::<Vec<_>>();
        let eight = Seen {
            arrivals: scaled(&seen.arrivals),
            ends: scaled(&seen.ends),
            latencies: Vec::new(),
        };
        match (test_from(&seen, 0.0), test_from(&eight, 0.0)) {
            (Saturation::Inconclusive(Some(a)), Saturation::Inconclusive(Some(b))) => {
                prop_assert_eq!(a.arrivals, b.arrivals);
                prop_assert!((a.seconds * 8.0 - b.seconds).abs() <= 1e-9 * b.seconds);
            }
            (a, b) => prop_assert_eq!(a, b),
        }
    }
}
