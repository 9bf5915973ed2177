//! Every layout for one run of each workflow, as people see it.

use crate::layouts::runs::*;
use dyno_analysis::FrameSource;
use dyno_model::Language;
use dyno_model::Summary;
use dyno_model::frame::Frame;
use dyno_report::layout::{Layout, LayoutTable, per_request};

fn all() -> [(&'static str, (dyno_report::layout::RunToPrint, dyno_analysis::VecSource)); 4] {
    [
        ("rate sweep", rate_sweep()),
        ("closed ladder", closed_ladder()),
        ("bursts", bursts()),
        ("matrix", matrix()),
    ]
}

#[test]
fn each_layout_for_each_workflow() {
    let runs = all();
    for (name, layout) in layouts() {
        if matches!(layout, Layout::Table | Layout::Json) {
            continue;
        }
        let mut text = String::new();
        for (workflow, (run, _)) in &runs {
            let printed = print(layout, std::slice::from_ref(run), Language::English);
            text.push_str(&format!("@@ {workflow}\n{printed}\n"));
        }
        insta::assert_snapshot!(format!("layout_{name}"), text.replace("\r\n", "␍\n"));
    }
}

#[test]
fn in_chinese() {
    let (run, _) = closed_ladder();
    let both = [Layout::Markdown, Layout::Evalscope];
    let text = both
        .map(|layout| print(layout, std::slice::from_ref(&run), Language::Chinese))
        .join("\n@@\n");
    insta::assert_snapshot!(text);
}

#[test]
fn table_and_json_layouts_match_render_text_and_the_summary() {
    let (run, _) = closed_ladder();
    let text = dyno_report::render_text(&run.summary, &Default::default());
    assert_eq!(print(Layout::Table, std::slice::from_ref(&run), Language::English), text);
    let json: dyno_model::Summary =
        serde_json::from_str(&print(Layout::Json, std::slice::from_ref(&run), Language::English))
            .unwrap();
    assert_eq!(json, run.summary);
}

/// C12: how long a burst takes is what it is for.
#[test]
fn tables_of_bursts_have_their_total_time() {
    let (run, _) = bursts();
    let text = dyno_report::render_text(&run.summary, &Default::default());
    let heads: Vec<&str> = text.lines().filter(|line| line.contains("req/s")).collect();
    assert!(heads[0].split_whitespace().any(|head| head == "s"), "{text}");
    let document = print(Layout::Markdown, std::slice::from_ref(&run), Language::English);
    assert!(document.contains("| Duration (s) |"), "{document}");
    let (ladder, _) = closed_ladder();
    let document = print(Layout::Markdown, std::slice::from_ref(&ladder), Language::English);
    assert!(!document.contains("Duration"), "{document}");
}

#[test]
fn several_runs_stand_under_their_names() {
    let runs = [closed_ladder().0, bursts().0];
    let id = &runs[1].summary.run.id;
    for (name, layout) in layouts() {
        let text = print(layout, &runs, Language::English);
        match layout {
            Layout::Csv => {
                assert_eq!(text.lines().count(), 1 + 2 + 2, "one heading, four levels");
                assert!(text.contains("\r\n20260301-000000-1a2b,ladder,small,"), "{text}");
            }
            Layout::Json => {
                let all: Vec<dyno_model::Summary> = serde_json::from_str(&text).unwrap();
                assert_eq!(all, runs.each_ref().map(|run| run.summary.clone()));
            }
            Layout::VllmJson | Layout::SglangJsonl => {
                let parse = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
                let levels: Vec<_> = text.lines().map(parse).collect();
                assert_eq!(levels.len(), 4);
                assert_eq!(levels[0]["dyno_run"], levels[3]["dyno_run"]);
            }
            Layout::Table | Layout::Vllm | Layout::Vllm06 | Layout::Sglang => {
                assert!(text.starts_with("ladder\n\n"), "{name}: {text}");
                assert!(text.contains(&format!("\n\n{id}\n\n")), "{name}: {text}");
            }
            _ => {
                assert!(text.starts_with("### ladder\n\n"), "{name}: {text}");
                assert!(text.contains(&format!("\n\n### {id}\n\n")), "{name}: {text}");
            }
        }
    }
}

#[test]
fn invalid_levels_are_marked_in_every_layout() {
    let (run, _) = closed_ladder();
    for (name, layout) in layouts() {
        let printed = layout.print(std::slice::from_ref(&run), &Default::default()).unwrap();
        let text = String::from_utf8_lossy(&printed.bytes);
        assert!(text.contains("invalid"), "{name}: {text}");
        let silent = matches!(layout, Layout::VllmJson | Layout::SglangJsonl);
        assert_eq!(!printed.notes.is_empty(), silent, "{name}: {:?}", printed.notes);
        assert!(printed.notes.iter().all(|note| note.starts_with("ladder: c=8 is invalid: ")));
    }
}

#[test]
fn every_request_has_its_row() {
    let all = all();
    let runs: Vec<(&Summary, &dyn FrameSource)> =
        all.iter().map(|(_, (run, source))| (&run.summary, source as &dyn FrameSource)).collect();
    let mut out = Vec::new();
    per_request(&mut out, LayoutTable::Csv, &runs).unwrap();
    let text = String::from_utf8(out).unwrap();
    let requests = (30 + 40 + 20 + 40) + (40 + 81) + (1 + 25) + 80;
    assert_eq!(text.lines().count(), 1 + requests);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let column = |name: &str| rows[0].iter().position(|heading| *heading == name).unwrap();
    let failed: Vec<&Vec<&str>> =
        rows.iter().filter(|row| row[column("outcome")] == "failed").collect();
    assert_eq!(failed.len(), 20 + 1);
    for row in failed {
        assert!(["http.503", "timeout.idle"].contains(&row[column("why")]));
        assert_eq!([row[column("first_ns")], row[column("ttft_ms")]], ["", ""]);
    }
    let first = &rows[1];
    assert_eq!(first[column("level")], "synchronous");
    assert_eq!([first[column("ttft_ms")], first[column("latency_ms")]], ["100", "180"]);
    assert_eq!([first[column("tpot_ms")], first[column("output_tokens")]], ["20", "5"]);
}

#[test]
fn reasoning_tokens_are_in_the_rows_of_requests_that_report_them() {
    let (run, mut source) = bursts();
    let reasoned = source.frames.iter_mut().find_map(|frame| match frame {
        Frame::Request(record) => Some(record),
        _ => None,
    });
    reasoned.unwrap().reasoning = Some(3);
    let mut out = Vec::new();
    per_request(&mut out, LayoutTable::Csv, &[(&run.summary, &source)]).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let at = rows[0].iter().position(|heading| *heading == "reasoning_tokens").unwrap();
    let cells: Vec<&str> = rows[1..].iter().map(|row| row[at]).filter(|c| !c.is_empty()).collect();
    assert_eq!(cells, ["3"]);
}

#[test]
fn metrics_of_other_tools_follow_their_definitions() {
    let (run, _) = bursts();
    let [one, many] = [0, 1].map(|level| run.extras.of(level));
    // Five events within the first second.
    assert_eq!((one.peak_output_per_s, one.peak_requests), (Some(5), Some(1)));
    // All are sent at once and last less than a second: 25 requests with five events each.
    assert_eq!((many.peak_output_per_s, many.peak_requests), (Some(125), Some(25)));
    assert_eq!(one.latency_per_output_token_ms, Some(180.0 / 5.0));
    assert_eq!(run.summary.levels[0].input_length, Some(100));

    let (run, _) = matrix();
    // Slots send every second: a request that ends in the next one is counted in both.
    let long = run.extras.of(0);
    let level = run.summary.levels.iter().find(|level| level.index == 0).unwrap();
    assert_eq!((level.input_length, level.output_length), (Some(200), Some(10)));
    assert_eq!(long.latency_per_token_ms, Some(1.80952), "380 ms over 210 tokens");
    assert_eq!((long.peak_output_per_s, long.peak_requests), (Some(20), Some(2)));
}

#[test]
fn a_restarted_level_counts_from_its_last_start() {
    let (run, mut source) = bursts();
    // As if the first burst had been cut off after one request, and the run resumed.
    let again = source.frames[..2].to_vec();
    source.frames.splice(0..0, again);
    let mut out = Vec::new();
    per_request(&mut out, LayoutTable::Csv, &[(&run.summary, &source)]).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 1 + 1 + 25);
    let plan = dyno_testing::runs::burst_plan(1);
    let extras = dyno_analysis::extras(&plan, &source).of(0);
    assert_eq!((extras.peak_output_per_s, extras.peak_requests), (Some(5), Some(1)));
}
