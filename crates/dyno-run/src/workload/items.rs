//! Makes prompts by index, on the encoder's thread.

use super::account::Account;
use super::batch::Batch;
use super::{Items, Text, lock};
use dyno_drive::Sending;
use dyno_drive::arrivals::seeded;
use dyno_model::prompt::{Content, Item};
use dyno_workload::data::{Count, Selected};
use dyno_workload::key::Key;
use dyno_workload::lengths::Lengths;
use dyno_workload::random::RandomPrompts;
use dyno_workload::session::{SessionOptions, SyntheticSessions, led};
use dyno_workload::trace::{SessionPrompts, TracePrompts};
use std::sync::{Arc, Mutex};

type Shared = Arc<Mutex<Account>>;

/// The value; an error goes into the account.
fn kept<T, E: std::fmt::Display>(made: Result<T, E>, account: &Shared) -> Option<T> {
    match made {
        Ok(value) => Some(value),
        Err(error) => {
            lock(account).error.get_or_insert(error.to_string());
            None
        }
    }
}

pub(super) fn random(
    prompts: Arc<RandomPrompts>,
    output: Lengths,
    key: Key,
    text: Text,
    account: Shared,
) -> Items {
    let mut rng = seeded(key.seed, key.lengths, b"outputs ");
    // Prompts that are not made of pieces may turn out to be impossible, which only making them shows.
    let only_lengths = text == Text::Unread && prompts.from_pieces();
    Box::new(move |index| {
        let item = match only_lengths {
            true => prompts.lengths(index),
            false => kept(prompts.prompt(index), &account)?,
        };
        Some(Sending::Single(item, output.sample(&mut rng)))
    })
}

/// Requests of several random texts, which all differ.
pub(super) fn random_texts(prompts: Arc<RandomPrompts>, batch: Batch, account: Shared) -> Items {
    Box::new(move |index| {
        let numbers = (0..batch.texts()).map(|at| index * batch.texts() + at);
        let lengths = batch.lengths(numbers.clone().map(|number| prompts.tokens(number)));
        let parts = numbers.zip(lengths).map(|(number, tokens)| prompts.sized(number, tokens));
        let parts = kept(parts.collect::<Result<Vec<_>, _>>(), &account)?;
        Some(Sending::Single(batch.item(parts), 0))
    })
}

/// Requests of several texts that follow each other.
pub(super) fn joined(mut one: Items, batch: Batch) -> Items {
    Box::new(move |index| {
        let part = |at| match one(index * batch.texts() + at)? {
            Sending::Single(item, _) => Some(item),
            Sending::Conversation(_) => None,
        };
        let parts: Option<Vec<Item>> = (0..batch.texts()).map(part).collect();
        Some(Sending::Single(batch.item(parts?), 0))
    })
}

/// The prompts of a file, of which `each` make a request.
pub(super) fn selected(
    mut selected: Selected<'static>,
    output: Lengths,
    (key, level): (Key, u32),
    each: u64,
    account: Shared,
) -> Items {
    let mut rng = seeded(key.seed, key.lengths, b"outputs ");
    let before = selected.tally();
    Box::new(move |index| {
        let next = selected.next();
        lock(&account).keep(level, index / each + 1, selected.tally().since(&before));
        let item = kept(next?, &account)?;
        Some(Sending::Single(item, output.sample(&mut rng)))
    })
}

pub(super) fn made(sessions: Arc<SyntheticSessions>, account: Shared) -> Items {
    Box::new(move |index| kept(sessions.conversation(index), &account).map(Sending::Conversation))
}

/// Replays recorded conversations with the server's own responses. `count` counts the tokens of a
/// first turn.
pub(super) fn replayed(
    options: SessionOptions,
    mut selected: Selected<'static>,
    count: Option<Count<'static>>,
    output: Lengths,
    (key, level): (Key, u32),
    account: Shared,
) -> Items {
    let before = selected.tally();
    Box::new(move |index| {
        let next = selected.next();
        lock(&account).keep(level, index + 1, selected.tally().since(&before));
        let item = kept(next?, &account)?;
        let asked = item.output_tokens;
        let said = kept(led(item.content, options.most_turns(&key, index)), &account)?;
        let tokens = match (&count, said.first()) {
            (Some(count), Some(first)) => {
                Some(kept(count(&Content::Messages(first.clone())), &account)?)
            }
            _ => None,
        };
        let output = |rng: &mut _| asked.unwrap_or_else(|| output.sample(rng));
        Some(Sending::Conversation(options.lead(said, tokens, output, (&key, index))))
    })
}

pub(super) fn trace(prompts: Arc<TracePrompts>, text: Text, account: Shared) -> Items {
    let only_lengths = text == Text::Unread && prompts.from_pieces();
    Box::new(move |index| {
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
pub(super) fn sessions(prompts: Arc<SessionPrompts>, from: u64, account: Shared) -> Items {
    Box::new(move |index| {
        kept(prompts.conversation(from + index), &account).map(Sending::Conversation)
    })
}
