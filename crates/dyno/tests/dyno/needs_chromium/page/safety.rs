//! Hostile names and texts, and an invalid level.

use crate::needs_chromium::page::browser::Browser;
use crate::needs_chromium::page::pages::{Made, Read};
use dyno_model::Language;
use dyno_model::metric::Time;
use dyno_model::{Diagnostic, Verdict};
use dyno_report::page::Page;
use serde_json::json;

const HOSTILE: &str = "</script><script>window.__pwned=1;alert(1)</script>\
    <img src=x onerror=\"window.__pwned=2\">'\"`${window.__pwned=3}]]>&lt;\u{202e}\n\u{2028}🚀模型<!--";

fn html(read: &Read, language: Language) -> String {
    let (plan, environment) = (Some(&read.plan), read.environment.as_ref());
    let detail = Some(&read.detail);
    Page { summary: &read.summary, detail, plan, environment, language }.html()
}

#[test]
fn hostile_text_is_never_markup() {
    let made = Made::faulty(
        &["http-500:every=3"],
        &[
            "--concurrency",
            "1,2",
            "--requests",
            "12",
            "--input-tokens",
            "8",
            "--output-tokens",
            "8",
        ],
    );
    let mut read = made.read();
    let bad = || HOSTILE.to_owned();
    let reason = Diagnostic::new(bad(), bad(), Some(bad()));
    let run = &mut read.summary.run;
    (run.id, run.label, run.note) = (bad(), Some(bad()), Some(bad()));
    (run.target, run.api, run.model) = (Some(bad()), Some(bad()), Some(bad()));
    (run.slo, run.plan_hash, run.started) = (Some(bad()), Some(bad()), Some(bad()));
    (run.version, run.engine) = (bad(), Some(bad()));
    read.summary.notes.push(reason.clone());
    for level in &mut read.summary.levels {
        level.label = bad();
        level.reasons.push(reason.clone());
        level.notes.push(reason.clone());
        level.requests.failures.insert(bad(), 3);
        level.failure_samples.insert(bad(), vec![bad(), bad()]);
    }
    for detail in read.detail.0.values_mut() {
        for bar in &mut detail.bars.kept {
            bar.became = dyno_analysis::detail::Became::Failed(bad());
        }
    }
    read.plan.label = Some(bad());
    read.plan.levels[0].label = bad();
    read.plan.data.spec = Some(bad());
    let environment = read.environment.as_mut().unwrap();
    (environment.host.name, environment.host.os) = (bad(), bad());
    environment.server.headers.push(("server".into(), bad()));
    environment.server.models = Some(json!({HOSTILE: HOSTILE}));
    let mut page = Browser::start();
    for (name, language) in [("hostile-en", Language::English), ("hostile-zh", Language::Chinese)] {
        page.open(&made.keep(&format!("{name}.html"), &html(&read, language)), 1280);
        page.js("document.querySelector('#curves svg').focus()");
        page.key("ArrowRight");
        assert_eq!(page.js("typeof window.__pwned"), json!("undefined"));
        assert_eq!(page.number("document.scripts.length"), 2.0);
        assert_eq!(
            page.number("document.querySelectorAll('img, iframe, object, base').length"),
            0.0
        );
        let aloud = page.text("document.getElementById('aloud').textContent");
        assert!(aloud.starts_with("</script>"), "{aloud}");
        let wide = page.number("document.scrollingElement.scrollWidth");
        assert!(wide <= 1280.0, "{wide}");
        assert_eq!(page.complaints(), Vec::<String>::new());
        page.picture(name);
    }
}

#[test]
fn an_invalid_level_is_hollow_and_struck() {
    let made = Made::predicted(&[
        "--concurrency",
        "1,2,4",
        "--requests",
        "40",
        "--input-tokens",
        "64",
        "--output-tokens",
        "8",
    ]);
    let mut read = made.read();
    let level = &mut read.summary.levels[1];
    level.verdict = Verdict::Invalid;
    let what = "requests left 12 ms late at p99".to_owned();
    level.reasons = vec![Diagnostic::new("send_lag", what, Some("use a free core"))];
    // A level without a value leaves a gap.
    read.summary.levels[2].times[Time::Itl] = None;
    let mut page = Browser::start();
    page.open(&made.keep("invalid.html", &html(&read, Language::English)), 1280);
    let first = "#curves .pane:nth-child(1)";
    assert_eq!(
        page.number(&format!("document.querySelectorAll('{first} circle.hollow').length")),
        1.0
    );
    let ring = |of: &str| {
        format!("getComputedStyle(document.querySelector('{first} circle.hollow')).{of}")
    };
    assert_eq!(page.text(&ring("fill")), "rgb(255, 255, 255)");
    assert_eq!(page.text(&ring("stroke")), "rgb(31, 95, 208)");
    let place = page.middle(&format!("{first} circle.hollow"), 0);
    page.mouse("mouseMoved", place);
    page.settle();
    let tip = page.text(&format!("document.querySelector('{first} .tip').innerText"));
    assert!(tip.contains("invalid: requests left 12 ms late"), "{tip}");
    let banner = page.text("document.querySelector('.banner.invalid').innerText");
    assert!(banner.starts_with("INVALID") && banner.contains("1 of 3"), "{banner}");
    assert_eq!(
        page.number("document.querySelectorAll('#levels tr.struck s').length > 5 ? 1 : 0"),
        1.0
    );
    let note = page.text("document.querySelector('#levels .footnotes').innerText");
    assert!(note.contains("use a free core"), "{note}");
    page.pick(&format!("{first} select"), "itl.p50");
    assert_eq!(
        page.number(&format!("document.querySelectorAll('{first} circle.dot').length")),
        2.0
    );
    assert_eq!(page.complaints(), Vec::<String>::new());
}
