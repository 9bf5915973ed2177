//! Requested and received output lengths, where the server may end a response early.

#![allow(clippy::unwrap_used)]

use dyno_analysis::summarise;
use dyno_model::environment::{Environment, Host, Preflight, Server};
use dyno_model::metric::Time;
use dyno_model::outcome::Outcome;
use dyno_model::record::{RequestRecord, TokenSource};
use dyno_model::summary::LevelSummary;
use dyno_testing::runs::{closed, codes, source_of};
use std::collections::BTreeMap;

/// A level of twelve responses of five tokens each, of which so many were requested.
fn level(
    length_field: Option<&str>,
    requested: impl Fn(u64) -> u32,
    change: impl Fn(&mut RequestRecord),
) -> LevelSummary {
    let (plan, mut records) = closed(4, 3);
    for record in &mut records {
        record.requested_output = Some(requested(record.index));
        change(record);
    }
    let env = Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: "0.1.0".to_owned(),
        host: Host::default(),
        server: Server::default(),
        preflight: Some(Preflight {
            length_field: length_field.map(str::to_owned),
            ..Preflight::default()
        }),
        notes: Vec::new(),
        attempts: None,
        made: Default::default(),
    };
    summarise(&plan, Some(&env), &source_of(&plan, records)).levels.remove(0)
}

#[test]
fn a_length_that_was_fixed_and_reached_needs_no_mention() {
    let level = level(Some("ignore_eos"), |_| 5, |_| {});
    assert_eq!(level.output_lengths, None);
}

#[test]
fn lengths_that_are_free_stand_side_by_side_even_if_all_were_reached() {
    let level = level(None, |_| 5, |_| {});
    let lengths = level.output_lengths.unwrap();
    assert_eq!((lengths.requested_mean, lengths.received_mean), (5.0, 5.0));
    assert!(!lengths.fell_short() && !lengths.fixed);
    assert!(!codes(&level.notes).contains(&"output_length"));
}

#[test]
fn some_responses_that_are_shorter_are_a_share_and_a_note() {
    let level = level(None, |index| if index < 3 { 7 } else { 5 }, |_| {});
    let lengths = level.output_lengths.unwrap();
    assert_eq!((lengths.requested_mean, lengths.received_mean), (5.5, 5.0));
    assert_eq!(lengths.reached_share, 0.75);
    assert!(codes(&level.notes).contains(&"output_length"), "{:?}", level.notes);
}

#[test]
fn a_token_or_two_less_than_fixed_is_a_note() {
    let level = level(Some("ignore_eos"), |_| 7, |_| {});
    assert!(level.output_lengths.is_some_and(|lengths| lengths.fixed && lengths.fell_short()));
    let fewer = level.notes.iter().find(|note| note.code == "output_fewer").unwrap();
    assert!(
        fewer.what.contains("12 of 12 responses were up to 2 tokens shorter"),
        "{}",
        fewer.what
    );
}

#[test]
fn events_are_no_lengths() {
    let by_events = |record: &mut RequestRecord| {
        record.output.as_mut().unwrap().source = TokenSource::Events;
    };
    assert_eq!(level(None, |_| 7, by_events).output_lengths, None);
}

#[test]
fn responses_that_nothing_shows_to_be_whole_are_counted() {
    let open = |record: &mut RequestRecord| {
        record.terminal = false;
        if record.index.is_multiple_of(3) {
            record.outcome = Outcome::Unconfirmed;
        }
    };
    let level = level(Some("ignore_eos"), |_| 5, open);
    let noted = |code: &str| level.notes.iter().find(|note| note.code == code).unwrap();
    let what = &noted("unconfirmed").what;
    assert!(what.contains("4 of 12 responses"), "{what}");
    // They are in no metric, and count like failures.
    let counts = &level.requests;
    assert_eq!((counts.completed, counts.failed, counts.unconfirmed), (Some(8), Some(0), Some(4)));
    assert_eq!(counts.failures, BTreeMap::from([("unconfirmed".to_owned(), 4)]));
    assert_eq!((counts.failure_share(), counts.bad()), (Some(4.0 / 12.0), Some(4)));
    assert_eq!(level.times[Time::Latency].as_ref().and_then(|times| times.count), Some(8));
    assert!(codes(&level.reasons).contains(&"failures"), "{:?}", level.reasons);
    // The others had a finish reason.
    let what = &noted("no_terminal_event").what;
    assert!(what.starts_with("8 of 8 streams"), "{what}");
}

#[test]
fn events_that_never_arrived_are_counted() {
    let lossy = |record: &mut RequestRecord| record.lost_frames = (record.index % 2) as u32 * 3;
    let level = level(Some("ignore_eos"), |_| 5, lossy);
    let lost = level.notes.iter().find(|note| note.code == "events_lost").unwrap();
    assert!(lost.what.starts_with("18 events of 6 of 12 streams"), "{}", lost.what);
}
