//! Pieces of a tokenizer that can only be asked about: verified by a handful of questions to the
//! server instead of one for every word.

use super::counter::Counter;
use super::pieces::Pieces;
use super::words::WORDS;
use dyno_model::Message;

/// Words in a question about all of them, and in one about a part when that fails.
const ALL: usize = 128;
const PART: usize = 16;
/// Words that are asked about as beginnings.
const BEGINNINGS: usize = 6;

/// Finds pieces with some ten questions, some thirty where the vocabulary is unusual; `None`
/// where no part of the words is one token each.
pub(crate) fn pieces(counter: &Counter) -> Result<Option<Pieces>, Message> {
    let all = &WORDS[..ALL.min(WORDS.len())];
    let mut words: Vec<&str> = Vec::new();
    if one_token_each(counter, all)? {
        words.extend(all);
    } else {
        for part in all.chunks(PART) {
            if one_token_each(counter, part)? {
                words.extend(part);
            }
        }
    }
    if words.is_empty() {
        return Ok(None);
    }

    let mut beginnings = Vec::new();
    for word in words.iter().take(BEGINNINGS) {
        beginnings.push((counter.count(word)?, (*word).to_owned()));
    }
    let Some(shortest) = beginnings.iter().map(|(tokens, _)| *tokens).min() else {
        return Ok(None);
    };
    beginnings.retain(|(tokens, _)| *tokens == shortest);
    let firsts: Vec<String> = beginnings.into_iter().map(|(_, word)| word).collect();
    let rest: Vec<String> = words.iter().map(|word| format!(" {word}")).collect();
    let pieces = Pieces { firsts, rest, shortest };
    for (length, step) in [(2, 3), (40, 7), (1_000, 11)] {
        let mut at = length as usize;
        let text = pieces.text(shortest + length - 1, |position, among| {
            at += step * (position as usize + 1);
            at % among
        });
        if counter.count(&text)? != shortest + length - 1 {
            return Ok(None);
        }
    }
    Ok(Some(pieces))
}

/// Whether these words are one token each: written twice over they are as many tokens more as
/// there are words. What the ends cost is the same both times.
fn one_token_each(counter: &Counter, words: &[&str]) -> Result<bool, Message> {
    let once = words.join(" ");
    let more = counter.count(&format!("{once} {once}"))?.saturating_sub(counter.count(&once)?);
    Ok(more as usize == words.len())
}
