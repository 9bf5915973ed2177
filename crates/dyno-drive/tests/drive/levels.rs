//! Drivers against a simulated server in virtual time: one arrival, one record, whatever happens.
#![allow(clippy::unwrap_used)]

use crate::simulated::slow::{BETWEEN_LOOKS, PATIENCE, Slow, run_slow};
use crate::simulated::{Simulated, conversation, level, reconciles, run, run_with};
use dyno_drive::{LevelOutcome, Lookahead, Payload, Retry, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;

#[test]
fn a_closed_loop_hands_each_slot_on_at_the_end_of_its_last_request() {
    let plan = LevelPlan { requests: Some(10), ..level(Load::Concurrency { concurrency: 3 }) };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(
        (outcome.end.issued, outcome.end.planned, outcome.end.ending),
        (10, Some(10), Ending::Requests)
    );
    assert_eq!(server.peak, 3);
    for slot in 0..3 {
        let mut of_slot: Vec<_> = records.iter().filter(|r| r.slot == slot).collect();
        of_slot.sort_by_key(|r| r.intended);
        assert_eq!(of_slot[0].intended, outcome.started);
        assert!(of_slot.windows(2).all(|w| w[1].intended == w[0].end));
    }
    // Ten requests in three slots: at 300 ms the tenth is sent and two slots find nothing.
    assert_eq!(outcome.end.starved, Some(outcome.started + 300 * MS));
}

#[test]
fn warm_up_is_labelled_and_in_addition() {
    let plan = LevelPlan {
        requests: Some(10),
        warmup: Some(Warmup::Requests(4)),
        ..level(Load::Concurrency { concurrency: 2 })
    };
    let (outcome, records) = run(&plan, &mut Simulated::new(100 * MS, 0));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.warmup, outcome.end.issued), (4, 10));
}

#[test]
fn time_bounds_a_closed_loop_and_what_runs_on_is_labelled_drain() {
    let plan = LevelPlan { duration_ns: Some(SEC), ..level(Load::Concurrency { concurrency: 2 }) };
    let (outcome, records) = run(&plan, &mut Simulated::new(300 * MS, 0));
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::Duration);
    assert_eq!(outcome.end.sending_stopped, outcome.started + SEC);
    let drained = records.iter().filter(|r| r.phase == Phase::Drain).count();
    assert_eq!((outcome.end.issued, drained), (8, 2));
}

#[test]
fn what_outlives_the_drain_is_censored_not_lost() {
    let plan = LevelPlan {
        duration_ns: Some(SEC),
        drain_ns: 2 * SEC,
        ..level(Load::Rate { rate: 10.0, arrival: Arrival::Constant })
    };
    let (outcome, records) = run(&plan, &mut Simulated::new(2500 * MS, 0));
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.issued, 10);
    let censored = records.iter().filter(|r| r.outcome == Outcome::Censored).count();
    // Arrivals at 600 … 900 ms would end after 3 s.
    assert_eq!(censored, 4);
    assert_eq!(outcome.end.ended, outcome.started + 3 * SEC);
}

#[test]
fn an_open_loop_keeps_its_schedule_whatever_the_server_does() {
    let plan = LevelPlan {
        requests: Some(50),
        ..level(Load::Rate { rate: 100.0, arrival: Arrival::Poisson })
    };
    let (quick, fast) = run(&plan, &mut Simulated::new(MS, 0));
    let (slow, stuck) = run(&plan, &mut Simulated::new(60 * SEC, 0));
    let offsets = |o: &LevelOutcome, r: &[RequestRecord]| {
        r.iter().map(|r| r.intended - o.started).collect::<Vec<_>>()
    };
    assert_eq!(offsets(&quick, &fast), offsets(&slow, &stuck));
    assert!(stuck.iter().all(|r| r.dispatched == Some(r.intended)));
}

#[test]
fn a_burst_is_sent_at_once_after_its_warm_up() {
    let plan =
        LevelPlan { warmup: Some(Warmup::Requests(5)), ..level(Load::Burst { requests: 200 }) };
    let mut server = Simulated::new(SEC, 0);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(server.peak, 200);
    assert!(
        records
            .iter()
            .filter(|r| r.phase == Phase::Measured)
            .all(|r| { r.intended == outcome.started + SEC && r.sent == Some(r.intended) })
    );
}

#[test]
fn the_first_signal_drains_and_the_second_censors() {
    let plan = LevelPlan { requests: Some(1000), ..level(Load::Concurrency { concurrency: 4 }) };
    let signal = StopSignal::new();
    let mut server = Simulated::new(SEC, 0);
    server.stop_at = Some((8500 * MS, signal.clone()));
    let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::Interrupted);
    assert!(records.iter().all(RequestRecord::is_completed));

    signal.raise();
    let (outcome, records) = run_with(&plan, &mut Simulated::new(SEC, 0), Shard::WHOLE, &signal);
    reconciles(&outcome, &records);
    assert!(records.iter().all(|r| r.outcome == Outcome::Censored));
}

fn any_load() -> impl Strategy<Value = Load> {
    prop_oneof![
        (1_u32..20).prop_map(|concurrency| Load::Concurrency { concurrency }),
        (1.0_f64..300.0, 0.2_f64..4.0)
            .prop_map(|(rate, shape)| Load::Rate { rate, arrival: Arrival::Gamma { shape } }),
        (1_u64..100).prop_map(|requests| Load::Burst { requests }),
    ]
}

proptest! {
    #[test]
    fn every_arrival_has_one_record(
        load in any_load(),
        requests in prop::option::of(1_u64..80),
        duration in prop::option::of(1_u64..3000),
        warmup in prop::option::of(0_u64..20),
        service in 1_u64..700,
        fails_every in 0_u64..5,
        stop_at in prop::option::of(0_u64..2000),
        drain in 0_u64..1000,
    ) {
        let plan = LevelPlan {
            requests: requests.or(if duration.is_none() { Some(30) } else { None }),
            duration_ns: duration.map(|d| d * MS),
            warmup: warmup.map(Warmup::Requests),
            drain_ns: drain * MS,
            ..level(load)
        };
        let signal = StopSignal::new();
        let mut server = Simulated::new(service * MS, fails_every);
        server.stop_at = stop_at.map(|at| (7 * SEC + at * MS, signal.clone()));
        let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
        reconciles(&outcome, &records);
        if outcome.end.ending == Ending::Requests {
            prop_assert_eq!(Some(outcome.end.issued), outcome.end.planned);
        }
    }

    #[test]
    fn the_shards_of_an_open_loop_are_the_whole(of in 1_u32..6, requests in 1_u64..60) {
        let plan = LevelPlan {
            requests: Some(requests),
            ..level(Load::Rate { rate: 50.0, arrival: Arrival::Poisson })
        };
        let offsets = |shard| {
            let (o, r) =
                run_with(&plan, &mut Simulated::new(MS, 0), shard, &StopSignal::new());
            r.iter().map(|r| r.intended - o.started).collect::<Vec<_>>()
        };
        let mut union: Vec<_> = (0..of).flat_map(|index| offsets(Shard { index, of })).collect();
        union.sort_unstable();
        prop_assert_eq!(union, offsets(Shard::WHOLE));
    }
}

/// A load at which a client that needs `takes` for each request may be behind.
#[derive(Debug, Clone, Copy)]
enum Pressing {
    Rate(f64),
    Ramp(f64),
    Trace(f64),
    Talks(f64),
    Burst(u64),
    Closed(u32),
}

fn any_pressing() -> impl Strategy<Value = Pressing> {
    prop_oneof![
        (100.0_f64..10_000.0).prop_map(Pressing::Rate),
        (100.0_f64..10_000.0).prop_map(Pressing::Ramp),
        (100.0_f64..10_000.0).prop_map(Pressing::Trace),
        (100.0_f64..10_000.0).prop_map(Pressing::Talks),
        (1_u64..3_000).prop_map(Pressing::Burst),
        (1_u32..500).prop_map(Pressing::Closed),
    ]
}

impl Pressing {
    /// For a second and a half.
    fn plan(self) -> LevelPlan {
        let duration_ns = Some(1500 * MS);
        let arrival = Arrival::Poisson;
        let load = match self {
            Self::Rate(rate) | Self::Talks(rate) => Load::Rate { rate, arrival },
            Self::Ramp(to) => {
                let (over_ns, steps) = (1500 * MS, None);
                return level(Load::Ramp { from: 1.0, to, over_ns, steps, arrival });
            }
            Self::Trace(_) => return level(Load::Trace { speed: 1.0 }),
            Self::Burst(requests) => return level(Load::Burst { requests }),
            Self::Closed(concurrency) => Load::Concurrency { concurrency },
        };
        LevelPlan { duration_ns, ..level(load) }
    }

    fn run(self, plan: &LevelPlan, client: &mut Slow) -> (LevelOutcome, Vec<RequestRecord>) {
        let trace = match self {
            Self::Trace(rate) => {
                Some((0..(1.5 * rate) as u64).map(|n| (n as f64 * 1e9 / rate) as Nanos).collect())
            }
            _ => None,
        };
        let talks = matches!(self, Self::Talks(_));
        let work = Lookahead::start(64, move |_| {
            Some(match talks {
                true => conversation(3, MS, |_, _| Vec::new()),
                false => Payload::default().into(),
            })
        });
        run_slow(plan, client, work.unwrap(), talks, trace)
    }
}

/// The load of a client that sends a request in 0.1 ms at best, at ten times that rate.
fn far_behind() -> (LevelOutcome, Vec<RequestRecord>) {
    let load = Load::Rate { rate: 100_000.0, arrival: Arrival::Poisson };
    let plan = LevelPlan { duration_ns: Some(10 * SEC), ..level(load) };
    let mut client = Slow::new(Simulated::new(MS, 0), MS / 10);
    let work = Lookahead::start(64, |_| Some(Payload::default())).unwrap();
    run_slow(&plan, &mut client, work, false, None)
}

/// H1: it says so and ends the level. What it did not send is the difference to the plan.
#[test]
fn a_client_that_cannot_keep_up_ends_the_level() {
    let (outcome, records) = far_behind();
    reconciles(&outcome, &records);
    assert_eq!(
        (outcome.end.ending, outcome.end.planned),
        (Ending::BehindSchedule, Some(1_000_000))
    );
    let behind = outcome.end.client.behind_ns;
    assert!((5 * SEC..5 * SEC + MS).contains(&behind), "{behind}");
    // At a tenth of the rate it is 5 s behind after 5.6 s.
    let took = outcome.end.sending_stopped - outcome.started;
    assert!((5500 * MS..5700 * MS).contains(&took), "{took}");
    assert!((55_000..57_000).contains(&outcome.end.issued), "{}", outcome.end.issued);
}

/// H1: arrivals that the user's own limit held back do not count.
#[test]
fn a_cap_does_not_put_the_client_behind() {
    let load = Load::Rate { rate: 100.0, arrival: Arrival::Poisson };
    let plan = LevelPlan { duration_ns: Some(30 * SEC), ..level(load) };
    let mut server = Simulated::new(SEC, 0);
    server.at_most = Some(4);
    let mut client = Slow::new(server, MS / 10);
    let work = Lookahead::start(64, |_| Some(Payload::default())).unwrap();
    let (outcome, records) = run_slow(&plan, &mut client, work, false, None);
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.ending, outcome.end.issued), (Ending::Duration, 3000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// H1: whatever the load and however slow the client, it stops when it is told to, its records are
    /// passed on while it runs, and none pile up.
    #[test]
    fn a_client_behind_its_schedule_stops_and_keeps_nothing(
        pressing in any_pressing(),
        takes in 20_u64..5_000,
        service in 0_u64..50,
        sheds_every in 0_u64..5,
        cap in prop::option::of(1_u32..500),
        stop_at in prop::option::of(0_u64..1_500),
        drain in 0_u64..100,
    ) {
        let takes = takes * 1000;
        let plan = LevelPlan { drain_ns: drain * MS, ..pressing.plan() };
        let mut server = Simulated::shedding(service * MS, sheds_every);
        server.at_most = cap;
        server.on_failure.retry = Some(Retry { at_most: 1, within: SEC });
        let mut client = Slow::new(server, takes);
        client.stop_at = stop_at.map(|at| client.inner.now + at * MS);
        let (outcome, records) = pressing.run(&plan, &mut client);
        reconciles(&outcome, &records);
        // Those of one look, and those that a retry or a turn adds while they are sent.
        let few = 2 * BETWEEN_LOOKS;
        prop_assert!(client.most_kept <= few + 1, "{} kept", client.most_kept);
        prop_assert!(client.sent_after_stop <= few, "{} sent", client.sent_after_stop);
        let lasts = outcome.end.ended - outcome.started;
        let looks = few * takes + PATIENCE;
        if let Some(at) = stop_at {
            prop_assert!(lasts <= at * MS + drain * MS + service * MS + 2 * looks + SEC, "{lasts}");
            // A stop is not swallowed: the level says that it was interrupted, unless it had sent all, or ended
            // by itself before anybody looked.
            let sent_for = outcome.end.sending_stopped - outcome.started;
            match outcome.end.ending {
                Ending::Interrupted => {}
                Ending::Requests => prop_assert_eq!(Some(outcome.end.issued), outcome.end.planned),
                other => prop_assert!(sent_for <= at * MS + looks, "{other:?} after {sent_for}"),
            }
        } else {
            prop_assert_ne!(outcome.end.ending, Ending::Interrupted);
        }
        // A cap makes a trace as long as its responses take.
        if cap.is_none() && !matches!(pressing, Pressing::Burst(_) | Pressing::Closed(_)) {
            let all = 1500 * MS + 5 * SEC + drain * MS + service * MS + 4 * looks;
            prop_assert!(lasts <= all + SEC, "{lasts} of {all}");
        }
    }
}
