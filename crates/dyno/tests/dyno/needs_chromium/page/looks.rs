//! Both themes, a phone, paper, and both languages.

use crate::needs_chromium::page::browser::Browser;
use crate::needs_chromium::page::pages::Made;
use serde_json::json;

const GROUND: &str = "getComputedStyle(document.body).backgroundColor";

/// Texts with too little contrast.
const FAINT: &str = r#"(() => {
    const parts = colour => {
        const found = colour.match(/[\d.]+/g).map(Number);
        return found.length > 3 && found[3] === 0 ? null : found;
    };
    const light = rgb => {
        const [r, g, b] = rgb.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = node => {
        for (; node; node = node.parentElement) {
            const ground = parts(getComputedStyle(node).backgroundColor);
            if (ground) return ground;
        }
        return [255, 255, 255];
    };
    const bad = [];
    for (const node of document.querySelectorAll('body *')) {
        const own = [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
        if (!own || !node.checkVisibility() || node.closest('svg, script, option, [aria-pressed=false]')) continue;
        const [a, b] = [light(parts(getComputedStyle(node).color)), light(behind(node))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) bad.push(node.className + ' ' + node.textContent.slice(0, 40) + ' ' + ratio.toFixed(2));
    }
    return bad;
})()"#;

/// A run with failures, an SLO and costs.
fn mixed() -> Made {
    Made::faulty(
        &["http-500:every=9"],
        &[
            "--concurrency",
            "1,4,8",
            "--requests",
            "120",
            "--input-tokens",
            "16",
            "--output-tokens",
            "16",
            "--slo",
            "ttft.p99<500ms and errors<5%",
            "--label",
            "nightly",
            "--gpus",
            "2",
            "--gpu-cost",
            "$2.5/h",
        ],
    )
}

#[test]
fn both_themes_are_legible_and_can_be_chosen() {
    let made = mixed();
    let mut page = Browser::start();
    page.media("screen", "light");
    page.open(&made.html("en"), 1280);
    let light = page.text(GROUND);
    assert_eq!(page.js(FAINT), json!([]));
    page.picture("light");
    page.media("screen", "dark");
    let dark = page.text(GROUND);
    assert_ne!(light, dark);
    assert_eq!(page.js(FAINT), json!([]));
    page.picture("dark");
    page.click("#theme", 0);
    assert_eq!(
        (page.text(GROUND), page.text("document.getElementById('theme').textContent")),
        (light.clone(), "Dark".into())
    );
    page.click("#theme", 0);
    assert_eq!(
        (page.text(GROUND), page.text("document.getElementById('theme').textContent")),
        (dark, "Light".into())
    );
    page.media("print", "dark");
    assert_eq!(page.text(GROUND), "rgb(255, 255, 255)");
    assert_eq!(page.js("document.querySelector('.controls').checkVisibility()"), json!(false));
    assert_eq!(page.js("document.querySelector('#curves svg').checkVisibility()"), json!(true));
    page.picture("print");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn it_fits_a_phone_in_both_languages() {
    let made = mixed();
    let mut page = Browser::start();
    for language in ["en", "zh"] {
        page.open(&made.html(language), 375);
        let wide = page.number("document.scrollingElement.scrollWidth");
        assert!(wide <= 375.0, "{language}: {wide}");
        page.picture(&format!("phone-{language}"));
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
    page.width(1280);
    page.settle();
    page.picture("zh");
    let lang = page.text("document.documentElement.lang");
    assert_eq!(lang, "zh-CN");
}

#[test]
fn failures_are_shown_with_their_class() {
    let made = mixed();
    let failed = made.summary()["levels"][2]["requests"]["failures"]["http.500"].clone();
    let failed = failed.as_u64().unwrap();
    assert!(failed > 0);
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let section = page.text("document.getElementById('failures').innerText");
    assert!(section.contains("http.500") && section.contains("told to refuse"), "{section}");
    assert!(section.contains(&format!("concurrency 8: {failed}")), "{section}");
    page.js("document.querySelector('#requests canvas').focus()");
    let mut heard = String::new();
    for _ in 0..40 {
        page.key("ArrowRight");
        heard.push_str(&page.text("document.getElementById('aloud').textContent"));
    }
    assert!(heard.contains("failed: http.500"), "{heard}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// A column of the level table, from top to bottom.
fn column(page: &mut Browser, place: usize) -> Vec<String> {
    let cells = page.js(&format!(
        "[...document.querySelectorAll('#levels tbody tr')].map(row => row.cells[{place}].innerText.trim())"
    ));
    serde_json::from_value(cells).unwrap()
}

#[test]
fn the_level_table_can_be_sorted_and_keeps_its_head_in_view() {
    let loads: Vec<String> = (1..=30).map(|load| load.to_string()).collect();
    let made = Made::predicted(&[
        "--concurrency",
        &loads.join(","),
        "--requests",
        "30",
        "--input-tokens",
        "64",
        "--output-tokens",
        "8",
    ]);
    let mut page = Browser::start();
    page.open(&made.html("en"), 1280);
    let wide = page.js(
        "(box => box.scrollWidth <= box.clientWidth)(document.querySelector('#levels .scroll'))",
    );
    assert_eq!(wide, json!(true), "all columns fit");
    let names = column(&mut page, 0);
    let head = "#levels th[data-column='0'] button";
    page.click(head, 0);
    assert_eq!(column(&mut page, 0), names, "numbers in names are numbers");
    page.click(head, 0);
    assert_eq!(column(&mut page, 0), names.iter().rev().cloned().collect::<Vec<_>>());
    page.click(head, 0);
    assert_eq!(column(&mut page, 0), names, "as it was");
    page.click("#levels th[data-column='5'] button", 0);
    let sorted = page.text("document.querySelector('#levels th[aria-sort]').innerText");
    assert!(sorted.starts_with("Output"), "{sorted}");
    let plain = |cell: &String| cell.trim_end_matches('*').replace(',', "").parse::<f64>().unwrap();
    let rates: Vec<f64> = column(&mut page, 5).iter().map(plain).collect();
    assert!(rates.is_sorted(), "{rates:?}");
    page.js("document.querySelector('#levels .scroll').scrollTop = 400");
    page.settle();
    let below = page.number(
        "document.querySelector('#levels thead').getBoundingClientRect().top \
         - document.querySelector('#levels .scroll').getBoundingClientRect().top",
    );
    assert!(below.abs() < 3.0, "the head moved by {below}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
