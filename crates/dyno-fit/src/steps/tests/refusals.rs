//! Every reason to refuse a level, each with a level that has it and one that nearly does.

use super::recovered;
use crate::steps::simulated::{Load, Run, Setup};
use crate::steps::{LevelRecords, Refusal, is_checked, level_steps};
use dyno_model::chunks::ChunkTrack;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{RequestRecord, TurnOfSession};
use dyno_model::server::ServerSample;

fn sound() -> Run {
    Setup { output: [60, 80], ..Setup::new(Load::Closed(8), 120) }.run()
}

/// The only refusal; nothing if the level is used.
fn refusal(run: &Run) -> Option<Refusal> {
    match recovered(run) {
        Ok(_) => None,
        Err(refusals) => {
            assert_eq!(refusals.len(), 1, "{refusals:?}");
            Some(refusals[0])
        }
    }
}

fn changed(count: usize, change: impl Fn(&mut RequestRecord)) -> Option<Refusal> {
    let mut run = sound();
    run.records.iter_mut().take(count).for_each(change);
    refusal(&run)
}

#[test]
fn a_sound_level_is_used() {
    assert_eq!(refusal(&sound()), None);
}

#[test]
fn token_counts_must_be_known() {
    let unknown = |record: &mut RequestRecord| record.chunk_tokens_known = false;
    assert_eq!(changed(1, unknown), Some(Refusal::TokensUnknown { requests: 1, of: 120 }));
}

#[test]
fn there_must_be_enough_requests() {
    let of = |requests| refusal(&Setup::new(Load::Closed(2), requests).run());
    assert_eq!(of(7), Some(Refusal::TooFewRequests { found: 7, needed: 8 }));
    assert_eq!(of(8), None);
}

#[test]
fn failed_requests_refuse_a_level_and_refused_ones_do_not() {
    let failed = |record: &mut RequestRecord| {
        record.outcome = Outcome::Failed(FailureClass::TimeoutTotal);
    };
    assert_eq!(changed(2, failed), Some(Refusal::Failed { requests: 2, of: 120 }));
    assert_eq!(changed(1, failed), None);
    let mut run = sound();
    for index in 0..40 {
        let mut shed = RequestRecord { index: 1000 + index, ..run.records[0].clone() };
        shed.outcome = Outcome::Shed(FailureClass::Http(429));
        (shed.chunks, shed.first, shed.last) = (ChunkTrack::default(), None, None);
        shed.end = shed.intended;
        run.records.push(shed);
    }
    assert_eq!(refusal(&run), None);
}

/// Chunks that carry so many tokens each, and arrive with the last of them.
fn together(record: &mut RequestRecord, tokens: usize) {
    let times: Vec<u64> = record.chunks.iter().map(|chunk| 1_000 * chunk.at_us).collect();
    record.chunks = ChunkTrack::default();
    for chunk in times.chunks(tokens) {
        record.chunks.push(chunk[chunk.len() - 1], false, chunk.len() as u32);
    }
}

#[test]
fn tokens_must_come_one_to_a_chunk() {
    let found = changed(120, |record| together(record, 2));
    let Some(Refusal::SeveralTokens { share }) = found else { panic!("{found:?}") };
    assert!(share > 0.95, "{share}");
    assert_eq!(changed(12, |record| together(record, 2)), None);
}

#[test]
fn requests_of_others_are_seen_in_the_server_metrics() {
    let with = |every: usize, more: u64| {
        let mut run = sound();
        for sample in run.samples.iter_mut().step_by(every) {
            sample.waiting = Some(more);
        }
        refusal(&run)
    };
    let found = with(2, 20);
    assert!(matches!(found, Some(Refusal::ForeignTraffic { most: 10.., .. })), "{found:?}");
    assert_eq!(with(100, 20), None);
    assert_eq!(with(2, 0), None);
}

#[test]
fn without_counts_of_the_server_nobody_else_can_be_seen() {
    let run = sound();
    assert!(is_checked(&run.records, &run.samples));
    assert!(!is_checked(&run.records, &[]));
    let uncounted: Vec<ServerSample> =
        run.samples.iter().map(|sample| ServerSample { running: None, ..*sample }).collect();
    assert!(!is_checked(&run.records, &uncounted));
    // Before the level, nothing is counted of it.
    assert!(!is_checked(&run.records[60..], &run.samples[..1]));
}

#[test]
fn conversations_show_steps_only_where_the_cached_part_of_their_prompts_is_known() {
    let turns = |cached: Option<u64>| {
        let mut run = sound();
        for record in &mut run.records {
            let (session, number) = (record.index / 4, (record.index % 4) as u32 + 1);
            (record.turn, record.cached) = (Some(TurnOfSession { session, number }), cached);
        }
        run
    };
    assert_eq!(refusal(&turns(None)), Some(Refusal::CachedUnknown { requests: 120 }));
    assert_eq!(refusal(&turns(Some(0))), None);
    // The server counts that nothing was found.
    let mut counted = turns(None);
    for (sample, count) in counted.samples.iter_mut().zip(0..) {
        (sample.prefix_queries, sample.prefix_hits) = (Some(1_000 * count), Some(0));
    }
    assert_eq!(refusal(&counted), None);
    // Prompts that begin alike on purpose.
    let run = sound();
    let shared = LevelRecords { requests: &run.records, samples: &[], shared: true };
    let found = level_steps(shared).unwrap_err();
    assert_eq!(found, [Refusal::CachedUnknown { requests: 120 }]);
}

#[test]
fn metrics_of_one_engine_of_several_show_too_few_requests() {
    let with = |running: fn(u64) -> u64| {
        let mut run = Setup::new(Load::Closed(8), 64).run();
        run.samples.iter_mut().for_each(|sample| sample.running = sample.running.map(running));
        refusal(&run)
    };
    let found = with(|running| running / 4);
    assert!(matches!(found, Some(Refusal::MissingTraffic { .. })), "{found:?}");
    // The front end may hold a request that the engine has finished.
    assert_eq!(with(|running| running.saturating_sub(1)), None);
}

#[test]
fn several_addresses_may_be_several_engines() {
    let to = |addresses: u64| {
        changed(120, move |record| record.address = Some((record.index % addresses) as u8))
    };
    assert_eq!(to(2), Some(Refusal::SeveralAddresses { addresses: 2 }));
    assert_eq!(to(1), None);
}

/// The refusal of a level whose requests went to two engines; each alone is used.
fn two_engines(setup: Setup) -> Option<Refusal> {
    let run = |seed| Setup { seed, ..setup.clone() }.run();
    let (mut both, other) = (run(1), run(2));
    assert_eq!((refusal(&both), refusal(&other)), (None, None));
    both.records.extend(other.records);
    both.samples.clear();
    refusal(&both)
}

#[test]
fn engines_behind_one_address_have_no_common_steps() {
    for load in [Load::Poisson(2.0), Load::Poisson(10.0), Load::Closed(8)] {
        let found =
            two_engines(Setup { prompt: [16, 2000], output: [64, 192], ..Setup::new(load, 100) });
        assert!(matches!(found, Some(Refusal::NoCommonSteps { .. })), "{load:?}: {found:?}");
    }
}

#[test]
fn engines_that_happen_to_keep_pace_are_seen_in_the_order_of_arrivals() {
    // Requests of one length in a closed loop start and end together.
    let found = two_engines(Setup::new(Load::Closed(8), 64));
    assert!(matches!(found, Some(Refusal::ArrivalsInGroups { .. })), "{found:?}");
}

#[test]
fn a_slow_front_end_hides_steps() {
    let with = |chunk| refusal(&Setup { chunk, ..Setup::new(Load::Closed(32), 200) }.run());
    let found = with(135_000);
    let Some(Refusal::FrontEndHidesSteps { chunk, tokens, from }) = found else {
        panic!("{found:?}")
    };
    assert_eq!(tokens, 32);
    assert!((20..=32).contains(&from) && (chunk / 135e-6 - 1.0).abs() < 0.15, "{chunk} {from}");
    assert_eq!(with(100_000), None);
}
