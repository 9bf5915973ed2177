//! Texts of exact lengths that can be cut at any token, and whose words follow from the ids of their blocks.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::agentic::key::after;
use crate::random::Maker;
use crate::random::draws::{UNIQUE, draw};
use crate::random::key::Key;

/// Words beyond the ids of a prompt, and those of a head that all trees share.
const REST: &[u8; 8] = b"turns   ";
const BLOCKS: &[u8; 8] = b"ids     ";
const HEADS: &[u8; 8] = b"heads   ";

/// A text that is made once and may be in many prompts, all of it or its beginning.
#[derive(Debug)]
pub(super) struct Words {
    /// Its number in the replay of its tree.
    pub(super) number: u32,
    /// How many tokens it has.
    pub(super) tokens: u32,
    text: String,
    /// Where it can be cut: behind each token, or in as many places as its tokens are spread over.
    ends: Vec<u32>,
}

impl Words {
    /// The text of its first tokens.
    pub(super) fn first(&self, tokens: u32) -> &str {
        let places = self.ends.len() as u64;
        let place = (u64::from(tokens) * places).div_ceil(u64::from(self.tokens.max(1)));
        match usize::try_from(place.min(places)).unwrap_or(0).checked_sub(1) {
            Some(last) => &self.text[..self.ends[last] as usize],
            None => "",
        }
    }

    /// What follows its first tokens: the next one.
    pub(super) fn next(&self, tokens: u32) -> &str {
        &self.first(tokens.saturating_add(1))[self.first(tokens).len()..]
    }

    /// A text of the server's, of which `tokens` are known.
    pub(super) fn said(number: u32, text: &str, tokens: u32) -> Self {
        let ends = text.char_indices().map(|(at, one)| (at + one.len_utf8()) as u32).collect();
        Self { number, tokens, text: text.to_owned(), ends }
    }

    /// Bytes that it holds.
    pub(super) fn size(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>()
    }
}

/// What the words of a prompt depend on.
#[derive(Debug, Clone, Copy)]
pub(super) enum WordSource<'a> {
    /// The ids of blocks of so many tokens, and a number for what is behind them. What they mean depends on `salt`.
    Turn { ids: &'a [u64], size: u32, salt: u64, rest: u64 },
    /// A beginning that all trees with this number share.
    Head(u64),
    /// A beginning that no other number and no other run has.
    Marker(u64),
}

/// Where a text begins, and what it may not begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordPlace<'a> {
    /// The place of its first token in the prompt.
    pub(super) at: u32,
    /// Whether it begins a message.
    pub(super) begins: bool,
    /// What it must differ from at its first token.
    pub(super) unlike: &'a str,
}

/// The pieces that texts are made of.
#[derive(Debug)]
pub(super) struct Vocabulary {
    firsts: Vec<String>,
    rest: Vec<String>,
    /// Tokens of a piece: 1, or the average where a tokenizer has no independent ones.
    a_piece: f64,
}

impl Vocabulary {
    pub(super) fn of(maker: &Maker) -> Self {
        let (firsts, rest) = maker.pieces();
        Self { firsts, rest, a_piece: maker.tokens_of_a_choice() }
    }

    /// The marker's length.
    pub(super) fn marker(&self) -> u32 {
        (f64::from(UNIQUE) * self.a_piece).round() as u32
    }

    /// A text of so many tokens.
    pub(super) fn write(
        &self,
        key: Key,
        source: WordSource<'_>,
        place: WordPlace<'_>,
        tokens: u32,
        number: u32,
    ) -> Arc<Words> {
        let mut choose = Chooser::new(key, source, place.at, self.a_piece);
        let pieces = ((f64::from(tokens) / self.a_piece).round() as u32).max(1);
        let mut text = String::with_capacity(pieces as usize * 6 + 16);
        let mut ends = Vec::with_capacity(pieces as usize);
        for position in 0..pieces {
            let among = match position == 0 && place.begins {
                true => &self.firsts,
                false => &self.rest,
            };
            let mut chosen = choose.next(among.len());
            if position == 0 && among[chosen] == place.unlike {
                chosen = (chosen + 1) % among.len();
            }
            text.push_str(&among[chosen]);
            ends.push(text.len() as u32);
        }
        Arc::new(Words { number, tokens, text, ends })
    }
}

/// Chooses pieces one after another.
enum Chooser<'a> {
    Stream(ChaCha8Rng),
    Marker(crate::random::draws::Beginning),
    Blocks {
        key: Key,
        ids: &'a [u64],
        salt: u64,
        rest: u64,
        /// Pieces of a block, and the place of the next one.
        size: u64,
        at: u64,
        words: Option<ChaCha8Rng>,
    },
}

impl<'a> Chooser<'a> {
    fn new(key: Key, source: WordSource<'a>, at: u32, a_piece: f64) -> Self {
        let pieces = |tokens: u32| (f64::from(tokens) / a_piece).round() as u64;
        match source {
            WordSource::Head(number) => Self::Stream(key.of_words(HEADS, number)),
            WordSource::Marker(number) => Self::Marker(key.beginning(number)),
            WordSource::Turn { ids, size, salt, rest } => Self::Blocks {
                key,
                ids,
                salt,
                rest,
                size: pieces(size).max(1),
                at: pieces(at),
                words: None,
            },
        }
    }

    fn next(&mut self, among: usize) -> usize {
        match self {
            Self::Stream(words) => draw(words, among),
            Self::Marker(beginning) => beginning.choose(among),
            Self::Blocks { key, ids, salt, rest, size, at, words } => {
                let block = usize::try_from(*at / *size).unwrap_or(usize::MAX);
                if *at % *size == 0 && block <= ids.len() {
                    *words = None;
                }
                let words = words.get_or_insert_with(|| match ids.get(block) {
                    Some(id) => {
                        let mut words = key.of_words(BLOCKS, after(*salt, *id));
                        // A text may begin within a block.
                        for _ in 0..*at % *size {
                            draw(&mut words, among);
                        }
                        words
                    }
                    None => key.of_words(REST, after(*rest, *at)),
                });
                *at += 1;
                draw(words, among)
            }
        }
    }
}
