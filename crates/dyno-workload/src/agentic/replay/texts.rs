//! The texts of a tree: made when a prompt needs them, and kept for the prompts that repeat them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dyno_model::prompt::{Content, Item};
use dyno_model::tree::Repeated;

use super::history::{Growing, Kept, Said, growing};
use super::kept::TurnSize;
use super::plan::TurnOrder;
use super::repeated::SentTexts;
use super::writer::{TurnWriter, WrittenWords};
use super::{ReplayKit, Responses, block_of};
use crate::agentic::key;
use crate::agentic::tree::{PromptParts, Tree, TurnAt};
use crate::random::RandomError;

/// What has been made of a tree.
pub(super) struct MadeTexts {
    kit: Arc<ReplayKit>,
    tree: Arc<Tree>,
    sizes: Vec<TurnSize>,
    /// The prompt of each turn, as long as another one needs it.
    prompts: Vec<Option<MadePrompt>>,
    /// How many turns still need the prompt of each.
    needed: Vec<u32>,
    /// What the server has answered to each, if that is repeated.
    answers: HashMap<usize, String>,
    /// Turns whose prompts were asked for: those before a start in the middle are made, but not sent.
    asked_for: HashSet<usize>,
    /// Turns that only warm the cache.
    warming: HashSet<usize>,
    written: WrittenWords,
    sent: SentTexts,
    /// Prompts that were made and not sent yet.
    unsent: HashMap<usize, MadePrompt>,
    salt: u64,
}

/// A prompt, and how much of the response before it is in it if it keeps the whole prompt before.
#[derive(Clone)]
struct MadePrompt {
    said: Arc<Said>,
    /// The turn before it in its session, whose whole prompt it keeps, the length of that, and how much of the response.
    repeats: Option<(usize, u32, u32)>,
}

impl MadeTexts {
    pub(super) fn new(
        kit: Arc<ReplayKit>,
        tree: Arc<Tree>,
        index: u64,
        sizes: Vec<TurnSize>,
        sent: impl Iterator<Item = (usize, bool)>,
    ) -> Self {
        // Words of a tree with its own ids depend on what it is, not on where its file lies.
        let salt = match tree.prompts {
            PromptParts::Blocks { local: false, .. } => key::NOTHING,
            _ => sizes.iter().fold(key::of_text(&tree.name), |salt, size| {
                key::after(salt, u64::from(size.input))
            }),
        };
        let mut needed = vec![0_u32; sizes.len()];
        let owners = sizes.iter().filter_map(|size| size.kept).map(|(owner, _)| owner);
        owners.for_each(|place| needed[place] += 1);
        let mut warming = HashSet::new();
        for (place, warms) in sent {
            needed[place] += 1;
            if warms {
                warming.insert(place);
            }
        }
        Self {
            kit,
            prompts: vec![None; sizes.len()],
            needed,
            sizes,
            answers: HashMap::new(),
            asked_for: HashSet::new(),
            warming,
            written: WrittenWords::new(index),
            sent: SentTexts::default(),
            unsent: HashMap::new(),
            salt,
            tree,
        }
    }

    pub(super) fn size(&self) -> usize {
        self.written.bytes
    }

    pub(super) fn answered(&mut self, place: usize, answer: &str) {
        if self.kit.options.responses == Responses::Live {
            self.answers.insert(place, answer.to_owned());
        }
    }

    /// The prompt of a turn.
    pub(super) fn prompt(&mut self, at: TurnAt, order: &TurnOrder) -> Result<Item, RandomError> {
        let place = order.place(at);
        let made = self.made(place, order)?;
        self.release(place);
        let shape = self.kit.shape;
        let (said, total) = (&made.said, made.said.total(&shape));
        let content = match shape.plain {
            true => Content::Text(said.text()),
            false => Content::Messages(said.messages()),
        };
        let counter = &self.kit.counter;
        let input_tokens = match shape.adds_up || counter.tokenizer.is_asking() {
            true => Some(total),
            false => Some(counter.tokenizer.count_content(&content, counter.chat)?),
        };
        let output_tokens = Some(self.asked(place));
        self.unsent.insert(place, made);
        Ok(Item { content, output_tokens, input_tokens })
    }

    /// The prompt of a turn is sent; what of it was sent before.
    pub(super) fn sent(&mut self, place: usize) -> Option<Repeated> {
        let made = self.unsent.remove(&place)?;
        let (shape, block) = (self.kit.shape, block_of(&self.tree));
        let total = made.said.total(&shape);
        let whole = |tokens: u32| tokens.min(total) / block * block;
        let of_prompts = whole(self.sent.send(&made.said, &shape));
        self.asked_for.insert(place);
        let answered = made.repeats.filter(|(before, ..)| self.asked_for.contains(before));
        let answered = answered.map_or(0, |(before, input, repeated)| {
            whole(input.saturating_add(repeated.min(self.asked(before))))
        });
        Some(Repeated { of_prompts, with_responses: answered.max(of_prompts) })
    }

    /// Output tokens that a turn is asked for.
    fn asked(&self, place: usize) -> u32 {
        if self.warming.contains(&place) { 1 } else { self.sizes[place].output }
    }

    /// A turn that needs the prompt is done.
    fn release(&mut self, place: usize) {
        self.needed[place] = self.needed[place].saturating_sub(1);
        if self.needed[place] == 0 {
            self.prompts[place] = None;
        }
    }

    /// The prompt of a turn, made with those that it keeps something of.
    fn made(&mut self, place: usize, order: &TurnOrder) -> Result<MadePrompt, RandomError> {
        let mut missing = vec![place];
        while let Some(last) = missing.last().copied() {
            if let Some(made) = &self.prompts[last] {
                if last == place {
                    return Ok(made.clone());
                }
                missing.pop();
                continue;
            }
            match self.sizes[last].kept.filter(|(owner, _)| self.prompts[*owner].is_none()) {
                Some((owner, _)) => missing.push(owner),
                None => {
                    let made = self.make(last, order)?;
                    self.prompts[last] = Some(made);
                    if let Some((owner, _)) = self.sizes[last].kept {
                        self.release(owner);
                    }
                }
            }
        }
        self.make(place, order)
    }

    /// The prompt of a turn, where that of the turn is made whose beginning it keeps.
    fn make(&mut self, place: usize, order: &TurnOrder) -> Result<MadePrompt, RandomError> {
        let (shape, size, at) = (self.kit.shape, self.sizes[place], order.at(place));
        let whole = size.kept.and_then(|(owner, tokens)| {
            Some((owner, Arc::clone(&self.prompts[owner].as_ref()?.said), tokens))
        });
        let mut kept = match &whole {
            Some((_, said, tokens)) => Kept::of(said, *tokens, &shape),
            None => Kept::default(),
        };
        // The response of the turn before it in its session, else of the one that it goes on from.
        let own = place.checked_sub(1).filter(|_| at.turn > 0 && whole.is_some());
        let answering = own.or(whole.as_ref().map(|(owner, ..)| *owner));
        let output = answering.map_or(0, |answering| self.sizes[answering].output);
        let live = match answering.and_then(|answering| self.answers.get(&answering)) {
            Some(answer) => self.kit.heard(answer, output, self.written.number())?,
            None => None,
        };
        let output = live.as_ref().map_or(output, |live| live.tokens.min(output));
        let mut growing = growing(&mut kept, size.input, output, &shape);
        let live = match (live, growing) {
            (Some(live), Growing::Pair(answer, user)) => {
                let live = self.kit.shortened(live, answer)?;
                growing = Growing::Pair(live.tokens, user + (answer - live.tokens));
                Some(live)
            }
            _ => None,
        };
        let mut writer =
            TurnWriter::new(&self.kit, &mut self.written, &self.tree, at, size.input, self.salt);
        let said = writer.grow(&kept, growing, live);
        let repeats = match (whole, &kept.last, growing) {
            (Some((owner, before, _)), Some(last), Growing::Pair(answer, _))
                if Arc::ptr_eq(&before, last) && Some(owner) == own =>
            {
                Some((owner, before.total(&shape), answer))
            }
            _ => None,
        };
        Ok(MadePrompt { said, repeats })
    }
}
