//! The requests in the engine, each in a slot, and the running ones in the order of admission.

use super::front::Place;
use super::keys::NumberMap;
use super::pool::Pool;
use dyno_model::Nanos;

const NONE: u32 = u32::MAX;

/// The state of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// On its way into the front end, in this order.
    Arriving {
        /// How often it still has to wait for its turn in the front end.
        turns: u32,
        /// When it arrives.
        at: Nanos,
        /// In the order of submission.
        order: u64,
    },
    /// In the queue, since then and in this order.
    Queued {
        /// When it may be admitted.
        at: Nanos,
        /// In the order of submission.
        order: u64,
    },
    /// Put back to the front of the queue.
    Preempted,
    /// Admitted; so many tokens are computed or will be at the end of this step.
    Prefilling(u64),
    /// Gets a token in each round.
    Decoding,
}

/// Consecutive tokens: one of a step that prefills, then one of each step that decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stint {
    /// The step of the first of them.
    pub(crate) step: u64,
    /// How many there are.
    pub(crate) tokens: u32,
}

/// The first admission of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceEntry {
    /// When the step started that it joined.
    pub at: Nanos,
    /// Tokens of its prompt that were cached.
    pub cached: u32,
}

/// A request in the engine.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) id: u64,
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) state: State,
    /// Tokens produced by the time it last left or joined the decoding ones.
    pub(crate) produced: u32,
    /// A number for each admission.
    pub(crate) admission: u64,
    /// The step at whose end it joined the decoding ones.
    pub(crate) joined: u64,
    /// Rounds that had passed when it joined.
    pub(crate) round: u64,
    /// The step of its last token, if it was preempted before that was handed out.
    pub(crate) owed: Option<u64>,
    /// Its place among the tokens of a step in the front end.
    pub(crate) place: Place,
    /// When its first token was seen.
    pub(crate) first_seen: Nanos,
    /// Hashes of full blocks, if there is a cache.
    pub(crate) hashes: Box<[u64]>,
    /// Full blocks that were looked up or offered to the cache.
    pub(crate) offered: u32,
    /// Its first admission.
    pub(crate) entered: Option<SequenceEntry>,
    /// Cached blocks that it uses.
    pub(crate) shared: Vec<u32>,
    /// The tokens produced before it was preempted.
    pub(crate) stints: Vec<Stint>,
    before: u32,
    after: u32,
}

impl Sequence {
    /// A request that is queued.
    pub(crate) fn new(id: u64, (input, output): (u32, u32), hashes: &[u64], state: State) -> Self {
        Self {
            id,
            input,
            output,
            state,
            produced: 0,
            admission: NOT_ADMITTED,
            joined: 0,
            round: 0,
            owed: None,
            place: Place::default(),
            first_seen: 0,
            hashes: hashes.into(),
            offered: 0,
            entered: None,
            shared: Vec::new(),
            stints: Vec::new(),
            before: NONE,
            after: NONE,
        }
    }

    /// Tokens produced, when so many rounds have passed.
    pub(crate) fn produced_by(&self, round: u64) -> u32 {
        match self.state {
            State::Decoding => self.produced + (round - self.round) as u32,
            _ => self.produced,
        }
    }

    /// Prompt and output tokens so far: what a prefill must compute.
    pub(crate) fn tokens(&self) -> u64 {
        u64::from(self.input) + u64::from(self.produced)
    }

    /// Tokens that it will have computed when it ends: all but the last of the response.
    pub(crate) fn longest(&self) -> u64 {
        longest(self.input, self.output)
    }

    /// Offers the blocks that its first tokens fill to the cache, as far as that has not been done
    /// and they have hashes.
    pub(crate) fn offer(&mut self, tokens: u64, block: u32, pool: &mut Pool) {
        let (offered, hashed) = (self.offered as usize, self.hashes.len());
        if offered >= hashed {
            return;
        }
        let full = ((tokens / u64::from(block)) as usize).min(hashed);
        if offered < full {
            let hashes = self.hashes[offered..full].iter();
            self.shared.extend(hashes.filter_map(|hash| pool.publish(*hash)));
            self.offered = full as u32;
        }
    }

    /// The tokens since it last joined the decoding ones.
    pub(crate) fn stint(&self, round: u64) -> Option<Stint> {
        let tokens = (round - self.round) as u32 + 1;
        (self.state == State::Decoding).then_some(Stint { step: self.joined, tokens })
    }
}

/// Tokens that a sequence computes: the last output token is never attended to.
pub(crate) fn longest(input: u32, output: u32) -> u64 {
    u64::from(input) + u64::from(output) - 1
}

/// The admission number of a sequence that is not admitted.
pub(crate) const NOT_ADMITTED: u64 = u64::MAX;

/// All requests in the engine.
#[derive(Debug, Clone)]
pub(crate) struct Sequences {
    slots: Vec<Sequence>,
    vacant: Vec<u32>,
    by_id: NumberMap<u32>,
    /// The ends of the list of those that run.
    oldest: u32,
    newest: u32,
    running: u32,
}

impl Sequences {
    /// None.
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            vacant: Vec::new(),
            by_id: NumberMap::default(),
            oldest: NONE,
            newest: NONE,
            running: 0,
        }
    }

    /// Those that are admitted.
    pub(crate) fn running(&self) -> u32 {
        self.running
    }

    /// The slot of a request.
    pub(crate) fn find(&self, id: u64) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The sequence in a slot.
    pub(crate) fn get(&self, slot: u32) -> &Sequence {
        &self.slots[slot as usize]
    }

    /// The sequence in a slot, to be changed.
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Sequence {
        &mut self.slots[slot as usize]
    }

    /// Puts a request into a slot.
    pub(crate) fn insert(&mut self, sequence: Sequence) -> u32 {
        let id = sequence.id;
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.slots[slot as usize] = sequence;
                slot
            }
            None => {
                self.slots.push(sequence);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_id.insert(id, slot);
        slot
    }

    /// Frees the slot of a request that does not run.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.by_id.remove(&self.slots[slot as usize].id);
        self.vacant.push(slot);
    }

    /// Whether this admission is still the current one.
    pub(crate) fn is_current(&self, slot: u32, admission: u64) -> bool {
        self.slots[slot as usize].admission == admission
    }

    /// Those that run, oldest admission first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sequence> {
        let get = |slot: u32| self.slots.get(slot as usize);
        std::iter::successors(get(self.oldest), move |sequence| get(sequence.after))
    }

    /// The one that was admitted last.
    pub(crate) fn newest(&self) -> Option<u32> {
        (self.newest != NONE).then_some(self.newest)
    }

    /// Adds a sequence to those that run, as the newest.
    pub(crate) fn start(&mut self, slot: u32, admission: u64) {
        let before = std::mem::replace(&mut self.newest, slot);
        let sequence = &mut self.slots[slot as usize];
        (sequence.admission, sequence.before, sequence.after) = (admission, before, NONE);
        match before {
            NONE => self.oldest = slot,
            _ => self.slots[before as usize].after = slot,
        }
        self.running += 1;
    }

    /// Takes a sequence from those that run.
    pub(crate) fn stop(&mut self, slot: u32) {
        let sequence = &mut self.slots[slot as usize];
        sequence.admission = NOT_ADMITTED;
        let (before, after) = (sequence.before, sequence.after);
        match before {
            NONE => self.oldest = after,
            _ => self.slots[before as usize].after = after,
        }
        match after {
            NONE => self.newest = before,
            _ => self.slots[after as usize].before = before,
        }
        self.running -= 1;
    }
}
