//! The table of a comparison within the width of the terminal, and what it says of refused requests.
#![allow(clippy::unwrap_used)]

use dyno_analysis::compare::{
    Called, Compared, ComparedSide, Comparison, ComparisonNote, ComparisonTerms, GateAnswer,
    WhyDifferent, compare, gated,
};
use dyno_model::load::{LoadKind, LoadSummary};
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::{Origin, Overload, Ranges, Retried};
use dyno_model::{Language, Summary};
use dyno_report::compared::{caveats, check_line, missing_line, table};
use dyno_testing::runs::*;
use dyno_words::columns::width;

fn summary() -> Summary {
    let (plan, records) = closed(8, 30);
    summary_with(&plan, records, |end| end.starved = Some(starved(30)))
}

fn compared(names: &[&str]) -> Comparison {
    let summary = summary();
    let sides: Vec<ComparedSide<'_>> =
        names.iter().map(|name| ComparedSide { name, summary: &summary }).collect();
    compare(&sides, &ComparisonTerms::default())
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long =
        ["qwen2-72b-vllm-0.6.3-baseline-of-monday", "qwen2-72b-vllm-0.7.0-候选版本-of-tuesday"];
    for names in [&long[..], &["a", "b", "c", "d"][..]] {
        let comparison = compared(names);
        for terminal in [40, 60, 80, 120, 200] {
            for language in [Language::English, Language::Chinese] {
                let text = table(&comparison, language, Some(terminal));
                for line in text.lines() {
                    assert!(width(line) <= terminal, "{terminal}: {line}\n{text}");
                }
            }
        }
    }
}

#[test]
fn the_verdict_is_kept_longest_and_stands_at_the_left() {
    let comparison = compared(&["before", "after"]);
    let narrow = table(&comparison, Language::English, Some(60));
    let head = narrow.lines().next().unwrap();
    assert!(head.contains("change") && head.contains("verdict"), "{narrow}");
    assert!(!head.contains("interval"), "the interval goes first: {narrow}");
    assert!(narrow.contains("column") && narrow.contains("hidden"), "{narrow}");
    let column = |line: &str, word| width(line.split(word).next().unwrap());
    let at = column(head, "verdict");
    let verdicts = || narrow.lines().filter(|line| line.contains(" within "));
    assert!(verdicts().count() > 3, "{narrow}");
    assert!(verdicts().all(|line| column(line, "within") == at), "{narrow}");
    let narrower = table(&comparison, Language::English, Some(40));
    assert!(narrower.lines().next().unwrap().contains("verdict"), "{narrower}");
}

/// B4: whatever the names, both sides are shown at 80 columns, the reference before all.
#[test]
fn the_reference_is_shown_in_80_columns() {
    let long = [
        "Qwen2-72B-Instruct, 8 × L20 48GB, SGLang, prompt_tokens=512, generated_tokens=128",
        "Qwen2-72B-Instruct, 8 × L20 48GB, vLLM, prompt_tokens=512, generated_tokens=128",
        "Qwen2-72B-Instruct, 8 × L20 48GB, LMDeploy, prompt_tokens=512, generated_tokens=128",
    ];
    let numbered = ["ladder (1)", "ladder (2)", "sessions"];
    for names in [&long[..2], &long[..], &numbered[..]] {
        let comparison = compared(names);
        for language in [Language::English, Language::Chinese] {
            let text = table(&comparison, language, Some(80));
            assert!(!text.contains("hidden") && !text.contains("隐藏"), "{text}");
            let head = text.lines().find(|line| line.contains(" A ")).unwrap();
            assert!(head.contains(" B"), "{text}");
            let whole = text.replace('\n', " ");
            assert!(names.iter().all(|name| whole.contains(*name)), "a legend has them: {text}");
        }
    }
}

/// B4: a load of one side only has nothing to compare; it is counted and named.
#[test]
fn loads_of_one_side_only_are_left_out_and_named() {
    let (a, b) = (
        at(&summary(), LoadKind::Rate, &[4.0, 8.0]),
        at(&summary(), LoadKind::Rate, &[4.0, 64.0, 128.0]),
    );
    let text = table(&against(&a, &b), Language::English, Some(80));
    assert!(!text.contains("\nrate 64") && !text.contains("\nrate 8"), "{text}");
    let note = "3 loads that only one run has are left out: rate 8, rate 64, rate 128";
    assert!(text.replace('\n', " ").contains(note), "{text}");
}

#[test]
fn a_file_is_as_wide_as_a_terminal_of_80_columns() {
    let comparison = compared(&["before", "after"]);
    let file = table(&comparison, Language::English, None);
    assert_eq!(file, table(&comparison, Language::English, Some(80)));
    assert!(file.contains("verdict") && file.contains("95 % interval"), "{file}");
    let wide = table(&comparison, Language::English, Some(200));
    assert!(wide.contains("95 % interval") && !wide.contains("hidden"), "{wide}");
}

/// A level of which the server shed a share, as counts.
fn shedding(completed: u64, shed: u64) -> Summary {
    let mut summary = summary();
    let counts = &mut summary.levels[0].requests;
    (counts.completed, counts.failed, counts.shed) = (Some(completed), Some(0), Some(shed));
    summary
}

fn against(first: &Summary, own: &Summary) -> Comparison {
    let sides = [("before", first), ("after", own)];
    compare(
        &sides.map(|(name, summary)| ComparedSide { name, summary }),
        &ComparisonTerms::default(),
    )
}

/// The level of a summary at several loads.
fn at(summary: &Summary, kind: LoadKind, loads: &[f64]) -> Summary {
    let mut levels = Vec::new();
    for (index, load) in (0..).zip(loads) {
        let mut level = summary.levels[0].clone();
        level.index = index;
        level.load = LoadSummary { kind, value: Some(*load) };
        level.label = format!("{kind} {load}");
        levels.push(level);
    }
    Summary { levels, ..summary.clone() }
}

/// Whether the first side has a value at the one load of the second.
fn interpolated(first: &Summary, load: f64) -> bool {
    let kind = first.levels[0].load.kind;
    let comparison = against(first, &at(&summary(), kind, &[load]));
    let point = comparison.points.iter().find(|point| point.load.value == Some(load)).unwrap();
    let text = table(&comparison, Language::English, Some(80));
    let cell = point.cells[0].as_ref();
    assert_eq!(cell.is_some(), text.contains('≈'), "{text}");
    assert!(!text.contains('~'), "that sign has another meaning: {text}");
    cell.is_some_and(|cell| cell.interpolated)
}

/// B3: a server and itself differed by 198 % between 1 and 96 in flight.
#[test]
fn compare_does_not_interpolate_over_a_wide_gap() {
    let closed = |loads: &[f64]| at(&summary(), LoadKind::Concurrency, loads);
    assert!(!interpolated(&closed(&[1.0, 96.0]), 8.0));
    assert!(!interpolated(&closed(&[4.0, 16.0]), 8.0));
    assert!(interpolated(&closed(&[6.0, 12.0]), 8.0));
    assert!(!interpolated(&closed(&[8.0, 12.0]), 6.0), "nor beyond the last load");
}

/// B3: between a load that the server keeps up with and one that it does not, the curve bends.
#[test]
fn compare_does_not_interpolate_across_saturation() {
    let mut own = at(&summary(), LoadKind::Rate, &[6.0, 12.0]);
    assert!(interpolated(&own, 8.0));
    own.levels[1].saturated = Some(true);
    assert!(!interpolated(&own, 8.0));
    let mut other = imported(&[(6.0, 5.9), (12.0, 7.0)]);
    assert!(!interpolated(&other, 8.0));
    other.levels[1].throughput.requests_per_s = Some(11.5);
    assert!(interpolated(&other, 8.0));
}

/// Another tool's levels: offered and completed requests per second.
fn imported(rates: &[(f64, f64)]) -> Summary {
    let offered: Vec<f64> = rates.iter().map(|(offered, _)| *offered).collect();
    let mut found = at(&summary(), LoadKind::Rate, &offered);
    for (level, (_, completed)) in found.levels.iter_mut().zip(rates) {
        level.throughput.requests_per_s = Some(*completed);
        (level.steady, level.saturated) = (None, None);
    }
    found.run.origin = Some(Origin {
        tool: "guidellm".into(),
        form: "table".into(),
        version: None,
        file: "results.md".into(),
        line: None,
        headings: Vec::new(),
        recognised: None,
    });
    found
}

fn at_slo(first: &Summary, own: &Summary, slo: &str) -> Comparison {
    let sides = [("before", first), ("after", own)];
    let terms = ComparisonTerms { slo: Some(slo.parse().unwrap()), ..ComparisonTerms::default() };
    compare(&sides.map(|(name, summary)| ComparedSide { name, summary }), &terms)
}

/// B7: 1.26 of 3.25 req/s is no capacity of 3.25 req/s, in any tool's results.
#[test]
fn a_saturated_level_is_no_capacity() {
    let other = imported(&[(1.58, 1.46), (1.92, 1.72), (2.92, 2.13), (3.25, 1.26)]);
    let mut own = at(&summary(), LoadKind::Rate, &[2.0, 3.0]);
    own.levels[1].saturated = Some(true);
    let comparison = at_slo(&other, &own, "errors<5%");
    let sides = &comparison.capacity.as_ref().unwrap().sides;
    let held = |side: usize| sides[side].as_ref().map(|held| (held.holds, held.does_not_hold));
    assert_eq!(held(0), Some((Some(1.92), None)));
    assert_eq!(held(1), Some((Some(2.0), Some(3.0))));
    let text = table(&comparison, Language::English, Some(100)).replace('\n', " ");
    assert!(text.contains("before at least 1.92 req/s; after between 2 and 3 req/s"), "{text}");
    assert!(text.contains("are no capacity: 2.13 of 2.92 req/s, 1.26 of 3.25 req/s"), "{text}");
    let chinese = table(&comparison, Language::Chinese, Some(100)).replace('\n', "");
    assert!(chinese.contains("before 至少 1.92 请求/秒"), "{chinese}");
}

/// B7: levels that `dyno lint` has an error about are named.
#[test]
fn levels_that_contradict_themselves_are_named() {
    let good = imported(&[(1.0, 0.99), (2.0, 1.98)]);
    let mut bad = good.clone();
    let ttft = bad.levels[1].times[Time::Ttft].as_mut().unwrap();
    (ttft.p50, ttft.p90) = (Some(900.0), Some(100.0));
    let comparison = against(&good, &bad);
    assert!(comparison.sides[1].inconsistent.contains(&"rate 2".to_owned()), "{comparison:?}");
    let text = table(&comparison, Language::English, Some(100)).replace('\n', " ");
    assert!(text.contains("contradict themselves (dyno lint says how): "), "{text}");
}

/// C4: compare and gate rest on the same change of the same rounds, and ask for rounds alike.
#[test]
fn compare_and_gate_give_the_same_change_in_the_same_unit() {
    let (a, b) = (shedding(120, 0), shedding(120, 0));
    let comparison = against(&a, &b);
    let found = gated(&comparison, &[], 0.001);
    let tests = || found.checks.iter().filter(|check| check.interval.is_some());
    assert!(tests().count() > 3);
    for check in tests() {
        let test = comparison.test(1, 0, check.metric).unwrap();
        assert_eq!((Some(test.change), Some(test.rounds)), (check.change, check.rounds));
        let line = check_line(check, Language::English);
        let chinese = check_line(check, Language::Chinese);
        match check.more_rounds {
            Some(more) => {
                let plural = if more == 1 { "round" } else { "rounds" };
                let needs = format!("; needs {more} more {plural} of each (--repeat {})", more + 1);
                assert!(line.ends_with(&needs), "{line}");
                assert!(chinese.ends_with(&format!("各再测 {more} 轮（--repeat {}）", more + 1)));
            }
            None => assert!(line.ends_with("make the levels longer"), "{line}"),
        }
    }
    let open = comparison
        .differences
        .iter()
        .any(|test| matches!(test.called, Called::NotEnough { more_rounds: Some(_) }));
    let text = table(&comparison, Language::English, Some(80)).replace('\n', " ");
    assert_eq!(open, text.contains(" of each: --repeat "), "{text}");
    assert!(!text.contains("more run"), "{text}");
}

/// C3: a check that passed or failed gives the end of the interval that decided.
#[test]
fn the_gate_prints_the_bound_that_decides() {
    let found = gated(&compared(&["before", "after"]), &[], 0.5);
    let line = |name: &str| {
        let metric = Compared::named(name).unwrap();
        let check = found.checks.iter().find(|check| check.metric == metric).unwrap();
        assert_eq!(check.answer, GateAnswer::Pass);
        let [low, high] = check.interval.unwrap();
        (check_line(check, Language::English), low, high)
    };
    let (latency, _, high) = line("latency_mean");
    assert!(latency.ends_with(&format!("+0.0 %, at most {:+.1} %", high * 100.0)), "{latency}");
    let (rate, low, _) = line("requests_per_s");
    assert!(rate.ends_with(&format!("+0.0 %, at least {:+.1} %", low * 100.0)), "{rate}");
}

/// C5: no interval, and why.
#[test]
fn the_reason_for_a_missing_interval_is_said() {
    let mut short = summary();
    for time in [Time::Ttft, Time::Latency, Time::Itl, Time::Tpot] {
        if let Some(times) = short.levels[0].times[time].as_mut() {
            times.ci95 = Default::default();
        }
    }
    let comparison = against(&short, &short);
    assert!(comparison.differences.is_empty());
    assert!(comparison.untested.iter().all(|one| one.why == WhyDifferent::TooShort));
    let text = table(&comparison, Language::English, Some(80));
    assert!(!text.contains("verdict") && !text.contains("interval  "), "{text}");
    let whole = text.replace('\n', " ");
    assert!(whole.contains("† no interval for c=8: one run of each"), "{text}");
    assert!(whole.contains("†+0.0 %") && !whole.contains(" +0.0 %"), "{text}");
    let printed = against(&imported(&[(1.0, 0.99)]), &imported(&[(1.0, 0.98)]));
    let whole = table(&printed, Language::English, Some(80)).replace('\n', " ");
    assert!(whole.contains("at a rate, requests/s is what was sent"), "{whole}");
    let check = gated(&comparison, &[], 0.05).checks[0].clone();
    assert!(check_line(&check, Language::English).contains("too few requests"));
}

/// C5: with any number of runs, levels that are suspect are named.
#[test]
fn suspect_levels_are_named() {
    let mut suspect = summary();
    suspect.levels[0].verdict = dyno_model::Verdict::Suspect;
    let good = Summary { levels: suspect.levels.clone(), ..suspect.clone() };
    let sides = [("a", &good), ("b", &suspect), ("c", &suspect)];
    let sides = sides.map(|(name, summary)| ComparedSide { name, summary });
    let comparison = compare(&sides, &ComparisonTerms::default());
    let text = table(&comparison, Language::English, Some(80)).replace('\n', " ");
    assert!(text.contains("suspect levels") && text.contains("a c=8; b c=8; c c=8"), "{text}");
    assert!(text.contains("✓ better, ✗ worse, = no difference larger than 5.0 %"), "{text}");
}

/// C8: what the client knows only roughly is left out, in the comparison and in the gate, and named.
#[test]
fn an_uncertain_percentile_is_neither_compared_nor_gated() {
    let good = summary();
    let mut rough = good.clone();
    let ttft = rough.levels[0].times[Time::Ttft].as_mut().unwrap();
    let given = ttft.clone();
    ttft.instrument = Some(Ranges::new(|which| {
        let value = given.get(which)?;
        Some(if which == Statistic::P99 { [0.5 * value, value] } else { [value; 2] })
    }));
    let tail = Compared::named("ttft_p99").unwrap();
    let before = against(&good, &good);
    assert!(before.test(1, 0, tail).is_some() && before.untested(1, 0, tail).is_none());
    for (first, own) in [(&good, &rough), (&rough, &good)] {
        let comparison = against(first, own);
        assert_eq!(comparison.differences.len(), before.differences.len() - 1);
        assert_eq!(comparison.untested(1, 0, tail), Some(WhyDifferent::Imprecise));
        let text = table(&comparison, Language::English, Some(100)).replace('\n', " ");
        let named = "not tested: TTFT p99 ms at c=8, which the client could not measure";
        assert!(text.contains(named), "{text}");
        let found = gated(&comparison, &[], 0.5);
        let check = found.checks.iter().find(|check| check.metric == tail).unwrap();
        assert_eq!(
            (check.answer, check.why),
            (GateAnswer::Inconclusive, Some(WhyDifferent::Imprecise))
        );
        let line = check_line(check, Language::English);
        assert!(line.contains("could not measure"), "{line}");
        let others = found.checks.iter().filter(|check| check.metric != tail);
        assert!(
            others.clone().count() > 3 && others.clone().all(|of| of.answer == GateAnswer::Pass)
        );
    }
}

/// C14: one name for one thing, and the same thing on both sides.
#[test]
fn compare_names_the_time_between_tokens_that_both_have() {
    let names = |comparison: &Comparison| {
        let figures = comparison.points[0].cells.iter().flatten().flat_map(|cell| &cell.figures);
        let mut names: Vec<String> = figures.map(|(metric, _)| metric.name()).collect();
        names.retain(|name| name.contains("itl") || name.contains("tpot"));
        names
    };
    let both = summary();
    assert!(both.levels[0].times[Time::Tpot].is_some());
    let comparison = against(&both, &both);
    assert_eq!(names(&comparison), ["itl_mean", "itl_mean"]);
    let text = table(&comparison, Language::English, Some(80));
    assert!(text.contains("ITL mean ms") && !text.contains("time/token"), "{text}");
    let mut without = both.clone();
    without.levels[0].times[Time::Itl] = None;
    let mixed = against(&both, &without);
    assert_eq!(names(&mixed), ["tpot_mean", "tpot_mean"], "ITL and TPOT are not the same thing");
    let checks = gated(&mixed, &[], 0.05).checks;
    assert!(checks.iter().any(|check| check.metric.name() == "tpot_mean"));
    let asked = vec![Compared::named("tpot_mean").unwrap()];
    let terms = ComparisonTerms { asked: asked.clone(), ..ComparisonTerms::default() };
    let sides = [("before", &both), ("after", &both)];
    let comparison = compare(&sides.map(|(name, summary)| ComparedSide { name, summary }), &terms);
    assert_eq!(gated(&comparison, &asked, 0.05).checks.len(), 1, "what is asked for is checked");
}

#[test]
fn a_run_that_sheds_more_than_its_baseline_fails_the_gate() {
    let comparison = against(&shedding(120, 0), &shedding(60, 60));
    let text = table(&comparison, Language::English, Some(120));
    assert!(text.contains("shed %") && !text.contains("failed %"), "{text}");
    let note = "the server shed 50.0 % of the requests of after: times and rates cover only";
    assert!(text.contains(note), "{text}");
    let chosen = [Compared::named("latency_mean").unwrap()];
    let found = gated(&comparison, &chosen, 0.05);
    let check = found.checks.iter().find(|check| check.metric.is_shed()).unwrap();
    assert_eq!((found.answer, check.answer), (GateAnswer::Fail, GateAnswer::Fail));
    assert!(check_line(check, Language::English).ends_with("shed: 0.0 % → 50.0 %"));
    assert_eq!(found.caveats, [ComparisonNote::Shed]);
    let better = gated(&against(&shedding(60, 60), &shedding(120, 0)), &[], 0.05);
    assert_ne!(better.answer, GateAnswer::Fail);
    assert_eq!(
        better.caveats,
        [ComparisonNote::Shed],
        "the baseline's times are those of half the requests"
    );
    let none = gated(&against(&shedding(120, 0), &shedding(120, 0)), &[], 0.05);
    assert!(none.checks.iter().all(|check| !check.metric.is_shed()) && none.caveats.is_empty());
}

#[test]
fn different_apis_and_requests_sent_again_are_caveats() {
    let (first, mut own) = (shedding(120, 0), shedding(120, 0));
    own.levels[0].overload = Some(Overload {
        retried: Some(Retried {
            requests: 60,
            share: 0.5,
            completed: 60,
            retries: 60,
            first_refusal_ms: None,
            final_latency_ms: None,
        }),
        ..Default::default()
    });
    own.run.api = Some("sglang-generate".into());
    let comparison = against(&first, &own);
    let text = table(&comparison, Language::English, Some(120)).replace('\n', " ");
    let api = first.run.api.unwrap();
    assert!(text.contains(&format!("different APIs: {api}, sglang-generate")), "{text}");
    assert!(text.contains("sent again (--on-shed retry) for 50.0 % of the requests of after"));
    assert_eq!(
        gated(&comparison, &[], 0.05).caveats,
        [ComparisonNote::OtherApi, ComparisonNote::SentAgain]
    );
    let chinese = caveats(&comparison, Language::Chinese);
    assert!(chinese[1].contains("after 的 50.0 %"), "{chinese:?}");
}

/// Every line of a comparison and of a gate names levels in its language.
#[test]
fn levels_have_chinese_names_in_compare_and_gate() {
    let first = at(&summary(), LoadKind::Rate, &[4.0, 8.0, 64.0]);
    let mut own = at(&summary(), LoadKind::Rate, &[4.0, 128.0]);
    own.levels[0].verdict = dyno_model::Verdict::Suspect;
    let comparison = against(&first, &own);
    let text = table(&comparison, Language::Chinese, Some(120));
    let found = gated(&comparison, &[], 0.05);
    let checks: Vec<String> =
        found.checks.iter().map(|check| check_line(check, Language::Chinese)).collect();
    assert!(
        !checks.is_empty() && checks.iter().all(|line| line.starts_with("速率 4，")),
        "{checks:?}"
    );
    let missing = missing_line(&found, Language::Chinese).unwrap();
    assert_eq!(missing, "缺少基线中的负载：速率 8，速率 64");
    let english = missing_line(&found, Language::English).unwrap();
    assert_eq!(english, "the run lacks loads of the baseline: rate 8, rate 64");
    assert!(text.contains("速率 4") && !text.contains("rate "), "{text}");
    assert_eq!(missing_line(&gated(&against(&own, &own), &[], 0.05), Language::Chinese), None);
}
