//! Trees of agentic traffic, one after another from the beginning of their files; after the last one they begin again,
//! unless the level is over then.

use super::account::Account;
use super::items::Make;
use super::lock;
use dyno_drive::{Sending, TreePrompt, TreePrompts};
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::tree::{PlannedTurn, Repeated};
use dyno_model::{Message, message};
use dyno_workload::agentic::replay::{ReplayedTree, TreeReplayer};
use dyno_workload::agentic::{AgenticLoad, TakenTrees, Tree};
use dyno_workload::data::DataTally;
use dyno_workload::random::key::Key;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// So many requests in a row that are longer than the server's context: no tree fits.
const MOST_OVERFLOWS: u64 = 1_000;

/// What the trees of a level depend on.
pub(super) struct TreesOfLevel {
    pub(super) load: AgenticLoad,
    pub(super) replayer: Arc<TreeReplayer>,
    pub(super) key: Key,
    pub(super) number: u32,
    /// Trees that earlier levels have taken.
    pub(super) from: u64,
    /// Trees that the level begins with.
    pub(super) first: u64,
    /// The level is over after so long.
    pub(super) by_time: bool,
    /// The level is over when each tree was sent once.
    pub(super) once: bool,
    /// The most tokens of a prompt with its response.
    pub(super) context: Option<u32>,
    pub(super) account: Arc<Mutex<Account>>,
}

impl TreesOfLevel {
    /// The trees that a level begins with.
    pub(super) fn first(level: &LevelPlan) -> u64 {
        match level.load {
            Load::Concurrency { concurrency } => concurrency.into(),
            _ => 0,
        }
    }

    pub(super) fn items(self) -> impl Make {
        let caught_up = self.once;
        TreeItems {
            of: self,
            trees: None,
            taken: 0,
            passes: 0,
            left_out: 0,
            overflows: Arc::default(),
            // Each such level has all trees, as those of another pass.
            caught_up,
        }
    }
}

/// The trees of a level, in order.
struct TreeItems {
    of: TreesOfLevel,
    /// Of this pass.
    trees: Option<TakenTrees>,
    /// Trees taken in this pass.
    taken: u64,
    passes: u64,
    /// In earlier passes.
    left_out: u64,
    /// Requests in a row that were too long.
    overflows: Arc<AtomicU64>,
    /// Those of earlier levels were passed over.
    caught_up: bool,
}

impl TreeItems {
    /// The next tree; an error goes into the account.
    fn next(&mut self) -> Option<Arc<Tree>> {
        if !std::mem::replace(&mut self.caught_up, true) {
            for _ in 0..self.of.from {
                self.of_a_pass()?;
            }
        }
        self.of_a_pass()
    }

    fn of_a_pass(&mut self) -> Option<Arc<Tree>> {
        loop {
            let trees = match &mut self.trees {
                Some(trees) => trees,
                none => match self.of.load.trees(self.of.key) {
                    Ok(trees) => none.insert(trees),
                    Err(error) => return self.fail(Message::of(error)),
                },
            };
            if let Some(tree) = trees.next() {
                self.taken += 1;
                return Some(tree);
            }
            if self.taken == 0 {
                let why = self.nothing();
                return self.fail(why);
            }
            if self.of.once {
                return None;
            }
            self.left_out = self.tally().skipped;
            (self.trees, self.taken, self.passes) = (None, 0, self.passes + 1);
        }
    }

    fn fail<T>(&self, why: Message) -> Option<T> {
        lock(&self.of.account).error.get_or_insert(why);
        None
    }

    /// Why there is no tree at all.
    fn nothing(&self) -> Message {
        let notes = self.trees.as_ref().and_then(TakenTrees::notes);
        let first =
            notes.and_then(|notes| notes.left_out().find_map(|(_, left)| left.first.first()));
        match first {
            Some(first) => message!(
                "there is no tree that could be used; the first: {first}",
                "没有可用的树；第一个原因：{first}"
            ),
            None => message!(
                "no tree is left; --limit, --min-input-tokens and --max-input-tokens select whole trees",
                "没有剩余的树；--limit、--min-input-tokens 和 --max-input-tokens 按整棵树选取"
            ),
        }
    }

    /// How the data were used so far.
    fn tally(&self) -> DataTally {
        let left = |trees: &TakenTrees| {
            let kinds = trees.notes().into_iter().flat_map(|notes| notes.left_out());
            kinds.map(|(_, left)| left.count).sum::<u64>()
        };
        let now = self.trees.as_ref().map_or(0, left);
        let outside = self.trees.as_ref().map_or(0, TakenTrees::outside);
        DataTally {
            skipped: self.left_out.max(now),
            dropped_long: outside,
            repeats: self.passes,
            ..DataTally::default()
        }
    }
}

impl Make for TreeItems {
    fn make(&mut self, index: u64) -> Option<Sending> {
        let tree = self.next()?;
        let tally = self.tally();
        let of = &self.of;
        lock(&of.account).keep(of.number, index + 1, tally);
        let number = of.from + index;
        let start = of.load.start(&of.key, number, index < of.first, of.by_time);
        Some(Sending::Tree(Box::new(TreeInReplay {
            replayed: of.replayer.replay(tree, number, start),
            live: of.load.answers_matter(),
            context: of.context,
            overflows: Arc::clone(&self.overflows),
            account: Arc::clone(&of.account),
        })))
    }

    fn skip(&mut self, _index: u64) -> bool {
        self.next().is_some()
    }
}

/// A tree whose prompts are made as they are needed.
struct TreeInReplay {
    replayed: ReplayedTree,
    live: bool,
    context: Option<u32>,
    overflows: Arc<AtomicU64>,
    account: Arc<Mutex<Account>>,
}

impl TreeInReplay {
    /// Whether a request is longer than the context of the server. If all are, the data end.
    fn overflows(&self, input: Option<u64>, output: Option<u32>) -> Option<bool> {
        let tokens = input.unwrap_or(0).saturating_add(output.unwrap_or(0).into());
        let Some(context) = self.context.filter(|context| tokens > u64::from(*context)) else {
            self.overflows.store(0, Ordering::Relaxed);
            return Some(false);
        };
        if self.overflows.fetch_add(1, Ordering::Relaxed) + 1 < MOST_OVERFLOWS {
            return Some(true);
        }
        let why = message!(
            "the last {MOST_OVERFLOWS} requests were all longer than the server's context of {context} tokens, such as \
             {tokens}; select shorter trees with --max-input-tokens, or start the server with a longer context",
            "最近 {MOST_OVERFLOWS} 个请求都超过服务器 {context} 个 token 的上下文，例如 {tokens} 个；请用 \
             --max-input-tokens 选取较短的树，或以更长的上下文启动服务器",
        );
        lock(&self.account).error.get_or_insert(why);
        None
    }
}

impl Drop for TreeInReplay {
    fn drop(&mut self) {
        let mut account = lock(&self.account);
        for (kind, count) in self.replayed.left_out() {
            *account.parts.entry(kind).or_default() += count;
        }
    }
}

impl TreePrompts for TreeInReplay {
    fn turns(&self) -> Arc<[PlannedTurn]> {
        self.replayed.turns()
    }

    fn prompt(&mut self, turn: u32) -> Option<TreePrompt> {
        match self.replayed.prompt(turn) {
            Ok(made) => {
                let overflows = self.overflows(made.tokens, made.item.output_tokens)?;
                Some(TreePrompt { item: made.item, growth: made.growth, overflows })
            }
            Err(error) => {
                lock(&self.account).error.get_or_insert(Message::of(error));
                None
            }
        }
    }

    fn sent(&mut self, turn: u32) -> Option<Repeated> {
        self.replayed.sent(turn)
    }

    fn contain_answers(&self) -> bool {
        self.live
    }

    fn answered(&mut self, turn: u32, answer: &str) {
        self.replayed.answered(turn, answer);
    }

    fn size(&self) -> usize {
        self.replayed.size()
    }
}
