//! What is known of a level while it runs, against what the summary says of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{burst_plan, failure, stream, summary_of};
use dyno_analysis::glimpse::{Glimpse, Glimpsed};
use dyno_model::MS;
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord};
use dyno_words::Finding;
use proptest::prelude::*;

fn glimpse(records: &[RequestRecord]) -> Glimpse {
    let mut glimpse = Glimpse::default();
    records.iter().for_each(|record| glimpse.add(record));
    glimpse
}

fn records() -> impl Strategy<Value = Vec<RequestRecord>> {
    let one = (0_u64..5_000, 1_u64..900, 1_u64..90, 1_u64..12, 0_u64..100, 0_u64..12);
    prop::collection::vec(one, 0..150).prop_map(|many| {
        let many = many.into_iter().zip(0_u64..);
        many.map(|((sent, ttft, itl, tokens, late, kind), index)| {
            let mut record = match kind {
                0 => failure(index, 0, sent, sent + ttft, FailureClass::Http(503), "busy"),
                _ => stream(index, 0, sent, ttft, itl, tokens),
            };
            match kind {
                1 => record.outcome = Outcome::Censored,
                2 => record.phase = Phase::Warmup,
                3 => record.output = None,
                _ => {}
            }
            record.intended = (sent * MS).saturating_sub(late * MS);
            record
        })
        .collect()
    })
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-4 * b.abs() + 1e-6,
        (a, b) => a == b,
    }
}

proptest! {
    /// A level that is over has the summary's figures, and its reasons as far as they go.
    #[test]
    fn what_is_settled_is_what_the_summary_says(records in records()) {
        let plan = burst_plan(records.len() as u64);
        let found = glimpse(&records).settled(plan.allow_failures);
        let summary = summary_of(&plan, records);
        let level = &summary.levels[0];
        let counts = &level.requests;
        prop_assert_eq!(found.counts.completed, counts.completed.unwrap());
        prop_assert_eq!(&found.counts.failures, &counts.failures);
        prop_assert!(close(found.requests_per_s, level.throughput.requests_per_s));
        prop_assert!(close(found.output_tokens_per_s, level.throughput.output_tokens_per_s));
        for (found, said) in [
            (found.times[Time::Ttft], &level.times[Time::Ttft]),
            (found.times[Time::Itl], &level.times[Time::Itl]),
            (found.times[Time::Tpot], &level.times[Time::Tpot]),
        ] {
            let said = said.as_ref();
            prop_assert!(close(found.p50, said.and_then(|said| said.p50)), "{found:?} {said:?}");
            prop_assert!(close(found.p99, said.and_then(|said| said.p99)), "{found:?} {said:?}");
            let marked = said.is_some_and(|said| said.marked.iter().any(|name| name == "p99"));
            prop_assert_eq!(found.p99_marked, marked);
        }
        let codes = |codes: Vec<String>| {
            let known = ["send_lag", "nothing_completed", "failures"];
            codes.into_iter().filter(|code| known.contains(&code.as_str())).collect::<Vec<_>>()
        };
        let mine = codes(found.findings.iter().map(|finding| finding.code.clone()).collect());
        let theirs = codes(level.reasons.iter().map(|reason| reason.code.clone()).collect());
        prop_assert_eq!(mine, theirs);
    }

    /// While it runs, percentiles are rough; everything else is the same, and what is absent is.
    #[test]
    fn what_is_known_so_far_is_near(records in records()) {
        let glimpse = glimpse(&records);
        let (rough, exact) = (glimpse.so_far(0.01), glimpse.settled(0.01));
        prop_assert_eq!(rough.requests_per_s, exact.requests_per_s);
        prop_assert_eq!(&rough.counts, &exact.counts);
        let pairs = [(rough.times[Time::Ttft], exact.times[Time::Ttft]), (rough.times[Time::Itl], exact.times[Time::Itl])];
        for (rough, exact) in pairs {
            prop_assert_eq!(rough.p50.is_some(), exact.p50.is_some());
            prop_assert_eq!(rough.p99.is_some(), exact.p99.is_some());
            prop_assert_eq!(rough.p99_marked, exact.p99_marked);
        }
    }
}

#[test]
fn percentiles_of_a_running_level_are_accurate_to_a_sixteenth() {
    let records: Vec<_> = (0..400).map(|i| stream(i, 0, i * 10, 100 + i % 50, 20, 8)).collect();
    let (rough, exact) = (glimpse(&records).so_far(0.01), glimpse(&records).settled(0.01));
    for (rough, exact) in [
        (rough.times[Time::Ttft], exact.times[Time::Ttft]),
        (rough.times[Time::Itl], exact.times[Time::Itl]),
    ] {
        for (rough, exact) in [(rough.p50, exact.p50), (rough.p99, exact.p99)] {
            let (rough, exact) = (rough.unwrap(), exact.unwrap());
            assert!((0.98..=1.08).contains(&(rough / exact)), "{rough} {exact}");
        }
    }
    assert!(rough.findings.is_empty() && exact.findings.is_empty());
}

#[test]
fn an_empty_level_has_no_metrics() {
    let nothing = Glimpse::default();
    assert_eq!(nothing.so_far(0.01), Glimpsed::default());
    // A level in which nothing has completed yet may still do so.
    let failed = glimpse(&[failure(0, 0, 0, 5, FailureClass::Connect, "no")]);
    assert_eq!(failed.so_far(1.0).findings, []);
    assert_eq!(failed.settled(1.0).findings, [Finding::NothingCompleted.into()]);
}
