//! Generated agentic traffic: trees that can be replayed, as their options ask, and near what was recorded elsewhere.

#![allow(clippy::unwrap_used)]

use dyno_model::tree::Growth;
use dyno_model::{MS, SEC};
use dyno_workload::agentic::{
    AgenticOptions, AgenticProfile, GeneratedTrees, PromptParts, Tree, TurnAt, Why, growth_of,
};
use dyno_workload::data::DataSpec;
use dyno_workload::random::key::Key;
use proptest::prelude::*;

fn trees(text: &str, seed: u64) -> GeneratedTrees {
    let spec: DataSpec = text.parse().unwrap();
    GeneratedTrees::new(AgenticOptions::new(&spec).unwrap(), Key::new(seed, 0))
}

/// What must hold for every tree: order, times, ids.
fn check(tree: &Tree, context: u64) {
    crate::agentic_bytes::tree(tree);
    let PromptParts::Blocks { size: 64, local: true } = tree.prompts else { panic!("{tree:?}") };
    let head = tree.sessions[0].head.unwrap();
    let shared = usize::try_from((head.0 + head.1) / 64).unwrap();
    for (place, session) in tree.sessions.iter().enumerate() {
        assert_eq!(session.parent, (place > 0).then_some(0));
        assert_eq!(session.head, Some(head));
        assert_eq!(session.turns[0].ids[..shared], tree.sessions[0].turns[0].ids[..shared]);
        for (number, turn) in session.turns.iter().enumerate() {
            let (input, output) = (turn.input.unwrap(), turn.output.unwrap());
            assert!(output > 0 && input + output <= context, "{input} {output}");
            assert_eq!(turn.ids.len() as u64, input / 64);
            assert_eq!(turn.ended.unwrap(), turn.sent.unwrap() + 2 * SEC + 20 * MS * output);
            let ends = turn.waits.iter().map(|wait| tree.turn(wait.on).unwrap().ended.unwrap());
            match ends.max() {
                Some(end) => assert_eq!(turn.sent.unwrap(), end + turn.gap.unwrap()),
                None => assert_eq!((place, number, turn.sent, turn.gap), (0, 0, Some(0), None)),
            }
            for wait in &turn.waits {
                let on = wait.on;
                match wait.why {
                    Why::Session => {
                        assert_eq!(on, TurnAt { session: place, turn: number - 1 });
                    }
                    Why::Spawn => assert!(place > 0 && number == 0 && on.session == 0),
                    // The end of a sub-agent that the turn before has started.
                    Why::Join => {
                        let of = &tree.sessions[on.session].turns;
                        assert_eq!((place, on.turn), (0, of.len() - 1));
                        assert_eq!(of[0].waits[0].on, TurnAt { session: 0, turn: number - 1 });
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    let mut ids: Vec<u64> = tree.sessions[0].turns[0].ids[..shared].to_vec();
    for session in &tree.sessions {
        let mut own: Vec<u64> = session.turns.iter().flat_map(|turn| &turn.ids).copied().collect();
        own.sort_unstable();
        own.dedup();
        ids.extend(own.into_iter().filter(|id| *id > shared as u64));
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "sessions share more than their head");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn trees_can_be_replayed_whatever_is_asked(
        seed: u64,
        index in 0_u64..1_000,
        turns in 1_u32..30,
        (system, first, growth, output) in (1_u32..3_000, 1_u32..3_000, 1_u32..3_000, 1_u32..900),
        (tools, subagents, background) in (0_u32..=100, 0_u32..=100, 0_u32..=100),
        (trim, cut) in (0_u32..=100, 0_u32..=100),
        spare in 0_u32..20_000,
        heavy: bool,
    ) {
        let context = system + first + growth + output + spare;
        let growth = if heavy { format!("lognormal({growth},0)") } else { growth.to_string() };
        let text = format!(
            "agentic,turns={turns},system={system},first={first},growth={growth},output={output},tools={tools}%,\
             subagents={subagents}%,background={background}%,trim={trim}%,cut={cut}%,context={context},subturns=1-5"
        );
        let made = trees(&text, seed);
        let tree = made.tree(index);
        check(&tree, context.into());
        prop_assert_eq!(tree.sessions[0].turns.len(), turns as usize);
        prop_assert_eq!(format!("{tree:?}"), format!("{:?}", trees(&text, seed).tree(index)));
    }
}

#[test]
fn lengths_gaps_and_numbers_are_as_asked() {
    let made = trees(
        "agentic,turns=40,system=6400,first=1000,growth=300,output=50,gap=7s,tools=100%,subagents=100%,parallel=2,\
         subturns=3,background=0,trim=0,cut=0,context=200k",
        7,
    );
    let tree = made.tree(3);
    check(&tree, 200_000);
    assert_eq!(tree.sessions.len(), 1 + 2 * 39);
    assert!(tree.sessions[1..].iter().all(|session| session.turns.len() == 3));
    for session in &tree.sessions {
        for (number, turn) in session.turns.iter().enumerate() {
            assert_eq!(turn.input, Some(7_400 + 350 * number as u64));
            assert_eq!(turn.output, Some(50));
            let spawned = turn.waits.first().is_some_and(|wait| wait.why == Why::Spawn);
            match turn.gap {
                Some(gap) if spawned => assert!((90 * MS..=1_050 * MS).contains(&gap), "{gap}"),
                gap => assert_eq!(gap, (!turn.waits.is_empty()).then_some(7 * SEC)),
            }
        }
    }
    let joins = tree.all().filter(|(at, _)| tree.joins(*at)).count();
    assert_eq!((joins, tree.background()), (39, 0));
    let other = trees("agentic,turns=9,subagents=100%,background=100%", 7).tree(0);
    assert_eq!(other.background(), other.sessions.len() - 1);
    assert!(other.sessions.len() > 8);
}

/// How prompts grow, over many trees.
fn growths(text: &str) -> [usize; 3] {
    let made = trees(text, 1);
    let mut found = [0; 3];
    for index in 0..20 {
        let tree = made.tree(index);
        for two in tree.sessions.iter().flat_map(|session| session.turns.windows(2)) {
            found[match growth_of(&two[0], &two[1], tree.prompts).unwrap() {
                Growth::Whole => 0,
                Growth::Trimmed => 1,
                Growth::Cut => 2,
            }] += 1;
        }
    }
    found
}

#[test]
fn prompts_are_trimmed_and_cut_as_often_as_asked() {
    let of =
        "agentic,turns=101,subagents=0,growth=500,output=200,first=2000,system=1000,context=1M";
    assert_eq!(growths(&format!("{of},trim=0,cut=0")), [2_000, 0, 0]);
    assert_eq!(growths(&format!("{of},trim=100%,cut=0")), [0, 2_000, 0]);
    // The first prompts have little that could be cut.
    let [whole, trimmed, cut] = growths(&format!("{of},trim=0,cut=100%"));
    assert!(cut > 1_900 && trimmed == 0, "{whole} {cut}");
    let [_, trimmed, cut] = growths(&format!("{of},trim=20%,cut=10%"));
    assert!((300..420).contains(&trimmed) && (160..240).contains(&cut), "{trimmed} {cut}");
}

#[test]
fn a_full_context_is_summarised() {
    let made = trees(
        "agentic,turns=60,subagents=0,system=2000,first=1000,growth=700,output=100,trim=0,cut=0,context=20k",
        1,
    );
    let tree = made.tree(0);
    check(&tree, 20_000);
    let compacted: Vec<_> = tree.sessions[0].turns.iter().filter(|turn| turn.compacted).collect();
    // (20,000 − 100 − 3,000) / 800 = 21.1, so each 22nd request starts again with first and growth.
    assert_eq!(compacted.len(), 2);
    assert!(compacted.iter().all(|turn| turn.input == Some(3_700)));
}

/// What the recordings have that the guide names, and how far the defaults may be from it. The bounds hold for 300 trees,
/// whose sums depend on a few long ones.
#[test]
fn the_defaults_are_near_what_was_recorded() {
    let made = GeneratedTrees::new(AgenticOptions::default(), Key::new(11, 0));
    let found = AgenticProfile::of_generated("defaults".to_owned(), &made, 300);
    let share = |part: u64, of: u64| part as f64 / of as f64;
    let (requests, subagents) = (found.requests, found.subagents.unwrap());
    let turns = |percent| f64::from(found.turns.percentile(percent).unwrap());
    let rows = [
        // 710 traces with 48,658 requests in their roots: 68.5 each.
        ("requests of a root", share(requests - 11 * subagents, 300), 45.0, 95.0),
        // 21.7 M of 49,334 requests.
        ("output tokens", share(found.output_tokens.unwrap(), requests), 400.0, 520.0),
        // 6.04 G of 49,334 requests: 122,000. Sub-agents, of which there are more here, have shorter ones.
        ("input tokens", share(found.input_tokens.unwrap(), requests), 70_000.0, 130_000.0),
        ("gap, median in s", f64::from(found.gaps.percentile(50).unwrap()) / 1e3, 8.0, 12.0),
        (
            "gap, 81st percentile in s",
            f64::from(found.gaps.percentile(81).unwrap()) / 1e3,
            45.0,
            75.0,
        ),
        // 4,986 of 47,948.
        ("trimmed", share(found.responses_trimmed.unwrap(), requests), 0.085, 0.12),
        // 902 of 47,948; a full context comes more often where prompts grow evenly.
        ("cut", share(found.histories_cut.unwrap(), requests), 0.01, 0.035),
        ("results of tools", share(found.tool_results.0, requests), 0.92, 0.99),
        // 4 of 63.
        ("background", share(found.background.unwrap(), subagents), 0.02, 0.12),
        // 95.6 % and 96.3 % in the two longest samples.
        ("ideal cache share", found.ideal_cache_share.unwrap(), 0.93, 0.985),
        ("requests of a session, 99th percentile", turns(99), 150.0, 700.0),
    ];
    for (what, value, least, most) in rows {
        assert!((least..=most).contains(&value), "{what}: {value}");
    }
}
