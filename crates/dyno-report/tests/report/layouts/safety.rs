//! Names that others chose: nothing in them is markup, a formula, or a new line.

use crate::layouts::runs::*;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_report::layout::{Layout, RunToPrint};
use dyno_words::columns::width;
use dyno_words::escape::escape;

const NASTY: [&str; 6] = [
    "a|b <script>alert(1)</script>",
    "line\nbreak\r\n### heading\n```",
    "=HYPERLINK(\"http://evil\",\"x\")",
    "模型 🚀 ~~`x`~~ [^1] ![i](u)",
    "\u{1b}[31mred\u{202e}",
    "\u{9b}31m\u{61c}\u{2066}\u{e0041}\u{7f}",
];

fn named(name: &str) -> RunToPrint {
    let (mut run, _) = closed_ladder();
    run.summary.run.label = Some(name.to_owned());
    run.summary.run.model = Some(name.to_owned());
    run.summary.run.note = Some(name.to_owned());
    for level in &mut run.summary.levels {
        level.label = name.to_owned();
        level.load.kind = LoadKind::Trace;
        level.reasons.iter_mut().for_each(|reason| reason.what = name.to_owned());
    }
    run
}

fn printed(layout: Layout, name: &str) -> String {
    print(layout, &[named(name), named(name)], Language::English)
}

#[test]
fn no_control_character_gets_through() {
    for name in NASTY {
        for (format, layout) in layouts() {
            let text = printed(layout, name);
            // L3: in JSON, too, whose readers get back what was there.
            let marks = ['\u{61c}', '\u{202e}', '\u{2066}', '\u{e0041}'];
            let harmless = |c: char| c == '\n' || !c.is_control() && !marks.contains(&c);
            let text = text.replace("\r\n", "\n");
            assert!(text.chars().all(harmless), "{format}: {text}");
            // A name of letters that takes as much room.
            let plain = |c: char| match c {
                ' ' => " ".to_owned(),
                c => "x".repeat(width(&c.to_string())),
            };
            let plain: String = escape(name, 40).chars().map(plain).collect();
            assert_eq!(text.lines().count(), printed(layout, &plain).lines().count(), "{format}");
        }
    }
}

#[test]
fn tables_keep_their_columns_and_markup_stays_text() {
    let columns = |line: &str| {
        let mut escaped = false;
        let bars = line.chars().filter(|c| {
            let bar = *c == '|' && !escaped;
            escaped = *c == '\\' && !escaped;
            bar
        });
        bars.count()
    };
    for name in NASTY {
        let layouts = [Layout::Markdown, Layout::Guidellm, Layout::Evalscope, Layout::Matrix];
        for layout in layouts.into_iter().chain([Layout::VllmMatrix]) {
            let text = printed(layout, name);
            let rows: Vec<usize> =
                text.lines().filter(|line| line.starts_with('|')).map(columns).collect();
            assert!(!rows.is_empty() && rows.iter().all(|n| *n == rows[0]), "{text}");
            assert!(!text.contains("<script>") && !text.contains("![i](u)"), "{text}");
            assert!(!text.lines().any(|line| line.starts_with("### heading")), "{text}");
        }
    }
}

#[test]
fn no_field_of_a_csv_begins_a_formula() {
    let text = printed(Layout::Csv, NASTY[2]);
    let field = "\"'=HYPERLINK(\"\"http://evil\"\",\"\"x\"\")\"";
    assert!(text.contains(&format!(",{field},")), "{text}");
    assert!(!text.contains(",="), "{text}");
}

#[test]
fn json_gives_every_name_back() {
    for name in NASTY {
        for layout in [Layout::VllmJson, Layout::SglangJsonl] {
            for line in printed(layout, name).lines() {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(value["dyno_level"], name);
            }
        }
    }
}

#[test]
fn of_a_level_in_which_all_failed_only_throughput_is_zero() {
    let (run, _) = rate_sweep();
    let text = |layout| print(layout, std::slice::from_ref(&run), Language::English);
    let guidellm = text(Layout::Guidellm);
    let row = "| asynchronous@12.50 req/sec | 0.00 req/sec | – | – | – | 0.00 tokens/sec |\n";
    assert!(guidellm.contains(row), "{guidellm}");
    let vllm = text(Layout::Vllm);
    let block = vllm.split("rate 12.5\n").nth(1).unwrap().split("throughput\n").next().unwrap();
    assert_eq!(block.matches(&format!("{:<10}\n", "–")).count(), 4 + 9, "{block}");
    let zeros = block.lines().filter(|line| line.ends_with(" 0.00      "));
    assert!(zeros.clone().all(|line| line.contains(" throughput (")), "{block}");
    assert_eq!(zeros.count(), 3, "{block}");
    let json = text(Layout::VllmJson);
    let object: serde_json::Value = serde_json::from_str(json.lines().nth(2).unwrap()).unwrap();
    for field in ["mean_ttft_ms", "p99_itl_ms", "total_output_tokens"] {
        assert!(object[field].is_null(), "{field}: {object}");
    }
    assert_eq!(object["output_throughput"].as_f64(), Some(0.0), "{object}");
    let csv = text(Layout::Csv);
    let fields = |line: usize| csv.lines().nth(line).unwrap().split(',').collect::<Vec<_>>();
    let column = fields(0).iter().position(|name| *name == "ttft_mean_ms").unwrap();
    assert_eq!(fields(3)[column], "");
}
