//! Random prompts of exact lengths: the same seed, level and index give the same prompt, in
//! whatever order they are asked for, and each counts to the token what was asked for.

mod asked;
mod correct;
mod counter;
mod pieces;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use self::correct::Missed;
use self::counter::Counter;
use self::pieces::Pieces;
use self::words::WORDS;
use crate::item::{Content, Item};
use crate::lengths::Lengths;
use crate::tokenizer::{Tokenizer, TokenizerError};

/// One prompt in so many is counted again as a check.
const CHECKED: u64 = 1_000;
/// Pieces at the beginning of a prompt that tell its index when prompts are to be unique.
const UNIQUE: u32 = 16;

/// What random prompts are like, beside their lengths.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomOptions {
    /// The first tokens of the prompt's own text that are shared within a group; what the chat
    /// template puts before them is shared by all.
    pub prefix: u32,
    /// Groups that share a prefix; prompts belong to them in turn.
    pub groups: u32,
    /// Whether prompts go through the chat template, whose own tokens then count.
    pub chat: bool,
    /// Whether no two prompts may begin alike.
    pub unique: bool,
    /// Output tokens that each prompt asks for.
    pub output: Option<Lengths>,
}

impl Default for RandomOptions {
    fn default() -> Self {
        Self { prefix: 0, groups: 1, chat: true, unique: false, output: None }
    }
}

/// Random prompts that cannot be made as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RandomError {
    /// Shorter than the shortest prompt.
    #[error(
        "input length {asked}: the shortest possible is {minimum} tokens, of which {around} are \
         {whose} own{}",
        if *prefix > 0 { format!(" and {prefix} the shared prefix") } else { String::new() }
    )]
    TooShort {
        /// The lengths as asked for.
        asked: Lengths,
        /// The fewest tokens that can be asked for.
        minimum: u32,
        /// Tokens that are not the prompt's.
        around: u32,
        /// Who adds them.
        whose: &'static str,
        /// Tokens of the shared prefix.
        prefix: u32,
    },
    /// A shared prefix in no groups.
    #[error("prefix={0} with groups=0: give at least one group that shares it")]
    NoGroups(u32),
    /// Prompts that begin alike and may not.
    #[error("prefix={0} shares the beginning that --unique-prefix keeps apart: leave one out")]
    SharedAndUnique(u32),
    /// The server's tokenizer cannot be met with few questions.
    #[error(
        "random prompts: the server's /tokenize counts no common words as one token each, so \
         exact lengths would take a question for every prompt; give --tokenizer PATH"
    )]
    NothingCountsAsOne,
    /// However long the prompt, the count stays the same.
    #[error(
        "random prompts: the chat template leaves the user's message out, so no prompt can be \
         made of a length; mend the template beside the tokenizer"
    )]
    PromptLeftOut,
    /// The tokenizer makes no text of this length.
    #[error("no text of exactly {tokens} tokens was found; the nearest counts {nearest}")]
    OutOfReach {
        /// Tokens asked for.
        tokens: u32,
        /// The nearest count that was met.
        nearest: u32,
    },
    /// Counting failed.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
}

/// How prompts get their length.
#[derive(Debug)]
enum Method {
    /// From pieces of one token each.
    Pieces(Pieces),
    /// Counted and corrected one by one; a word is so many tokens on average.
    Correct(f64),
}

/// How many prompts were counted again, and how many of those had to be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// Prompts counted again.
    pub checked: u64,
    /// Prompts among them that were of another length and were corrected. Anything but 0 means
    /// that the prompts between the checked ones may be off.
    pub wrong: u64,
}

/// Makes random prompts.
#[derive(Debug)]
pub struct RandomPrompts {
    counter: Counter,
    input: Lengths,
    seed: u64,
    level: u32,
    options: RandomOptions,
    method: Arc<Method>,
    /// The fewest tokens of a prompt without a prefix.
    shortest: u32,
    checked: AtomicU64,
    wrong: AtomicU64,
}

impl RandomPrompts {
    /// Prepares random prompts: finds out how the tokenizer is met and whether the lengths can
    /// be. A tokenizer that asks the server is asked here and not again.
    pub fn new(
        tokenizer: &Tokenizer,
        input: Lengths,
        seed: u64,
        level: u32,
        options: RandomOptions,
    ) -> Result<Self, RandomError> {
        if options.prefix > 0 && options.groups == 0 {
            return Err(RandomError::NoGroups(options.prefix));
        }
        if options.prefix > 0 && options.unique {
            return Err(RandomError::SharedAndUnique(options.prefix));
        }
        let counter = Counter { tokenizer: tokenizer.clone(), chat: options.chat };
        let (method, shortest) = method(&counter)?;
        let method = Arc::new(method);
        let (checked, wrong) = Default::default();
        Self { counter, input, seed, level, options, method, shortest, checked, wrong }.fitting()
    }

    /// The same for another level or other lengths, without finding out or asking anything anew.
    pub fn again(&self, input: Lengths, level: u32) -> Result<Self, RandomError> {
        Self {
            counter: self.counter.clone(),
            input,
            seed: self.seed,
            level,
            options: self.options.clone(),
            method: Arc::clone(&self.method),
            shortest: self.shortest,
            checked: AtomicU64::default(),
            wrong: AtomicU64::default(),
        }
        .fitting()
    }

    /// Itself, if the lengths can be met.
    fn fitting(self) -> Result<Self, RandomError> {
        let asked = self.input.shortest().map_or_else(|| self.input.mean(), f64::from);
        if asked >= f64::from(self.minimum()) {
            return Ok(self);
        }
        let template = self.options.chat && self.counter.tokenizer.has_template();
        Err(RandomError::TooShort {
            asked: self.input,
            minimum: self.minimum(),
            around: self.shortest.saturating_sub(1),
            whose: if template { "the chat template's" } else { "the tokenizer's" },
            prefix: self.options.prefix,
        })
    }

    /// The prompt of an arrival.
    pub fn prompt(&self, index: u64) -> Result<Item, RandomError> {
        // The tails of a distribution end where the shortest prompt is.
        let tokens = self.input.sample(&mut self.stream(b"lengths ", index)).max(self.minimum());
        let text = match &*self.method {
            Method::Pieces(pieces) => {
                let text = pieces.text(tokens, self.chooser(index));
                if index.is_multiple_of(CHECKED) && !self.counter.tokenizer.is_asking() {
                    self.check(text, index, tokens)?
                } else {
                    text
                }
            }
            Method::Correct(a_word) => self.corrected(index, tokens, *a_word)?,
        };
        let output = self.options.output;
        Ok(Item {
            content: Content::Text(text),
            output_tokens: output.map(|o| o.sample(&mut self.stream(b"outputs ", index))),
            input_tokens: Some(tokens),
        })
    }

    /// The fewest tokens that a prompt can be: the template's own, the shared prefix and one.
    pub fn minimum(&self) -> u32 {
        self.shortest.saturating_add(self.options.prefix)
    }

    /// Whether prompts are put together from verified pieces; otherwise each one is encoded and
    /// corrected, at the tokenizer's speed.
    pub fn from_pieces(&self) -> bool {
        matches!(*self.method, Method::Pieces(_))
    }

    /// What the re-counted prompts showed so far.
    pub fn checks(&self) -> Check {
        Check {
            checked: self.checked.load(Ordering::Relaxed),
            wrong: self.wrong.load(Ordering::Relaxed),
        }
    }

    /// A stream of random numbers for one purpose and index.
    fn stream(&self, purpose: &[u8; 8], index: u64) -> ChaCha8Rng {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..12].copy_from_slice(&self.level.to_le_bytes());
        key[16..24].copy_from_slice(purpose);
        key[24..].copy_from_slice(&index.to_le_bytes());
        ChaCha8Rng::from_seed(key)
    }

    /// Chooses one of so many for each position of a prompt.
    fn chooser(&self, index: u64) -> impl FnMut(u32, usize) -> usize {
        let RandomOptions { prefix, groups, unique, .. } = self.options;
        let mut own = self.stream(b"prompts ", index);
        let mut shared = if unique {
            self.stream(b"unique  ", 0)
        } else {
            self.stream(b"prefixes", index % u64::from(groups.max(1)))
        };
        let common = if unique { UNIQUE } else { prefix };
        let mut digits = index;
        move |position, among| {
            let rng = if position < common { &mut shared } else { &mut own };
            let drawn = ((u64::from(rng.next_u32()) * among as u64) >> 32) as usize;
            if !unique || position >= common {
                return drawn;
            }
            // The index in digits, lowest first, so that neighbours differ from the first piece
            // on; what is drawn is the same for all and only shifts them.
            let digit = (digits % among as u64) as usize;
            digits /= among as u64;
            (digit + drawn) % among
        }
    }

    /// Counts a prompt again and corrects it should it be of another length.
    fn check(&self, text: String, index: u64, tokens: u32) -> Result<String, RandomError> {
        self.checked.fetch_add(1, Ordering::Relaxed);
        if self.counter.count(&text)? == tokens {
            return Ok(text);
        }
        self.wrong.fetch_add(1, Ordering::Relaxed);
        self.corrected(index, tokens, 1.0)
    }

    fn corrected(&self, index: u64, tokens: u32, a_word: f64) -> Result<String, RandomError> {
        let mut choose = self.chooser(index);
        correct::text(&|text| self.counter.count(text), tokens, a_word, |position| {
            WORDS[choose(position, WORDS.len())]
        })
        .map_err(|missed| match missed {
            Missed::Nearest(nearest) => RandomError::OutOfReach { tokens, nearest },
            Missed::Tokenizer(error) => error.into(),
        })
    }
}

/// How a tokenizer is met, and the fewest tokens of a prompt.
fn method(counter: &Counter) -> Result<(Method, u32), RandomError> {
    if counter.tokenizer.is_asking() {
        let pieces = asked::pieces(counter)?.ok_or(RandomError::NothingCountsAsOne)?;
        let shortest = pieces.shortest;
        return Ok((Method::Pieces(pieces), shortest));
    }
    if let Some(pieces) = Pieces::find(counter)? {
        let shortest = pieces.shortest;
        return Ok((Method::Pieces(pieces), shortest));
    }
    let count = |text: &str| counter.count(text);
    let a_word = correct::tokens_of_a_word(&count)?.ok_or(RandomError::PromptLeftOut)?;
    Ok((Method::Correct(a_word), correct::shortest(&count)?))
}
