//! Properties that hold for any engine in any scenario.

use super::reference::Reference;
use super::scenario::{Act, Log, Scenario, drive, drive_virtual, scenarios};
use dyno_engine::core::{Core, Cost, Event, Front, Launch, Token};
use dyno_model::Nanos;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::{HashMap, HashSet};

fn core(scenario: &Scenario) -> Core {
    Core::new(scenario.scheduler, scenario.cost, scenario.seed).unwrap()
}

proptest! {
    #[test]
    fn it_does_what_the_reference_does(scenario in scenarios()) {
        let (mut core, mut plain) = (
            core(&scenario),
            Reference::new(scenario.scheduler, scenario.cost, scenario.seed),
        );
        let log = drive(&mut core, &scenario.acts);
        let expected = drive(&mut plain, &scenario.acts);
        prop_assert_eq!(&log.steps, &expected.steps);
        prop_assert_eq!(&log, &expected);
        prop_assert_eq!(core.preemptions(), plain.preemptions);
        prop_assert_eq!((core.prefix_queries(), core.prefix_hits()), plain.prefix);
    }

    #[test]
    fn virtual_time_gives_the_same_steps_wherever_it_stops(
        scenario in scenarios().prop_map(Scenario::not_late),
        stops in prop::collection::vec(0_u64..2_000_000_000, 0..20),
    ) {
        let mut plain = Reference::new(scenario.scheduler, scenario.cost, scenario.seed);
        let expected = drive(&mut plain, &scenario.acts);
        let cancelled = scenario.cancelled();
        let unseen = |id: u64, at: Nanos| cancelled.get(&id).is_some_and(|end| at > *end);
        let mut events = expected.events.clone();
        events.retain(|event| !unseen(event.id(), event.at()));
        events.sort_by_key(Event::at);
        prop_assert_eq!(&drive_virtual(&scenario, &stops, false).events, &events);
        let seen = drive_virtual(&scenario, &stops, true);
        prop_assert_eq!(seen.steps, expected.steps);
        prop_assert_eq!(seen.events, events);
        for (id, times) in seen.times {
            // Of those cancelled, the reference keeps nothing: their tokens are in the log.
            let said = expected.tokens.iter().flatten();
            let said = said.filter(|token| token.id == id && !unseen(id, token.at));
            prop_assert_eq!(said.map(|token| token.at).collect::<Vec<_>>(), &times[..]);
            if cancelled.contains_key(&id) {
                continue;
            }
            if let Some(expected) = plain.times(id) {
                prop_assert_eq!(times, expected);
            }
        }
    }

    #[test]
    fn blocks_never_exceed_the_pool_and_all_return(scenario in scenarios()) {
        let mut core = core(&scenario);
        let log = drive(&mut core, &scenario.acts);
        let most = u64::from(scenario.scheduler.max_seqs);
        for (_, running, used) in log.gauges {
            prop_assert!(used <= core.kv_total() && running as u64 <= most);
        }
        prop_assert_eq!((core.kv_used(), core.waiting(), core.running()), (0, 0, 0));
        prop_assert_eq!(core.next_start(), None);
    }

    #[test]
    fn every_request_ends_with_as_many_tokens_as_it_asked_for(scenario in scenarios()) {
        let log = drive(&mut core(&scenario), &scenario.acts);
        let mut asked = HashMap::new();
        let mut cancelled = HashSet::new();
        for ((_, act), answer) in scenario.acts.iter().zip(&log.answers) {
            match act {
                Act::Submit { id, output, .. } if answer.is_ok() => {
                    asked.insert(*id, *output);
                }
                Act::Cancel { id } if *answer == Ok(true) => {
                    cancelled.insert(*id);
                }
                _ => {}
            }
        }
        let mut said: HashMap<u64, u32> = HashMap::new();
        for token in log.tokens.iter().flatten() {
            let count = said.entry(token.id).or_default();
            *count += 1;
            prop_assert_eq!(token.number, *count);
            prop_assert_eq!(token.last, *count == asked[&token.id]);
        }
        let ended: HashSet<u64> = log
            .events
            .iter()
            .filter(|event| matches!(event, Event::Finished { .. }))
            .map(Event::id)
            .collect();
        prop_assert!(ended.is_disjoint(&cancelled));
        for (id, output) in asked {
            prop_assert!(ended.contains(&id) || cancelled.contains(&id), "{} did not end", id);
            prop_assert!(!ended.contains(&id) || said[&id] == output);
        }
    }

    #[test]
    fn first_come_first_served(scenario in scenarios().prop_map(Scenario::on_time)) {
        let log = drive(&mut core(&scenario), &scenario.acts);
        let firsts: Vec<u64> = log
            .events
            .iter()
            .filter(|event| matches!(event, Event::First { .. }))
            .map(Event::id)
            .collect();
        // Ids are in the order of arrival. So no request starves, either.
        prop_assert!(firsts.is_sorted(), "{firsts:?}");
    }

    #[test]
    fn steps_follow_each_other_and_do_something(scenario in scenarios()) {
        let log = drive(&mut core(&scenario), &scenario.acts);
        for (index, step) in log.steps.iter().enumerate() {
            prop_assert_eq!(step.number, index as u64);
            prop_assert!(step.end > step.start);
            prop_assert!(step.prefill_tokens > 0 || step.decodes > 0);
            // The last one before it that has ended when it is decided.
            let ended = index.checked_sub(1 + scenario.scheduler.steps_ahead as usize);
            prop_assert!(ended.is_none_or(|ended| step.start >= log.steps[ended].end));
            prop_assert!(index == 0 || step.end >= log.steps[index - 1].end);
        }
    }

    #[test]
    fn a_seed_changes_times_alone(scenario in scenarios(), other in any::<u64>()) {
        let all_at_once: Vec<(Nanos, Act)> = scenario
            .acts
            .iter()
            .filter(|(_, act)| matches!(act, Act::Submit { .. }))
            .map(|(_, act)| (0, act.clone()))
            .collect();
        // A launch may take longer than what noise changes, and the front end has its own pace.
        let cost = Cost { launch: Launch::default(), front: Front::default(), ..scenario.cost };
        let scenario = Scenario { acts: all_at_once, cost, ..scenario }.on_time();
        let one = drive(&mut core(&scenario), &scenario.acts);
        let reseeded = Scenario { seed: other, ..scenario.clone() };
        let two = drive(&mut core(&reseeded), &scenario.acts);
        let tokens = |log: &Log| -> Vec<Vec<(u64, u32)>> {
            let numbers = |step: &Vec<Token>| step.iter().map(|it| (it.id, it.number)).collect();
            log.tokens.iter().map(numbers).collect()
        };
        prop_assert_eq!(tokens(&one), tokens(&two));
        let lengths = |log: &[dyno_engine::core::Step]| -> Vec<Nanos> {
            log.iter().map(|step| step.end - step.start).collect()
        };
        let differs = lengths(&one.steps) != lengths(&two.steps);
        let expected = scenario.cost.noise > 1e-3 && scenario.seed != other;
        prop_assert!(one.steps.is_empty() || scenario.cost.noise > 0.0 || !differs);
        prop_assert!(one.steps.is_empty() || !expected || differs);
    }
}

/// The properties are only as good as the scenarios: everything possible must occur in some.
#[test]
fn everything_happens_in_some_scenario() {
    let mut runner = TestRunner::deterministic();
    let (mut preempted, mut twice, mut shared, mut cancelled, mut refused) = (0, 0, 0, 0, 0);
    for _ in 0..200 {
        let scenario = scenarios().new_tree(&mut runner).unwrap().current();
        let mut core = core(&scenario);
        let log = drive(&mut core, &scenario.acts);
        preempted += u32::from(core.preemptions() > 0);
        twice += u32::from(log.steps.iter().any(|step| step.preempted > 1));
        shared += u32::from(core.prefix_hits() > 0);
        cancelled += u32::from(log.answers.contains(&Ok(true)));
        refused += u32::from(log.answers.iter().any(Result::is_err));
    }
    let seen = [preempted, twice, shared, cancelled, refused];
    assert!(seen.iter().all(|count| *count >= 5), "{seen:?}");
}
