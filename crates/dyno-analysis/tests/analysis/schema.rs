//! The written form: it follows its schema, and depends on nothing but the run.
#![allow(clippy::unwrap_used)]

use dyno_analysis::summarise;
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load, Plan};
use dyno_model::record::{RequestRecord, ServerTimes, TurnOfSession};
use dyno_model::{SEC, Summary, message};
use dyno_testing::runs::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const SCHEMA: &str = include_str!("../../../../docs/schema/summary-1.schema.json");

pub(super) fn check(summary: &Summary) {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = serde_json::to_value(summary).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let back: Summary = serde_json::from_value(value).unwrap();
    assert_eq!(&back, summary);
}

#[test]
fn every_time_of_the_registry_is_in_the_schema_and_no_other() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let level = &schema["$defs"]["level"];
    let distribution = |value: &serde_json::Value| value.to_string().contains("defs/distribution");
    let properties = level["properties"].as_object().unwrap().iter();
    let times: BTreeSet<&str> =
        properties.filter(|(_, value)| distribution(value)).map(|(key, _)| key.as_str()).collect();
    assert_eq!(times, Time::ALL.map(Time::id).into(), "a time is a row in dyno-model/src/metric");
    let required = level["required"].as_array().unwrap();
    for time in Time::ALL {
        assert_eq!(required.contains(&time.id().into()), !time.is_later(), "{}", time.id());
    }
}

const TIMES: ServerTimes = ServerTimes {
    queue: Some(1_000_000),
    prefill: Some(2_000_000),
    decode: None,
    load: Some(700_000_000),
    total: Some(3_000_000),
};

/// A level with something of everything.
fn mixed() -> (Plan, Vec<RequestRecord>) {
    let (plan, mut records) = closed(4, 30);
    for (i, r) in records.iter_mut().enumerate() {
        match i % 9 {
            0 => r.outcome = Outcome::Failed(FailureClass::Http(500 + (i % 4) as u16)),
            1 => r.outcome = Outcome::Censored,
            2 => r.outcome = Outcome::Dropped("no port".to_owned()),
            3 => r.output = usage(7),
            4 => r.input = None,
            5 => r.server = Some(TIMES),
            _ => {}
        }
        r.detail = Some(message!("words {}", "话 {}", i % 5));
    }
    (plan, records)
}

const RAMP: Load = Load::Ramp {
    from: 1.0,
    to: 80.0,
    over_ns: 5 * SEC,
    steps: Some(7),
    arrival: Arrival::Constant,
};

/// Makes turns of conversations of all that has no index divisible by 10.
fn take_turns(records: &mut [RequestRecord]) {
    for r in records.iter_mut().filter(|r| r.index % 10 != 0) {
        r.turn = Some(TurnOfSession { session: r.index / 10, number: (r.index % 10) as u32 });
    }
}

#[test]
fn summaries_follow_the_schema() {
    let (plan, records) = closed(4, 25);
    check(&summary_of(&plan, records.clone()));
    check(&summarise(&plan, None, &source(&plan, frames(records, None))));
    check(&summarise(&plan, None, &source(&plan, vec![])));
    check(&summarise(&plan, None, &source(&plan, frames(vec![], None))));
    let (plan, records) = mixed();
    check(&summary_of(&plan, records));
    let (plan, mut records) = mixed();
    take_turns(&mut records);
    let summary = summary_of(&plan, records);
    assert!(summary.levels[0].sessions.is_some());
    check(&summary);
    let (mut plan, records) = mixed();
    plan.levels[0].load = Load::Trace { speed: 0.5 };
    check(&summary_of(&plan, records.clone()));
    plan.levels[0].load = RAMP;
    let ramp = summary_of(&plan, records.clone());
    assert!(ramp.levels[0].slices.as_ref().is_some_and(|slices| !slices.is_empty()));
    check(&ramp);
    plan.levels[0].load = Load::Concurrency { concurrency: 4 };
    plan.levels[0].soak = true;
    check(&summary_of(&plan, records));
    for slo in ["ttft.p50<1s and tokens>1tok/s", "errors<=0%", "latency.p99.9<1us"] {
        let (mut plan, records) = mixed();
        plan.slo = Some(slo.parse().unwrap());
        check(&summary_of(&plan, records));
        check(&summarise(&plan, None, &source(&plan, frames(vec![], None))));
    }
}

#[test]
fn the_schema_refuses_what_is_not_a_summary() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (plan, records) = closed(4, 25);
    let mut value = serde_json::to_value(summary_of(&plan, records)).unwrap();
    value["levels"][0]["verdict"] = "fine".into();
    assert!(!validator.is_valid(&value));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn the_order_of_requests_does_not_matter(
        order in Just((0..120_usize).collect::<Vec<_>>()).prop_shuffle(),
        turns: bool,
        kind in 0_u8..3,
    ) {
        let (mut plan, mut records) = mixed();
        plan.slo = Some("ttft.p95<101ms and itl.mean<30ms".parse().unwrap());
        plan.levels[0].soak = kind == 1;
        if kind == 2 {
            plan.levels[0].load = RAMP;
        }
        if turns {
            take_turns(&mut records);
        }
        let shuffled = order.iter().map(|i| records[*i].clone()).collect();
        let plain = serde_json::to_string(&summary_of(&plan, records)).unwrap();
        let other = serde_json::to_string(&summary_of(&plan, shuffled)).unwrap();
        prop_assert_eq!(plain, other);
    }
}
