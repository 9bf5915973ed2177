//! The prompts of generated sessions: how each grows out of the one before it, and the ids of its blocks. All sessions of
//! a tree begin with the same head; what follows is their own.

use rand_chacha::ChaCha8Rng;

use super::generated_options::AgenticOptions;
use super::tree::TreeTurn;
use crate::random::lengths::unit;

/// Tokens of a block.
pub(super) const BLOCK: u32 = 64;
/// The most that a trimmed prompt lacks of the response before it; half of that is the median.
const MOST_TRIMMED: f64 = 0.15;
/// The share of cuts that make the prompt shorter; the others rewrite a part of it.
const SHORTER: f64 = 0.47;
/// The share of the head that is definitions of tools.
const OF_TOOLS: f64 = 0.8;

/// What the sessions of a tree share: the head of their prompts, and the ids that are used.
pub(super) struct GeneratedPrompts<'a> {
    options: &'a AgenticOptions,
    head: u64,
    used: u64,
}

impl<'a> GeneratedPrompts<'a> {
    pub(super) fn new(options: &'a AgenticOptions, rng: &mut ChaCha8Rng) -> Self {
        let head = u64::from(options.system.sample(rng).min(options.context / 2));
        Self { options, head, used: head / u64::from(BLOCK) }
    }

    /// Tokens of the definitions of tools, and of the system's text.
    pub(super) fn head(&self) -> (u64, u64) {
        let tools = (self.head as f64 * OF_TOOLS) as u64;
        (tools, self.head - tools)
    }

    /// A session that has sent nothing yet.
    pub(super) fn session(&self) -> GeneratedHistory {
        let ids = (1..=self.head / u64::from(BLOCK)).collect();
        GeneratedHistory { ids, last: None }
    }

    fn new_id(&mut self) -> u64 {
        self.used += 1;
        self.used
    }
}

/// What a session has sent and received.
pub(super) struct GeneratedHistory {
    /// Of all whole blocks of the last prompt.
    ids: Vec<u64>,
    /// Tokens of the last prompt and its response.
    last: Option<(u64, u64)>,
}

/// A prompt that follows.
struct NextPrompt {
    /// How many tokens of the prompt before it it begins with.
    kept: u64,
    input: u64,
    compacted: bool,
}

impl GeneratedHistory {
    /// The next request, without its place in time.
    pub(super) fn next(
        &mut self,
        prompts: &mut GeneratedPrompts<'_>,
        rng: &mut ChaCha8Rng,
    ) -> TreeTurn {
        let options = prompts.options;
        let context = u64::from(options.context);
        // Prompt, response and head fit together, whatever was drawn.
        let output = u64::from(options.output.sample(rng)).min((context - prompts.head) / 2).max(1);
        let room = context.saturating_sub(output);
        let next = match self.last {
            None => {
                let first = u64::from(options.first.sample(rng));
                let input = (prompts.head + first).min(room);
                NextPrompt { kept: prompts.head, input, compacted: false }
            }
            Some(last) => self.after(last, room, prompts, rng),
        };
        let block = u64::from(BLOCK);
        self.ids.truncate(usize::try_from(next.kept / block).unwrap_or(usize::MAX));
        let whole = usize::try_from(next.input / block).unwrap_or(usize::MAX);
        self.ids.truncate(whole);
        while self.ids.len() < whole {
            self.ids.push(prompts.new_id());
        }
        self.last = Some((next.input, output));
        TreeTurn {
            input: Some(next.input),
            output: Some(output),
            ids: self.ids.clone(),
            compacted: next.compacted,
            ..TreeTurn::default()
        }
    }

    fn after(
        &self,
        (input, output): (u64, u64),
        room: u64,
        prompts: &GeneratedPrompts<'_>,
        rng: &mut ChaCha8Rng,
    ) -> NextPrompt {
        let (options, head) = (prompts.options, prompts.head);
        let growth = u64::from(options.growth.sample(rng));
        let (cut, trim, part) = (unit(rng), unit(rng), unit(rng));
        let grown = input.saturating_add(output).saturating_add(growth);
        let next = if cut <= options.cut {
            cut_at(input, head, part).map(|kept| NextPrompt {
                kept,
                input: match unit(rng) <= SHORTER {
                    true => kept + growth.min(input - kept),
                    false => grown,
                },
                compacted: false,
            })
        } else if trim <= options.trim && output > 1 {
            let lacks = ((output as f64 * MOST_TRIMMED * part) as u64).max(1);
            Some(NextPrompt { kept: input, input: input + output - lacks, compacted: false })
        } else {
            None
        };
        let next = next.unwrap_or(NextPrompt { kept: input, input: grown, compacted: false });
        if next.input <= room {
            return next;
        }
        // The history is summarised to a new first message.
        let first = u64::from(options.first.sample(rng));
        let input = head.saturating_add(first).saturating_add(growth).min(room);
        NextPrompt { kept: head, input, compacted: true }
    }
}

/// Where a history is cut: behind the head, at a block, and at least two blocks before its end.
fn cut_at(input: u64, head: u64, part: f64) -> Option<u64> {
    let block = u64::from(BLOCK);
    let (least, most) = (head.div_ceil(block), (input / block).checked_sub(2)?);
    let between = most.checked_sub(least)?;
    Some((least + (between as f64 * part) as u64) * block)
}
