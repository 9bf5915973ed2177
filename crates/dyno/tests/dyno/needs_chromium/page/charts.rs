//! What the charts show, and how they react.

use crate::needs_chromium::page::browser::Browser;
use crate::needs_chromium::page::pages::Made;
use serde_json::json;

const FIRST: &str = "#curves .pane:nth-child(1)";

fn sweep() -> Made {
    let loads = "1,2,4,8,16,32";
    Made::predicted(&[
        "--concurrency",
        loads,
        "--requests",
        "60",
        "--input-tokens",
        "256",
        "--output-tokens",
        "32",
    ])
}

/// The numbers in a text, with or without commas.
fn numbers(text: &str) -> Vec<f64> {
    let plain = text.replace(',', "");
    let pieces = plain.split(|c: char| !c.is_ascii_digit() && c != '.');
    pieces.filter_map(|piece| piece.parse().ok()).collect()
}

fn holds(text: &str, value: f64) -> bool {
    numbers(text).iter().any(|found| (found - value).abs() <= value.abs() * 2e-3)
}

#[test]
fn legends_name_statistics_alone_and_every_other_of_many_lines_is_dashed() {
    let lengths = "16,32,48,64,80,96,112,128,144,160";
    let args =
        ["--concurrency", "1,2", "--requests", "20", "--output-tokens", "8", "--input-tokens"];
    let grid = Made::predicted(&[&args[..], &[lengths]].concat());
    let mut page = Browser::start();
    page.open(&sweep().html("zh"), 1280);
    let names = "[...document.querySelectorAll('#curves .legend button')].map(one => \
                 one.textContent).join(' ')";
    assert_eq!(page.text(names), "p50 p90 p99");
    page.open(&grid.html("en"), 1280);
    let dashed = format!("document.querySelectorAll('{FIRST} .key.dashed').length");
    let lines = format!("document.querySelectorAll('{FIRST} .key').length");
    assert_eq!((page.number(&lines), page.number(&dashed)), (10.0, 5.0));
}

#[test]
fn every_value_can_be_read_by_pointer_and_by_key() {
    let made = sweep();
    let summary = made.summary();
    let levels = summary["levels"].as_array().unwrap();
    // Windows are compared where all levels have one.
    let steady = levels.iter().all(|level| !level["steady"].is_null());
    let which = if steady { "steady" } else { "throughput" };
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let dots = format!("{FIRST} circle.dot");
    assert_eq!(page.number(&format!("document.querySelectorAll('{dots}').length")), 6.0);
    for (i, level) in levels.iter().enumerate() {
        let place = page.middle(&dots, i);
        page.mouse("mouseMoved", place);
        page.settle();
        let tip = page.text(&format!("document.querySelector('{FIRST} .tip').innerText"));
        let rate = level[which]["output_tokens_per_s"].as_f64().unwrap();
        assert!(tip.contains(level["label"].as_str().unwrap()), "{tip}");
        assert!(holds(&tip, rate), "{rate} is not in {tip}");
    }
    page.js(&format!("document.querySelector('{FIRST} svg').focus()"));
    page.key("Escape");
    let mut said = Vec::new();
    for key in ["ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home"] {
        page.key(key);
        said.push(page.text("document.getElementById('aloud').textContent"));
    }
    assert!(said.iter().all(|words| words.starts_with("concurrency ")), "{said:?}");
    assert_eq!(said[0], said[4]);
    assert!(said[0] != said[1] && said[1] != said[2] && said[2] != said[3], "{said:?}");
    page.key("Escape");
    assert_eq!(page.js(&format!("document.querySelector('{FIRST} .tip').hidden")), json!(true));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn figures_axes_and_zoom_change_what_is_drawn() {
    let made = sweep();
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let drawn = format!("document.querySelector('{FIRST} path.curve').getAttribute('d')");
    let title = format!("document.querySelector('{FIRST} .y-title').textContent");
    let count = format!("document.querySelectorAll('{FIRST} circle.dot').length");
    let first = page.text(&drawn);
    assert_eq!(first.matches('L').count(), 5, "{first}");

    page.pick(&format!("{FIRST} select"), "latency.p50");
    assert_eq!(page.text(&title), "Latency p50 (ms)");
    let latency = page.text(&drawn);
    assert_ne!(first, latency);

    let log_y = page.number(&format!(
        "[...document.querySelectorAll('{FIRST} .controls button')]\
         .findIndex(one => one.textContent === 'log y')"
    ));
    page.click(&format!("{FIRST} .controls button"), log_y as usize);
    let bent = page.text(&drawn);
    assert_ne!(latency, bent);

    let [left, y] = page.middle(&format!("{FIRST} circle.dot"), 1);
    let [right, _] = page.middle(&format!("{FIRST} circle.dot"), 3);
    page.mouse("mousePressed", [left - 12.0, y]);
    page.mouse("mouseMoved", [left + 20.0, y]);
    page.mouse("mouseMoved", [right + 12.0, y]);
    page.mouse("mouseReleased", [right + 12.0, y]);
    page.settle();
    assert_eq!(page.number(&count), 3.0);
    page.click(&format!("{FIRST} .zoom button"), 2);
    assert_eq!(page.number(&count), 6.0);
    assert_eq!(page.text(&drawn), bent);
    page.click(&format!("{FIRST} .zoom button"), 0);
    assert!(page.number(&count) < 6.0);
    page.js(&format!("document.querySelector('{FIRST} svg').focus()"));
    page.key("0");
    assert_eq!(page.number(&count), 6.0);

    let over = page.number(&format!("document.querySelectorAll('{FIRST} select').length"));
    assert_eq!(over, 2.0);
    page.pick(&format!("{FIRST} label:nth-child(2) select"), "tokens");
    let across = page.text(&format!("document.querySelector('{FIRST} .x-title').textContent"));
    assert!(across.starts_with("Output tokens/s"), "{across}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn distributions_time_and_requests_are_drawn() {
    let made = sweep();
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    page.picture("sweep");
    page.media("screen", "dark");
    page.picture("sweep-dark");
    let curves = "document.querySelectorAll('#spread path.curve').length";
    assert_eq!(page.number(curves), 6.0);
    let points = "document.querySelector('#spread path.curve').getAttribute('d').split('L').length";
    assert!(page.number(points) > 50.0);
    page.click("#spread .legend button", 2);
    assert_eq!(page.number(curves), 5.0);
    page.pick("#spread select", "itl");
    let title = page.text("document.querySelector('#spread .x-title').textContent");
    assert_eq!(title, "ITL (ms)");
    assert!(page.number("document.querySelectorAll('#course path.curve').length") >= 1.0);
    let caption = page.text("document.querySelector('#requests .remark').textContent");
    assert!(caption.starts_with("Sample: ") && caption.contains(" of 60 requests"), "{caption}");
    assert!(colours(&mut page) >= 3.0);
    let high = page.number("document.querySelector('#requests canvas').clientHeight");
    assert!(high <= 24.0 * 12.0 + 44.0, "{high}");
    let place = page.middle("#requests canvas", 0);
    page.mouse("mouseMoved", place);
    page.settle();
    let tip = page.text("document.querySelector('#requests .tip').innerText");
    assert!(tip.starts_with("request ") && tip.contains("TTFT"), "{tip}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn what_was_shed_is_drawn_apart_from_what_failed() {
    let args = ["--concurrency", "8", "--requests", "120", "--output-tokens", "16"];
    let made = Made::faulty(&["http-429:every=3"], &args);
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let legend = page.text("document.querySelector('#requests .legend').innerText");
    assert!(legend.contains("failed") && legend.contains("shed"), "{legend}");
    page.pick("#course select", "shed");
    assert!(page.number("document.querySelectorAll('#course path.curve').length") >= 1.0);
    let head = page.text("document.querySelector('#levels thead, table thead').innerText");
    assert!(head.contains("Shed"), "{head}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn requests_that_are_far_apart_are_seen() {
    // Each is refused at once, and followed by a pause.
    let made =
        Made::faulty(&["http-429:retry-after=0.5s"], &["--concurrency", "1", "--requests", "4"]);
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let legend = page.text("document.querySelector('#requests .legend').innerText");
    assert!(!legend.contains("first token") && legend.contains("shed"), "{legend}");
    // Between two of them there is nothing to zoom in on.
    let caption = page.text("document.querySelector('#requests .remark').textContent");
    assert!(!caption.contains("Zoomed in"), "{caption}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// How many opaque colours the canvas has.
fn colours(page: &mut Browser) -> f64 {
    page.number(
        "(() => { const canvas = document.querySelector('#requests canvas'); \
         const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
         const seen = new Set(); \
         for (let i = 0; i < bytes.length; i += 4) if (bytes[i + 3] === 255) \
         seen.add(bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2]); return seen.size; })()",
    )
}

#[test]
fn rates_bursts_and_matrices_have_their_own_axes() {
    let mut page = Browser::start();
    let title = format!("document.querySelector('{FIRST} .x-title').textContent");
    let lengths = ["--input-tokens", "128", "--output-tokens", "16"];
    let rates =
        Made::predicted(&[&["--rate", "1,2,4", "--duration", "20s"], &lengths[..]].concat());
    page.open(&rates.html("en"), 1280);
    assert_eq!(page.text(&title), "offered requests/s");
    assert_eq!(page.complaints(), Vec::<String>::new());
    page.picture("rates");

    let bursts = Made::predicted(&[&["--burst", "1,4,16,64"], &lengths[..]].concat());
    page.open(&bursts.html("en"), 1280);
    assert_eq!(page.text(&title), "burst size");
    assert_eq!(page.complaints(), Vec::<String>::new());

    let matrix = Made::predicted(&[
        "--concurrency",
        "4",
        "--requests",
        "24",
        "--input-tokens",
        "128,512,1024",
        "--output-tokens",
        "16,64",
    ]);
    page.open(&matrix.html("en"), 1280);
    assert_eq!(page.text("document.querySelector('.charts figure').id"), "heat", "it comes first");
    // Over a length, the other lengths are lines; over their order, the cells have nothing in common.
    assert_eq!(page.text(&title), "input tokens");
    let curves = format!("document.querySelectorAll('{FIRST} path.curve').length");
    assert_eq!(page.number(&curves), 2.0);
    page.pick(&format!("{FIRST} label:nth-child(2) select"), "order");
    assert_eq!(page.number(&curves), 0.0);
    assert_eq!(page.number("document.querySelectorAll('#heat rect').length"), 6.0);
    let cells =
        page.js("[...document.querySelectorAll('#heat .cell-name')].map(one => one.textContent)");
    let cells: Vec<String> = serde_json::from_value(cells).unwrap();
    for level in matrix.summary()["levels"].as_array().unwrap() {
        let work = if level["steady"].is_null() { &level["throughput"] } else { &level["steady"] };
        let rate = work["output_tokens_per_s"].as_f64().unwrap();
        assert!(cells.iter().any(|cell| holds(cell, rate)), "{rate} is not in {cells:?}");
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
    page.picture("matrix");
}

#[test]
fn one_level_opens_on_its_course_over_time() {
    let lengths = ["--input-tokens", "128", "--output-tokens", "16"];
    let ramp = Made::predicted(&[&["--ramp", "1..20/s over 60s"], &lengths[..]].concat());
    let mut page = Browser::start();
    page.open(&ramp.html("en"), 1280);
    assert_eq!(page.text("document.querySelector('.charts figure').id"), "course");
    assert_eq!(page.js("document.getElementById('curves')"), json!(null), "a lone dot");
    let first = "#course .pane:nth-child(1)";
    let count = |what: &str| format!("document.querySelectorAll('{first} {what}').length");
    assert_eq!(page.number(&count("path.curve")), 2.0, "offered and completed");
    page.click(&format!("{first} .legend button"), 0);
    assert_eq!(page.number(&count("path.curve")), 1.0);
    page.pick("#course .pane:nth-child(2) select", "latency");
    let title =
        page.text("document.querySelector('#course .pane:nth-child(2) .y-title').textContent");
    assert_eq!(title, "Latency p50 (ms)");
    assert_eq!(page.complaints(), Vec::<String>::new());
    page.picture("ramp");
}

#[test]
fn the_ends_of_a_sweep_are_marks_beside_the_line() {
    let lengths = ["--input-tokens", "128", "--output-tokens", "16"];
    let sweep = Made::predicted(&[&["--sweep=5", "--duration", "20s"], &lengths[..]].concat());
    let mut page = Browser::start();
    page.open(&sweep.html("en"), 1280);
    assert_eq!(
        page.text(&format!("document.querySelector('{FIRST} .x-title').textContent")),
        "offered requests/s"
    );
    let names = page.js(&format!(
        "[...document.querySelectorAll('{FIRST} .point-name')].map(one => one.textContent)"
    ));
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    assert!(names.iter().any(|name| name.starts_with("synchronous")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("throughput")), "{names:?}");
    assert_eq!(page.complaints(), Vec::<String>::new());
    page.picture("sweep-ends");
}

#[test]
fn hidden_levels_are_explained_and_can_be_shown() {
    let loads = "1,2,3,4,5,6,7,8,9,10";
    let shape = ["--requests", "40", "--input-tokens", "64", "--output-tokens", "8"];
    let made = Made::predicted(&[&["--concurrency", loads], &shape[..]].concat());
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let curves = "document.querySelectorAll('#spread path.curve').length";
    assert_eq!(page.number(curves), 8.0);
    let note = page.text("document.querySelector('#spread .remark').textContent");
    assert!(note.starts_with("Shown at first: 8 of 10 levels"), "{note}");
    page.click("#spread .legend button[aria-pressed=false]", 0);
    assert_eq!(page.number(curves), 9.0);
    let note = page.text("document.querySelector('#course .remark').textContent");
    assert!(note.contains("highest throughput"), "{note}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
