//! Texts of exact lengths for one tokenizer, however their words are chosen: what random prompts and
//! those of traces are made with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::correct::{self, Missed};
use super::counter::Counter;
use super::pieces::Pieces;
use super::words::WORDS;
use super::{Check, RandomError, asked};
use crate::tokenizer::Tokenizer;
use dyno_model::{Message, message};

/// One text in this many is re-counted as a check.
const CHECKED: u64 = 1_000;

/// How texts get their length.
#[derive(Debug)]
enum Method {
    /// From pieces of one token each.
    Pieces(Pieces),
    /// Counted and corrected one by one; a word is so many tokens on average.
    Correct(f64),
}

/// Makes texts of exact lengths.
#[derive(Debug)]
pub(crate) struct Maker {
    counter: Counter,
    method: Arc<Method>,
    shortest: u32,
    checked: AtomicU64,
    wrong: AtomicU64,
}

impl Maker {
    /// Analyses the tokenizer. One that asks the server is used here and not again.
    pub(crate) fn new(tokenizer: &Tokenizer, chat: bool) -> Result<Self, RandomError> {
        let counter = Counter { tokenizer: tokenizer.clone(), chat };
        let (method, shortest) = method(&counter)?;
        let method = Arc::new(method);
        Ok(Self { counter, method, shortest, checked: AtomicU64::new(0), wrong: AtomicU64::new(0) })
    }

    /// The same without analysing the tokenizer again, and with nothing checked yet.
    pub(crate) fn again(&self) -> Self {
        Self {
            counter: self.counter.clone(),
            method: Arc::clone(&self.method),
            shortest: self.shortest,
            checked: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
        }
    }

    /// The fewest tokens of a text, with everything that is put around it.
    pub(crate) fn shortest(&self) -> u32 {
        self.shortest
    }

    /// Who adds the tokens that are not the text's own.
    pub(crate) fn surroundings(&self) -> Message {
        match self.counter.chat && self.counter.tokenizer.has_template() {
            true => message!("the chat template's", "对话模板"),
            false => message!("the tokenizer's", "分词器"),
        }
    }

    /// Whether texts are put together from verified pieces; otherwise each one is encoded and
    /// corrected, at the tokenizer's speed.
    pub(crate) fn uses_pieces(&self) -> bool {
        matches!(*self.method, Method::Pieces(_))
    }

    /// What texts begin with, and what follows, with the space in front where there is one.
    pub(crate) fn pieces(&self) -> (Vec<String>, Vec<String>) {
        match &*self.method {
            Method::Pieces(pieces) => (pieces.firsts.clone(), pieces.rest.clone()),
            Method::Correct(_) => (
                WORDS.iter().map(|word| (*word).to_owned()).collect(),
                WORDS.iter().map(|word| format!(" {word}")).collect(),
            ),
        }
    }

    /// How many tokens one choice adds: exactly one from pieces, else the average of a word.
    pub(crate) fn tokens_of_a_choice(&self) -> f64 {
        match *self.method {
            Method::Pieces(_) => 1.0,
            Method::Correct(a_word) => a_word,
        }
    }

    /// What the texts that were counted again showed so far.
    pub(crate) fn checks(&self) -> Check {
        Check {
            checked: self.checked.load(Ordering::Relaxed),
            wrong: self.wrong.load(Ordering::Relaxed),
        }
    }

    /// The text number `index`, of `tokens` tokens in all. `chooser` gives what picks one of so
    /// many for each position, asked in order from the first on; it is created again should the text
    /// have to be corrected.
    pub(crate) fn text<C: FnMut(u32, usize) -> usize>(
        &self,
        index: u64,
        tokens: u32,
        chooser: impl Fn() -> C,
    ) -> Result<String, RandomError> {
        match &*self.method {
            Method::Correct(a_word) => self.corrected(tokens, *a_word, chooser()),
            Method::Pieces(pieces) => {
                let text = pieces.text(tokens, chooser());
                if !index.is_multiple_of(CHECKED) || self.counter.tokenizer.is_asking() {
                    return Ok(text);
                }
                self.checked.fetch_add(1, Ordering::Relaxed);
                if self.counter.count(&text)? == tokens {
                    return Ok(text);
                }
                self.wrong.fetch_add(1, Ordering::Relaxed);
                self.corrected(tokens, 1.0, chooser())
            }
        }
    }

    fn corrected(
        &self,
        tokens: u32,
        a_word: f64,
        mut choose: impl FnMut(u32, usize) -> usize,
    ) -> Result<String, RandomError> {
        correct::text(&|text| self.counter.count(text), tokens, a_word, |position| {
            WORDS[choose(position, WORDS.len())]
        })
        .map_err(|missed| match missed {
            Missed::Nearest(nearest) => RandomError::OutOfReach { tokens, nearest },
            Missed::Tokenizer(error) => error.into(),
        })
    }
}

/// How texts are made for a tokenizer, and the fewest tokens of a prompt.
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
