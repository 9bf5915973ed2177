//! What is sent when a tree is replayed: its turns with what they wait for ([`ReplayedTree::turns`]), and their prompts
//! ([`ReplayedTree::prompt`]). When they are sent, and what becomes of failures, is not known here.
//!
//! A prompt has the recorded length and repeats as much of earlier prompts as the recorded one did. Its texts are made from
//! words of one token each (`words`) and stand in chains (`history`) of which later prompts keep a part; which part, `kept`
//! knows.

mod history;
mod kept;
mod live;
mod plan;
mod recorded;
mod repeated;
mod shape;
mod texts;
mod words;
mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;

use dyno_model::Nanos;
use dyno_model::prompt::Item;
use dyno_model::tree::{Growth, PlannedTurn, Repeated};

use super::growth::growth_of;
use super::tree::{PromptParts, Tree, TurnAt};
use crate::random::counter::Counter;
use crate::random::key::Key;
use crate::random::{Maker, RandomError};
use crate::tokenizer::Tokenizer;
use plan::{Plan, TurnOrder};
use recorded::RecordedTexts;
use shape::ChatShape;
use texts::MadeTexts;
use words::{Vocabulary, WordPlace, WordSource};

/// Tokens of a cache's block where the file does not say.
const USUAL_BLOCK: u32 = 16;

/// How trees are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayOptions {
    /// What later prompts have as the responses before them.
    pub responses: Responses,
    /// The longest gap; longer ones are shortened to it.
    pub max_gap: Option<Nanos>,
    /// Whether recorded text is sent; otherwise generated text of the same lengths.
    pub text: bool,
    /// Whether the beginning with the system's text and the definitions of tools is common to all trees.
    pub share_system: bool,
    /// Whether prompts begin with words that no other tree and no other run has, in every pass over the trees.
    pub marker: bool,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            responses: Responses::Recorded,
            max_gap: None,
            text: true,
            share_system: false,
            marker: true,
        }
    }
}

/// What later prompts have as the responses before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Responses {
    /// The recorded text, or generated text of the recorded length: the same prompts in every run.
    #[default]
    Recorded,
    /// What the server has answered.
    Live,
}

/// Where a tree begins.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum TreeStart {
    /// With its first turn.
    #[default]
    Beginning,
    /// At this share of its recorded time, from 0 to 1.
    At(f64),
}

/// Makes what is sent of trees, for one tokenizer.
#[derive(Debug)]
pub struct TreeReplayer(Arc<ReplayKit>);

/// What the trees of a level have in common.
#[derive(Debug)]
struct ReplayKit {
    counter: Counter,
    vocabulary: Arc<Vocabulary>,
    shape: ChatShape,
    options: ReplayOptions,
    key: Key,
}

impl TreeReplayer {
    /// Analyses the tokenizer; one that asks the server is asked here and not again. With `chat` prompts are messages
    /// through the chat template, whose tokens then count; otherwise one text.
    pub fn new(
        tokenizer: &Tokenizer,
        options: ReplayOptions,
        key: Key,
        chat: bool,
    ) -> Result<Self, RandomError> {
        let maker = Maker::new(tokenizer, chat)?;
        let vocabulary = Arc::new(Vocabulary::of(&maker));
        let shape = ChatShape::measure(tokenizer, &maker, chat, |number, tokens| {
            let source = WordSource::Marker(number as u64);
            let place = WordPlace { at: 0, begins: true, unlike: "" };
            vocabulary.write(Key::default(), source, place, tokens, 0).first(tokens).to_owned()
        })?;
        let counter = Counter { tokenizer: tokenizer.clone(), chat };
        Ok(Self(Arc::new(ReplayKit { counter, vocabulary, shape, options, key })))
    }

    /// The same for another level, without analysing the tokenizer again.
    #[must_use]
    pub fn again(&self, key: Key) -> Self {
        let ReplayKit { counter, vocabulary, shape, options, .. } = &*self.0;
        Self(Arc::new(ReplayKit {
            counter: counter.clone(),
            vocabulary: Arc::clone(vocabulary),
            shape: *shape,
            options: *options,
            key,
        }))
    }

    /// The fewest tokens that a prompt can have: what is put around it, and one. Shorter ones are sent with these.
    pub fn minimum(&self) -> u32 {
        self.0.shape.alone() + 1
    }

    /// Whether prompts have the recorded lengths to the token; otherwise about that, and they are counted.
    pub fn is_exact(&self) -> bool {
        self.0.shape.adds_up
    }

    /// What is sent of a tree. `index` is its number in its level, by which the passes over a file differ.
    pub fn replay(&self, tree: Arc<Tree>, index: u64, start: TreeStart) -> ReplayedTree {
        let order = TurnOrder::of(&tree);
        let plan = Plan::new(&tree, &order, start, self.0.options.max_gap);
        let texts = match RecordedTexts::of(&self.0, &tree, index) {
            Some(recorded) => ReplayedTexts::Recorded(recorded),
            None => {
                let sizes = kept::sizes(&tree, &order);
                let sent = plan.places.iter().zip(&*plan.turns);
                let sent = sent.map(|(at, turn)| (order.place(*at), turn.warms));
                let (kit, tree) = (Arc::clone(&self.0), Arc::clone(&tree));
                ReplayedTexts::Made(Box::new(MadeTexts::new(kit, tree, index, sizes, sent)))
            }
        };
        ReplayedTree { tree, order, plan, texts }
    }
}

/// A tree as it is sent.
pub struct ReplayedTree {
    tree: Arc<Tree>,
    order: TurnOrder,
    plan: Plan,
    texts: ReplayedTexts,
}

/// Where the texts of prompts come from.
enum ReplayedTexts {
    Made(Box<MadeTexts>),
    Recorded(RecordedTexts),
}

/// The prompt of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TreePrompt {
    /// What is sent.
    pub item: Item,
    /// How it follows the prompt before it in its session, as recorded.
    pub growth: Option<Growth>,
    /// Input tokens: as they were counted, else as they were recorded.
    pub tokens: Option<u64>,
}

impl ReplayedTree {
    /// The turns that are sent, each after those that it waits for.
    pub fn turns(&self) -> Arc<[PlannedTurn]> {
        Arc::clone(&self.plan.turns)
    }

    /// The prompt of a planned turn. Those of one session are asked for in order, sessions in any.
    pub fn prompt(&mut self, turn: u32) -> Result<TreePrompt, RandomError> {
        let place = turn as usize;
        let (Some(at), Some(planned)) = (self.plan.places.get(place), self.plan.turns.get(place))
        else {
            let item = Item::text(String::new());
            return Ok(TreePrompt { item, growth: None, tokens: None });
        };
        let item = match &mut self.texts {
            ReplayedTexts::Made(texts) => texts.prompt(*at, &self.order)?,
            ReplayedTexts::Recorded(texts) => texts.prompt(*at, planned.warms)?,
        };
        let recorded = || self.tree.turn(*at).and_then(|turn| turn.input);
        let tokens = item.input_tokens.map(u64::from).or_else(recorded);
        Ok(TreePrompt { item, growth: self.growth(*at), tokens })
    }

    /// The prompt of a planned turn is sent; what of it this tree has sent or received before, where that is known.
    pub fn sent(&mut self, turn: u32) -> Option<Repeated> {
        let place = turn as usize;
        let (at, planned) = (self.plan.places.get(place)?, self.plan.turns.get(place)?);
        match &mut self.texts {
            ReplayedTexts::Made(texts) => texts.sent(self.order.place(*at)),
            ReplayedTexts::Recorded(texts) => texts.sent(*at, planned.warms),
        }
    }

    /// Says what the server has answered, before the next prompt of the session is made. It matters only with live
    /// responses.
    pub fn answered(&mut self, turn: u32, answer: &str) {
        let place = turn as usize;
        let (Some(at), Some(planned)) = (self.plan.places.get(place), self.plan.turns.get(place))
        else {
            return;
        };
        // The one token of a turn that warms is not the response of the recording.
        if !planned.warms {
            match &mut self.texts {
                ReplayedTexts::Made(texts) => texts.answered(self.order.place(*at), answer),
                ReplayedTexts::Recorded(texts) => texts.answered(*at, answer),
            }
        }
    }

    /// Bytes of the texts that are held.
    pub fn size(&self) -> usize {
        match &self.texts {
            ReplayedTexts::Made(texts) => texts.size(),
            ReplayedTexts::Recorded(texts) => texts.size(),
        }
    }

    /// What of the recorded messages was not sent so far: parts that are no text, by kind.
    pub fn left_out(&self) -> BTreeMap<String, u64> {
        match &self.texts {
            ReplayedTexts::Made(_) => BTreeMap::new(),
            ReplayedTexts::Recorded(texts) => texts.left_out().clone(),
        }
    }

    fn growth(&self, at: TurnAt) -> Option<Growth> {
        let before = at.turn.checked_sub(1).map(|turn| TurnAt { turn, ..at })?;
        growth_of(self.tree.turn(before)?, self.tree.turn(at)?, self.tree.prompts)
    }
}

/// Tokens of a block of the cache.
fn block_of(tree: &Tree) -> u32 {
    match tree.prompts {
        PromptParts::Blocks { size, .. } => size.max(1),
        _ => USUAL_BLOCK,
    }
}
