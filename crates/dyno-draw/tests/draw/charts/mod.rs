//! Charts: the values that they show, their marks, and that any summary gives a sound drawing.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod any;
mod arrangement;
mod details;
mod font;
mod made;
mod pixels;
mod trees;
mod xml;

use dyno_analysis::detail::{Became, Detail};
use dyno_draw::{self as chart, Arrangement, ChartOptions};
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::{LevelSummary, Ranges, SearchSummary, Slice, Steady, Throughput};
use dyno_model::{Diagnostic, Summary, Verdict};
use xml::{Element, read};

const ENGLISH: ChartOptions = ChartOptions { language: Language::English };

fn elements(drawing: &str) -> Vec<Element> {
    read(drawing).unwrap_or_else(|error| panic!("{error}"))
}

/// All texts and tooltips, one line each: titles, ticks and points.
fn texts(drawing: &str) -> String {
    let all = elements(drawing);
    let mut lines: Vec<String> = Vec::new();
    for element in &all {
        let group = element.groups.last();
        match (element.name.as_str(), element.class()) {
            ("text", "dc-tick") => {
                let name = group.map_or("", |(class, _)| &class["dc-".len()..]);
                match lines.last_mut().filter(|line| line.starts_with(name)) {
                    Some(line) => *line += &format!(" | {}", element.text),
                    None => lines.push(format!("{name}: {}", element.text)),
                }
            }
            ("text", _) => lines.push(element.text.clone()),
            _ if !element.title.is_empty() => lines.push(format!("  {}", element.title)),
            _ => {}
        }
    }
    lines.join("\n")
}

fn points(drawing: &str) -> Vec<Element> {
    let is = |element: &Element| element.class().contains("dc-point") && !element.title.is_empty();
    elements(drawing).into_iter().filter(is).collect()
}

fn count(drawing: &str, class: &str) -> usize {
    let has = |element: &&Element| element.class().split(' ').any(|own| own == class);
    elements(drawing).iter().filter(has).count()
}

/// The chart of that name, where there is one.
fn one(summary: &Summary, name: &str) -> Option<String> {
    let all = chart::charts(summary, None, &ENGLISH);
    all.into_iter().find(|(own, _)| own == name).map(|(_, drawing)| drawing)
}

fn names(summary: &Summary) -> Vec<String> {
    chart::charts(summary, None, &ENGLISH).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn six_panels_over_the_concurrency() {
    let summary = made::ladder();
    assert_eq!(names(&summary), ["concurrency", "frontier"]);
    insta::assert_snapshot!(texts(&one(&summary, "concurrency").unwrap()));
}

#[test]
fn rates_show_the_offered_load_and_the_knee() {
    let summary = made::rates();
    let drawing = one(&summary, "rates").unwrap();
    insta::assert_snapshot!(texts(&drawing));
    assert_eq!(count(&drawing, "dc-mark"), 8, "a band and its name in each of four panels");

    let mut carried = summary.clone();
    carried.levels.iter_mut().for_each(|level| level.saturated = Some(false));
    assert_eq!(count(&one(&carried, "rates").unwrap(), "dc-mark"), 0);
    carried.search = Some(SearchSummary::Capacity {
        unit: "req/s".to_owned(),
        holds: Some(16.0),
        does_not_hold: Some(20.0),
        confidence: None,
        doubt: None,
        outcome: None,
    });
    let drawing = one(&carried, "rates").unwrap();
    assert_eq!(count(&drawing, "dc-mark"), 8);
    assert!(texts(&drawing).contains("capacity"));
}

#[test]
fn the_ends_of_a_sweep_are_beside_the_line() {
    let (_, base) = made::base();
    let mut summary = made::rates();
    for (label, load, took) in [("synchronous", 1.0, 500.0), ("throughput", 512.0, 60_000.0)] {
        let level = made::level(&base, LoadKind::Concurrency, load, 2.0, took);
        summary.levels.push(LevelSummary { label: label.to_owned(), ..level });
    }
    assert!(!names(&summary).contains(&"concurrency".to_owned()));
    let drawing = one(&summary, "rates").unwrap();
    let is = |point: &&Element| point.title.starts_with("synchronous:");
    assert_eq!(points(&drawing).iter().filter(is).count(), 4, "one in each panel");
    let text = texts(&drawing);
    assert!(text.contains("throughput completed"), "{text}");
    assert!(text.contains("(above the chart)"), "latency would flatten the lines: {text}");
}

#[test]
fn the_title_says_what_must_not_be_overlooked() {
    let mut summary = made::ladder();
    let title = |summary: &Summary, language| {
        let drawing = chart::svg(summary, None, &ChartOptions { language });
        texts(&drawing).lines().next().unwrap().to_owned()
    };
    let plain = title(&summary, Language::English);
    summary.run.simulated = true;
    summary.levels[0].verdict = Verdict::Invalid;
    summary.levels[1].verdict = Verdict::Suspect;
    assert_eq!(
        title(&summary, Language::English),
        format!("SIMULATED · INVALID · SUSPECT · {plain}")
    );
    assert_eq!(title(&summary, Language::Chinese), format!("模拟 · 无效 · 存疑 · {plain}"));
    let sides = [("a", &made::ladder()), ("b", &summary)];
    let both =
        chart::compared(&sides.map(|(name, side)| (name, side)), &ENGLISH, &Arrangement::default());
    let both = both.unwrap();
    assert!(texts(&both).starts_with("SIMULATED · INVALID · SUSPECT · a / b"));
}

/// What is at the top of a comparison of these runs, and the looks of the lines of each panel by their names.
fn compared(sides: &[(&str, &Summary)]) -> (String, Vec<Vec<(String, String)>>) {
    let drawing = chart::compared(sides, &ENGLISH, &Arrangement::default()).unwrap();
    let mut panels: Vec<Vec<(String, String)>> = Vec::new();
    let mut look = None;
    for element in elements(&drawing) {
        let class = element.class().to_owned();
        if element.name == "text" && class == "dc-ink" {
            panels.push(vec![]);
        } else if element.name == "line" && class.starts_with("dc-line") {
            look = Some(class);
        } else if let Some(look) = look.take_if(|_| element.name == "text") {
            panels.last_mut().unwrap().push((element.text, look));
        }
    }
    panels.retain(|lines| !lines.is_empty());
    (texts(&drawing), panels)
}

#[test]
fn a_run_looks_the_same_in_all_panels_of_a_comparison() {
    let (_, base) = made::base();
    let mut sweep = made::rates();
    for load in [1.0, 4096.0] {
        sweep.levels.push(made::level(&base, LoadKind::Concurrency, load, 2.0, 500.0));
    }
    let ladder = made::ladder();
    let (text, panels) = compared(&[("sweep", &sweep), ("a", &ladder), ("b", &ladder)]);
    assert!(text.contains("By concurrency") && text.contains("By offered"), "{text}");
    // Nothing was measured between the two ends of the sweep.
    assert!(
        !text.lines().any(|line| line.starts_with("axis-x") && line.contains("4096")),
        "{text}"
    );
    let mut looks: Vec<(String, String)> = panels.concat();
    looks.sort();
    looks.dedup();
    let expected = [("a", 1), ("b", 2), ("sweep", 0)];
    let expected = expected.map(|(name, style)| (name.to_owned(), format!("dc-line dc-l{style}")));
    assert_eq!(looks, expected);
}

#[test]
fn the_lines_of_many_runs_can_be_told_apart_and_all_runs_are_named() {
    let ladder = made::ladder();
    let names: Vec<String> = (0..12).map(|i| format!("a run with a long name, {i}")).collect();
    let sides: Vec<(&str, &Summary)> = names.iter().map(|name| (name.as_str(), &ladder)).collect();
    let (text, panels) = compared(&sides);
    for lines in panels {
        let looks: std::collections::BTreeSet<_> = lines.iter().map(|(_, look)| look).collect();
        assert_eq!((lines.len(), looks.len()), (12, 12), "{lines:?}");
    }
    // The title takes as many lines as it needs.
    let title: Vec<&str> = text.lines().take_while(|line| line.contains("long name")).collect();
    assert!(title.len() > 1 && title.concat().ends_with("name, 11"), "{title:?}");
}

#[test]
fn a_grid_under_one_burst_is_a_matrix_only() {
    let mut summary = made::grid();
    summary.levels.iter_mut().for_each(|level| level.load.kind = LoadKind::Burst);
    let rename = |level: &mut LevelSummary| level.label = level.label.replace('@', "burst ");
    summary.levels.iter_mut().for_each(rename);
    let load = summary.levels[0].load.value;
    summary.levels.retain(|level| level.load.value == load);
    assert!(!names(&summary).contains(&"bursts".to_owned()), "{:?}", names(&summary));
}

#[test]
fn bursts_double_along_their_axis() {
    let (mut summary, base) = made::base();
    let level =
        |i| made::level(&base, LoadKind::Burst, f64::from(1 << i), 2.0, 500.0 * f64::from(i + 1));
    summary.levels = (0..12).map(level).collect();
    assert_eq!(names(&summary), ["bursts"]);
    let drawing = one(&summary, "bursts").unwrap();
    let places: Vec<f64> = points(&drawing)[..12].iter().map(|point| point.number("cx")).collect();
    let steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| (step - steps[0]).abs() < 0.3), "{steps:?}");
}

#[test]
fn absent_figures_leave_gaps_and_invalid_levels_are_hollow() {
    let mut summary = made::ladder();
    summary.levels[4].times[Time::Latency] = None;
    summary.levels[7].verdict = Verdict::Invalid;
    let what = "requests were sent late: send delay p99 12.0 ms <limit>".to_owned();
    summary.levels[7].reasons = vec![Diagnostic::new("send_lag", what, None::<String>)];
    let drawing = one(&summary, "concurrency").unwrap();
    let mean = |point: &&Element| point.title.contains("Mean latency");
    assert_eq!(points(&drawing).iter().filter(mean).count(), 11);
    let hollow: Vec<Element> =
        points(&drawing).into_iter().filter(|point| point.class().contains("dc-h0")).collect();
    assert_eq!(hollow.len(), 6, "one in each panel");
    assert!(hollow.iter().all(|point| point.title.contains("invalid: requests were sent late")));
    assert_eq!(count(&drawing, "dc-doubt"), 6, "dashed to it and from it");
    // Three pieces where nothing is absent, four where there is a gap.
    let legends = 6;
    assert_eq!(count(&drawing, "dc-line"), 3 * 3 + 3 * 4 + legends);
    let text = texts(&drawing);
    assert!(text.contains("gap: not available") && text.contains("hollow:"));
    assert!(!texts(&chart::svg(&made::ladder(), None, &ENGLISH)).contains("gap:"));
}

#[test]
fn intervals_are_shaded() {
    let mut summary = made::ladder();
    assert_eq!(count(&one(&summary, "concurrency").unwrap(), "dc-band"), 1);
    for level in &mut summary.levels {
        level.times[Time::Latency].as_mut().unwrap().ci95.mean = None;
    }
    assert_eq!(count(&one(&summary, "concurrency").unwrap(), "dc-band"), 0);
    summary.levels[3].times[Time::Latency].as_mut().unwrap().ci95.mean = Some([1.0, 9000.0]);
    assert_eq!(count(&one(&summary, "concurrency").unwrap(), "dc-whisker"), 1);
}

#[test]
fn a_grid_of_lengths_is_a_heat_map() {
    let mut summary = made::grid();
    assert_eq!(names(&summary), ["matrix"]);
    summary.levels[1].verdict = Verdict::Invalid;
    summary.levels[2].output_tokens = None;
    insta::assert_snapshot!(texts(&one(&summary, "matrix").unwrap()));
}

#[test]
fn several_lengths_and_loads_are_several_lines() {
    let mut summary = made::grid();
    let mut more = summary.levels.clone();
    for level in &mut more {
        level.load.value = Some(64.0);
        level.label = level.label.replace("@16", "@64");
    }
    summary.levels.extend(more);
    assert_eq!(names(&summary), ["concurrency", "matrix", "frontier"]);
    let text = texts(&one(&summary, "concurrency").unwrap());
    assert_eq!(text.lines().filter(|line| line.starts_with("128→256")).count(), 6);
    let text = texts(&one(&summary, "matrix").unwrap());
    assert!(text.contains("Requests/s (whole level), concurrency 64"), "{text}");
}

#[test]
fn the_frontier_is_counted_by_gpu_where_their_number_is_known() {
    let mut summary = made::ladder();
    let first = |summary: &Summary| points(&one(summary, "frontier").unwrap())[0].title.clone();
    // 8 in 3 s, 50 tokens each; the median TPOT is 0.9 · 60 ms.
    assert_eq!(first(&summary), "8: Output tokens/s 133.3 (whole level)");
    summary.run.gpus = Some(4);
    assert_eq!(first(&summary), "8: Output tokens/s per GPU 33.33 (whole level)");
    summary.levels.truncate(1);
    assert!(one(&summary, "frontier").is_none(), "one load is not a frontier");
}

#[test]
fn steady_windows_are_shown_where_all_levels_have_one() {
    let mut summary = made::ladder();
    for level in &mut summary.levels {
        let throughput = Throughput { requests_per_s: Some(7.0), ..Throughput::default() };
        level.steady = Some(Steady { window_s: 9.0, throughput });
    }
    let text = |summary: &Summary| texts(&one(summary, "concurrency").unwrap());
    assert!(text(&summary).contains("concurrency 8: Requests/s 7 (steady window)"));
    summary.levels[3].steady = None;
    assert!(text(&summary).contains("concurrency 8: Requests/s 2.667 (whole level)"));
    summary.levels[3].verdict = Verdict::Invalid;
    assert!(text(&summary).contains("concurrency 8: Requests/s 7 (steady window)"));
}

#[test]
fn ramps_and_soaks_are_shown_over_time() {
    let (mut summary, base) = made::base();
    let mut level = made::level(&base, LoadKind::Ramp, 20.0, 5.0, 900.0);
    let latency = |i: u32| (i < 8).then(|| 500.0 + f64::from(i) * 100.0);
    level.slices = Some((0..10).map(|i| made::slice(i, latency(i))).collect());
    summary.levels = vec![level.clone()];
    assert_eq!(names(&summary), ["over-time"]);
    let drawing = one(&summary, "over-time").unwrap();
    insta::assert_snapshot!(texts(&drawing));
    summary.levels.push(level);
    assert_eq!(names(&summary), ["over-time-1", "over-time-2"]);
}

#[test]
fn what_was_shed_has_its_own_mark_and_line() {
    let (summary, mut detail) = details::of(made::ladder());
    let timeline = |detail: &Detail| {
        let all = chart::charts(&summary, Some(detail), &ENGLISH);
        all.into_iter().find(|(name, _)| name == "timeline").unwrap().1
    };
    assert!(!texts(&timeline(&detail)).contains("shed"));
    let level = detail.0.get_mut(&0).unwrap();
    level.bars.kept[30].became = Became::Shed("http.429".to_owned());
    let drawing = timeline(&detail);
    assert!(texts(&drawing).contains("#30 shed: http.429"), "{}", texts(&drawing));
    // Two strokes at the request, and two in the legend.
    assert_eq!(count(&drawing, "dc-edge"), 4);

    let (mut summary, base) = made::base();
    let mut level = made::level(&base, LoadKind::Ramp, 20.0, 5.0, 900.0);
    let mut slices: Vec<Slice> = (0..10).map(|i| made::slice(i, None)).collect();
    slices[7].shed = 12;
    level.slices = Some(slices);
    summary.levels = vec![level];
    let drawing = texts(&one(&summary, "over-time").unwrap());
    assert!(drawing.lines().any(|line| line == "shed"), "{drawing}");
}

/// A chart that shows some percentiles shows the one that decides, too.
#[test]
fn a_percentile_of_the_slo_is_in_the_chart_of_its_time() {
    let lines = |slo: Option<&str>| {
        let mut summary = made::rates();
        summary.run.slo = slo.map(str::to_owned);
        let text = texts(&one(&summary, "rates").unwrap());
        let (_, text) = text.split_once("\nTTFT (").unwrap();
        let (ttft, _) = text.split_once("\nITL p50 (").unwrap();
        ttft.to_owned()
    };
    let has = |text: &str, name: &str| text.lines().any(|line| line == name);
    let usual = lines(None);
    assert!(has(&usual, "p50") && has(&usual, "p99") && !has(&usual, "p95"), "{usual}");
    let bounded = lines(Some("ttft.p95<500ms, latency.p90<2s"));
    assert!(["p50", "p95", "p99"].iter().all(|name| has(&bounded, name)), "{bounded}");
    assert!(!has(&bounded, "p90"), "that is of another time: {bounded}");
    assert_eq!(lines(Some("ttft.p99<500ms")), usual, "it is there already");
}

#[test]
fn texts_are_chinese_on_request() {
    let options = ChartOptions { language: Language::Chinese };
    let text = texts(&chart::svg(&made::ladder(), None, &options));
    for expected in ["总用时（s）", "并发数", "端到端时延平均值（s）", "阴影：95 % 置信区间"]
    {
        assert!(text.contains(expected), "{expected}");
    }
    assert!(!text.contains("latency"), "{text}");
    let text = texts(&chart::svg(&made::rates(), None, &options));
    for title in ["首 token 时延（TTFT）（ms）", "token 间时延（ITL）p50（ms）"] {
        assert!(text.lines().any(|line| line.starts_with(title)), "{title}: {text}");
    }
    let sides = [("a", &made::ladder()), ("b", &made::ladder())];
    let text = texts(&chart::compared(&sides, &options, &Arrangement::default()).unwrap());
    for title in ["token 间时延（ITL）平均值（", "首 token 时延（TTFT）平均值（"]
    {
        assert!(text.contains(title), "{title}: {text}");
    }
}

/// Section 4: levels had English names in Chinese pictures.
#[test]
fn levels_have_chinese_names_in_chinese_pictures() {
    let options = ChartOptions { language: Language::Chinese };
    for (summary, chinese, english) in
        [(made::ladder(), "并发 64", "concurrency"), (made::rates(), "速率 12", "rate ")]
    {
        let drawing = chart::svg(&summary, None, &options);
        let text = texts(&drawing);
        assert!(text.contains(chinese) && !text.contains(english), "{text}");
        assert!(texts(&chart::svg(&summary, None, &ENGLISH)).contains(english));
    }
    let sides = [("a", &made::ladder()), ("b", &made::ladder())];
    let text = texts(&chart::compared(&sides, &options, &Arrangement::default()).unwrap());
    assert!(text.contains("并发 64") && !text.contains("concurrency"), "{text}");
}

/// C8: a statistic that the client knows only roughly is pale; the others of its level are not.
#[test]
fn an_uncertain_percentile_is_pale() {
    let pale = |summary: &Summary| -> Vec<String> {
        let drawing = chart::svg(summary, None, &ENGLISH);
        assert_eq!(texts(&drawing).contains("pale:"), drawing.contains(" dc-q"), "its legend");
        let pale = points(&drawing).into_iter().filter(|point| point.class().contains(" dc-q"));
        pale.map(|point| point.title).collect()
    };
    let mut summary = made::rates();
    for level in &mut summary.levels {
        level.verdict = Verdict::Valid;
        level.times.iter_mut().for_each(|(_, found)| {
            if let Some(found) = found {
                (found.marked, found.uncertain, found.instrument) = (vec![], vec![], None);
            }
        });
    }
    assert_eq!(pale(&summary), Vec::<String>::new());
    let ttft = summary.levels[2].times[Time::Ttft].as_mut().unwrap();
    let given = ttft.clone();
    ttft.instrument = Some(Ranges::new(|which| {
        let value = given.get(which)?;
        Some(if which == Statistic::P99 { [0.8 * value, value] } else { [value; 2] })
    }));
    let found = pale(&summary);
    assert!(!found.is_empty(), "none is pale");
    assert!(
        found.iter().all(|title| title.contains("rate 12") && title.contains("p99")),
        "{found:?}"
    );
}

/// C12: also in runs of versions that gave bursts the names of closed loops.
#[test]
fn a_grid_of_bursts_has_its_heat_maps_by_either_name() {
    let of = |sign: &str| {
        let mut summary = made::grid();
        for level in &mut summary.levels {
            level.load.kind = LoadKind::Burst;
            level.label = level.label.replace(" @", sign);
        }
        names(&summary)
    };
    let old = of(" @");
    assert_eq!(of(" burst "), old);
    assert!(old.iter().any(|name| name == "matrix"), "{old:?}");
}

#[test]
fn a_run_without_levels_says_so() {
    let (summary, _) = made::base();
    assert!(chart::charts(&summary, None, &ENGLISH).is_empty());
    assert!(texts(&chart::svg(&summary, None, &ENGLISH)).contains("no data to draw"));
}

#[test]
fn untrusted_labels_are_escaped() {
    let mut summary = made::ladder();
    summary.run.label = Some("</svg><script>alert(1)</script>&amp;\u{1b}\u{202e}".to_owned());
    let drawing = chart::svg(&summary, None, &ENGLISH);
    assert!(!drawing.contains("<script"));
    assert_eq!(texts(&drawing).lines().next().unwrap(), {
        "</svg><script>alert(1)</script>&amp;\\u{1b}\\u{202e}"
    });
}
