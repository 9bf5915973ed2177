//! SLOs against levels whose metrics are known: what passes, what fails, what is inconclusive.
#![allow(clippy::unwrap_used)]

use dyno_analysis::slo::{judge, met, requests_needed, value};
use dyno_model::MS;
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load, Plan};
use dyno_model::record::{RequestRecord, Widths};
use dyno_model::slo::{Condition, Metric, Slo, Statistic};
use dyno_model::summary::{LevelSummary, TermVerdict};
use dyno_model::{Decision, Summary, Verdict};
use dyno_testing::runs::*;
use proptest::prelude::*;

fn slo(text: &str) -> Slo {
    text.parse().unwrap()
}

fn burst_of(records: Vec<RequestRecord>, text: &str) -> Summary {
    let plan = Plan { slo: Some(slo(text)), ..burst_plan(records.len() as u64) };
    summary_of(&plan, records)
}

/// TTFT of 101 to 100 + n ms and 20 ms between five tokens.
fn rising(n: u64) -> Vec<RequestRecord> {
    (0..n).map(|i| stream(i, 0, 0, 101 + i, 20, 5)).collect()
}

fn passed(level: &LevelSummary) -> Option<bool> {
    level.slo.as_ref().unwrap().verdict.passed
}

#[test]
fn a_level_passes_if_every_term_holds() {
    let text = "ttft.p50<151ms and tpot.mean<=20ms and errors<=0% and tokens>1700tok/s";
    let summary = burst_of(rising(100), text);
    let level = &summary.levels[0];
    let found = level.slo.as_ref().unwrap();
    let terms: Vec<_> = found
        .verdict
        .terms
        .iter()
        .map(|t| (t.term.as_str(), t.value, t.bound, t.unit.as_str(), t.met, t.few_samples))
        .collect();
    // 500 tokens in 280 ms.
    assert_eq!(
        terms,
        [
            ("ttft.p50<151ms", Some(150.5), 151.0, "ms", Some(true), false),
            ("tpot.mean<=20ms", Some(20.0), 20.0, "ms", Some(true), false),
            ("errors<=0%", Some(0.0), 0.0, "%", Some(true), false),
            ("tokens>1700tok/s", Some(1785.71), 1700.0, "tok/s", Some(true), false),
        ]
    );
    assert_eq!((found.verdict.passed, level.verdict), (Some(true), Verdict::Valid));
    assert_eq!(summary.run.slo_outcome, Some(Decision::Met));
    assert!(codes(&summary.notes).is_empty());
    assert_eq!(summary.run.slo.as_deref(), Some(text));
}

#[test]
fn a_level_that_breaks_one_term_fails_and_a_run_of_such_levels_says_so() {
    let summary = burst_of(rising(100), "ttft.p50<150ms and tpot.mean<1s");
    assert_eq!(passed(&summary.levels[0]), Some(false));
    assert_eq!(summary.run.slo_outcome, Some(Decision::Missed));
    assert_eq!(codes(&summary.notes), ["slo_not_met"]);
    assert!(summary.notes[0].what.contains("ttft.p50<150ms and tpot.mean<1s"));
    assert_eq!(summary.levels[0].verdict, Verdict::Valid, "the measurement is not to blame");
}

#[test]
fn a_bound_that_one_request_at_a_time_misses_is_named() {
    let (mut plan, records) = closed(1, 30);
    plan.slo = Some("ttft.p50<1ms".parse().unwrap());
    let note = summary_of(&plan, records).notes.remove(0);
    assert_eq!(note.code, "slo_not_met");
    let advice = note.advice.unwrap();
    assert!(advice.contains("ttft.p50<1ms") && advice.contains("single request"), "{advice}");
}

#[test]
fn without_an_slo_nothing_is_said() {
    let summary = summary_of(&burst_plan(100), rising(100));
    assert_eq!((&summary.levels[0].slo, &summary.run.slo), (&None, &None));
    assert_eq!(summary.run.slo_outcome, None);
    assert!(summary.notes.is_empty());
}

#[test]
fn goodput_counts_the_requests_that_met_every_bound_themselves() {
    // 101 to 200 ms: forty are at most 140, and the last answer is over after 280 ms.
    let summary = burst_of(rising(100), "ttft.p90<=140ms and tpot.mean<=20ms and errors<1%");
    let found = summary.levels[0].slo.as_ref().unwrap();
    assert_eq!((found.goodput_per_s, found.met_share), (Some(142.857), Some(0.4)));

    let mut records = rising(100);
    records[0].outcome = Outcome::Failed(FailureClass::StreamReset);
    records[1].outcome = Outcome::Dropped("no port".to_owned());
    records[2].outcome = Outcome::Censored;
    let summary = burst_of(records, "ttft.p90<=140ms");
    let found = summary.levels[0].slo.as_ref().unwrap();
    assert_eq!((found.goodput_per_s, found.met_share), (Some(132.143), Some(0.373737)));

    let summary = burst_of(rising(100), "errors<1%");
    let level = &summary.levels[0];
    assert_eq!(level.slo.as_ref().unwrap().goodput_per_s, level.throughput.requests_per_s);
}

#[test]
fn the_itl_of_a_request_is_the_mean_over_its_tokens() {
    let mut record = stream(0, 0, 0, 100, 20, 5);
    record.chunks = Default::default();
    record.chunk_tokens_known = true;
    // 30 ms for one token, 50 ms for three: 20 ms a token.
    for (at, tokens) in [(100, 1), (130, 1), (180, 3)] {
        record.chunks.push(at * MS, false, tokens);
    }
    let share = |text: &str| {
        let summary = burst_of(vec![record.clone()], text);
        summary.levels[0].slo.as_ref().unwrap().met_share
    };
    assert_eq!(share("itl.mean<=20ms"), Some(1.0));
    assert_eq!(share("itl.mean<20ms"), Some(0.0));
}

#[test]
fn metrics_a_request_cannot_have_break_no_bound_and_unknown_ones_are_not_guessed() {
    let metrics = |records: Vec<RequestRecord>, text: &str| {
        let found = burst_of(records, text).levels[0].slo.clone().unwrap();
        (found.goodput_per_s.is_some(), found.met_share)
    };
    let one_token = || vec![stream(0, 0, 0, 100, 20, 1), stream(1, 0, 0, 100, 20, 5)];
    assert_eq!(metrics(one_token(), "tpot.mean<50ms and itl.mean<50ms"), (true, Some(1.0)));
    let mut untold = one_token();
    untold[1].output = usage(9);
    assert_eq!(metrics(untold.clone(), "itl.mean<50ms"), (false, None));
    assert_eq!(metrics(untold.clone(), "itl.mean<50ms and ttft.mean<1ms"), (true, Some(0.0)));
    assert_eq!(metrics(untold, "tpot.mean<50ms"), (true, Some(1.0)));
    let mut whole = one_token();
    whole.iter_mut().for_each(|r| (r.streamed, r.first) = (false, None));
    assert_eq!(metrics(whole.clone(), "ttft.mean<1s"), (false, None));
    assert_eq!(metrics(whole, "latency.mean<1s"), (true, Some(1.0)));
}

#[test]
fn an_absent_value_neither_passes_nor_fails() {
    let records: Vec<_> =
        (0..30).map(|i| failure(i, 0, 0, 50, FailureClass::Http(500), "no")).collect();
    let summary = burst_of(records.clone(), "ttft.p50<1s");
    let found = summary.levels[0].slo.clone().unwrap();
    assert_eq!(
        (found.verdict.passed, found.goodput_per_s, found.met_share),
        (None, None, Some(0.0))
    );
    assert_eq!((found.verdict.terms[0].value, found.verdict.terms[0].met), (None, None));
    assert_eq!(why(&found.verdict.terms[0]), "slo_no_figure");
    assert_eq!(summary.run.slo_outcome, Some(Decision::Inconclusive));
    assert_eq!(codes(&summary.notes), ["slo_inconclusive"]);
    let summary = burst_of(records, "ttft.p50<1s and errors<5%");
    assert_eq!(passed(&summary.levels[0]), Some(false), "one term fails, whatever the other is");
}

fn why(term: &TermVerdict) -> &str {
    term.why.as_ref().map_or("", |why| &why.code)
}

#[test]
fn too_few_samples_do_not_make_a_level_suspect_and_far_from_the_bound_are_enough() {
    let text = "ttft.p99<1s and tpot.p95<1s and ttft.p99.9<1s and latency.mean<1s";
    let summary = burst_of(rising(200), text);
    let level = &summary.levels[0];
    let found = level.slo.as_ref().unwrap();
    let few: Vec<_> = found.verdict.terms.iter().map(|t| (t.met, t.few_samples)).collect();
    assert_eq!(
        few,
        [(Some(true), true), (Some(true), false), (Some(true), true), (Some(true), false)]
    );
    assert_eq!((found.verdict.outcome, level.verdict), (Decision::Met, Verdict::Valid));
    assert!(level.reasons.is_empty());
    let enough = burst_of(rising(1000), "ttft.p99<1091ms");
    assert_eq!((passed(&enough.levels[0]), enough.levels[0].verdict), (Some(true), Verdict::Valid));
}

#[test]
fn near_its_bound_a_percentile_of_few_samples_is_inconclusive_and_says_what_would_decide_it() {
    // The largest of 100 is 200 ms, and nothing says that a p99 below 210 would stay there.
    let summary = burst_of(rising(100), "ttft.p99<210ms and ttft.p50<1s");
    let level = &summary.levels[0];
    let found = level.slo.as_ref().unwrap();
    assert_eq!((found.verdict.outcome, found.verdict.passed), (Decision::Inconclusive, None));
    let term = &found.verdict.terms[0];
    assert_eq!(
        (term.outcome, term.met, term.value.is_some()),
        (Decision::Inconclusive, None, true)
    );
    let told = term.why.as_ref().unwrap();
    assert_eq!(told.what, "ttft.p99 has 100 samples, too few to decide this bound");
    assert_eq!(told.advice.as_deref(), Some("about 268 more requests would decide it"));
    assert_eq!(summary.run.slo_outcome, Some(Decision::Inconclusive));
    assert_eq!((level.verdict, codes(&summary.notes)), (Verdict::Valid, vec!["slo_inconclusive"]));
    let decided = burst_of(rising(368), "ttft.p99<478ms");
    assert_eq!(passed(&decided.levels[0]), Some(true), "101 to 468 ms, none beyond");
}

#[test]
fn more_samples_beyond_the_bound_than_the_percentile_allows_are_a_miss() {
    let outcome =
        |text: &str| burst_of(rising(100), text).levels[0].slo.as_ref().unwrap().verdict.outcome;
    // Of 101 to 200 ms, so many are beyond: 50, 10, 2.
    assert_eq!(outcome("ttft.p99<151ms"), Decision::Missed);
    assert_eq!(outcome("ttft.p99<191ms"), Decision::Missed);
    assert_eq!(outcome("ttft.p99<199ms"), Decision::Inconclusive);
    assert_eq!(outcome("ttft.p99<199ms and ttft.p50<10ms"), Decision::Missed, "a miss wins");
}

#[test]
fn itl_has_many_samples_per_request() {
    // 25 requests of four gaps each: 100 samples, of which a quarter of the requests would add 25.
    let summary = burst_of(rising(25), "itl.p99<21ms");
    let term = &summary.levels[0].slo.as_ref().unwrap().verdict.terms[0];
    let advice = term.why.as_ref().unwrap().advice.as_deref();
    assert_eq!(advice, Some("about 67 more requests would decide it"), "268 / 4");
}

/// A prediction at 10 requests per second of what a twin of some capacity does.
fn predicted(capacity: [f64; 2], text: &str) -> LevelSummary {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    let mut plan = plan(vec![level_plan("rate", load, Some(100))]);
    (plan.levels[0].capacity, plan.slo) = (Some(capacity), Some(slo(text)));
    let records = (0..100).map(|i| stream(i, 0, i * 100, 100, 20, 5)).collect();
    summary_of(&plan, records).levels.remove(0)
}

#[test]
fn past_capacity_there_is_no_goodput() {
    let goodput = |capacity, text: &str| {
        let found = predicted(capacity, text).slo.unwrap();
        (found.verdict.passed, found.goodput_per_s.is_some(), found.met_share)
    };
    assert_eq!(goodput([11.0, 12.0], "ttft.p90<1s"), (Some(true), true, Some(1.0)));
    assert_eq!(goodput([9.0, 12.0], "ttft.p90<1s"), (None, false, None));
    assert_eq!(goodput([9.0, 12.0], "tpot.p90<1s"), (Some(true), true, Some(1.0)));
    assert!(met(&predicted([9.0, 12.0], "tpot.p90<1s"), &Condition::Saturated));
    assert!(!met(&predicted([11.0, 12.0], "tpot.p90<1s"), &Condition::Saturated));
}

/// A level that is invalid because the client cannot tell TTFT: it is 100 ms, or as little as 10.
fn late(text: &str) -> LevelSummary {
    let (plan, mut records) = closed(4, 25);
    let unsure = Widths { first: 90 * MS, ..Widths::default() };
    records.iter_mut().for_each(|r| r.widths = Some(unsure));
    let plan = Plan { slo: Some(slo(text)), ..plan };
    let level = summary_of(&plan, records).levels.remove(0);
    assert_eq!(level.verdict, Verdict::Invalid);
    level
}

#[test]
fn an_inaccurate_level_decides_values_far_from_their_bound() {
    let term = |text: &str| late(text).slo.unwrap().verdict.terms.remove(0);
    let at = |ms: u64| term(&format!("ttft.p50<{ms}ms"));
    assert_eq!(at(101).outcome, Decision::Met);
    assert_eq!(at(99).outcome, Decision::Inconclusive);
    assert_eq!(at(11).outcome, Decision::Inconclusive);
    assert_eq!(at(9).outcome, Decision::Missed);
    assert_eq!(why(&at(99)), "slo_range");
    let p80 = |ms: u64| term(&format!("ttft.p80<{ms}ms"));
    assert_eq!([p80(101).outcome, p80(99).outcome], [Decision::Met, Decision::Inconclusive]);
    // A value without a range may be off by a factor of two.
    let without = |ms: u64| {
        let text = format!("ttft.p80<{ms}ms");
        let mut level = late(&text);
        level.times[Time::Ttft].as_mut().unwrap().instrument = None;
        judge(&level, &slo(&text)).terms.remove(0)
    };
    assert_eq!(
        [without(210).outcome, without(190).outcome],
        [Decision::Met, Decision::Inconclusive]
    );
    assert_eq!(why(&without(190)), "slo_invalid");
    // A stop condition holds only if all of the range does.
    let above = |text: &str| met(&late("ttft.p50<1s"), &text.parse().unwrap());
    assert_eq!([above("ttft.p50>9ms"), above("ttft.p50>50ms")], [true, false]);
}

/// C8: an uncertain percentile between tokens is decided by its range alone, and nothing rests on the
/// value itself.
#[test]
fn an_uncertain_percentile_between_tokens_decides_nothing_by_itself() {
    let level = |text: &str| {
        let (plan, mut records) = closed(4, 300);
        for record in &mut records {
            let all: Vec<_> = record.chunks.iter().collect();
            record.chunks = dyno_model::chunks::ChunkTrack::default();
            for (place, chunk) in all.iter().enumerate() {
                record.chunks.push(chunk.at_us * 1_000, false, 1);
                // One gap is between 17 and 20 ms, the next between 20 and 23.
                record.chunks.loosen(1, 0, if place == 2 { 3_000 } else { 0 });
            }
        }
        let plan = Plan { slo: Some(slo(text)), ..plan };
        let mut level = summary_of(&plan, records).levels.remove(0);
        (level.verdict, level.slo.take().unwrap().verdict.terms.remove(0), level)
    };
    for (bound, outcome) in
        [(25, Decision::Met), (22, Decision::Inconclusive), (19, Decision::Missed)]
    {
        let text = format!("itl.p99<{bound}ms");
        let (verdict, term, level) = level(&text);
        assert_eq!((verdict, term.outcome, term.uncertain), (Verdict::Valid, outcome, true));
        let above: Condition = format!("itl.p99>{bound}ms").parse().unwrap();
        assert_eq!(met(&level, &above), outcome == Decision::Missed, "{bound}");
    }
    let (_, term, _) = level("itl.p50<22ms");
    assert!(!term.uncertain);
}

#[test]
fn a_level_with_inconsistent_records_decides_nothing() {
    let (plan, records) = closed(4, 25);
    for text in ["ttft.p50<1h", "ttft.p50<1us", "errors<50%"] {
        let plan = Plan { slo: Some(slo(text)), ..plan.clone() };
        let summary = summary_with(&plan, records.clone(), |end| end.issued += 30);
        assert_eq!(summary.levels[0].verdict, Verdict::Invalid);
        assert_eq!(passed(&summary.levels[0]), None, "{text}");
        assert_eq!(summary.run.slo_outcome, Some(Decision::Inconclusive));
    }
}

#[test]
fn values_are_those_of_the_summary() {
    let (plan, mut records) = closed(8, 30);
    records[7].outcome = Outcome::Failed(FailureClass::Http(500));
    let summary = summary_with(&plan, records, |end| end.starved = Some(starved(30)));
    let level = &summary.levels[0];
    let of = |metric, statistic| value(level, metric, Some(statistic));
    let p = |d: &Option<dyno_model::summary::Distribution>| d.as_ref().unwrap().p90;
    assert_eq!(of(Metric::Time(Time::Ttft), Statistic::P90), p(&level.times[Time::Ttft]));
    assert_eq!(
        of(Metric::Time(Time::TtftScheduled), Statistic::P90),
        p(&level.times[Time::TtftScheduled])
    );
    assert_eq!(of(Metric::Time(Time::Tpot), Statistic::P90), p(&level.times[Time::Tpot]));
    assert_eq!(of(Metric::Time(Time::Itl), Statistic::P90), p(&level.times[Time::Itl]));
    assert_eq!(of(Metric::Time(Time::Latency), Statistic::P90), p(&level.times[Time::Latency]));
    assert_eq!(
        of(Metric::Time(Time::LatencyScheduled), Statistic::P90),
        p(&level.times[Time::LatencyScheduled])
    );
    assert_eq!(
        of(Metric::Time(Time::Itl), Statistic::Mean),
        level.times[Time::Itl].as_ref().and_then(|d| d.mean)
    );
    assert_ne!(
        of(Metric::Time(Time::Ttft), Statistic::P90),
        of(Metric::Time(Time::TtftScheduled), Statistic::P90)
    );
    assert_eq!(value(level, Metric::Errors, None), Some(0.416667));
    let steady = level.steady.unwrap().throughput;
    assert_eq!(value(level, Metric::RequestRate, None), steady.requests_per_s);
    assert_eq!(value(level, Metric::OutputRate, None), steady.output_tokens_per_s);
    assert_eq!(value(level, Metric::Time(Time::Ttft), None), None);
    assert_eq!(judge(level, &slo("ttft.p90<1s")).passed, Some(true));
}

#[test]
fn every_percentile_needs_ten_requests_beyond_it() {
    for (text, needed) in [
        ("ttft.p99<1s", 1000),
        ("tpot.p95<1s and errors<1%", 200),
        ("itl.p90<1s", 100),
        ("latency.p66<1s", 30),
        ("latency.p99.9<1s and ttft.p99<1s", 10_000),
        ("ttft.p50<1s", 2),
        ("ttft.mean<1s and throughput>1/s", 1),
    ] {
        assert_eq!(requests_needed(&slo(text)), needed, "{text}");
    }
}

/// An open loop at 10 requests per second, each answered `slower` ms later than the one before.
fn at_a_rate(load: Load, slower: u64) -> LevelSummary {
    let plan = plan(vec![level_plan("rate", load, Some(400))]);
    let records = (0..400).map(|i| stream(i, 0, i * 100, 100 + i * slower, 20, 5)).collect();
    summary_of(&plan, records).levels.remove(0)
}

#[test]
fn conditions_are_met_by_values_above_their_bound() {
    let holds = |level: &LevelSummary, text: &str| met(level, &text.parse::<Condition>().unwrap());
    let rate = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    let steady = at_a_rate(rate, 0);
    assert!(holds(&steady, "ttft.p99>99ms") && !holds(&steady, "ttft.p99>100ms"));
    assert!(holds(&steady, "ttft.p99>=100ms") && !holds(&steady, "ttft.p99.9>1ms"));
    assert!(holds(&steady, "throughput>9/s") && !holds(&steady, "errors>0%"));
    assert!(!holds(&steady, "saturated"));

    let growing = at_a_rate(rate, 100);
    assert_eq!(growing.saturated, Some(true));
    assert!(holds(&growing, "saturated"));
    let trace = at_a_rate(Load::Trace { speed: 1.0 }, 100);
    assert!(!holds(&trace, "saturated"), "a trace has busy hours of its own");

    let nothing = summary_of(&burst_plan(0), vec![]).levels.remove(0);
    assert!(!holds(&nothing, "errors>0%") && !holds(&nothing, "ttft.mean>1us"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn goodput_is_never_more_than_throughput_and_is_what_counting_gives(
        times in proptest::collection::vec((1_u64..400, 1_u64..60), 1..80),
        ttft in 1_u64..400,
        tpot in 1_u64..60,
    ) {
        let one = |(i, (ttft, itl)): (usize, &(u64, u64))| stream(i as u64, 0, 0, *ttft, *itl, 5);
        let records: Vec<_> = times.iter().enumerate().map(one).collect();
        let summary = burst_of(records, &format!("ttft.p99<{ttft}ms, tpot.p50<={tpot}ms"));
        let level = &summary.levels[0];
        let found = level.slo.as_ref().unwrap();
        let good = times.iter().filter(|(t, i)| *t < ttft && *i <= tpot).count() as f64;
        let share = good / times.len() as f64;
        prop_assert!((found.met_share.unwrap() - share).abs() < 1e-5);
        prop_assert!(found.goodput_per_s.unwrap() <= level.throughput.requests_per_s.unwrap());
    }
}
