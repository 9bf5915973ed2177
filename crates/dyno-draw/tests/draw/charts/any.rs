//! Any summary, however odd its metrics and labels, gives a sound drawing.

use super::xml::{Element, read};
use super::{details, made};
use dyno_analysis::Detail;
use dyno_draw::{ChartOptions, charts, measure, svg};
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::{PerTime, Time};
use dyno_model::summary::{LoadSummary, Steady, Throughput};
use dyno_model::{Diagnostic, LevelSummary, Summary, Verdict};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..5000.0_f64,
        2 => 1.0..1e7_f64,
        1 => Just(0.0),
        1 => any::<f64>(),
    ]
}

fn maybe() -> impl Strategy<Value = Option<f64>> {
    option::weighted(0.85, figure())
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z]{1,8} [0-9]{1,4}",
        2 => "[1-9][0-9]{1,3}→(32|64|128|lognormal\\(512,0.5\\)) @[0-9]",
        1 => "\\PC{0,60}→\\PC{0,80} @x",
        1 => "[<>&\"'\u{1}\u{1b}\u{202e}\u{fffe}\u{ffff}测试并行]{0,80}",
        1 => any::<String>(),
    ]
}

/// Everything of a level that is drawn.
#[derive(Debug, Clone)]
struct Odd {
    label: String,
    load: (LoadKind, f64),
    verdict: u8,
    work: [Option<f64>; 2],
    steady: bool,
    times: [Option<f64>; 4],
    interval: Option<[f64; 2]>,
    saturated: Option<bool>,
    slices: Vec<Option<f64>>,
}

fn odd() -> impl Strategy<Value = Odd> {
    let kinds =
        [LoadKind::Concurrency, LoadKind::Rate, LoadKind::Burst, LoadKind::Trace, LoadKind::Ramp]
            .to_vec();
    let value = prop_oneof![4 => (1_u32..800).prop_map(f64::from), 1 => figure()];
    let load = (prop::sample::select(kinds), value);
    let work = [maybe(), maybe()];
    let times = [maybe(), maybe(), maybe(), maybe()];
    let slices = prop_oneof![9 => Just(vec![]), 1 => vec(maybe(), 0..40)];
    let interval = option::of([figure(), figure()]);
    let few = (label(), load, 0..3_u8, work, any::<bool>(), times);
    (few, interval, any::<Option<bool>>(), slices).prop_map(
        |((label, load, verdict, work, steady, times), interval, saturated, slices)| Odd {
            label,
            load,
            verdict,
            work,
            steady,
            times,
            interval,
            saturated,
            slices,
        },
    )
}

fn level(base: &LevelSummary, odd: &Odd) -> LevelSummary {
    let time = |i: usize| {
        let mut all = made::distribution(base, odd.times[i]?);
        if let Some(all) = &mut all {
            all.ci95.p50 = odd.interval;
            all.ci95.mean = odd.interval;
            all.p90 = odd.times[(i + 1) % 4];
        }
        all
    };
    let throughput = Throughput {
        requests_per_s: odd.work[0],
        output_tokens_per_s: odd.work[1],
        total_tokens_per_s: None,
        ..Throughput::default()
    };
    let (kind, value) = odd.load;
    let times = PerTime::new(|which| match which {
        Time::Ttft => time(0),
        Time::Latency => time(1),
        Time::Tpot => time(2),
        Time::Itl => time(3),
        _ => base.times[which].clone(),
    });
    let slices = odd.slices.iter().zip(0..).map(|(latency, i)| made::slice(i, *latency));
    LevelSummary {
        label: odd.label.clone(),
        load: LoadSummary { kind, value: Some(value) },
        verdict: [Verdict::Valid, Verdict::Suspect, Verdict::Invalid][usize::from(odd.verdict)],
        reasons: vec![Diagnostic::new("x", odd.label.clone(), None::<String>)],
        duration_s: odd.work[0],
        throughput,
        steady: odd.steady.then_some(Steady { window_s: 1.0, throughput }),
        offered_per_s: odd.work[1].filter(|_| odd.steady),
        saturated: odd.saturated,
        times,
        slices: (!odd.slices.is_empty()).then(|| slices.collect()),
        ..base.clone()
    }
}

/// Left, top, right and bottom of a text, by the table of widths.
pub fn area(text: &Element) -> [f64; 4] {
    let (x, y, size) = (text.number("x"), text.number("y"), text.number("font-size"));
    let wide = measure::width(&text.text, size, text.attributes.contains_key("font-weight"));
    let left = match text.attributes["text-anchor"].as_str() {
        "start" => x,
        "middle" => x - wide / 2.0,
        _ => x - wide,
    };
    [left, y - size * 0.75, left + wide, y + size * 0.2]
}

fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    const ROUNDED: f64 = 0.2;
    let apart = |axis: usize| a[axis + 2] <= b[axis] + ROUNDED || b[axis + 2] <= a[axis] + ROUNDED;
    !apart(0) && !apart(1)
}

/// Numbers of all attributes that are places or sizes.
fn numbers(element: &Element) -> Vec<(bool, f64)> {
    let parse = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    let mut all = Vec::new();
    for (key, value) in &element.attributes {
        match key.as_str() {
            "x" | "x1" | "x2" | "cx" | "width" => all.push((true, parse(value))),
            "y" | "y1" | "y2" | "cy" => all.push((false, parse(value))),
            "height" | "r" => all.push((false, parse(value))),
            "d" => {
                let pairs = value.trim_end_matches('Z').split(['M', 'L']).skip(1);
                for (x, y) in pairs.filter_map(|pair| pair.split_once(' ')) {
                    all.extend([(true, parse(x)), (false, parse(y))]);
                }
            }
            _ => {}
        }
    }
    all
}

fn check(drawing: &str) -> Result<(), String> {
    let all = read(drawing)?;
    let root = all.last().ok_or("empty")?;
    let size = [root.number("width"), root.number("height")];
    for element in all.iter().filter(|element| element.name != "svg") {
        for (is_x, number) in numbers(element) {
            let end = if is_x { size[0] } else { size[1] };
            if !(-0.1..=end + 0.1).contains(&number) {
                return Err(format!("{number} in {element:?}"));
            }
        }
    }
    let texts: Vec<(&Element, [f64; 4])> =
        all.iter().filter(|e| e.name == "text").map(|e| (e, area(e))).collect();
    for (text, [left, top, right, bottom]) in &texts {
        if *left < -0.1 || *top < -0.1 || *right > size[0] + 0.1 || *bottom > size[1] + 0.1 {
            return Err(format!("outside of the page: {text:?}"));
        }
        let number = text.text.as_str();
        if text.class() == "dc-tick" && (number.contains("NaN") || number == "inf") {
            return Err(format!("no tick: {text:?}"));
        }
    }
    // Texts are near each other only if they are near in height.
    let mut sorted = texts;
    sorted.sort_by(|a, b| a.1[1].total_cmp(&b.1[1]));
    for (i, (text, place)) in sorted.iter().enumerate() {
        let near = sorted[i + 1..].iter().take_while(|(_, other)| other[1] < place[3]);
        if let Some((other, _)) = near.into_iter().find(|(_, other)| overlap(place, other)) {
            return Err(format!("{text:?} and {other:?} overlap"));
        }
    }
    Ok(())
}

fn check_all(summary: &Summary, detail: Option<&Detail>) -> Result<(), TestCaseError> {
    for language in [Language::English, Language::Chinese] {
        let options = ChartOptions { language };
        let whole = svg(summary, detail, &options);
        prop_assert_eq!(&whole, &svg(summary, detail, &options));
        let each = charts(summary, detail, &options);
        let mut names: Vec<&String> = each.iter().map(|(name, _)| name).collect();
        names.dedup();
        prop_assert_eq!(names.len(), each.len());
        for drawing in each.iter().map(|(_, drawing)| drawing).chain([&whole]) {
            check(drawing).map_err(TestCaseError::fail)?;
        }
    }
    Ok(())
}

#[test]
fn the_summaries_made_by_hand_are_sound() {
    for summary in [made::ladder(), made::rates(), made::grid()] {
        check_all(&summary, None).unwrap();
        let (summary, detail) = details::of(summary);
        check_all(&summary, Some(&detail)).unwrap();
    }
}

#[test]
fn any_number_of_levels_with_any_names_leaves_room() {
    const NAMES: [&str; 5] = [
        "a|b|c",
        "<script>alert('x')</script>",
        "🦀 emoji ✓",
        "two\nlines\tand more",
        "一个非常长的标签，长到没有任何图例能够完整显示它，并且还在继续 and on and on and on and on",
    ];
    let (base, level) = made::base();
    for count in [1, 3, 20, 200] {
        let kinds = if count < 200 {
            &[LoadKind::Concurrency, LoadKind::Rate, LoadKind::Burst][..]
        } else {
            &[LoadKind::Rate]
        };
        for kind in kinds {
            let mut summary = base.clone();
            let own = |i: usize| {
                let value = (i + 1) as f64;
                let mut own = made::level(&level, *kind, value, value, 100.0 + value);
                own.label = format!("{} {i}", NAMES[i % NAMES.len()]);
                own
            };
            summary.levels = (0..count).map(own).collect();
            summary.run.label = Some(NAMES[count % NAMES.len()].repeat(5));
            let (summary, detail) = details::of(summary);
            check_all(&summary, Some(&detail)).unwrap();
        }
    }
}

#[test]
fn what_overlaps_or_leaves_the_page_is_found() {
    let page = |text: &str| format!("<svg width=\"100\" height=\"50\">{text}</svg>");
    let text = |x: u32, y: u32| {
        format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"start\" font-size=\"10\">abc</text>")
    };
    assert!(check(&page(&(text(1, 20) + &text(40, 20)))).is_ok());
    assert!(check(&page(&(text(1, 20) + &text(10, 22)))).is_err());
    assert!(check(&page(&text(90, 20))).is_err());
    assert!(check(&page("<circle cx=\"NaN\" cy=\"1\" r=\"1\"/>")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_summary_gives_a_sound_drawing(
        odd in prop_oneof![
            3 => vec(odd(), 1..8),
            2 => vec(odd(), 8..40),
            1 => vec(odd(), 40..=200),
        ],
        one_kind in option::of(0..3_usize),
        label in option::of(any::<String>()),
        gpus in option::of(any::<u32>()),
        detail in vec(details::any_level(), 1..12),
    ) {
        let (mut summary, base) = made::base();
        summary.levels = odd.iter().map(|odd| level(&base, odd)).collect();
        if let Some(kind) = one_kind {
            let kind = [LoadKind::Concurrency, LoadKind::Rate, LoadKind::Burst][kind];
            summary.levels.iter_mut().for_each(|level| level.load.kind = kind);
        }
        summary.run.label = label;
        summary.run.gpus = gpus;
        for (level, i) in summary.levels.iter_mut().zip(0..) {
            level.index = i;
        }
        let detail = Detail((0..).zip(detail).collect());
        check_all(&summary, Some(&detail))?;
    }
}
