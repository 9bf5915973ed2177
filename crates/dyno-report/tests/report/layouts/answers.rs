//! What a run has answered, in Markdown: search, repeats, SLO.

use crate::layouts::runs::*;
use dyno_model::load::LoadKind;
use dyno_model::summary::{
    LoadSummary, Repeated, SearchSummary, SloSummary, SloVerdict, Spread, TermVerdict,
};
use dyno_model::{Diagnostic, Language};
use dyno_report::layout::{Layout, RunToPrint};

fn answered() -> RunToPrint {
    let (mut run, _) = closed_ladder();
    let summary = &mut run.summary;
    summary.run.slo = Some("ttft.p99<500ms and throughput>1req/s".to_owned());
    summary.search = Some(SearchSummary::Capacity {
        unit: "in flight".to_owned(),
        holds: Some(4.0),
        does_not_hold: Some(8.0),
        confidence: Some(0.977),
        doubt: Some(Diagnostic::new("doubt", "read | from a file", None::<String>)),
        outcome: None,
    });
    let spread =
        |mean| Some(Spread { mean, min: mean - 1.0, max: mean + 1.0, deviation_percent: 1.25 });
    summary.repeats = vec![Repeated {
        label: "c|8".to_owned(),
        rounds: 3,
        requests_per_s: spread(12.5),
        output_tokens_per_s: spread(250.0),
        inputs_per_s: None,
        ttft_p50_ms: None,
        ttft_p99_ms: None,
        itl_p50_ms: spread(20.0),
        latency_p50_ms: None,
        latency_p99_ms: None,
    }];
    let passed = [Some(false), None];
    for (level, passed) in summary.levels.iter_mut().zip(passed) {
        let term = TermVerdict {
            term: "ttft.p99<500ms".to_owned(),
            value: passed.map(|passed| if passed { 100.0 } else { 900.0 }),
            bound: 500.0,
            unit: "ms".to_owned(),
            outcome: passed.into(),
            met: passed,
            few_samples: passed.is_none(),
            uncertain: false,
            why: passed.is_none().then(|| {
                let why = "ttft.p99 has 80 samples, too | few";
                Box::new(Diagnostic::new("slo_samples", why, Some("about 288 more would do")))
            }),
        };
        let verdict = SloVerdict::of(vec![term]);
        let share = passed.map(|passed| if passed { 1.0 } else { 0.5 });
        level.slo = Some(SloSummary { verdict, goodput_per_s: share, met_share: share });
    }
    run
}

#[test]
fn the_answers_of_a_run_stand_in_its_document() {
    let run = answered();
    for (name, language) in [("english", Language::English), ("chinese", Language::Chinese)] {
        let text = print(Layout::Markdown, std::slice::from_ref(&run), language);
        let answers: Vec<&str> =
            text.lines().filter(|line| !line.starts_with('(') && !line.starts_with("- ")).collect();
        insta::assert_snapshot!(format!("answers_{name}"), answers.join("\n"));
    }
}

/// The rate is what was offered, and the closed loop that was tried as well is not passed over.
#[test]
fn a_capacity_that_is_at_least_a_load_says_what_was_tried() {
    let mut run = answered();
    run.summary.search = Some(SearchSummary::Capacity {
        unit: "req/s".to_owned(),
        holds: Some(15.4),
        does_not_hold: None,
        confidence: None,
        doubt: None,
        outcome: None,
    });
    let mut full = run.summary.levels[0].clone();
    full.label = "throughput".to_owned();
    full.load = LoadSummary { kind: LoadKind::Concurrency, value: Some(512.0) };
    (full.throughput.requests_per_s, full.steady) = (Some(14.0), None);
    full.slo.as_mut().unwrap().verdict.outcome = dyno_model::Decision::Missed;
    run.summary.levels.truncate(1);
    let rate = &mut run.summary.levels[0];
    rate.load = LoadSummary { kind: LoadKind::Rate, value: Some(15.4) };
    let text =
        |run: &RunToPrint| print(Layout::Markdown, std::slice::from_ref(run), Language::English);
    let alone = text(&run);
    assert!(
        alone.contains("at least 15.4 req/s for ") && alone.contains(", the highest rate offered."),
        "{alone}"
    );
    run.summary.levels.push(full);
    let said = "the highest rate offered; 512 requests in flight missed it (14 req/s completed)";
    assert!(text(&run).contains(said), "{}", text(&run));
    let page = Layout::Html.print(std::slice::from_ref(&run), &Default::default()).unwrap();
    assert!(String::from_utf8(page.bytes).unwrap().contains(said));
    run.summary.levels[0].load.value = Some(16.0);
    assert!(text(&run).contains("the highest rate that could be judged; 512"), "{}", text(&run));
}

/// C6: an estimate with its interval, and the highest level that met the SLO.
#[test]
fn a_capacity_is_an_estimate_with_an_interval() {
    let mut run = answered();
    run.summary.search = Some(SearchSummary::Capacity {
        unit: "in flight".to_owned(),
        holds: Some(24.0),
        does_not_hold: Some(33.0),
        confidence: Some(0.957),
        doubt: None,
        outcome: None,
    });
    let level = &mut run.summary.levels[0];
    level.load.value = Some(26.0);
    level.slo.as_mut().unwrap().verdict.outcome = dyno_model::Decision::Met;
    let text = |language| print(Layout::Markdown, std::slice::from_ref(&run), language);
    let said = "about 28 in flight (24–33, 95 % confidence) for ";
    let english = text(Language::English);
    assert!(
        english.contains(said) && english.contains("highest level that met it: 26"),
        "{english}"
    );
    let chinese = text(Language::Chinese);
    assert!(chinese.contains("约 28 并发（24–33，置信度 95 %）"), "{chinese}");
    let page = dyno_report::layout::Layout::Html;
    let page = page.print(std::slice::from_ref(&run), &Default::default()).unwrap();
    let page = String::from_utf8(page.bytes).unwrap();
    assert!(page.contains("About 28 requests in flight (24–33, 95 % confidence)"));
    assert!(page.contains("The highest level that met it: 26."));
}
