//! Prompts for tokenizers without independent pieces: written, counted, and corrected until the
//! count is the one asked for.

use super::words::{LETTERS, WORDS};
use dyno_model::Message;

/// Rounds of adding and removing words, and of finer steps at the end.
const ROUNDS: usize = 48;

/// Endings for the last few tokens, tried in order.
const FINE: [&str; 18] = [
    " a",
    " the",
    " x",
    "a",
    "e",
    "s",
    "x",
    "1",
    "7",
    ".",
    ",",
    "!",
    ":",
    "#",
    "\u{4e00}",
    "\u{7684}",
    " \u{4e00}",
    "\u{2605}",
];

/// A count that could not be met: how near the nearest came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missed {
    /// No text with this count was found.
    Nearest(u32),
    /// Counting failed.
    Tokenizer(Message),
}

impl From<Message> for Missed {
    fn from(error: Message) -> Self {
        Self::Tokenizer(error)
    }
}

type Count<'a> = dyn Fn(&str) -> Result<u32, Message> + 'a;

/// The fewest tokens that a prompt with anything in it can be.
pub(crate) fn shortest(count: &Count<'_>) -> Result<u32, Message> {
    let mut fewest = count(WORDS[0])?;
    for letter in LETTERS.chars() {
        fewest = fewest.min(count(letter.encode_utf8(&mut [0; 4]))?);
    }
    Ok(fewest)
}

/// Tokens of a word on average, with the space before it; `None` where words do not count.
pub(crate) fn tokens_of_a_word(count: &Count<'_>) -> Result<Option<f64>, Message> {
    let text = WORDS.join(" ");
    let more = count(&format!("{text} {text}"))?.saturating_sub(count(&text)?);
    Ok((more > 0).then(|| f64::from(more) / WORDS.len() as f64))
}

/// A text that counts exactly `tokens`: `words` drawn in order until they are about enough, then
/// corrected. `a_word` is what a word counts on average.
pub(crate) fn text(
    count: &Count<'_>,
    tokens: u32,
    a_word: f64,
    mut draw: impl FnMut(u32) -> &'static str,
) -> Result<String, Missed> {
    let around = count(WORDS[0])?.saturating_sub(1);
    let about = |tokens: u32| ((f64::from(tokens) / a_word) as usize).max(1);
    let mut words: Vec<&str> = Vec::new();
    let mut drawn = 0;
    let mut add = |words: &mut Vec<&str>, more: usize| {
        for _ in 0..more {
            words.push(draw(drawn));
            drawn += 1;
        }
    };
    add(&mut words, about(tokens.saturating_sub(around)));
    let mut nearest = u32::MAX;
    for _ in 0..ROUNDS {
        let text = words.join(" ");
        let counted = count(&text)?;
        if counted.abs_diff(tokens) < nearest.abs_diff(tokens) {
            nearest = counted;
        }
        if counted > tokens {
            let fewer = about(counted - tokens).min(words.len());
            words.truncate(words.len() - fewer);
            continue;
        }
        let missing = tokens - counted;
        if f64::from(missing) >= 2.0 * a_word {
            add(&mut words, (about(missing) - 1).max(1));
            continue;
        }
        if let Some(text) = fine(count, text, counted, tokens)? {
            return Ok(text);
        }
        // Another last word leaves another remainder.
        words.pop();
        add(&mut words, 1);
    }
    Err(Missed::Nearest(nearest))
}

/// Ends a text that is a few tokens short; `None` when no ending fits.
fn fine(
    count: &Count<'_>,
    mut text: String,
    mut counted: u32,
    tokens: u32,
) -> Result<Option<String>, Message> {
    while counted < tokens {
        let mut better = None;
        for ending in FINE {
            let ending = if text.is_empty() { ending.trim_start() } else { ending };
            let longer = format!("{text}{ending}");
            let now = count(&longer)?;
            if now > counted && now <= tokens {
                better = Some((longer, now));
                break;
            }
        }
        let Some((longer, now)) = better else { return Ok(None) };
        (text, counted) = (longer, now);
    }
    Ok((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(count: &Count<'_>, tokens: u32) -> Result<String, Missed> {
        let a_word = tokens_of_a_word(count).expect("count").expect("words count");
        text(count, tokens, a_word, |position| {
            WORDS[(position as usize * 37 + tokens as usize) % WORDS.len()]
        })
    }

    #[test]
    fn counts_in_which_words_run_together_are_met() {
        // Three characters a token across words, and two tokens around the prompt.
        let thirds = |text: &str| Ok(2 + text.chars().count().div_ceil(3) as u32);
        for tokens in [3, 4, 9, 82, 512, 10_000] {
            let text = met(&thirds, tokens).expect("met");
            assert_eq!(thirds(&text), Ok(tokens));
        }
        // Pairs of words that join: "of the" is one.
        let pairs = |text: &str| Ok(text.split(' ').count().div_ceil(2) as u32);
        for tokens in [1, 2, 7, 80, 10_000] {
            assert_eq!(pairs(&met(&pairs, tokens).expect("met")), Ok(tokens));
        }
    }

    #[test]
    fn what_cannot_be_met_says_how_near_it_came() {
        let even = |text: &str| Ok(2 * text.split(' ').count() as u32);
        assert_eq!(met(&even, 7), Err(Missed::Nearest(6)));
    }
}
