//! A percentile between tokens that the client knows only roughly is marked in every layout.

use crate::layouts::runs::*;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::Ranges;
use dyno_model::{Language, Verdict};
use dyno_report::layout::{Layout, RunToPrint};

/// Two valid levels; the p99 of times between tokens of the first is known to `error`.
fn rough(error: f64) -> RunToPrint {
    let (mut run, _) = closed_ladder();
    for level in &mut run.summary.levels {
        (level.verdict, level.reasons, level.notes) = (Verdict::Valid, Vec::new(), Vec::new());
        for (_, found) in level.times.iter_mut() {
            let Some(found) = found else { continue };
            (found.instrument, found.uncertain) = (None, Vec::new());
        }
    }
    let level = &mut run.summary.levels[0];
    for time in [Time::Itl, Time::Tpot, Time::ChunkGap] {
        let Some(found) = &mut level.times[time] else { continue };
        found.p99 = Some(20.0);
        let given = found.clone();
        let ranges = |which| {
            let value = given.get(which)?;
            Some(if which == Statistic::P99 { [value - error, value] } else { [value; 2] })
        };
        found.instrument = Some(Ranges::new(ranges));
        found.uncertain = vec!["p99".to_owned()];
    }
    run
}

fn printed(layout: Layout, error: f64) -> String {
    print(layout, &[rough(error)], Language::English)
}

#[test]
fn every_layout_marks_an_uncertain_percentile() {
    for (error, mark) in [(1.0, "~20.0"), (5.0, "15.0–20.0")] {
        for layout in [Layout::Markdown, Layout::Html] {
            let text = printed(layout, error);
            assert!(text.contains(mark), "{}: no {mark} in {text}", layout.name());
        }
        let text = printed(Layout::Table, error);
        assert!(text.contains(if error < 2.0 { "~20.0" } else { "!20.0" }), "{text}");
        let range = format!("TPOT p99 {:.1}–20.0 ms", 20.0 - error);
        for layout in
            [Layout::Vllm, Layout::Vllm06, Layout::Sglang, Layout::Guidellm, Layout::Evalscope]
        {
            let text = printed(layout, error);
            assert!(text.contains(&range), "{}: no {range} in {text}", layout.name());
            assert_eq!(text.matches("known only").count(), 1, "{text}");
        }
        for layout in [Layout::VllmJson, Layout::SglangJsonl] {
            let text = printed(layout, error);
            let first: serde_json::Value =
                serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let names = first["dyno_uncertain"].as_array().unwrap();
            assert!(names.contains(&"itl_p99_ms".into()), "{names:?}");
            assert_eq!(text.matches("dyno_uncertain").count(), 1, "{text}");
        }
        let text = printed(Layout::Csv, error);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let column = rows[0].iter().position(|name| *name == "uncertain").unwrap();
        assert_eq!(rows[1][column], "tpot_p99_ms itl_p99_ms chunk_gap_p99_ms");
        assert_eq!(rows[2][column], "");
        let all: serde_json::Value = serde_json::from_str(&printed(Layout::Json, error)).unwrap();
        assert_eq!(all["levels"][0]["itl_ms"]["uncertain"], serde_json::json!(["p99"]));
        assert_eq!(all["levels"][1]["itl_ms"].get("uncertain"), None);
    }
    // Of the page, the charts, too.
    let page = printed(Layout::Html, 1.0);
    assert!(page.contains("\"name\":\"ITL p99\",\"rough\":[0]"), "{page}");
}

#[test]
fn nothing_is_marked_where_all_is_good() {
    for layout in [Layout::Table, Layout::Markdown, Layout::Vllm] {
        let text = printed(layout, 0.1);
        assert!(!text.contains('~') && !text.contains("known only"), "{text}");
    }
}
