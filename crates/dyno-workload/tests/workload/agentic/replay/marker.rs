//! What trees have in common, and what no two have.

use dyno_testing::tokenizers::KINDS;
use dyno_workload::agentic::PromptParts;

use super::*;

const LOCAL: PromptParts = PromptParts::Blocks { size: 16, local: true };
const GLOBAL: PromptParts = PromptParts::Blocks { size: 16, local: false };

/// Two sessions that begin alike.
fn forked(prompts: PromptParts) -> Tree {
    let ids: Vec<u64> = (1..=18).collect();
    let other = [&ids[..9], &[90, 91, 92, 93][..]].concat();
    tree(
        prompts,
        vec![
            (0, vec![turn(200, 20, &ids[..12]), turn(290, 9, &ids)]),
            (0, vec![turn(215, 20, &other)]),
        ],
    )
}

fn sent(model: &Model, options: ReplayOptions, key: Key, tree: &Tree, index: u64) -> Vec<Vec<u32>> {
    let replayer = TreeReplayer::new(&model.tokenizer, options, key, true).unwrap();
    let mut replayed =
        replayer.again(key).replay(Arc::new(tree.clone()), index, TreeStart::Beginning);
    prompts(&mut replayed).iter().map(|prompt| model.tokens(&prompt.item)).collect()
}

fn key(run: u64) -> Key {
    Key { run, ..Key::new(3, 1) }
}

#[test]
fn no_two_trees_and_passes_and_runs_begin_alike() {
    let model = Model::new(KINDS[0], true);
    let options = ReplayOptions { marker: true, ..plain() };
    let before = model.tokens(&Item { content: Content::Messages(Vec::new()), ..Item::text("") });
    let head =
        common(&before, &sent(&model, plain(), key(7), &forked(LOCAL), 0)[0]) + model.around().1;
    let mut seen: Vec<Vec<u32>> = Vec::new();
    for (run, index) in [(7, 0), (7, 1), (7, 2), (7, 300), (8, 0), (8, 1)] {
        let all = sent(&model, options, key(run), &forked(GLOBAL), index);
        for (before, after) in seen.iter().zip(std::iter::repeat(&all[0])) {
            assert!(common(before, after) < head + 16, "the marker is in the first tokens");
            assert_ne!(before[..head + 16], after[..head + 16]);
        }
        for (prompt, length) in all.iter().zip([200, 290, 215]) {
            assert_eq!(prompt.len(), length, "inside the recorded length");
        }
        let mut lengths: Vec<_> = all.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, [200, 215, 290]);
        let own = all.iter().find(|one| one.len() == 215).unwrap();
        let shared = common(&all[0], own);
        assert!((144..160).contains(&shared), "within a tree it is the same: {shared}");
        assert_eq!(all, sent(&model, options, key(run), &forked(GLOBAL), index), "the same again");
        seen.push(all[0].clone());
    }
}

#[test]
fn without_a_marker_the_same_seed_gives_the_same_text() {
    let model = Model::new(KINDS[0], true);
    for prompts in [LOCAL, GLOBAL, PromptParts::Lengths] {
        let tree = forked(prompts);
        let first = sent(&model, plain(), key(7), &tree, 0);
        assert_eq!(first, sent(&model, plain(), key(8), &tree, 5), "in another run and pass");
        assert_ne!(first, sent(&model, plain(), Key::new(4, 1), &tree, 0), "another seed");
        let mut other = tree.clone();
        other.name = "another".to_owned();
        let renamed = sent(&model, plain(), key(7), &other, 0);
        match prompts {
            GLOBAL => assert_eq!(first, renamed, "ids mean the same in all trees"),
            _ => assert!(
                common(&first[0], &renamed[0]) < 40,
                "ids of a tree mean nothing in another"
            ),
        }
    }
}

#[test]
fn a_shared_head_is_common_to_all_trees_before_the_marker() {
    let model = Model::new(KINDS[0], true);
    let options = ReplayOptions { share_system: true, marker: true, ..plain() };
    let mut tree = forked(LOCAL);
    for session in &mut tree.sessions {
        session.head = Some((60, 40));
    }
    let mut other = tree.clone();
    other.name = "another".to_owned();
    let [first, second] =
        [(&tree, 0), (&other, 1)].map(|(tree, index)| sent(&model, options, key(7), tree, index));
    let shared = common(&first[0], &second[0]);
    assert!((100..116).contains(&shared), "{shared}");
    other.sessions[0].head = Some((60, 80));
    let third = sent(&model, options, key(7), &other, 1);
    assert!(common(&first[0], &third[0]) < 100, "another head is another text");
    let unmarked = ReplayOptions { marker: false, ..options };
    let [one, two] = [0, 9].map(|index| sent(&model, unmarked, key(index), &tree, index));
    assert_eq!(one, two);
}
