//! The prompts of a trace: text of the recorded lengths, where requests with the same first hash ids
//! share that prefix.

use rand_chacha::ChaCha8Rng;

use super::{Trace, TraceRequest};
use crate::random::draws::{Beginning, UNIQUE, draw};
use crate::random::key::Key;
use crate::random::{Check, Maker, RandomError};
use crate::tokenizer::Tokenizer;
use dyno_model::prompt::{Content, Item};

/// The series of a prompt that is no request of the trace, and its number, which none has.
const APART: u32 = 1 << 30;
const NO_REQUEST: u64 = u64::MAX >> 16;

/// Makes the prompts of a trace: the same key and index give the same prompt, in any order.
///
/// Where the tokenizer has words that are one token each wherever they stand, requests whose first
/// hash ids are equal have the same text for as many tokens as these blocks hold, and another one
/// after that. Other tokenizers are met by counting and correcting: the same words then stand in
/// the same blocks, but the blocks end only about where they should.
#[derive(Debug)]
pub struct TracePrompts {
    maker: Maker,
    trace: Trace,
    key: Key,
    unique: bool,
    /// Choices that fill a block.
    block: u32,
}

impl TracePrompts {
    /// Prepares the prompts of a trace. A tokenizer that asks the server is asked here and not
    /// again. With `chat` the tokens of the chat template are part of each prompt's length. With
    /// `unique` the hash ids are ignored, so that no two prompts begin alike.
    pub fn new(
        tokenizer: &Tokenizer,
        trace: Trace,
        key: Key,
        chat: bool,
        unique: bool,
    ) -> Result<Self, RandomError> {
        Ok(Self::with(Maker::new(tokenizer, chat)?, trace, key, unique))
    }

    /// The same for another trace or key, without analysing the tokenizer again.
    pub fn again(&self, trace: Trace, key: Key) -> Self {
        Self::with(self.maker.again(), trace, key, self.unique)
    }

    fn with(maker: Maker, trace: Trace, key: Key, unique: bool) -> Self {
        let block = f64::from(trace.block()) / maker.tokens_of_a_choice();
        // Requests without ids have unique prefixes, too, which the same seed would repeat.
        let key = if unique { key } else { Key { run: 0, ..key } };
        Self { maker, trace, key, unique, block: (block.round() as u32).max(1) }
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The prompt of a request, by its place in the order of times; nothing beyond the last.
    pub fn prompt(&self, index: u64) -> Result<Option<Item>, RandomError> {
        let Some(request) = self.trace.request(index) else { return Ok(None) };
        let tokens = request.input.max(self.minimum());
        let text = self.maker.text(index, tokens, || {
            let mut chooser = self.chooser(index, &request);
            move |position, among| chooser.choose(position, among)
        })?;
        Ok(Some(Item { content: Content::Text(text), ..sized(&request, tokens) }))
    }

    /// The lengths of [`prompt`](Self::prompt) with an empty text, for a recipient that reads none.
    pub fn lengths(&self, index: u64) -> Option<Item> {
        let request = self.trace.request(index)?;
        Some(sized(&request, request.input.max(self.minimum())))
    }

    /// A prompt as long as that of the first request whose text is no part of the trace: it can be
    /// sent before a replay without putting anything of it into the server's prefix cache.
    pub fn apart(&self) -> Result<Option<Item>, RandomError> {
        let Some(request) = self.trace.request(0) else { return Ok(None) };
        let tokens = request.input.max(self.minimum());
        let apart = Self { maker: self.maker.again(), trace: self.trace.clone(), ..*self };
        let apart = Self { key: self.key.apart(APART), unique: true, ..apart };
        let text = apart.maker.text(NO_REQUEST, tokens, || {
            let mut chooser = apart.chooser(NO_REQUEST, &request);
            move |position, among| chooser.choose(position, among)
        })?;
        Ok(Some(Item { content: Content::Text(text), ..sized(&request, tokens) }))
    }

    /// The fewest tokens that a prompt can be: what is put around it, and one.
    pub fn minimum(&self) -> u32 {
        self.maker.shortest()
    }

    /// How many of the first `sent` requests are shorter than that, and are sent at the minimum.
    pub fn raised(&self, sent: u64) -> u64 {
        let first = self.trace.requests().take(usize::try_from(sent).unwrap_or(usize::MAX));
        first.filter(|request| request.input < self.minimum()).count() as u64
    }

    /// Whether prompts are put together from verified pieces, so that shared beginnings are exact
    /// to the token.
    pub fn from_pieces(&self) -> bool {
        self.maker.uses_pieces()
    }

    /// What the prompts that were counted again showed so far.
    pub fn checks(&self) -> Check {
        self.maker.checks()
    }

    fn chooser<'a>(&self, index: u64, request: &TraceRequest<'a>) -> Chooser<'a> {
        let blocks = request.input.div_ceil(self.trace.block()) as usize;
        let ids = if self.unique { &[] } else { request.hashes };
        Chooser::new(self.key, index, &ids[..ids.len().min(blocks)], self.block)
    }
}

fn sized(request: &TraceRequest<'_>, tokens: u32) -> Item {
    Item {
        content: Content::Text(String::new()),
        output_tokens: Some(request.output),
        input_tokens: Some(tokens),
    }
}

/// Chooses words for one prompt: those of each block by its id, and those after by the prompt.
pub(super) struct Chooser<'a> {
    key: Key,
    index: u64,
    /// Ids of the blocks to come.
    ids: std::slice::Iter<'a, u64>,
    /// Choices that fill a block, and those left in the present one.
    block: u32,
    left: u32,
    words: Option<ChaCha8Rng>,
    /// Tells apart prompts that share nothing, from their first words on.
    beginning: Option<Beginning>,
}

impl<'a> Chooser<'a> {
    /// The words of the prompt number `index`, whose blocks hold as many choices as `block` says.
    pub(super) fn new(key: Key, index: u64, ids: &'a [u64], block: u32) -> Self {
        let beginning = ids.is_empty().then(|| key.beginning(index));
        Self { key, index, ids: ids.iter(), block, left: 0, words: None, beginning }
    }

    pub(super) fn choose(&mut self, position: u32, among: usize) -> usize {
        if let Some(beginning) = self.beginning.as_mut().filter(|_| position < UNIQUE) {
            return beginning.choose(among);
        }
        if self.left == 0 {
            self.words = None;
        }
        let Self { key, index, ids, block, left, .. } = self;
        let words = self.words.get_or_insert_with(|| match ids.next() {
            Some(id) => {
                *left = *block;
                key.of_words(b"blocks  ", *id)
            }
            None => {
                *left = u32::MAX;
                key.of_words(b"requests", *index)
            }
        });
        *left -= 1;
        draw(words, among)
    }
}
