//! Several load generators: what the summary says of each, and each rule about them just over its limit.
#![allow(clippy::unwrap_used)]

use dyno_analysis::summarise;
use dyno_model::fleet::{AgentEnd, FleetPlan};
use dyno_model::frame::Ending;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load, Plan};
use dyno_model::record::{RequestRecord, Widths};
use dyno_model::summary::LevelSummary;
use dyno_model::{Diagnostic, Language, MS, Message, SEC, Summary, Verdict};
use dyno_testing::agents::*;
use dyno_testing::runs::*;
use dyno_words::InLanguage;

/// A healthy fleet of four with one change.
fn judged(
    change_records: impl FnOnce(&mut Vec<RequestRecord>),
    change_agents: impl FnOnce(&mut Vec<AgentEnd>),
) -> LevelSummary {
    let (plan, mut records, mut agents) = fleet(4, 8, 25);
    change_records(&mut records);
    change_agents(&mut agents);
    fleet_summary(&plan, records, agents).levels.remove(0)
}

fn expect(level: &LevelSummary, verdict: Verdict, code: &str, text: &str) {
    assert_eq!(level.verdict, verdict, "{:?}", level.reasons);
    assert_eq!(codes(&level.reasons), [code], "{:?}", level.reasons);
    assert!(level.reasons[0].what.contains(text), "{}", level.reasons[0].what);
}

#[test]
fn a_healthy_fleet_is_valid_and_every_agent_has_its_part() {
    let level = judged(|_| {}, |_| {});
    assert_eq!((level.verdict, level.reasons.len()), (Verdict::Valid, 0), "{:?}", level.reasons);
    assert!(level.notes.is_empty(), "{:?}", level.notes);
    assert_eq!(level.agents.len(), 4);
    let agent = &level.agents[3];
    assert_eq!((agent.agent, &*agent.name, &*agent.host), (3, "local-3", "gpu-client"));
    assert_eq!((agent.sent, agent.completed, agent.failed), (50, 50, 0));
    assert_eq!((agent.share, agent.expected_share), (Some(0.25), Some(0.25)));
    assert_eq!((agent.in_flight_peak, agent.ttft_p50_ms), (Some(2), Some(100.0)));
    let all: f64 = level.agents.iter().filter_map(|agent| agent.in_flight_mean).sum();
    assert!((all - level.concurrency.unwrap().mean).abs() < 1e-3, "{all}");
    let clock = agent.clock.unwrap();
    assert_eq!((clock.offset_ns, clock.bound_ms, clock.drift_ppm), (1_000_000_000_003, 0.08, 12.0));
    assert_eq!((agent.start_error_ms, agent.beats), (Some(0.04), 6));
    // The client of the level is all of them.
    let delays = level.client.read_delay_ms.unwrap();
    assert_eq!((delays.count, level.client.cpu_share), (400, Some(0.1)));
}

#[test]
fn nothing_else_of_the_level_depends_on_who_sent_it() {
    let (plan, records) = closed(8, 25);
    let one = summary_with(&plan, records, |end| end.starved = Some(starved(25)));
    let (plan, records, agents) = fleet(4, 8, 25);
    let mut several = fleet_summary(&plan, records, agents);
    several.levels[0].agents.clear();
    several.levels[0].client = one.levels[0].client;
    assert_eq!(one, several);
}

#[test]
fn a_lost_agent_makes_its_level_invalid() {
    let level = judged(
        |records| records.retain(|record| record.agent != Some(2) || record.index < 100),
        |agents| {
            let why = "no sign of life for 10 s".to_owned();
            agents[2] =
                AgentEnd { lost: Some(Message::quoted(why)), ..AgentEnd::new(2, "node-b", "b") };
        },
    );
    expect(&level, Verdict::Invalid, "agent_lost", "agent node-b: lost: no sign of life for 10 s");
    assert_eq!(level.ending, Some(Ending::AgentLost));
    let verdicts: Vec<Verdict> = level.agents.iter().map(|agent| agent.verdict).collect();
    assert_eq!(verdicts[2], Verdict::Invalid);
    assert_eq!(level.agents[2].clock, None);
}

#[test]
fn a_level_that_lost_an_agent_is_never_valid() {
    let (plan, records) = closed(8, 25);
    let summary = summary_with(&plan, records, |end| {
        (end.starved, end.ending) = (Some(starved(25)), Ending::AgentLost);
    });
    assert_eq!(summary.worst_verdict(), Verdict::Suspect);
}

#[test]
fn a_start_or_a_clock_off_by_more_than_a_tenth_of_ttft_is_named() {
    // The median TTFT is 100 ms.
    let started = |ns: i64| judged(|_| {}, |agents| agents[1].start_error_ns = Some(ns));
    let ms = MS as i64;
    assert_eq!(started(10 * ms).verdict, Verdict::Valid);
    expect(&started(11 * ms), Verdict::Invalid, "start_skew", "agent local-1: started 11 ms after");
    expect(&started(-11 * ms), Verdict::Invalid, "start_skew", "started 11 ms before");
    let bound = |ns: u64| judged(|_| {}, |agents| agents[1].clock.as_mut().unwrap().bound_ns = ns);
    assert_eq!(bound(10 * MS).verdict, Verdict::Valid);
    expect(&bound(11 * MS), Verdict::Suspect, "clock_unsure", "agent local-1: its clock");
}

#[test]
fn a_clock_that_jumped_is_named_even_where_its_bound_is_small() {
    let level = judged(|_| {}, |agents| agents[2].clock.as_mut().unwrap().steps = 1);
    let text = "agent local-2: its clock and the coordinator's jumped apart 1 time during";
    expect(&level, Verdict::Suspect, "clock_jumped", text);
    assert_eq!(level.agents[2].verdict, Verdict::Suspect);
}

#[test]
fn a_level_whose_coordinator_was_killed_is_invalid() {
    let (mut plan, records, _) = fleet(4, 8, 25);
    plan.fleet = Some(FleetPlan { agents: 4, bus: true });
    let summary = summarise(&plan, None, &source(&plan, frames(records, None)));
    assert!(summary.levels[0].partial);
    expect(&summary.levels[0], Verdict::Invalid, "coordinator_lost", "no agent said how it ended");
}

/// An open loop of `rate` a second for ten seconds, request i sent by agent i mod 4; bounded by time.
fn open(arrival: Arrival, rate: u64) -> (Plan, Vec<RequestRecord>, Vec<AgentEnd>) {
    let load = Load::Rate { rate: rate as f64, arrival };
    let mut level = level_plan("open", load, None);
    level.duration_ns = Some(10 * SEC);
    let records: Vec<RequestRecord> = (0..10 * rate)
        .map(|i| {
            let mut record = stream(i, 0, i * 1000 / rate, 100, 20, 5);
            record.agent = Some((i % 4) as u32);
            record
        })
        .collect();
    let ends = (0..4).map(|agent| by_time(agent_end(agent, &records))).collect();
    (plan(vec![level]), records, ends)
}

fn by_time(end: AgentEnd) -> AgentEnd {
    let stopped = Some(10 * SEC);
    AgentEnd { ending: Some(Ending::Duration), planned: None, sending_stopped: stopped, ..end }
}

fn timed(plan: &Plan, records: Vec<RequestRecord>, agents: Vec<AgentEnd>) -> LevelSummary {
    let summary = summary_with(plan, records, |end| {
        (end.ending, end.planned) = (Ending::Duration, None);
        end.sending_stopped = 10 * SEC;
        end.agents = agents;
    });
    summary.levels.into_iter().next().unwrap()
}

#[test]
fn evenly_spaced_arrivals_need_a_closer_start() {
    for (arrival, verdict) in
        [(Arrival::Constant, Verdict::Invalid), (Arrival::Poisson, Verdict::Valid)]
    {
        let (plan, records, mut agents) = open(arrival, 20);
        agents[3].start_error_ns = Some(6 * MS as i64);
        let level = timed(&plan, records, agents);
        assert_eq!(level.verdict, verdict, "{:?}", level.reasons);
    }
}

#[test]
fn an_agent_that_sends_less_than_its_part_is_named() {
    let sent = |left_out: u64| {
        let (plan, mut records, _) = open(Arrival::Poisson, 100);
        let mut seen = 0;
        records.retain(|record| {
            seen += u64::from(record.agent == Some(2));
            record.agent != Some(2) || seen > left_out
        });
        let agents = (0..4).map(|agent| by_time(agent_end(agent, &records))).collect();
        timed(&plan, records, agents)
    };
    // 250 each: chance alone may take 40 of them.
    assert!(!codes(&sent(40).reasons).contains(&"shares_uneven"));
    let level = sent(100);
    let found = level.reasons.iter().find(|reason| reason.code == "shares_uneven").unwrap();
    assert_eq!(found.what, "agent local-2: sent 17 % of the requests; its part was 25 %");
    assert_eq!(level.agents[2].verdict, Verdict::Suspect);
    assert_eq!(level.agents[0].verdict, Verdict::Valid);
}

#[test]
fn arrivals_that_are_dealt_in_turn_leave_nothing_to_chance() {
    let sent = |load: Load, left_out: u64| {
        let (mut plan, mut records, _) = open(Arrival::Poisson, 100);
        plan.levels[0].load = load;
        let mut seen = 0;
        records.retain(|record| {
            seen += u64::from(record.agent == Some(2));
            record.agent != Some(2) || seen > left_out
        });
        let agents = (0..4).map(|agent| by_time(agent_end(agent, &records))).collect();
        codes(&timed(&plan, records, agents).reasons).contains(&"shares_uneven")
    };
    let rate = |arrival| Load::Rate { rate: 100.0, arrival };
    let ramp =
        |arrival| Load::Ramp { from: 50.0, to: 150.0, over_ns: 10 * SEC, steps: None, arrival };
    let gamma = Arrival::Gamma { shape: 0.5 };
    // 250 each, of which 20 are more than the 5 % that matter, and less than chance may take.
    for load in [rate(Arrival::Poisson), ramp(Arrival::Poisson)] {
        assert!(!sent(load, 20), "{load:?}");
    }
    let in_turn = [rate(Arrival::Constant), rate(gamma), ramp(gamma), Load::Trace { speed: 1.0 }];
    for load in in_turn {
        assert!(sent(load, 20) && !sent(load, 12), "{load:?}");
    }
}

#[test]
fn few_arrivals_that_are_dealt_in_turn_may_differ_by_their_last() {
    let (plan, mut records, _) = open(Arrival::Constant, 4);
    let mut seen = 0;
    records.retain(|record| {
        seen += u64::from(record.agent == Some(3));
        record.agent != Some(3) || seen <= 9
    });
    let agents = (0..4).map(|agent| by_time(agent_end(agent, &records))).collect();
    let level = timed(&plan, records, agents);
    assert!(!codes(&level.reasons).contains(&"shares_uneven"), "{:?}", level.reasons);
}

/// A closed loop of two slots for each of four agents, bounded by ten seconds; one agent's responses take
/// `slow` times as long, and it leaves `idle` of its slots empty.
fn closed_by_time(slow: u64, idle: u32) -> LevelSummary {
    let mut level = level_plan("c=8", Load::Concurrency { concurrency: 8 }, None);
    level.duration_ns = Some(10 * SEC);
    let mut records = Vec::new();
    for slot in 0..8_u32 {
        let agent = slot % 4;
        let factor = if agent == 1 { slow } else { 1 };
        if agent == 1 && slot / 4 < idle {
            continue;
        }
        let (mut at, itl) = (0, 20 * factor);
        while at < 10_000 {
            let mut record = stream(records.len() as u64, slot, at, 100 * factor, itl, 5);
            record.agent = Some(agent);
            at += 180 * factor;
            records.push(record);
        }
    }
    let agents = (0..4).map(|agent| by_time(agent_end(agent, &records))).collect();
    timed(&plan(vec![level]), records, agents)
}

#[test]
fn a_closed_loop_shares_its_slots_and_not_its_requests() {
    let level = closed_by_time(3, 0);
    assert!(level.agents[1].share.unwrap() < 0.11, "{:?}", level.agents[1].share);
    assert_eq!(level.agents[1].expected_share, Some(0.25));
    assert!(!codes(&level.reasons).contains(&"shares_uneven"), "{:?}", level.reasons);
    let level = closed_by_time(1, 1);
    let found = level.reasons.iter().find(|reason| reason.code == "shares_uneven").unwrap();
    assert!(found.what.starts_with("agent local-1: had 14 % of the requests in flight"));
}

#[test]
fn a_client_that_measures_badly_is_named_and_its_notes_have_its_name() {
    let loose = |records: &mut Vec<RequestRecord>| {
        for record in records.iter_mut().filter(|record| record.agent == Some(3)) {
            record.widths = Some(Widths { first: 40 * MS, ..Widths::default() });
        }
    };
    let level = judged(loose, |agents| {
        let client = &mut agents[3].client;
        (client.blind_ns, client.longest_stall_ns, client.wall_ns) = (2 * SEC, 2 * SEC, 10 * SEC);
    });
    assert_eq!(level.verdict, Verdict::Invalid);
    assert!(level.reasons.iter().any(|reason| {
        reason.code == "instrument_range" && reason.what.starts_with("agent local-3: ")
    }));
    let note = level.notes.iter().find(|note| note.code == "client_stalled").unwrap();
    assert!(note.what.starts_with("agent local-3: the client stalled for 2.00 s"), "{}", note.what);
    assert_eq!(level.agents[3].verdict, Verdict::Invalid);
    assert!(level.agents[..3].iter().all(|agent| agent.verdict == Verdict::Valid));
}

#[test]
fn a_slow_agent_leaves_its_own_slots_empty() {
    let late = |records: &mut Vec<RequestRecord>| {
        for record in records.iter_mut().filter(|record| record.agent == Some(0)) {
            record.intended = record.intended.saturating_sub(30 * MS);
        }
    };
    let level = judged(late, |_| {});
    let named = |reason: &&Diagnostic| {
        reason.code == "effective_concurrency" && reason.what.starts_with("agent local-0: only")
    };
    assert!(level.reasons.iter().find(named).is_some_and(Diagnostic::is_error));
    assert!(level.agents[0].effective_concurrency.unwrap() < 0.9);
    assert!(level.agents[1].effective_concurrency.unwrap() > 0.98);
}

#[test]
fn records_of_each_agent_must_add_up() {
    let level = judged(|_| {}, |agents| (agents[1].issued, agents[2].issued) = (51, 49));
    let texts: Vec<&str> = level.reasons.iter().map(|reason| &*reason.what).collect();
    assert!(texts.contains(&"agent local-1: 50 records for 51 requests"), "{texts:?}");
    assert_eq!(level.verdict, Verdict::Invalid);
}

#[test]
fn an_agent_that_cannot_reach_the_server_is_named() {
    let level = judged(
        |records| {
            for record in records.iter_mut().filter(|record| record.agent == Some(2)) {
                record.outcome = Outcome::Failed(FailureClass::Connect);
            }
        },
        |_| {},
    );
    let named = level.reasons.iter().find(|reason| reason.what.contains("local-2")).unwrap();
    assert_eq!(named.code, "nothing_completed");
}

#[test]
fn many_agents_with_the_same_finding_are_one_line_with_the_worst() {
    let (plan, records, mut agents) = fleet(8, 16, 25);
    for (agent, ms) in [(1, 20), (3, 90), (4, 30), (6, 25), (7, 21)] {
        agents[agent].start_error_ns = Some(ms * MS as i64);
    }
    let summary = fleet_summary(&plan, records, agents);
    let reasons = &summary.levels[0].reasons;
    let [reason] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert!(
        reason.what.starts_with("agent local-3 (and 4 more): started 90 ms"),
        "{}",
        reason.what
    );
    let chinese = summary.in_language(Language::Chinese);
    let text = &chinese.levels[0].reasons[0].what;
    assert!(text.starts_with("压测端 local-3（另有 4 个）：比约定时间晚 90 ms"), "{text}");
    assert!(chinese.levels[0].agents[1].reasons[0].what.starts_with("比约定时间晚 20 ms"));
}

#[test]
fn hostile_names_are_escaped_and_cut() {
    let level =
        judged(|_| {}, |agents| agents[0].name = "\u{1b}[31m".to_owned() + &"x".repeat(200));
    let name = &level.agents[0].name;
    assert!(!name.contains('\u{1b}') && name.chars().count() <= 80, "{name}");
}

#[test]
fn summaries_of_fleets_follow_the_schema() {
    const SCHEMA: &str = include_str!("../../../../docs/schema/summary-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (plan, records, agents) = fleet(4, 8, 25);
    let whole = fleet_summary(&plan, records.clone(), agents.clone());
    let mut lost = agents;
    lost[1] = AgentEnd { lost: Some(Message::quoted("gone")), ..AgentEnd::new(1, "b", "host") };
    let cut: Vec<RequestRecord> =
        records.into_iter().filter(|record| record.agent != Some(1)).collect();
    for summary in [whole, fleet_summary(&plan, cut, lost)] {
        let value = serde_json::to_value(&summary).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let back: Summary = serde_json::from_value(value).unwrap();
        assert_eq!(back, summary);
    }
}
