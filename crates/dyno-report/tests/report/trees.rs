//! Trees of sessions in every kind of report.
#![allow(clippy::unwrap_used)]

use dyno_analysis::detail::Detail;
use dyno_model::Language;
use dyno_model::Summary;
use dyno_model::summary::SearchSummary;
use dyno_report::layout::{Layout, LayoutTable, Options, RunToPrint, per_request};
use dyno_report::page::Page;
use dyno_report::{ReportSelection, TextOptions, parse_column, render_text};
use dyno_testing::forest::{forest, forest_plan};
use dyno_testing::runs::{closed, source_of, summary_of};

const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

fn summary() -> Summary {
    summary_of(&forest_plan(8), forest(8, 200_000))
}

fn text(summary: &Summary, language: Language) -> String {
    render_text(summary, &TextOptions { language, width: 100, ..TextOptions::default() })
}

#[test]
fn trees_in_a_terminal() {
    let both = LANGUAGES.map(|language| text(&summary(), language));
    insta::assert_snapshot!(both.join("\n"));
}

#[test]
fn single_requests_are_not_shown_in_groups() {
    let (plan, records) = closed(2, 30);
    let plain = text(&summary_of(&plan, records), Language::English);
    assert!(!plain.contains("sub-agents") && !plain.contains("interactivity"), "{plain}");
}

#[test]
fn a_capacity_of_trees_is_one_of_agents() {
    let capacity = |unit: &str, mut of: Summary, language| {
        of.run.slo = Some("ttft.p90<900ms".to_owned());
        of.search = Some(SearchSummary::Capacity {
            unit: unit.to_owned(),
            holds: Some(24.0),
            does_not_hold: Some(30.0),
            confidence: None,
            doubt: None,
            outcome: None,
        });
        let text = text(&of, language);
        let line = text.lines().find(|line| line.contains("24–30")).unwrap().to_owned();
        line.trim().to_owned()
    };
    let [english, chinese] = LANGUAGES;
    let agents = capacity("in flight", summary(), english);
    assert!(agents.starts_with("CAPACITY: about 26 agents (24–30)"), "{agents}");
    let agents = capacity("in flight", summary(), chinese);
    assert!(agents.starts_with("容量：约 26 个智能体"), "{agents}");
    let rate = capacity("req/s", summary(), english);
    assert!(rate.contains("trees/s"), "{rate}");
    let (plan, records) = closed(2, 30);
    let plain = capacity("in flight", summary_of(&plan, records), english);
    assert!(plain.contains("26 in flight"), "{plain}");
}

fn to_print() -> RunToPrint {
    let (plan, records) = (forest_plan(8), forest(8, 200_000));
    let detail = Detail::gather(&source_of(&plan, records));
    RunToPrint {
        summary: summary(),
        extras: Default::default(),
        detail: Some(detail),
        plan: Some(plan),
        environment: None,
    }
}

fn print(layout: Layout, language: Language) -> String {
    let options = Options { language, ..Options::default() };
    String::from_utf8(layout.print(&[to_print()], &options).unwrap().bytes).unwrap()
}

#[test]
fn documents_and_pages_have_the_same_tables() {
    let [english, chinese] = LANGUAGES;
    let document = print(Layout::Markdown, english);
    assert!(document.contains("#### c=8\n\n- trees: 24 started, 11 completed"), "{document}");
    assert!(document.contains("\n| sub-agents | 221 | 8046 |"), "{document}");
    assert!(print(Layout::Markdown, chinese).contains("| 子智能体 | 221 |"));
    let page = print(Layout::Html, english);
    for text in
        ["Trees of sessions", "24 started, 11 completed", "root sessions", "data:image/svg+xml"]
    {
        assert!(page.contains(text), "{text}");
    }
    let page = print(Layout::Html, chinese);
    assert!(page.contains("任务树") && page.contains("主会话"));
    // Without its requests, a page has the tables and no picture.
    let (of, plan) = (summary(), forest_plan(8));
    let bare = |summary: &Summary| {
        Page { summary, detail: None, plan: Some(&plan), environment: None, language: english }
            .html()
    };
    assert!(bare(&of).contains("root sessions"));
    assert!(!bare(&of).contains("div class=\"still\"") && page.contains("div class=\"still\""));
}

/// The column of that name in the only row, or in each.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut rows = csv.lines().map(|line| line.trim_end().split(',').map(str::to_owned).collect());
    let heads: Vec<String> = rows.next().unwrap();
    let at = heads.iter().position(|head| head == name).unwrap_or_else(|| panic!("no {name}"));
    rows.map(|row: Vec<String>| row[at].clone()).collect()
}

#[test]
fn spreadsheets_have_a_column_for_each_number() {
    let csv = print(Layout::Csv, Language::English);
    let of = |name: &str| column(&csv.replace(", ", " "), name).concat();
    assert_eq!([of("trees_started"), of("trees_completed"), of("overflowed")], ["24", "11", "2"]);
    let trees = summary().levels[0].trees.clone().unwrap();
    let p50 = trees.duration.unwrap().p50.unwrap() / 1e3;
    assert_eq!(of("tree_duration_s_p50").parse::<f64>().unwrap(), p50);
    assert!(!of("request_speed").is_empty());
    let mut out = Vec::new();
    let source = source_of(&forest_plan(8), forest(8, 200_000));
    per_request(&mut out, LayoutTable::Csv, &[(&summary(), &source)]).unwrap();
    let csv = String::from_utf8(out).unwrap();
    let trees: std::collections::BTreeSet<String> = column(&csv, "tree").into_iter().collect();
    assert_eq!(trees.len(), 24);
    assert!(column(&csv, "growth").iter().any(|growth| growth == "cut"));
    assert!(column(&csv, "join_wait_s").iter().any(|wait| !wait.is_empty()));
}

#[test]
fn columns_can_be_chosen() {
    let names = [
        "trees_completed",
        "trees_live",
        "tree_duration",
        "stretch",
        "ideal_cached",
        "request_speed_p90",
    ];
    let columns = names.iter().flat_map(|name| parse_column(name).unwrap()).collect();
    let selection = ReportSelection { columns: Some(columns), statistics: None };
    let options = TextOptions { selection, width: 120, ..TextOptions::default() };
    let text = render_text(&summary(), &options);
    let row = text.lines().find(|line| line.starts_with("c=8 ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells.len(), 8, "{text}");
    assert_eq!(cells[1], "11", "{text}");
}
