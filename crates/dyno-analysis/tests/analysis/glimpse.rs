//! What is known of a level while it runs, against what the summary says of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use dyno_analysis::running_level::{LevelSoFar, LevelTerms, RunningLevel};
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load, Plan};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::summary::SloVerdict;
use dyno_model::{Decision, Diagnostic, MS, Verdict};
use dyno_testing::runs::{burst_plan, failure, level_plan, plan, stream, summary_of};
use proptest::prelude::*;

fn collected(terms: LevelTerms, records: &[RequestRecord]) -> RunningLevel {
    let mut glimpse = RunningLevel::new(terms);
    records.iter().for_each(|record| glimpse.add(record));
    glimpse
}

fn glimpse(records: &[RequestRecord]) -> RunningLevel {
    collected(LevelTerms { allow_failures: 1.0, ..LevelTerms::default() }, records)
}

fn terms(plan: &Plan) -> LevelTerms {
    LevelTerms {
        level: plan.levels.first().cloned().map(Box::new),
        predicted: plan.target.predicted,
        allow_failures: plan.allow_failures,
        slo: plan.slo.clone(),
    }
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
    /// A level that is over has the summary's metrics, and its reasons as far as they go.
    #[test]
    fn what_is_settled_is_what_the_summary_says(records in records()) {
        let mut plan = burst_plan(records.len() as u64);
        plan.slo = Some("ttft.p99<650.5ms and itl.p50<60.5ms and errors<10%".parse().unwrap());
        let found = collected(terms(&plan), &records).settled();
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
        let codes = |findings: &[Diagnostic]| {
            let known = [
                "instrument_range",
                "effective_concurrency",
                "burst_spread",
                "nothing_completed",
                "failures",
                "mixed_token_sources",
            ];
            let codes = findings.iter().map(|finding| finding.code.clone());
            let mut codes: Vec<String> =
                codes.filter(|code| known.contains(&code.as_str())).collect();
            codes.sort();
            codes
        };
        let (mine, theirs) = (codes(&found.findings), codes(&level.reasons));
        prop_assert_eq!(mine, theirs);
        if let (Some(slo), Some(said)) = (&found.slo, &level.slo) {
            let outcomes =
                |slo: &SloVerdict| slo.terms.iter().map(|term| term.outcome).collect::<Vec<_>>();
            prop_assert_eq!(outcomes(&slo.verdict), outcomes(&said.verdict));
            if let Some(share) = said.met_share {
                let ended = (slo.met + slo.missed) as f64;
                prop_assert!(close(Some(slo.met as f64 / ended), Some(share)));
            }
        }
    }

    /// While it runs, percentiles are rough; everything else is the same, and what is absent is.
    #[test]
    fn what_is_known_so_far_is_near(records in records()) {
        let glimpse = glimpse(&records);
        let (rough, exact) = (glimpse.so_far(), glimpse.settled());
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
fn a_steady_level_is_known_to_within_a_thousandth_while_it_runs() {
    let records: Vec<_> = (0..400).map(|i| stream(i, 0, i * 10, 100 + i % 50, 20, 8)).collect();
    let (rough, exact) = (glimpse(&records).so_far(), glimpse(&records).settled());
    for (rough, exact) in [
        (rough.times[Time::Ttft], exact.times[Time::Ttft]),
        (rough.times[Time::Itl], exact.times[Time::Itl]),
    ] {
        for (rough, exact) in [(rough.p50, exact.p50), (rough.p99, exact.p99)] {
            let (rough, exact) = (rough.unwrap(), exact.unwrap());
            assert!((0.999..=1.001).contains(&(rough / exact)), "{rough} {exact}");
        }
    }
    assert!(rough.findings.is_empty() && exact.findings.is_empty());
}

#[test]
fn past_a_twins_capacity_ttft_is_withheld_while_it_runs_and_when_it_is_over() {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    let mut plan = plan(vec![level_plan("rate", load, Some(100))]);
    let records: Vec<_> = (0..100).map(|i| stream(i, 0, i * 100, 100, 20, 5)).collect();
    for (capacity, known) in [([11.0, 12.0], true), ([9.0, 12.0], false)] {
        plan.levels[0].capacity = Some(capacity);
        let glimpse = collected(terms(&plan), &records);
        let said = summary_of(&plan, records.clone());
        assert_eq!(said.levels[0].times[Time::Ttft].is_some(), known, "{capacity:?}");
        for found in [glimpse.so_far(), glimpse.settled()] {
            assert_eq!(found.times[Time::Ttft].p50.is_some(), known, "{capacity:?}");
            assert!(found.times[Time::Tpot].p50.is_some(), "{capacity:?}");
        }
    }
}

#[test]
fn nothing_is_nothing() {
    let nothing = RunningLevel::default();
    assert_eq!(nothing.so_far(), LevelSoFar::default());
    // A level in which nothing has completed yet may still do so.
    let failed = glimpse(&[failure(0, 0, 0, 5, FailureClass::Connect, "no")]);
    assert_eq!(failed.so_far().findings, []);
    let settled = failed.settled().findings;
    assert_eq!(settled.len(), 1, "{settled:?}");
    assert!(settled[0].what.starts_with("no request completed: 1 failed"), "{settled:?}");
}

#[test]
fn the_slo_is_judged_while_the_level_runs_as_it_will_be_at_its_end() {
    let mut plan = burst_plan(400);
    plan.slo = Some("ttft.p99<160ms and itl.p99<25ms".parse().unwrap());
    let outcome = |records: &[RequestRecord]| {
        let slo = collected(terms(&plan), records).so_far().slo.unwrap();
        (slo.verdict.outcome, slo.met, slo.missed)
    };
    let met: Vec<_> = (0..400).map(|i| stream(i, 0, 0, 100 + i % 50, 20, 8)).collect();
    assert_eq!(outcome(&met), (Decision::Met, 400, 0));
    let slow: Vec<_> = (0..400).map(|i| stream(i, 0, 0, 140 + i % 50, 20, 8)).collect();
    assert_eq!(outcome(&slow), (Decision::Missed, 160, 240));
    // One request decides nothing about a 99th percentile.
    assert_eq!(outcome(&met[..1]), (Decision::Inconclusive, 1, 0));
}

#[test]
fn a_client_that_cannot_tell_times_makes_the_level_invalid_while_it_runs() {
    let plan = burst_plan(50);
    let mut records: Vec<_> = (0..50).map(|i| stream(i, 0, 0, 100, 20, 8)).collect();
    assert_eq!(collected(terms(&plan), &records).so_far().verdict, Verdict::Valid);
    for record in &mut records {
        record.widths = Some(dyno_model::record::Widths { first: 40 * MS, ..Default::default() });
    }
    let found = collected(terms(&plan), &records).so_far();
    assert_eq!(found.verdict, Verdict::Invalid, "{:?}", found.findings);
    assert_eq!(found.findings[0].code, "instrument_range");
}
