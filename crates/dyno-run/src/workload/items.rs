//! Makes prompts by index, on the encoder's thread. Where several load generators send a level, each
//! makes its own and skips the others, at as little cost as their state allows.

use super::account::Account;
use super::batch::Batch;
use super::{Items, Text, lock};
use dyno_drive::arrivals::seeded;
use dyno_drive::{Sending, Share};
use dyno_model::prompt::{Content, Item};
use dyno_model::{Localized, Message};
use dyno_workload::data::{Count, DataTally, Selected};
use dyno_workload::random::RandomPrompts;
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::session::{SessionOptions, SyntheticSessions, led};
use dyno_workload::trace::{SessionPrompts, TracePrompts};
use std::sync::{Arc, Mutex};

type Shared = Arc<Mutex<Account>>;

/// The value; an error goes into the account.
fn kept<T, E: Localized>(made: Result<T, E>, account: &Shared) -> Option<T> {
    match made {
        Ok(value) => Some(value),
        Err(error) => {
            lock(account).error.get_or_insert(Message::of(error));
            None
        }
    }
}

/// The items of a level, asked for in order: each is either made or skipped.
pub(super) trait Make: Send {
    /// Makes the item of this index; `None` when there are no more.
    fn make(&mut self, index: u64) -> Option<Sending>;

    /// Skips the item of this index; false when there are no more. Items that depend on nothing but
    /// their index need no skipping.
    fn skip(&mut self, _index: u64) -> bool {
        true
    }
}

pub(super) type Made = Box<dyn Make>;

/// The items of a load generator's own part.
pub(super) fn own(mut all: Made, share: Share) -> Items {
    let mut from = 0;
    Box::new(move |_| {
        let next = share.next(from)?;
        for index in from..next {
            if !all.skip(index) {
                return None;
            }
        }
        from = next + 1;
        all.make(next)
    })
}

/// Items that depend on nothing but their index.
struct ByIndex<F>(F);

impl<F: FnMut(u64) -> Option<Sending> + Send> Make for ByIndex<F> {
    fn make(&mut self, index: u64) -> Option<Sending> {
        (self.0)(index)
    }
}

fn by_index(make: impl FnMut(u64) -> Option<Sending> + Send + 'static) -> Made {
    Box::new(ByIndex(make))
}

/// Output lengths, which are drawn one after the other.
struct Outputs(Box<dyn FnMut() -> u32 + Send>);

impl Outputs {
    fn new(lengths: Lengths, key: &Key) -> Self {
        let mut rng = seeded(key.seed, key.lengths, b"outputs ");
        Self(Box::new(move || lengths.sample(&mut rng)))
    }

    fn draw(&mut self) -> u32 {
        (self.0)()
    }
}

struct Random {
    prompts: Arc<RandomPrompts>,
    outputs: Outputs,
    only_lengths: bool,
    account: Shared,
}

impl Make for Random {
    fn make(&mut self, index: u64) -> Option<Sending> {
        let item = match self.only_lengths {
            true => self.prompts.lengths(index),
            false => kept(self.prompts.prompt(index), &self.account)?,
        };
        Some(Sending::Single(item, self.outputs.draw()))
    }

    fn skip(&mut self, _index: u64) -> bool {
        self.outputs.draw();
        true
    }
}

pub(super) fn random(
    prompts: Arc<RandomPrompts>,
    output: Lengths,
    key: Key,
    text: Text,
    account: Shared,
) -> Made {
    // Prompts that are not made of pieces may turn out to be impossible, which only making them shows.
    let only_lengths = text == Text::Unread && prompts.from_pieces();
    Box::new(Random { prompts, outputs: Outputs::new(output, &key), only_lengths, account })
}

/// Requests of several random texts, which all differ.
pub(super) fn random_texts(prompts: Arc<RandomPrompts>, batch: Batch, account: Shared) -> Made {
    by_index(move |index| {
        let numbers = (0..batch.texts()).map(|at| index * batch.texts() + at);
        let lengths = batch.lengths(numbers.clone().map(|number| prompts.tokens(number)));
        let parts = numbers.zip(lengths).map(|(number, tokens)| prompts.sized(number, tokens));
        let parts = kept(parts.collect::<Result<Vec<_>, _>>(), &account)?;
        Some(Sending::Single(batch.item(parts), 0))
    })
}

/// Requests of several texts that follow each other.
struct Joined {
    one: Made,
    batch: Batch,
}

impl Joined {
    fn parts(&self, index: u64) -> std::ops::Range<u64> {
        index * self.batch.texts()..(index + 1) * self.batch.texts()
    }
}

impl Make for Joined {
    fn make(&mut self, index: u64) -> Option<Sending> {
        let numbers = self.parts(index);
        let part = |number| match self.one.make(number)? {
            Sending::Single(item, _) => Some(item),
            Sending::Conversation(_) | Sending::Tree(_) => None,
        };
        let parts: Option<Vec<Item>> = numbers.map(part).collect();
        Some(Sending::Single(self.batch.item(parts?), 0))
    }

    fn skip(&mut self, index: u64) -> bool {
        let mut numbers = self.parts(index);
        numbers.all(|number| self.one.skip(number))
    }
}

pub(super) fn joined(one: Made, batch: Batch) -> Made {
    Box::new(Joined { one, batch })
}

/// The records of a file, one after the other, and an account of them.
struct Records {
    selected: Selected<'static>,
    before: DataTally,
    level: u32,
    /// How many make a request.
    each: u64,
    account: Shared,
}

impl Records {
    fn new(selected: Selected<'static>, level: u32, each: u64, account: Shared) -> Self {
        Self { before: selected.tally(), selected, level, each, account }
    }

    fn next(&mut self, index: u64) -> Option<Item> {
        let next = self.selected.next();
        self.keep_account(index);
        kept(next?, &self.account)
    }

    fn skip(&mut self, index: u64) -> bool {
        let more = self.selected.skip_next();
        self.keep_account(index);
        kept(more, &self.account).unwrap_or(false)
    }

    fn keep_account(&mut self, index: u64) {
        let tally = self.selected.tally().since(&self.before);
        lock(&self.account).keep(self.level, index / self.each + 1, tally);
    }
}

struct FromFile {
    records: Records,
    outputs: Outputs,
}

impl Make for FromFile {
    fn make(&mut self, index: u64) -> Option<Sending> {
        let item = self.records.next(index)?;
        Some(Sending::Single(item, self.outputs.draw()))
    }

    fn skip(&mut self, index: u64) -> bool {
        self.outputs.draw();
        self.records.skip(index)
    }
}

/// The prompts of a file, of which `each` make a request.
pub(super) fn selected(
    selected: Selected<'static>,
    output: Lengths,
    (key, level): (Key, u32),
    each: u64,
    account: Shared,
) -> Made {
    let records = Records::new(selected, level, each, account);
    Box::new(FromFile { records, outputs: Outputs::new(output, &key) })
}

pub(super) fn made(sessions: Arc<SyntheticSessions>, account: Shared) -> Made {
    by_index(move |index| kept(sessions.conversation(index), &account).map(Sending::Conversation))
}

struct Replayed {
    options: SessionOptions,
    records: Records,
    count: Option<Count<'static>>,
    output: Lengths,
    key: Key,
}

impl Make for Replayed {
    fn make(&mut self, index: u64) -> Option<Sending> {
        let item = self.records.next(index)?;
        let (options, key, account) = (&self.options, &self.key, &self.records.account);
        let asked = item.output_tokens;
        let said = kept(led(item.content, options.most_turns(key, index)), account)?;
        let tokens = match (&self.count, said.first()) {
            (Some(count), Some(first)) => {
                Some(kept(count(&Content::Messages(first.clone())), account)?)
            }
            _ => None,
        };
        let output = |rng: &mut _| asked.unwrap_or_else(|| self.output.sample(rng));
        Some(Sending::Conversation(options.lead(said, tokens, output, (key, index))))
    }

    fn skip(&mut self, index: u64) -> bool {
        self.records.skip(index)
    }
}

/// Replays recorded conversations with the server's own responses. `count` counts the tokens of a
/// first turn.
pub(super) fn replayed(
    options: SessionOptions,
    selected: Selected<'static>,
    count: Option<Count<'static>>,
    output: Lengths,
    (key, level): (Key, u32),
    account: Shared,
) -> Made {
    let records = Records::new(selected, level, 1, account);
    Box::new(Replayed { options, records, count, output, key })
}

pub(super) fn trace(prompts: Arc<TracePrompts>, text: Text, account: Shared) -> Made {
    let only_lengths = text == Text::Unread && prompts.from_pieces();
    by_index(move |index| {
        let item = match only_lengths {
            true => prompts.lengths(index)?,
            false => kept(prompts.prompt(index), &account)??,
        };
        // A request of a trace always states its output length.
        let output = item.output_tokens.unwrap_or(1);
        Some(Sending::Single(item, output))
    })
}

/// Recorded sessions, from the one number `from` on.
pub(super) fn sessions(prompts: Arc<SessionPrompts>, from: u64, account: Shared) -> Made {
    by_index(move |index| {
        kept(prompts.conversation(from + index), &account).map(Sending::Conversation)
    })
}
