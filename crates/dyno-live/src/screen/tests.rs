//! The view drawn from synthetic pictures.

use super::draw::draw;
use super::picture::{Picture, Row, State, concerns, failures};
use crate::Said;
use crate::agents::tests::agent;
use crate::agents::{Agents, FleetSeen};
use crate::live::Seen;
use crate::outlook::Left;
use crate::samples;
use crate::seconds::{Second, Seconds};
use dyno_analysis::running_level::{LevelSoFar, LevelTerms, RunningLevel};
use dyno_model::Language;
use dyno_model::fleet::{AgentSeen, Beat};
use dyno_model::frame::Ending;
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::server::ServerSample;
use dyno_model::{MS, SEC};
use dyno_words::escape::escape;
use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use std::collections::BTreeSet;
use std::time::Duration;

fn drawn(picture: &Picture, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, picture)).unwrap();
    terminal.backend().to_string()
}

/// What is known of a level of so many requests, every `failing`th of which failed.
fn found(requests: u64, failing: u64) -> LevelSoFar {
    judged(requests, failing, None)
}

fn judged(requests: u64, failing: u64, slo: Option<&str>) -> LevelSoFar {
    let slo = slo.map(|slo| slo.parse().unwrap());
    let mut glimpse =
        RunningLevel::new(LevelTerms { slo, allow_failures: 0.01, ..LevelTerms::default() });
    for index in 0..requests {
        let mut record = samples::record(0, index);
        if failing > 0 && index % failing == 0 {
            record.outcome = Outcome::Failed(match index % 3 {
                0 => FailureClass::Http(503),
                _ => FailureClass::StreamReset,
            });
        }
        glimpse.add(&record);
    }
    glimpse.settled()
}

fn row(label: &str, state: State, found: Option<LevelSoFar>) -> Row {
    Row { label: label.to_owned(), state, found }
}

fn seconds() -> Vec<Second> {
    let mut seconds = Seconds::default();
    for index in 0..600 {
        let mut record = samples::record(0, index);
        // Slower in the middle, and with a pause.
        if (200..240).contains(&index) {
            continue;
        }
        record.end += (300 * MS) * (1 + (index / 100) % 3);
        seconds.add(&record);
    }
    seconds.advance(30);
    seconds.over(500)
}

fn said(kind: &'static str, text: &str) -> Said {
    Said { kind, text: text.to_owned() }
}

/// In the middle of the second of three levels.
fn under_way() -> Picture {
    let rows = vec![
        row("concurrency 4", State::Ended(Ending::Requests), Some(found(500, 0))),
        row("concurrency 16", State::Running, Some(found(120, 0))),
        row("concurrency 64", State::Pending, None),
    ];
    let seen = Seen {
        at: Duration::from_secs(63),
        done: 120,
        completed: 120,
        failed: 0,
        unconfirmed: 0,
        shed: 0,
        unsent: 0,
        tokens: 1200,
        in_flight: 16,
        planned: Some(500),
        level: 1,
        levels: 3,
        elapsed: Duration::from_secs(21),
        rests: None,
        duration: None,
        label: "concurrency 16".to_owned(),
        server: None,
        fleet: None,
    };
    Picture {
        language: Language::English,
        target: "http://gpu-7:8000/v1  qwen2-72b".to_owned(),
        seen,
        per_second: Some((24.4, 1561.0)),
        left: Some(Left { time: Duration::from_secs(127), at_least: false, levels: None }),
        more: false,
        pace: Some(24.4),
        seconds: seconds(),
        agents: Vec::new(),
        failures: failures(&rows, Language::English),
        concerns: concerns(&rows, Language::English),
        rows,
        said: vec![said("note", "seed 0"), said("warning", "--insecure: anyone may answer")],
    }
}

/// `under_way`, with other levels.
fn with_rows(rows: Vec<Row>, present: u64) -> Picture {
    let levels = rows.len() as u64;
    let seen = Seen { level: present, levels, ..under_way().seen };
    let language = Language::English;
    let (failures, concerns) = (failures(&rows, language), concerns(&rows, language));
    Picture { rows, seen, failures, concerns, ..under_way() }
}

fn thirty() -> Picture {
    let rows = (0..30).map(|index| {
        let label = format!("rate {}", index * 2 + 1);
        match index {
            0..25 => row(&label, State::Ended(Ending::Duration), Some(found(40 + 10 * index, 0))),
            25 => row(&label, State::Running, Some(found(30, 0))),
            _ => row(&label, State::Pending, None),
        }
    });
    Picture { more: true, ..with_rows(rows.collect(), 25) }
}

fn failing() -> Picture {
    let rows = vec![
        row("rate 4", State::Ended(Ending::Duration), Some(found(300, 40))),
        row("rate 8", State::Ended(Ending::TargetLost), Some(found(300, 2))),
        row("rate 16", State::Running, Some(found(90, 1))),
    ];
    with_rows(rows, 2)
}

#[test]
fn what_was_shed_did_not_fail() {
    let mut found = found(300, 0);
    found.counts.shed = 40;
    let rows = vec![row("rate 4", State::Ended(Ending::Duration), Some(found))];
    let text = drawn(&with_rows(rows, 0), 80, 24);
    assert!(text.contains("not completed: shed 40") && !text.contains("failures:"), "{text}");
}

#[test]
fn before_anything_began() {
    assert_snapshot!("empty_80x24", drawn(&Picture::default(), 80, 24));
    assert_snapshot!("empty_200x50", drawn(&Picture::default(), 200, 50));
}

#[test]
fn a_run_under_way() {
    assert_snapshot!("under_way_80x24", drawn(&under_way(), 80, 24));
    assert_snapshot!("under_way_200x50", drawn(&under_way(), 200, 50));
}

/// `under_way`, against an SLO that is missed, on a server that reports its metrics.
fn with_slo(language: Language) -> Picture {
    let slo = "ttft.p99<250ms and itl.p99<25ms";
    let rows = vec![
        row("concurrency 4", State::Ended(Ending::Requests), Some(judged(500, 0, Some(slo)))),
        row("concurrency 16", State::Running, Some(judged(225, 40, Some(slo)))),
        row("concurrency 64", State::Pending, None),
    ];
    let server = ServerSample { waiting: Some(12), kv_use: Some(0.874), ..Default::default() };
    let (failures, concerns) = (failures(&rows, language), concerns(&rows, language));
    let base = under_way();
    let seen = Seen { done: 225, planned: Some(225), server: Some(server), ..base.seen.clone() };
    Picture { language, rows, failures, concerns, seen, ..base }
}

#[test]
fn the_slo_and_the_servers_metrics_at_every_width() {
    for width in [40, 60, 80, 160] {
        let picture = with_slo(Language::English);
        assert_snapshot!(format!("slo_{width}x24"), drawn(&picture, width, 24));
    }
    assert_snapshot!("slo_chinese_80x24", drawn(&with_slo(Language::Chinese), 80, 24));
    assert_snapshot!("slo_chinese_60x24", drawn(&with_slo(Language::Chinese), 60, 24));
}

/// Every number that a narrow screen shows is one that a wide screen shows: none is cut.
#[test]
fn no_number_is_cut_at_any_width() {
    let numbers = |screen: &str| -> BTreeSet<String> {
        let number = |c: char| !(c.is_ascii_digit() || c == '.' || c == '/');
        let lines = screen.lines().map(|line| line.split(" Hidden").next().unwrap_or_default());
        lines.flat_map(|line| line.split(number)).map(str::to_owned).collect()
    };
    for language in [Language::English, Language::Chinese] {
        let picture = with_slo(language);
        let whole = numbers(&drawn(&picture, 300, 24));
        for width in 10..300 {
            let screen = drawn(&picture, width, 24);
            // "+2 more" counts what is not shown.
            let cut: Vec<_> = numbers(&screen)
                .into_iter()
                .filter(|number| !whole.contains(number) && !screen.contains(&format!("+{number}")))
                .collect();
            assert!(cut.is_empty(), "{width}: {cut:?}\n{screen}");
        }
    }
}

#[test]
fn a_single_level_without_streams_or_a_bound() {
    let mut found = found(50, 0);
    (found.times[Time::Ttft], found.times[Time::Itl], found.times[Time::Tpot]) = Default::default();
    let mut picture = with_rows(vec![row("concurrency 16", State::Running, Some(found))], 0);
    (picture.seen.planned, picture.left) = (None, None);
    assert_snapshot!("one_level_80x24", drawn(&picture, 80, 24));
}

/// `under_way`, where every request is whole, and carries so many texts if any.
fn whole(inputs: Option<u32>) -> Picture {
    let mut glimpse =
        RunningLevel::new(LevelTerms { allow_failures: 0.01, ..LevelTerms::default() });
    let mut seconds = Seconds::default();
    for index in 0..120 {
        let mut record = samples::record(0, index);
        (record.streamed, record.first, record.inputs) = (false, None, inputs);
        record.chunks = Default::default();
        glimpse.add(&record);
        seconds.add(&record);
    }
    seconds.advance(7);
    let rows = vec![row("concurrency 16", State::Running, Some(glimpse.settled()))];
    Picture { seconds: seconds.over(500), ..with_rows(rows, 0) }
}

#[test]
fn what_is_not_streamed_has_its_own_charts() {
    assert_snapshot!("embeddings_80x24", drawn(&whole(Some(8)), 80, 24));
    assert_snapshot!("not_streamed_80x24", drawn(&whole(None), 80, 24));
}

#[test]
fn embeddings_that_all_fail_have_their_own_columns() {
    let mut record = samples::record(0, 0);
    (record.outcome, record.inputs) = (Outcome::Failed(FailureClass::Http(400)), Some(8));
    let mut glimpse = RunningLevel::new(LevelTerms::default());
    glimpse.add(&record);
    let rows = vec![row("concurrency 4", State::Running, Some(glimpse.settled()))];
    let screen = drawn(&with_rows(rows, 0), 80, 24);
    assert!(screen.contains("inputs/s") && screen.contains("latency"), "{screen}");
    assert!(!screen.contains("tok/s") && !screen.contains("TTFT"), "{screen}");
}

#[test]
fn thirty_levels_scroll() {
    assert_snapshot!("thirty_levels_80x24", drawn(&thirty(), 80, 24));
    assert_snapshot!("thirty_levels_200x50", drawn(&thirty(), 200, 50));
}

#[test]
fn failures_are_named_and_counted_against_the_bar() {
    assert_snapshot!("failures_80x24", drawn(&failing(), 80, 24));
    assert_snapshot!("failures_200x50", drawn(&failing(), 200, 50));
}

#[test]
fn long_and_hostile_text_stays_in_its_place() {
    let hostile = "长标签模型\u{1b}[2J\u{1b}]0;title\u{7}\r\n\t\u{202e}後ろ 🚀 ".repeat(4);
    let hostile = escape(&hostile, 300);
    let mut picture = with_rows(
        vec![
            row(&hostile, State::Ended(Ending::Requests), Some(found(300, 0))),
            row(&hostile, State::Running, Some(found(30, 0))),
        ],
        1,
    );
    (picture.target, picture.seen.label) = (hostile.clone(), hostile.clone());
    picture.said = vec![said("note", &hostile), said("warning", &hostile)];
    picture.failures.insert(hostile, 7);
    assert_snapshot!("hostile_80x24", drawn(&picture, 80, 24));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// It draws at any size and with any text, and nothing in it moves the cursor.
    #[test]
    fn it_draws_at_any_size_and_with_any_text(
        width in 1_u16..230,
        height in 1_u16..60,
        text in any::<String>(),
        which in 0..4,
    ) {
        let mut picture = match which {
            0 => Picture::default(),
            1 => under_way(),
            2 => thirty(),
            _ => failing(),
        };
        let text = escape(&text, 300);
        (picture.target, picture.seen.label) = (text.clone(), text.clone());
        picture.rows.iter_mut().for_each(|row| row.label.clone_from(&text));
        picture.said.push(said("warning", &text));
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, &picture)).unwrap();
        let cells = &terminal.backend().buffer().content;
        prop_assert_eq!(cells.len(), usize::from(width) * usize::from(height));
        prop_assert!(cells.iter().all(|cell| !cell.symbol().chars().any(char::is_control)));
    }
}

#[test]
fn seconds_without_requests_are_shown_as_empty() {
    let seconds = seconds();
    assert_eq!(seconds.len() as u64, 30 - samples::record(0, 0).end / SEC);
    assert!(seconds.iter().any(|second| second.done == 0));
}

/// `under_way`, sent by eight agents, of which one is lost and one is late.
fn with_agents(language: Language) -> Picture {
    let names: Vec<String> = (1..=8).map(|number| format!("node-{number}")).collect();
    let mut seen: Vec<AgentSeen> = names.iter().map(|name| agent(name, 4)).collect();
    seen[5].lost = Some(dyno_model::Message::quoted("killed"));
    seen[6].beat = seen[6].beat.map(|beat| Beat { lag_ns: 250 * MS, failed: 3, ..beat });
    let mut agents = Agents::default();
    let mut seconds = Seconds::default();
    agents.update(1, &names.iter().map(|name| agent(name, 0)).collect::<Vec<_>>(), &mut seconds);
    agents.update(1, &seen, &mut seconds);
    let now = 105 * SEC;
    let fleet = FleetSeen { agents: seen, count: 8, reported: Duration::from_secs(4), now };
    let level = fleet.level(Some((80.0, 5120.0)), false);
    let rows = vec![
        row("concurrency 4", State::Ended(Ending::Requests), Some(found(500, 0))),
        row("concurrency 16", State::Running, Some(level)),
    ];
    Picture {
        language,
        agents: agents.rows(now),
        seconds: seconds.over(100),
        failures: failures(&rows, language),
        concerns: concerns(&rows, language),
        seen: Seen { fleet: Some(fleet), done: 320, levels: 2, ..under_way().seen },
        rows,
        ..under_way()
    }
}

#[test]
fn agents_in_a_table_the_worst_first() {
    assert_snapshot!(drawn(&with_agents(Language::English), 80, 24));
    assert_snapshot!(drawn(&with_agents(Language::English), 120, 40));
    assert_snapshot!(drawn(&with_agents(Language::Chinese), 80, 24));
}

#[test]
fn agents_are_left_out_before_the_levels() {
    let picture = with_agents(Language::English);
    for (width, height) in [(1, 1), (20, 9), (30, 50), (80, 14), (200, 17)] {
        drawn(&picture, width, height);
    }
    let small = drawn(&picture, 80, 13);
    assert!(!small.contains("node-1") && small.contains("concurrency 16"), "{small}");
}
