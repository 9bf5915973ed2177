//! The table of levels: which columns it has, and what fits.

use super::*;
use dyno_report::layout::{Layout, RunToPrint};

#[test]
fn the_terms_of_an_slo_are_columns_however_narrow_the_table_is() {
    let summary = two_levels("latency.p99.9<1s and tpot.p95<=40ms", 60 * MS);
    for width in [60, 80, 200] {
        let text = render_text(&summary, &at(width, Language::English));
        let table = table_of(&text);
        assert!(table.contains("TPOT ms") && table.contains("p95"), "{width}: {table}");
        assert!(table.contains("p99.9"), "{width}: {table}");
        assert!(table.contains("failed"), "{width}: {table}");
    }
}

#[test]
fn steady_and_whole_level_throughput_are_never_in_one_column() {
    let all = ladder(&[1.0, 2.0, 4.0]);
    let text = render_text(&all, &at(200, Language::English));
    let table = table_of(&text);
    assert_eq!(table.matches("44.2*").count(), 3, "{table}");
    // The whole level stands beside it.
    assert!(table.contains("whole level") && table.matches(" 44.1 ").count() == 3, "{table}");
    let document = |summary: &Summary| {
        let run = RunToPrint {
            summary: summary.clone(),
            extras: Default::default(),
            detail: None,
            plan: None,
            environment: None,
        };
        let printed = Layout::Markdown.print(&[run], &Default::default()).unwrap();
        String::from_utf8(printed.bytes).unwrap()
    };
    assert!(document(&all).contains("Requests/s (whole level)"));
    // Each of them in turn has no steady window.
    for place in 0..3 {
        let mut mixed = all.clone();
        mixed.levels[place].steady = None;
        let text = table_of(&render_text(&mixed, &at(200, Language::English)));
        for text in [text, document(&mixed)] {
            assert!(!text.contains("44.2") && !text.contains("whole level"), "{text}");
            assert_eq!(text.matches(" 44.1 ").count(), 3, "{text}");
        }
        // An invalid level does not decide, and has no value where it has no window.
        mixed.levels[place].verdict = Verdict::Invalid;
        let text = render_text(&mixed, &at(200, Language::English));
        let table = table_of(&text);
        assert_eq!(table.matches("44.2*").count(), 2, "{table}");
    }
}

#[test]
fn short_levels_without_a_common_window_say_that_their_rates_are_too_low() {
    let said = |whole: f64, window: bool| {
        let mut summary = ladder(&[1.0, 2.0, 4.0]);
        let level = &mut summary.levels[0];
        level.offered_per_s = Some(44.5);
        level.throughput.requests_per_s = Some(whole);
        summary.levels[2].steady = summary.levels[2].steady.filter(|_| window);
        text(&summary).contains("filling and draining")
    };
    // The steady window has 44.2.
    assert!(said(41.0, false));
    assert!(!said(43.0, false), "drains hardly count");
    assert!(!said(41.0, true), "the table is over steady windows");
}

#[test]
fn tables_of_the_same_command_have_the_same_columns() {
    let heads = |factor: f64| {
        let mut summary = ladder(&[1.0, 2.0, 4.0]);
        for level in &mut summary.levels {
            for time in [Time::Ttft, Time::Itl, Time::Latency] {
                let of = level.times[time].as_mut().unwrap();
                (of.p50, of.p99) = (of.p50.map(|ms| ms * factor), of.p99.map(|ms| ms * factor));
            }
        }
        let text = text(&summary);
        let head = text.lines().find(|line| line.starts_with("level")).unwrap();
        head.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(heads(1.0), heads(0.01));
    assert_eq!(heads(1.0), heads(9.0));
}

#[test]
fn percentiles_that_were_asked_for_are_all_shown_in_a_file_and_add_no_other_columns() {
    let asked = vec![Statistic::P50, Statistic::P90, Statistic::P95, Statistic::P99];
    let selection = ReportSelection { statistics: Some(asked), ..ReportSelection::default() };
    let options = TextOptions { selection, ..TextOptions::default() };
    let table = table_of(&render_text(&ladder(&[1.0, 2.0, 4.0]), &options));
    for name in ["p50", "p90", "p95", "p99"] {
        assert_eq!(table.matches(name).count(), 3, "TTFT, ITL and latency: {table}");
    }
    assert!(table.contains("req/s") && table.contains("tok/s"), "{table}");
    assert!(!table.contains("total") && !table.contains("flight"), "{table}");
    assert!(!table.contains("hidden"), "{table}");
    let selection = ReportSelection {
        statistics: Some(vec![Statistic::P50, Statistic::P95, Statistic::P99]),
        ..ReportSelection::default()
    };
    let narrow = TextOptions { selection, ..at(80, Language::English) };
    let table = table_of(&render_text(&ladder(&[1.0, 2.0, 4.0]), &narrow));
    assert_eq!(table.matches("p95").count(), 3, "before columns that nobody asked for: {table}");
    assert!(table.lines().all(|line| width(line) <= 80), "{table}");
}

#[test]
fn a_wide_terminal_shows_more_columns_and_a_narrow_one_fewer() {
    let summary = ladder(&[1.0, 2.0, 4.0]);
    let table = |width| table_of(&render_text(&summary, &at(width, Language::English)));
    let tables = [200, 80, 50, 40].map(|width| format!("{width}:\n{}", table(width)));
    insta::assert_snapshot!(tables.join("\n\n"));
    assert!(!table(80).contains("hidden") && !table(200).contains("hidden"));
    let columns = [200, 120, 80, 50, 40].map(|width| {
        let table = table(width);
        let row = table.lines().last().unwrap_or_default();
        let row = table.lines().find(|line| line.ends_with(" valid")).unwrap_or(row);
        row.split_whitespace().count()
    });
    assert!(columns.windows(2).all(|pair| pair[0] > pair[1]), "{columns:?}");
    let chinese = render_text(&summary, &at(50, Language::Chinese));
    assert!(chinese.contains("列；请加宽终端，或使用 --columns"), "{chinese}");
}

#[test]
fn the_columns_that_were_asked_for() {
    let columns = ["requests", "offered", "ttft", "latency.p95", "duration"];
    let columns = columns.iter().flat_map(|name| parse_column(name).unwrap()).collect();
    let selection = ReportSelection {
        columns: Some(columns),
        statistics: Some(vec![Statistic::Mean, Statistic::P99_9]),
    };
    let summary = ladder(&[1.0, 2.0, 4.0]);
    let options = TextOptions { selection: selection.clone(), ..TextOptions::default() };
    insta::assert_snapshot!(table_of(&render_text(&summary, &options)));
    let narrow = TextOptions { selection, ..at(44, Language::English) };
    let narrow = render_text(&summary, &narrow);
    assert!(narrow.contains("columns hidden; widen the terminal"), "{narrow}");
    let percentiles =
        ReportSelection { statistics: Some(vec![Statistic::P95]), ..ReportSelection::default() };
    let options = TextOptions { selection: percentiles, ..TextOptions::default() };
    let table = table_of(&render_text(&summary, &options));
    assert_eq!(table.matches("p95").count(), 3, "{table}");
    assert!(!table.contains("p50"), "{table}");
}

#[test]
fn a_file_has_room_for_whatever_was_asked_for() {
    let columns = dyno_report::column_names().into_iter();
    let columns = Some(columns.flat_map(|name| parse_column(name).unwrap()).collect());
    let selection = ReportSelection { columns, statistics: None };
    let options = TextOptions { selection, ..TextOptions::default() };
    let text = render_text(&ladder(&[1.0, 2.0]), &options);
    assert!(!text.contains("hidden"), "{text}");
    assert!(text.lines().any(|line| width(line) > 200), "{text}");
}

#[test]
fn one_request_has_a_mean() {
    let plan = plan(vec![level_plan("burst 1", Load::Burst { requests: 1 }, Some(1))]);
    let summary = summary_of(&plan, vec![stream(0, 0, 0, 100, 20, 5)]);
    let table = table_of(&text(&summary));
    insta::assert_snapshot!(table);
    assert!(table.contains("mean") && !table.contains("–"), "{table}");
}

#[test]
fn long_labels_are_shown_whole() {
    let mut summary = ladder(&[1.0, 2.0]);
    let label = "a label of the user's own that is long";
    summary.levels[0].label = label.to_owned();
    for text in [text(&summary), chinese(&summary)] {
        let table: Vec<&str> = text.lines().take_while(|line| !line.starts_with('*')).collect();
        assert!(table.contains(&label), "{text}");
    }
}

#[test]
fn headers_have_columns_where_they_differ_from_the_latency() {
    let mut summary = ladder(&[1.0]);
    let level = &mut summary.levels[0];
    level.inputs_per_request = Some(8.0);
    level.times[Time::Headers] = level.times[Time::Latency].clone();
    assert!(!text(&summary).contains("headers"), "{}", text(&summary));
    for time in summary.levels[0].times[Time::Headers].iter_mut() {
        time.p50 = time.p50.map(|p50| 0.9 * p50);
    }
    let text = text(&summary);
    assert!(text.contains("headers after"), "{text}");
    assert!(text.matches("headers").count() > 2, "a column, too: {text}");
}
