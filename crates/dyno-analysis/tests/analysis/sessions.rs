//! Conversations: their metrics by hand, and the windows of loads whose users think.

use dyno_model::MS;
use dyno_model::Verdict;
use dyno_model::frame::{Ending, LevelEnd};
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load, Plan, Warmup};
use dyno_model::record::{Phase, RequestRecord, TurnOfSession};
use dyno_model::summary::LevelSummary;
use dyno_testing::runs::*;
use proptest::prelude::*;

fn closed_plan(users: u32, requests: usize) -> Plan {
    let load = Load::Concurrency { concurrency: users };
    plan(vec![level_plan(&format!("c={users}"), load, Some(requests as u64))])
}

fn level_of(users: u32, records: Vec<RequestRecord>) -> LevelSummary {
    summary_of(&closed_plan(users, records.len()), records).levels.remove(0)
}

/// Two users: one has a conversation of three turns, the other loses one to a failure and
/// starts again.
fn small() -> Vec<RequestRecord> {
    let answered = |index, slot, session, number, sent, ttft, input| {
        let mut r = turn(stream(index, slot, sent, ttft, 20, 5), session, number);
        r.input = usage(input);
        r
    };
    let failed = failure(3, 1, 1380, 1400, FailureClass::Http(500), "oh");
    vec![
        answered(0, 0, 0, 1, 0, 200, 100),
        answered(1, 1, 1, 1, 0, 300, 100),
        answered(2, 0, 0, 2, 1280, 50, 150),
        turn(failed, 1, 2),
        answered(4, 1, 2, 1, 1401, 100, 70),
        answered(5, 0, 0, 3, 2410, 70, 250),
    ]
}

#[test]
fn first_and_later_turns_are_separate() {
    let level = level_of(2, small());
    let sessions = level.sessions.unwrap();
    assert_eq!((sessions.started, sessions.broken), (3, 1));
    assert_eq!((sessions.turns, sessions.turns_mean), (6, 2.0));
    let first = sessions.first;
    // 200, 300 and 100 ms; four gaps of 20 ms follow.
    let ttft = first.ttft.unwrap();
    assert_eq!((first.requests, ttft.count), (3, Some(3)));
    assert_eq!(
        (ttft.min, ttft.p50, ttft.mean, ttft.max),
        (Some(100.0), Some(200.0), Some(200.0), Some(300.0))
    );
    assert_eq!(first.latency.unwrap().mean, Some(280.0));
    let input = first.input_tokens.unwrap();
    assert_eq!((input.total, input.mean), (Some(270), 90.0));
    let later = sessions.later;
    // 50 and 70 ms; the failed one is in no metric.
    let ttft = later.ttft.unwrap();
    assert_eq!((later.requests, ttft.count, ttft.mean, ttft.p90), (2, Some(2), Some(60.0), None));
    assert_eq!(later.latency.unwrap().max, Some(150.0));
    assert_eq!(later.input_tokens.unwrap().mean, 200.0);
    let note = level.notes.iter().find(|note| note.code == "sessions_broken").unwrap();
    assert!(
        note.what.starts_with("1 of 3 conversations ended with a failed turn"),
        "{}",
        note.what
    );
}

#[test]
fn a_turn_that_was_shed_did_not_fail() {
    let mut records = small();
    for record in &mut records {
        if let Outcome::Failed(class) = &record.outcome {
            record.outcome = Outcome::Shed(*class);
        }
    }
    let level = level_of(2, records);
    let note = level.notes.iter().find(|note| note.code == "sessions_broken").unwrap();
    let what = "1 of 3 conversations ended with a turn that the server shed";
    assert!(note.what.starts_with(what), "{}", note.what);
}

#[test]
fn absent_metrics_of_turns_stay_absent() {
    let mut records = small();
    records.truncate(2);
    records[1].input = None;
    records.iter_mut().for_each(|r| r.streamed = false);
    let level = level_of(2, records);
    let sessions = level.sessions.unwrap();
    assert_eq!((sessions.later.requests, sessions.later.ttft), (0, None));
    assert!(sessions.later.latency.is_none() && sessions.later.input_tokens.is_none());
    assert!(sessions.first.ttft.is_none() && sessions.first.latency.is_some());
    assert_eq!(sessions.first.input_tokens.unwrap().total, None);
    assert!(!codes(&level.notes).contains(&"sessions_broken"));
}

#[test]
fn no_turns_no_sessions() {
    let (plan, mut records) = closed(4, 25);
    assert_eq!(summary_of(&plan, records.clone()).levels[0].sessions, None);
    // Turns of a warm-up are not measured.
    let warm = turn(stream(100, 0, 0, 100, 20, 5), 0, 1);
    records.push(RequestRecord { phase: Phase::Warmup, ..warm });
    assert_eq!(summary_of(&plan, records).levels[0].sessions, None);
}

#[test]
fn intervals_of_turns_come_from_blocks_of_time() {
    let (plan, mut records) = talking(4, 40);
    for r in &mut records {
        r.first = r.first.map(|t| t + (r.index * 7919 % 13) * MS);
    }
    let level = summary_of(&plan, records).levels.remove(0);
    let sessions = level.sessions.unwrap();
    let [first, later] = [sessions.first, sessions.later].map(|turns| turns.ttft.unwrap());
    assert_eq!((first.count, later.count), (Some(56), Some(104)));
    for (ttft, least) in [(first, 300.0), (later, 100.0)] {
        let (mean, [low, high]) = (ttft.mean.unwrap(), ttft.ci95.mean.unwrap());
        assert!(least < low && low < mean && mean < high && high < least + 12.0, "{low} {high}");
    }
}

#[test]
fn users_with_pauses_are_steady_at_low_concurrency() {
    let (plan, records) = talking(8, 30);
    let stopped = 29 * 1000 + 180;
    let level = summary_with(&plan, records, |end| end.starved = Some(stopped * MS));
    let level = &level.levels[0];
    assert_eq!((level.verdict, level.reasons.len()), (Verdict::Valid, 0), "{:?}", level.reasons);
    assert!(level.concurrency.unwrap().mean < 3.0, "{:?}", level.concurrency);
    // From the end of the last user's first answer (sent at 14 ms, 380 ms long).
    assert_eq!(level.steady.unwrap().window_s, 28.786);
}

#[test]
fn without_turns_the_window_starts_a_latency_after_all_slots_have_sent() {
    let (plan, mut records) = talking(8, 30);
    records.iter_mut().for_each(|r| r.turn = None);
    let stopped = 29 * 1000 + 180;
    let level = summary_with(&plan, records, |end| end.starved = Some(stopped * MS));
    assert_eq!(level.levels[0].steady.unwrap().window_s, 28.986);
}

#[test]
fn two_turns_of_a_user_are_needed() {
    let window = |waves: u64| {
        let (plan, records) = talking(8, waves);
        let stopped = (waves - 1) * 1000 + 180;
        summary_with(&plan, records, |end| end.starved = Some(stopped * MS)).levels.remove(0)
    };
    // To 3180 ms from 394: more than two turns of 1000 ms each.
    assert_eq!(window(4).steady.unwrap().window_s, 2.786);
    let short = window(3);
    assert_eq!(codes(&short.reasons), ["no_steady_window"]);
    let what = &short.reasons[0].what;
    assert!(what.contains("1.79 s with every user") && what.contains("(2.00 s)"), "{what}");
}

#[test]
fn a_window_in_which_all_users_pause_does_not_count() {
    // Two users have had an answer each by 400 ms, and think until time is up after 3 s.
    let (mut plan, records) = talking(2, 1);
    plan.levels[0].requests = None;
    let up = |end: &mut LevelEnd| {
        (end.ending, end.planned) = (Ending::Duration, None);
        (end.starved, end.sending_stopped) = (Some(3000 * MS), 3000 * MS);
    };
    let level = summary_with(&plan, records, up).levels.remove(0);
    assert_eq!((level.verdict, level.steady), (Verdict::Suspect, None));
    assert_eq!(codes(&level.reasons), ["no_steady_window"]);
    let what = &level.reasons[0].what;
    assert!(what.contains("nothing was in flight in the 2.62 s"), "{what}");
    let advice = level.reasons[0].advice.as_deref().unwrap();
    assert!(advice.contains("several conversation turns"), "{advice}");
    // A single turn that begins later is something.
    let (plan, mut records) = talking(2, 1);
    records.push(turn(stream(2, 0, 1000, 100, 20, 5), 0, 2));
    let level = summary_with(&plan, records, up).levels.remove(0);
    assert!(level.steady.unwrap().throughput.requests_per_s.unwrap() > 0.3);
}

fn conversations_at_a_rate(turns: u64, gap: u64) -> LevelSummary {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    let plan = plan(vec![level_plan("10/s", load, None)]);
    let mut records = Vec::new();
    for session in 0..100 {
        for number in 0..turns {
            let sent = session * 100 + number * gap;
            let r = stream(session * turns + number, 0, sent, 100, 20, 5);
            records.push(turn(r, session, number as u32 + 1));
        }
    }
    summary_of(&plan, records).levels.remove(0)
}

#[test]
fn an_open_loop_of_conversations_fills_for_as_long_as_they_take() {
    let level = conversations_at_a_rate(3, 1000);
    assert_eq!(level.verdict, Verdict::Valid, "{:?}", level.reasons);
    // From 2180 ms, when the first conversation is over, to 9900 ms, when the last begins.
    let steady = level.steady.unwrap();
    assert_eq!(steady.window_s, 7.72);
    assert!((steady.throughput.requests_per_s.unwrap() - 30.0).abs() < 0.5, "{steady:?}");
}

#[test]
fn an_open_loop_in_which_no_conversation_began_has_no_window() {
    let load = Load::Rate { rate: 1.0, arrival: Arrival::Constant };
    let mut plan = plan(vec![level_plan("1/s", load, None)]);
    plan.levels[0].warmup = Some(Warmup::Requests(1));
    let records = (0..30).map(|i| {
        let r = turn(stream(i, 0, i * 300, 100, 20, 5), 0, i as u32 + 1);
        RequestRecord { phase: if i == 0 { Phase::Warmup } else { Phase::Measured }, ..r }
    });
    let level = summary_of(&plan, records.collect()).levels.remove(0);
    assert_eq!(codes(&level.reasons), ["no_steady_window"]);
}

#[test]
fn single_requests_may_arrive_among_conversations() {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    let plan = plan(vec![level_plan("10/s", load, None)]);
    let one = |i: u64| stream(i, 0, i * 100, 100, 20, 5);
    let mut records: Vec<RequestRecord> = (0..100).map(one).collect();
    records[0].turn = Some(TurnOfSession { session: 0, number: 1 });
    let level = summary_of(&plan, records).levels.remove(0);
    assert_eq!(level.sessions.unwrap().turns, 1);
    assert_eq!(level.steady.unwrap().window_s, 9.72);
}

#[test]
fn accumulating_conversations_are_not_a_growing_queue() {
    let level = conversations_at_a_rate(20, 600);
    assert!(level.steady.is_none());
    assert_eq!(codes(&level.reasons), ["no_steady_window"]);
    assert!(level.reasons[0].what.contains("needs more than"), "{}", level.reasons[0].what);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn turns_add_up(
        turns in prop::collection::vec((0_u64..12, 1_u32..5, 0_u8..4), 1..60),
    ) {
        let records: Vec<RequestRecord> = turns
            .iter()
            .zip(0_u64..)
            .map(|((session, number, fate), i)| {
                let mut r = stream(i, (i % 4) as u32, i * 50, 100, 20, 5);
                match fate {
                    0 => r.outcome = Outcome::Failed(FailureClass::StreamReset),
                    1 => r.outcome = Outcome::Censored,
                    _ => {}
                }
                turn(r, *session, *number)
            })
            .collect();
        let level = level_of(4, records);
        let sessions = level.sessions.unwrap();
        prop_assert_eq!(sessions.turns, turns.len() as u64);
        prop_assert!(sessions.broken <= sessions.started && sessions.started <= sessions.turns);
        prop_assert!(sessions.broken <= level.requests.failed.unwrap());
        prop_assert_eq!(sessions.broken > 0, level.requests.failed.unwrap() > 0);
        let completed = sessions.first.requests + sessions.later.requests;
        prop_assert_eq!(completed, level.requests.completed.unwrap());
        let count = |d: &Option<dyno_model::summary::Distribution>| d.as_ref().map_or(0, |d| d.count.unwrap());
        let both = count(&sessions.first.ttft) + count(&sessions.later.ttft);
        prop_assert_eq!(both, count(&level.times[Time::Ttft]));
    }
}

#[test]
fn turn_numbers_survive_the_record_file() {
    let (plan, records) = talking(4, 10);
    let end = level_end(0, &records);
    let src = source(&plan, frames(records, Some(end)));
    let root = tempfile::tempdir().unwrap();
    let bytes = dyno_record::encode_file(&src.header, &src.frames).unwrap();
    std::fs::write(root.path().join("records.dyno"), bytes).unwrap();
    let dir = dyno_record::RunDir::open(root.path()).unwrap();
    let stored = dyno_analysis::DirSource::open(&dir).unwrap();
    let from_disk = dyno_analysis::summarise(&plan, None, &stored);
    assert_eq!(from_disk, dyno_analysis::summarise(&plan, None, &src));
    assert_eq!(from_disk.levels[0].sessions.as_ref().unwrap().started, 16);
}
