//! Charts as they are seen: rasterised with the font that is compiled in, in both languages. Ink
//! is where it must be, and nowhere else.

use super::xml::{Element, read};
use super::{any, details, made};
use dyno_draw::{ChartOptions, charts, measure, picture};
use dyno_model::Language;
use dyno_model::Summary;
use dyno_model::load::LoadKind;
use resvg::tiny_skia::Pixmap;

type Color = [u8; 3];
const PAPER: Color = [255; 3];

struct Pixels(Pixmap);

impl Pixels {
    fn at(&self, x: u32, y: u32) -> Color {
        let color = self.0.pixel(x, y).unwrap().demultiply();
        [color.red(), color.green(), color.blue()]
    }

    /// How many pixels in an area (left, top, right, bottom) are as asked for.
    fn count(&self, area: [f64; 4], is: impl Fn(Color) -> bool) -> usize {
        let x = (area[0].max(0.0) as u32)..=(area[2].ceil() as u32).min(self.0.width() - 1);
        let y = (area[1].max(0.0) as u32)..=(area[3].ceil() as u32).min(self.0.height() - 1);
        y.flat_map(|y| x.clone().map(move |x| (x, y))).filter(|(x, y)| is(self.at(*x, *y))).count()
    }
}

fn hex(text: &str) -> Color {
    [1, 3, 5].map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
}

/// The colour of a class in the light theme, which stands first in the style sheet.
fn color(style: &str, class: &str, property: &str) -> Color {
    let rule = style.split(&format!(".{class}{{")).nth(1).unwrap().split('}').next().unwrap();
    let value = rule.split(';').find_map(|one| one.strip_prefix(&format!("{property}:")));
    hex(value.unwrap_or_else(|| panic!("{class} has no {property}: {rule}")))
}

/// Corners of a path.
fn corners(path: &Element) -> Vec<[f64; 2]> {
    let pairs = path.attributes["d"].trim_end_matches('Z').split(['M', 'L']).skip(1);
    let number = |text: &str| text.parse::<f64>().unwrap();
    pairs.map(|pair| pair.split_once(' ').unwrap()).map(|(x, y)| [number(x), number(y)]).collect()
}

fn around(corners: &[[f64; 2]]) -> [f64; 4] {
    let all = |i: usize| corners.iter().map(move |corner| corner[i]);
    let least = |i| all(i).fold(f64::INFINITY, f64::min) - 1.0;
    let most = |i| all(i).fold(0.0, f64::max) + 1.0;
    [least(0), least(1), most(0), most(1)]
}

fn check(name: &str, drawing: &str) {
    let drawn = picture(drawing).unwrap();
    assert_eq!(drawn.missing, [], "{name}");
    let pixels = Pixels(Pixmap::decode_png(&drawn.bytes).unwrap());
    let all = read(drawing).unwrap();
    let style = &all.iter().find(|element| element.name == "style").unwrap().text;
    let root = all.last().unwrap();
    let (wide, high) = (f64::from(pixels.0.width()), f64::from(pixels.0.height()));
    assert_eq!((wide, high), (1200.0, root.number("height").ceil()), "{name}");
    for edge in [
        [0.0, 0.0, wide, 6.0],
        [0.0, high - 6.0, wide, high],
        [0.0, 0.0, 6.0, high],
        [wide - 6.0, 0.0, wide, high],
    ] {
        assert_eq!(pixels.count(edge, |c| c != PAPER), 0, "{name}: ink at the edge {edge:?}");
    }
    for text in all.iter().filter(|element| element.name == "text") {
        let ink = pixels.count(any::area(text), |c| c != PAPER);
        assert!(ink > 4, "{name}: no ink for {:?}", text.text);
    }
    let (mut axes, mut lines) = (0, 0);
    for element in &all {
        match (element.name.as_str(), element.class()) {
            ("line", "dc-axis") => {
                let ends = [["x1", "y1"], ["x2", "y2"]].map(|end| end.map(|n| element.number(n)));
                assert!(pixels.count(around(&ends), |c| c != PAPER) > 2, "{name}: {element:?}");
                axes += 1;
            }
            ("path", class) if class.starts_with("dc-line dc-l") => {
                let style_class = class.split(' ').nth(1).unwrap();
                let wanted = color(style, style_class, "stroke");
                let ink = pixels.count(around(&corners(element)), |c| c == wanted);
                assert!(ink > 2, "{name}: no {wanted:?} for {class}");
                lines += 1;
            }
            ("rect", class) if class.starts_with("dc-part") => {
                let wanted = color(style, class.split(' ').nth(1).unwrap(), "fill");
                let [x, y] = [element.number("x"), element.number("y")];
                let area = [x, y, x + element.number("width"), y + element.number("height")];
                let near = |c: Color| c.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 120);
                assert!(pixels.count(area, near) > 0, "{name}: {element:?}");
            }
            _ => {}
        }
    }
    assert!(name.contains("matrix") || axes > 0, "{name} has no axes");
    let without_lines = ["matrix", "timeline"].iter().any(|other| name.contains(other));
    assert!(without_lines || lines > 0, "{name} has no lines");
}

fn soak() -> Summary {
    let (mut summary, base) = made::base();
    let mut level = made::level(&base, LoadKind::Ramp, 10.0, 8.0, 300.0);
    level.slices = Some((0..20).map(|i| made::slice(i, Some(300.0))).collect());
    summary.levels.push(level);
    summary
}

fn bursts() -> Summary {
    let (mut summary, base) = made::base();
    let level = |n: f64| made::level(&base, LoadKind::Burst, n, n, 100.0 + n);
    summary.levels = [1.0, 2.0, 4.0, 8.0].map(level).to_vec();
    summary
}

#[test]
fn every_chart_has_its_ink_in_both_languages() {
    let mut seen = std::collections::BTreeSet::new();
    for summary in
        [details::doubtful(made::ladder()), made::rates(), made::grid(), bursts(), soak()]
    {
        let (mut summary, detail) = details::of(summary);
        summary.run.label = Some("通义千问 7B 压力测试".to_owned());
        for language in [Language::English, Language::Chinese] {
            for (name, drawing) in charts(&summary, Some(&detail), &ChartOptions { language }) {
                check(&format!("{name} {language:?}"), &drawing);
                seen.insert(name);
            }
        }
    }
    let all = [
        "bursts",
        "concurrency",
        "distributions",
        "frontier",
        "matrix",
        "over-time",
        "rates",
        "throughput",
        "timeline",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn what_is_drawn_in_chinese_differs_from_what_is_drawn_in_english() {
    let (summary, detail) = details::of(made::rates());
    let [english, chinese] = [Language::English, Language::Chinese].map(|language| {
        let (_, drawing) =
            charts(&summary, Some(&detail), &ChartOptions { language }).swap_remove(0);
        Pixels(Pixmap::decode_png(&picture(&drawing).unwrap().bytes).unwrap())
    });
    let title = [24.0, 70.0, 400.0, 110.0];
    let ink = |pixels: &Pixels| pixels.count(title, |c| c != PAPER);
    assert_ne!(ink(&english), ink(&chinese));
    // A box has the same ink each time; characters have not.
    let wide = measure::width("随请", 16.0, true) / 2.0;
    let columns = [0.0, 1.0].map(|i| {
        let area = [24.0 + i * wide, title[1], 24.0 + (i + 1.0) * wide, title[3]];
        chinese.count(area, |c| c != PAPER)
    });
    assert_ne!(columns[0], columns[1]);
}
