//! Parts of a level in virtual time: all together send what the whole does, each request once.
#![allow(clippy::unwrap_used)]

use crate::simulated::{Simulated, conversations, level, run_work};
use dyno_drive::{LevelOutcome, Lookahead, Payload, Share, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a part sent: its outcome, and the records with what was in each.
struct Sent {
    outcome: LevelOutcome,
    records: Vec<RequestRecord>,
    bodies: Vec<u64>,
}

fn trace() -> Vec<Nanos> {
    (0..120).map(|at| at * at % 97 * MS + at * 20 * MS).collect()
}

/// Runs a part whose items are numbers.
fn sent(plan: &LevelPlan, at_most: Option<u32>, shard: Shard, service: Nanos) -> Sent {
    let share = Share::new(plan.load, at_most, (3, 0), shard);
    let mut from = 0;
    let items = Lookahead::start(8, move |_| {
        let item = share.next(from)?;
        from = item + 1;
        Some(Payload { body: item.to_le_bytes().to_vec(), ..Payload::default() })
    });
    let mut server = Simulated::new(service, 0);
    server.at_most = at_most;
    let trace = matches!(plan.load, Load::Trace { .. }).then(trace);
    let stop = StopSignal::new();
    let (outcome, records) =
        run_work(plan, &mut server, shard, &stop, items.unwrap(), false, trace);
    let number = |body: &Vec<u8>| u64::from_le_bytes(body[..].try_into().unwrap());
    Sent { outcome, records, bodies: server.got.iter().map(number).collect() }
}

fn any_load() -> impl Strategy<Value = Load> {
    let arrival = prop_oneof![
        Just(Arrival::Poisson),
        Just(Arrival::Constant),
        (0.3_f64..4.0).prop_map(|shape| Arrival::Gamma { shape }),
    ];
    prop_oneof![
        (1_u32..20).prop_map(|concurrency| Load::Concurrency { concurrency }),
        (1.0_f64..200.0, arrival.clone()).prop_map(|(rate, arrival)| Load::Rate { rate, arrival }),
        (5.0_f64..60.0, arrival).prop_map(|(to, arrival)| {
            Load::Ramp { from: 5.0, to, over_ns: 2 * SEC, steps: None, arrival }
        }),
        (1_u64..90).prop_map(|requests| Load::Burst { requests }),
        Just(Load::Trace { speed: 1.0 }),
    ]
}

/// Index, phase and, where there is a schedule, due time.
fn told(load: Load, sent: &[Sent]) -> Vec<(u64, Phase, Option<Nanos>)> {
    let mut told: Vec<_> = sent
        .iter()
        .flat_map(|part| {
            let due = move |r: &RequestRecord| r.intended - part.outcome.started;
            part.records.iter().map(move |r| (r.index, r.phase, load.is_open().then(|| due(r))))
        })
        .collect();
    told.sort_unstable_by_key(|(index, ..)| *index);
    told
}

proptest! {
    #[test]
    fn the_parts_of_a_level_are_the_whole(
        load in any_load(),
        of in prop::sample::select(vec![1_u32, 2, 3, 8]),
        requests in 1_u64..80,
        warmup in prop::option::of(0_u64..12),
        at_most in prop::option::of(1_u32..12),
        service in 1_u64..300,
    ) {
        let plan = LevelPlan {
            requests: Some(requests),
            warmup: warmup.map(Warmup::Requests),
            ..level(load)
        };
        // A ramp is over with its time, and what then waits for a slot depends on the slots.
        let at_most = at_most.filter(|_| load.ramp().is_none());
        let service = service * MS;
        let whole = [sent(&plan, at_most, Shard::WHOLE, service)];
        let parts: Vec<Sent> = (0..of)
            .map(|index| sent(&plan, at_most, Shard { index, of }, service))
            .collect();
        prop_assert_eq!(told(load, &parts), told(load, &whole));
        let whole = &whole[0].outcome;
        let ends: Vec<Ending> = parts.iter().map(|part| part.outcome.end.ending).collect();
        if whole.end.ending == Ending::Requests {
            prop_assert!(ends.iter().all(|ending| *ending == Ending::Requests), "{:?}", ends);
        }
        let sum = |of: fn(&LevelOutcome) -> u64| parts.iter().map(|p| of(&p.outcome)).sum::<u64>();
        prop_assert_eq!(sum(|o| o.end.issued), whole.end.issued);
        prop_assert_eq!(sum(|o| o.end.warmup), whole.end.warmup);
        prop_assert_eq!(sum(|o| o.end.planned.unwrap()), whole.end.planned.unwrap());
        prop_assert_eq!(parts.iter().map(|p| p.outcome.taken).max().unwrap(), whole.taken);
        for part in &parts {
            // Every request carried the item of its own index.
            let mut indices: Vec<u64> = part.records.iter().map(|r| r.index).collect();
            let mut bodies = part.bodies.clone();
            indices.sort_unstable();
            bodies.sort_unstable();
            prop_assert_eq!(indices, bodies);
        }
    }

    #[test]
    fn in_a_given_time_a_part_sends_a_prefix_of_its_own(
        load in any_load(),
        of in prop::sample::select(vec![1_u32, 2, 3, 8]),
        duration in 1_u64..1500,
        service in 1_u64..300,
    ) {
        let plan = LevelPlan { duration_ns: Some(duration * MS), ..level(load) };
        for index in 0..of {
            let shard = Shard { index, of };
            let part = sent(&plan, None, shard, service * MS);
            let share = Share::new(load, None, (3, 0), shard);
            let own: Vec<u64> = (0..).take_while(|_| !share.is_empty())
                .filter(|index| share.has(*index)).take(part.records.len()).collect();
            let indices: Vec<u64> = part.records.iter().map(|r| r.index).collect();
            prop_assert_eq!(&indices, &own);
            prop_assert_eq!(part.outcome.taken, own.last().map_or(0, |last| last + 1));
        }
    }

    #[test]
    fn conversations_stay_in_one_part_and_no_number_is_given_twice(
        load in any_load().prop_filter("no burst", |load| !matches!(load, Load::Burst { .. })),
        of in prop::sample::select(vec![1_u32, 2, 3, 8]),
        requests in 1_u64..60,
        warmup in 0_u64..8,
    ) {
        let plan = LevelPlan {
            requests: Some(requests),
            warmup: Some(Warmup::Requests(warmup)),
            ..level(load)
        };
        let (mut seen, mut parts) = (BTreeSet::new(), BTreeMap::new());
        for index in 0..of {
            let shard = Shard { index, of };
            let mut server = Simulated::new(20 * MS, 0);
            let trace = matches!(load, Load::Trace { .. }).then(trace);
            let stop = StopSignal::new();
            let (_, records) =
                run_work(&plan, &mut server, shard, &stop, conversations(3, 5 * MS), true, trace);
            for record in records {
                prop_assert!(seen.insert(record.index), "index {} twice", record.index);
                let turn = record.turn.unwrap();
                prop_assert_eq!(*parts.entry(turn.session).or_insert(index), index);
            }
        }
        // Only a ramp can be over before.
        if load.ramp().is_none() {
            prop_assert_eq!(seen.len() as u64, requests + warmup);
        }
    }
}

#[test]
fn slots_have_numbers_of_their_own() {
    let plan = LevelPlan { requests: Some(90), ..level(Load::Concurrency { concurrency: 7 }) };
    let slots = |index| {
        let part = sent(&plan, None, Shard { index, of: 3 }, 10 * MS);
        let mut slots: Vec<u32> = part.records.iter().map(|r| r.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    };
    assert_eq!([slots(0), slots(1), slots(2)], [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
}

#[test]
fn a_part_without_anything_to_send_starts_and_ends() {
    let none = Shard { index: 7, of: 8 };
    let timed = |load| LevelPlan { duration_ns: Some(SEC), ..level(load) };
    let counted = |load, requests| LevelPlan { requests: Some(requests), ..level(load) };
    let poisson = Load::Rate { rate: 20.0, arrival: Arrival::Poisson };
    for (plan, at_most) in [
        (timed(Load::Concurrency { concurrency: 2 }), None),
        (counted(Load::Concurrency { concurrency: 2 }, 100), None),
        (counted(Load::Concurrency { concurrency: 64 }, 3), None),
        (level(Load::Burst { requests: 3 }), None),
        (counted(poisson, 50), Some(3)),
        (counted(Load::Rate { rate: 20.0, arrival: Arrival::Constant }, 3), None),
    ] {
        let part = sent(&plan, at_most, none, 10 * MS);
        assert_eq!(part.records.len(), 0, "{plan:?}");
        assert_eq!(
            (part.outcome.end.ending, part.outcome.taken),
            (Ending::Requests, 0),
            "{plan:?}"
        );
    }
    let mut server = Simulated::new(10 * MS, 0);
    server.at_most = Some(3);
    let stop = StopSignal::new();
    let (outcome, records) = run_work(
        &counted(poisson, 50),
        &mut server,
        none,
        &stop,
        conversations(3, 5 * MS),
        true,
        None,
    );
    assert_eq!((outcome.end.ending, records.len()), (Ending::Requests, 0));
}
