//! What is sent when trees are replayed.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod blocks;
mod counting;
mod lengths;
mod marker;
mod plan;
mod recorded;
mod repeated;
mod size;

use std::sync::Arc;

use dyno_model::prompt::{Content, Item};
use dyno_model::tree::{Growth, Repeated};
use dyno_testing::tokenizers::{TEMPLATE, trained, write_folder};
use dyno_workload::agentic::replay::{
    ReplayOptions, ReplayedTree, TreePrompt, TreeReplayer, TreeStart,
};
use dyno_workload::agentic::{
    PromptParts, Tree, TreeDetail, TreeSession, TreeTurn, Trees, TurnAt, Wait, Why,
};
use dyno_workload::random::key::Key;
use dyno_workload::tokenizer::Tokenizer;

/// A tokenizer, and what it is loaded from.
pub(crate) struct Model {
    encoder: tokenizers::Tokenizer,
    pub(crate) tokenizer: Tokenizer,
    template: bool,
    _folder: tempfile::TempDir,
}

impl Model {
    pub(crate) fn new(kind: &str, template: bool) -> Self {
        let (encoder, folder) = (trained(kind), tempfile::tempdir().unwrap());
        write_folder(folder.path(), &encoder, template.then_some(TEMPLATE));
        let tokenizer = Tokenizer::load(folder.path()).unwrap();
        Self { encoder, tokenizer, template, _folder: folder }
    }

    /// Tokens behind the last text of a prompt, and between a response and the next text.
    pub(crate) fn around(&self) -> (usize, usize) {
        let count = |role: &str| {
            let text = format!("<|im_end|>\n<|im_start|>{role}\n");
            self.encoder.encode(text, true).unwrap().len()
        };
        if self.template { (count("assistant"), count("user")) } else { (0, 0) }
    }

    /// What a server makes of a prompt.
    pub(crate) fn tokens(&self, item: &Item) -> Vec<u32> {
        let text = match &item.content {
            Content::Text(text) => text.clone(),
            Content::Messages(messages) => {
                assert!(self.template);
                let said =
                    |role: &str, text: &str| format!("<|im_start|>{role}\n{text}<|im_end|>\n");
                let all: String =
                    messages.iter().map(|one| said(&one.role, &one.content)).collect();
                format!("<s>{all}<|im_start|>assistant\n")
            }
            other => panic!("{other:?}"),
        };
        self.encoder.encode(text, true).unwrap().get_ids().to_vec()
    }
}

/// Options without a marker.
pub(crate) fn plain() -> ReplayOptions {
    ReplayOptions { marker: false, ..ReplayOptions::default() }
}

pub(crate) fn replayer(model: &Model, options: ReplayOptions, chat: bool) -> TreeReplayer {
    TreeReplayer::new(&model.tokenizer, options, Key { run: 77, ..Key::new(3, 1) }, chat).unwrap()
}

/// A turn of these lengths and ids.
pub(crate) fn turn(input: u64, output: u64, ids: &[u64]) -> TreeTurn {
    TreeTurn { input: Some(input), output: Some(output), ids: ids.to_vec(), ..TreeTurn::default() }
}

/// A tree of sessions that each wait for the turn of the root with this number.
pub(crate) fn tree(prompts: PromptParts, sessions: Vec<(usize, Vec<TreeTurn>)>) -> Tree {
    let mut tree = super::tree("weka-ends");
    tree.prompts = prompts;
    tree.sessions = Vec::new();
    for (place, (spawn, mut turns)) in sessions.into_iter().enumerate() {
        for (number, turn) in turns.iter_mut().enumerate() {
            let on = match number.checked_sub(1) {
                Some(before) => TurnAt { session: place, turn: before },
                None if place == 0 => continue,
                None => TurnAt { session: 0, turn: spawn },
            };
            let why = if number > 0 { Why::Session } else { Why::Spawn };
            turn.waits = vec![Wait { on, why }];
        }
        let parent = (place > 0).then_some(0);
        tree.sessions.push(TreeSession { parent, turns, ..TreeSession::default() });
    }
    tree
}

pub(crate) fn begin(replayer: &TreeReplayer, tree: &Tree) -> ReplayedTree {
    replayer.replay(Arc::new(tree.clone()), 0, TreeStart::Beginning)
}

/// A prompt that was sent.
#[derive(Debug, PartialEq)]
pub(crate) struct SentPrompt {
    pub(crate) item: Item,
    pub(crate) growth: Option<Growth>,
    pub(crate) repeated: Option<Repeated>,
}

/// Makes the prompt of a turn and sends it.
pub(crate) fn send(replayed: &mut ReplayedTree, turn: usize) -> SentPrompt {
    let TreePrompt { item, growth, .. } = replayed.prompt(turn as u32).unwrap();
    SentPrompt { item, growth, repeated: replayed.sent(turn as u32) }
}

/// All prompts, in the order in which they are planned.
pub(crate) fn prompts(replayed: &mut ReplayedTree) -> Vec<SentPrompt> {
    let turns = replayed.turns();
    (0..turns.len()).map(|turn| send(replayed, turn)).collect()
}

/// How many of the first are equal.
pub(crate) fn common<T: PartialEq>(one: &[T], other: &[T]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
