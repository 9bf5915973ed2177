//! The page of a comparison: its charts can be played with like those of a report.

use crate::needs_chromium::page::browser::Browser;
use crate::needs_chromium::page::pages::Made;
use serde_json::json;

const LABEL: &str = "a-model-with-a-long-name-on-8x-h100-with-version";
const FIRST: &str = "#compare .pane:nth-child(1)";

fn run(version: &str, output: &str) -> Made {
    let label = format!("{LABEL}-{version}-prefix-cache-on");
    let shape = ["--concurrency", "1,4,16", "--requests", "60", "--input-tokens", "128"];
    Made::predicted(&[&shape[..], &["--output-tokens", output, "--label", &label]].concat())
}

#[test]
fn runs_can_be_read_hidden_and_zoomed_and_their_names_differ() {
    let (first, second) = (run("0.6.3", "16"), run("0.6.4", "16"));
    let html = first.compared(&second, "en");
    let mut page = Browser::start();
    page.open(&html, 1280);
    let names = page.js(
        "[...document.querySelectorAll('#compare > .legend button')].map(one => one.textContent)",
    );
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    assert_eq!(names.len(), 2);
    assert!(names[0].contains("0.6.3") && names[1].contains("0.6.4"), "{names:?}");
    assert!(names.iter().all(|name| name.chars().count() <= 28), "{names:?}");
    let count = |what: &str| format!("document.querySelectorAll('{FIRST} {what}').length");
    assert_eq!(page.number(&count("path.curve")), 2.0);
    assert_eq!(page.number(&count("circle.dot")), 6.0);
    let place = page.middle(&format!("{FIRST} circle.dot"), 1);
    page.mouse("mouseMoved", place);
    page.settle();
    let tip = page.text(&format!("document.querySelector('{FIRST} .tip').innerText"));
    assert!(tip.contains("concurrency 4") && tip.contains("0.6."), "{tip}");
    page.click("#compare > .legend button", 0);
    assert_eq!(page.number(&count("path.curve")), 1.0);
    page.click(&format!("{FIRST} .zoom button"), 0);
    assert!(page.number(&count("circle.dot")) < 3.0);
    page.pick(&format!("{FIRST} select"), "latency.p50");
    let title = page.text(&format!("document.querySelector('{FIRST} .y-title').textContent"));
    assert_eq!(title, "Latency p50 (ms)");
    assert_eq!(page.js("document.querySelectorAll('.banner.simulated').length"), json!(1));
    assert_eq!(page.complaints(), Vec::<String>::new());
    page.picture("compared");
}

#[test]
fn it_fits_a_phone_in_both_languages() {
    let (first, second) = (run("0.6.3", "16"), run("0.6.4", "16"));
    let mut page = Browser::start();
    for language in ["en", "zh"] {
        page.open(&first.compared(&second, language), 375);
        let wide = page.number("document.scrollingElement.scrollWidth");
        assert!(wide <= 375.0, "{language}: {wide}");
        assert_eq!(page.complaints(), Vec::<String>::new());
        page.picture(&format!("compared-phone-{language}"));
    }
}

/// B9: rounds of a level are one place of the line, over another metric, too.
#[test]
fn rounds_are_averaged_over_another_metric() {
    let run = |seed: &str| {
        let shape = ["--concurrency", "4,16", "--requests", "60", "--input-tokens", "128"];
        let rounds = ["--output-tokens", "16", "--repeat", "2", "--seed", seed, "--label", seed];
        Made::predicted(&[&shape[..], &rounds].concat())
    };
    let (first, second) = (run("1"), run("2"));
    let html = first.compared(&second, "en");
    let mut page = Browser::start();
    page.open(&html, 1280);
    let panes = page.number("document.querySelectorAll('#compare .pane').length");
    for pane in 1..=panes as usize {
        let within = format!("#compare .pane:nth-child({pane})");
        let dots = format!("document.querySelectorAll('{within} circle.dot').length");
        assert_eq!(page.number(&dots), 8.0, "pane {pane}: two runs, two levels, two rounds");
        let corners = format!(
            "[...document.querySelectorAll('{within} path.curve')].map(line => \
             (line.getAttribute('d').match(/[ML]/g) || []).length)"
        );
        assert_eq!(page.js(&corners), json!([2, 2]), "pane {pane}");
    }
}
