//! Pieces of text that are one token each wherever they stand, found and verified once, so that
//! prompts of an exact length are put together without encoding them.

use super::counter::Counter;
use super::words::{HAN, LETTERS, WORDS};
use dyno_model::Message;

/// With fewer words than these, prompts would repeat themselves: more are looked for.
const ENOUGH: usize = 64;
/// With fewer pieces than these, another kind is tried.
const FEWEST: usize = 8;
/// How many candidates are verified against each other; the work grows with the square.
const MOST: usize = 256;
/// Words of the vocabulary that are looked at when the built-in ones are not in it.
const MOST_OF_VOCABULARY: usize = 4_096;

/// Pieces that each add one token to a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    /// What prompts begin with.
    pub(crate) firsts: Vec<String>,
    /// What follows, with the space in front where there is one.
    pub(crate) rest: Vec<String>,
    /// Tokens of a prompt of one piece, with everything that is put around it.
    pub(crate) shortest: u32,
}

impl Pieces {
    /// Finds pieces of a tokenizer; `None` where it has none that are independent.
    pub(crate) fn find(counter: &Counter) -> Result<Option<Self>, Message> {
        let mut words = Candidates::new(counter, " ");
        for word in WORDS {
            words.consider(word)?;
        }
        if words.accepted.len() < ENOUGH {
            let vocabulary = counter.tokenizer.words();
            for word in vocabulary.iter().take(MOST_OF_VOCABULARY) {
                words.consider(word)?;
            }
        }
        if let Some(pieces) = words.verified()? {
            return Ok(Some(pieces));
        }
        for characters in [HAN, LETTERS] {
            let mut alone = Candidates::new(counter, "");
            for character in characters.chars() {
                alone.consider(character.encode_utf8(&mut [0; 4]))?;
            }
            if let Some(pieces) = alone.verified()? {
                return Ok(Some(pieces));
            }
        }
        Ok(None)
    }

    /// A prompt of `tokens` tokens in all; `choose` picks one of so many for a position.
    pub(crate) fn text(&self, tokens: u32, mut choose: impl FnMut(u32, usize) -> usize) -> String {
        let pieces = tokens.saturating_sub(self.shortest) + 1;
        let mut text = String::with_capacity(pieces as usize * 6 + 16);
        text.push_str(&self.firsts[choose(0, self.firsts.len())]);
        for position in 1..pieces {
            text.push_str(&self.rest[choose(position, self.rest.len())]);
        }
        text
    }
}

/// Pieces of one kind that have proved independent of each other so far.
struct Candidates<'a> {
    counter: &'a Counter,
    separator: &'static str,
    accepted: Vec<String>,
}

impl<'a> Candidates<'a> {
    fn new(counter: &'a Counter, separator: &'static str) -> Self {
        Self { counter, separator, accepted: Vec::new() }
    }

    /// Takes a word in if it is one token beside itself and either side of every word accepted
    /// before. Each text begins and ends with the word, so that what its ends cost cancels out.
    fn consider(&mut self, word: &str) -> Result<(), Message> {
        let known = || self.accepted.iter().any(|accepted| accepted == word);
        if self.accepted.len() >= MOST || !self.counter.tokenizer.spells(word) || known() {
            return Ok(());
        }
        let alone = self.counter.count(word)?;
        let mut text = word.to_owned();
        let mut add = |piece: &str| {
            text.push_str(self.separator);
            text.push_str(piece);
        };
        for _ in 0..3 {
            add(word);
        }
        for other in &self.accepted {
            add(other);
            add(word);
        }
        let added = 3 + 2 * self.accepted.len() as u64;
        if u64::from(self.counter.count(&text)?) == u64::from(alone) + added {
            self.accepted.push(word.to_owned());
        }
        Ok(())
    }

    /// The pieces, if they are enough and hold in prompts as they will be written.
    fn verified(&self) -> Result<Option<Pieces>, Message> {
        let Some(pieces) = self.with_firsts()? else { return Ok(None) };
        // Steps through the pieces that never meet the same neighbours twice in a row.
        for (length, step) in [(1, 1), (2, 3), (3, 5), (40, 7), (200, 11), (1_000, 13)] {
            let tokens = pieces.shortest + length - 1;
            let mut at = length as usize;
            let text = pieces.text(tokens, |position, among| {
                at += step * (position as usize + 1);
                at % among
            });
            if self.counter.count(&text)? != tokens {
                return Ok(None);
            }
        }
        Ok(Some(pieces))
    }

    /// Divides what may begin a prompt from what may follow: without the space before it, or
    /// right behind the template, a word may cost more; right before the template's end too.
    fn with_firsts(&self) -> Result<Option<Pieces>, Message> {
        let mut starts: Vec<(u32, String)> = Vec::new();
        let letters = LETTERS.chars().map(String::from);
        for start in self.accepted.iter().cloned().chain(letters) {
            if self.counter.tokenizer.spells(&start) {
                starts.push((self.counter.count(&start)?, start));
            }
        }
        let Some(shortest) = starts.iter().map(|(tokens, _)| *tokens).min() else {
            return Ok(None);
        };
        starts.retain(|(tokens, _)| *tokens == shortest);
        // Letters serve only where no word does.
        if starts.iter().any(|(_, start)| self.accepted.contains(start)) {
            starts.retain(|(_, start)| self.accepted.contains(start));
        }

        let Some((_, begin)) = starts.first() else { return Ok(None) };
        let mut rest = Vec::new();
        for word in &self.accepted {
            let piece = format!("{}{word}", self.separator);
            if self.counter.count(&format!("{begin}{piece}"))? == shortest + 1 {
                rest.push(piece);
            }
        }
        if rest.len() < FEWEST {
            return Ok(None);
        }
        let mut firsts = Vec::new();
        for (_, start) in starts {
            if self.counter.count(&format!("{start}{}", rest[0]))? == shortest + 1 {
                firsts.push(start);
            }
        }
        Ok((!firsts.is_empty()).then_some(Pieces { firsts, rest, shortest }))
    }
}
