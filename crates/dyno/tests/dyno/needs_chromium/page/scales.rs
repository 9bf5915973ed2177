//! The page's script computes ticks itself, because it draws again at each zoom. It follows the rules
//! of `dyno-chart`.

use crate::needs_chromium::page::browser::Browser;
use dyno_chart::scale::Density;
use dyno_chart::{Scale, Spacing};
use serde_json::json;

const SCRIPT: &str = include_str!("../../../../../dyno-report/assets/page/scales.js");
const WIDE: f64 = 500.0;

/// Ends of axes and their spacing: from 0, and between values of any size and distance.
fn axes() -> Vec<(Spacing, [f64; 2])> {
    let mut axes = vec![
        (Spacing::Linear, [0.0, 0.3]),
        (Spacing::Linear, [0.0, 30.0]),
        (Spacing::Linear, [0.0, 1.08]),
        (Spacing::Linear, [-12.5, 40.0]),
        (Spacing::Linear, [0.1, 0.7]),
        (Spacing::Linear, [99.7, 100.3]),
    ];
    for low in [0.0007, 0.5, 1.0, 3.0, 42.0, 1e4, 7.3e6] {
        for ratio in [1.2, 2.0, 3.9, 4.1, 17.0, 100.0, 990.0, 2e4, 1e9, 3e14] {
            let ends = [low, low * ratio];
            axes.extend([(Spacing::Linear, ends), (Spacing::Log, ends)]);
        }
    }
    axes
}

#[test]
fn the_script_has_the_ticks_of_dyno_chart() {
    let asked: Vec<(Spacing, [f64; 2], usize)> = axes()
        .into_iter()
        .flat_map(|(spacing, ends)| [5, 6, 8].map(|count| (spacing, ends, count)))
        .collect();
    let table: Vec<_> = asked
        .iter()
        .map(|(spacing, ends, count)| json!([ends, *spacing == Spacing::Log, count]))
        .collect();
    let answers = Browser::start().js(&format!(
        "(() => {{ {SCRIPT}\n return {}.map(([ends, log, count]) => {{ \
         const scale = new Scale(ends, [0, {WIDE}], log); \
         return scale.ticks(count).map(value => [value, scale.at(value)]); }}); }})()",
        json!(table)
    ));
    let answers: Vec<Vec<[f64; 2]>> = serde_json::from_value(answers).unwrap();
    assert_eq!(answers.len(), asked.len());
    for ((spacing, ends, count), script) in asked.into_iter().zip(answers) {
        let [low, high] = ends;
        let scale = Scale { spacing, low, high, from: 0.0, to: WIDE };
        let model = Density::Page.between(spacing, ends, count);
        let case = format!("{spacing:?} {ends:?} {count}: {script:?} and {model:?}");
        assert_eq!(script.len(), model.len(), "{case}");
        for ([value, place], model) in script.into_iter().zip(model) {
            assert!((value - model).abs() <= 1e-9 * (high - low).min(high.abs()), "{case}");
            assert!((place - scale.at(model)).abs() < 1e-6, "{case}");
        }
    }
}
