//! Agentic traffic without a recording: trees as the options describe them, the same for the same key and index. They
//! look like recorded ones to everything behind: lengths, times, gaps, and ids of blocks that show what is shared.
//! How the prompts of one session grow is in `generated_session`.

use std::sync::Arc;

use dyno_model::{MS, Message, Nanos, SEC};
use rand_chacha::ChaCha8Rng;

use super::AgenticFormat;
use super::generated_options::{AgenticOptions, MOST_TURNS};
use super::generated_session::{BLOCK, GeneratedPrompts};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::At;
use crate::random::key::Key;
use crate::random::lengths::{Lengths, unit};

/// Sub-agents start so long after the response that calls them.
const SPAWN: (Nanos, Nanos) = (90 * MS, 1_050 * MS);
/// The recorded time of a request: to its first token, and for each token of its response.
const TOOK: (Nanos, Nanos) = (2 * SEC, 20 * MS);
/// When a tree has so many requests or blocks, no more sub-agents start.
const FULL: (usize, usize) = (10_000, 20_000_000);

/// Makes trees.
#[derive(Debug, Clone)]
pub struct GeneratedTrees {
    options: AgenticOptions,
    key: Key,
    file: Arc<Message>,
}

impl GeneratedTrees {
    /// Trees of these options.
    pub fn new(options: AgenticOptions, key: Key) -> Self {
        Self { options, key, file: Arc::new(Message::quoted("agentic")) }
    }

    /// The tree of an index.
    pub fn tree(&self, index: u64) -> Tree {
        let mut rng = self.key.of_lengths(b"agentic ", index);
        let name = format!("generated-{}", index.saturating_add(1));
        let sessions = TreeInMaking::new(&self.options, &mut rng).sessions(&name);
        Tree {
            name,
            at: At::line(&self.file, index.saturating_add(1)),
            format: AgenticFormat::Generated,
            start: None,
            prompts: PromptParts::Blocks { size: BLOCK, local: true },
            messages: Vec::new(),
            sessions,
            totals: None,
        }
    }
}

/// A tree that is being made.
struct TreeInMaking<'a> {
    options: &'a AgenticOptions,
    rng: &'a mut ChaCha8Rng,
    prompts: GeneratedPrompts<'a>,
    sessions: Vec<TreeSession>,
    turns: usize,
    blocks: usize,
}

impl<'a> TreeInMaking<'a> {
    fn new(options: &'a AgenticOptions, rng: &'a mut ChaCha8Rng) -> Self {
        let prompts = GeneratedPrompts::new(options, rng);
        Self { options, rng, prompts, sessions: Vec::new(), turns: 0, blocks: 0 }
    }

    fn sessions(mut self, name: &str) -> Vec<TreeSession> {
        let head = Some(self.prompts.head());
        let root = TreeSession { name: name.to_owned(), head, ..TreeSession::default() };
        self.sessions.push(root);
        let mut history = self.prompts.session();
        let count = self.count(&self.options.turns);
        let mut before = Vec::new();
        for number in 0..count {
            let turn = history.next(&mut self.prompts, self.rng);
            let ended = self.add(0, turn, before, None);
            let at = TurnAt { session: 0, turn: number };
            before = vec![(Wait { on: at, why: Why::Session }, ended)];
            let more = number + 1 < count;
            if more && unit(self.rng) <= self.options.subagents && !self.is_full() {
                before.extend(self.group(at, ended));
            }
            self.tool(0, more);
        }
        self.sessions
    }

    /// Sub-agents that a turn starts together; gives the ends that the next one waits for.
    fn group(&mut self, by: TurnAt, ended: Nanos) -> Vec<(Wait, Nanos)> {
        let background = unit(self.rng) <= self.options.background;
        let count = self.options.parallel.sample(self.rng);
        let mut ends = Vec::new();
        for _ in 0..count {
            if self.is_full() {
                break;
            }
            let last = self.subagent(by, ended);
            ends.extend(last.filter(|_| !background));
        }
        ends
    }

    fn subagent(&mut self, by: TurnAt, ended: Nanos) -> Option<(Wait, Nanos)> {
        let session = self.sessions.len();
        let (name, head) = (format!("agent-{session}"), Some(self.prompts.head()));
        let parent = Some(by.session);
        self.sessions.push(TreeSession { name, head, parent, ..TreeSession::default() });
        let mut history = self.prompts.session();
        let count = self.count(&self.options.subturns);
        let mut before = vec![(Wait { on: by, why: Why::Spawn }, ended)];
        let (least, most) = SPAWN;
        let mut starts = Some(least + (unit(self.rng) * (most - least) as f64) as Nanos);
        let mut last = None;
        for number in 0..count {
            let turn = history.next(&mut self.prompts, self.rng);
            let ended = self.add(session, turn, before, starts.take());
            let on = TurnAt { session, turn: number };
            last = Some((Wait { on, why: Why::Join }, ended));
            before = vec![(Wait { on, why: Why::Session }, ended)];
            self.tool(session, number + 1 < count);
        }
        last
    }

    fn count(&mut self, of: &Lengths) -> usize {
        of.sample(self.rng).min(MOST_TURNS) as usize
    }

    fn is_full(&self) -> bool {
        self.turns >= FULL.0 || self.blocks >= FULL.1
    }

    /// Adds a turn that waits for some ends; gives its own.
    fn add(
        &mut self,
        session: usize,
        turn: TreeTurn,
        after: Vec<(Wait, Nanos)>,
        gap: Option<Nanos>,
    ) -> Nanos {
        let latest = after.iter().map(|(_, ended)| *ended).max();
        let gap = latest.map(|_| gap.unwrap_or_else(|| self.options.gap.sample(self.rng)));
        let sent = latest.unwrap_or(0).saturating_add(gap.unwrap_or(0));
        let (first, each) = TOOK;
        let took = first.saturating_add(each.saturating_mul(turn.output.unwrap_or(0)));
        let ended = sent.saturating_add(took);
        self.turns += 1;
        self.blocks += turn.ids.len();
        let turns = &mut self.sessions[session].turns;
        let used = turns.last().map_or(0, |before| before.tools.calls);
        turns.push(TreeTurn {
            sent: Some(sent),
            ended: Some(ended),
            gap,
            waits: after.into_iter().map(|(wait, _)| wait).collect(),
            tools: Tools { calls: 0, results: used },
            ..turn
        });
        ended
    }

    /// Decides whether the last response of a session calls a tool.
    fn tool(&mut self, session: usize, more: bool) {
        let calls = u32::from(more && unit(self.rng) <= self.options.tools);
        if let Some(turn) = self.sessions[session].turns.last_mut() {
            turn.tools.calls = calls;
        }
    }
}
