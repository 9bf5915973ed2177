//! Charts by name, in a grid, at a size.

use super::{ENGLISH, elements, made, texts};
use dyno_draw::{self as chart, Arrangement, ArrangementError};
use dyno_model::Summary;

fn chosen(summary: &Summary, arrangement: &Arrangement) -> Result<String, ArrangementError> {
    chart::chosen(summary, None, &ENGLISH, arrangement)
}

fn named(names: &[&str]) -> Arrangement {
    let charts = names.iter().map(|name| (*name).to_owned()).collect();
    Arrangement { charts, ..Arrangement::default() }
}

/// Width and height of the picture.
fn size(drawing: &str) -> [f64; 2] {
    let svg = elements(drawing).into_iter().find(|element| element.name == "svg").unwrap();
    ["width", "height"].map(|key| svg.attributes[key].parse().unwrap())
}

/// The titles of panels, in order.
fn titles(drawing: &str) -> Vec<String> {
    let title = |name: &str| {
        ["Total time", "Requests/s", "Mean latency", "Output tokens/s", "Latency p", "Failed"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let bold = |element: &super::xml::Element| element.attributes.contains_key("font-weight");
    let text = |element: &super::xml::Element| bold(element) && title(&element.text);
    elements(drawing).into_iter().filter(text).map(|element| element.text).collect()
}

#[test]
fn charts_are_drawn_in_the_order_they_are_named() {
    let summary = made::ladder();
    assert_eq!(
        chosen(&summary, &Arrangement::default()).unwrap(),
        chart::svg(&summary, None, &ENGLISH),
        "all of them by default"
    );
    let drawing = chosen(&summary, &named(&["output-tokens", "requests"])).unwrap();
    let both = titles(&drawing);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both[0].starts_with("Output tokens/s") && both[1].starts_with("Requests/s"));
    let whole = chosen(&summary, &named(&["frontier", "concurrency.latency"])).unwrap();
    let text = texts(&whole);
    let frontier = text.find("Throughput vs per-user speed").unwrap();
    assert!(frontier < text.find("Mean latency").unwrap(), "{text}");
}

#[test]
fn an_unknown_name_is_answered_with_those_that_there_are() {
    let unknown = chosen(&made::ladder(), &named(&["rates"])).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no chart `rates` for this run; choose from concurrency (duration, requests, \
         latency, output-tokens, latency-p50, latency-p90), frontier (output-tokens)"
    );
    let nothing = chosen(&made::ladder(), &named(&["concurrency.ttft"])).unwrap_err();
    assert!(matches!(nothing, ArrangementError::Unknown { .. }));
}

#[test]
fn a_grid_has_as_many_panels_as_places() {
    let summary = made::ladder();
    let two = Arrangement { grid: Some([2, 2]), ..Arrangement::default() };
    let drawing = chosen(&summary, &two).unwrap();
    assert_eq!(titles(&drawing).len(), 4, "the first four");
    let five = ["duration", "requests", "latency", "latency-p50", "latency-p90"];
    let error = chosen(&summary, &Arrangement { grid: Some([2, 2]), ..named(&five) }).unwrap_err();
    assert_eq!(error, ArrangementError::TooMany { panels: 5, grid: [2, 2] });
}

#[test]
fn a_picture_has_the_size_that_was_asked_for() {
    let summary = made::ladder();
    for (wide, high) in [(1600, 1000), (1200, 700), (800, 640), (2400, 1500)] {
        let grid = Some([2, 2]);
        let arrangement =
            Arrangement { grid, size: Some((wide, Some(high))), ..Arrangement::default() };
        let drawing = chosen(&summary, &arrangement).unwrap();
        let [width, height] = size(&drawing);
        assert!((width - f64::from(wide)).abs() < 1.0, "{width} instead of {wide}");
        assert!((height - f64::from(high)).abs() < 1.0, "{height} instead of {high}");
    }
    let small = Arrangement { size: Some((600, Some(300))), ..Arrangement::default() };
    let Err(ArrangementError::TooSmall { least: [wide, high] }) = chosen(&summary, &small) else {
        panic!("six panels do not fit into 600x300");
    };
    let enough = Arrangement { size: Some((wide, Some(high))), ..Arrangement::default() };
    assert!(chosen(&summary, &enough).is_ok(), "{wide}x{high} is said to be enough");
}

#[test]
fn no_panel_of_zeros_unless_it_is_asked_for() {
    let summary = made::ladder();
    let sides = [("a", &summary), ("b", &summary)];
    let drawn = |arrangement: &Arrangement| chart::compared(&sides, &ENGLISH, arrangement).unwrap();
    let failures = |drawing: &str| titles(drawing).iter().any(|title| title.starts_with("Failed"));
    assert!(!failures(&drawn(&Arrangement::default())));
    assert!(failures(&drawn(&named(&["failures"]))));
    let mut failing = summary.clone();
    failing.levels[0].requests.failed = Some(3);
    let sides = [("a", &summary), ("b", &failing)];
    let drawing = chart::compared(&sides, &ENGLISH, &Arrangement::default()).unwrap();
    assert!(failures(&drawing));
}
