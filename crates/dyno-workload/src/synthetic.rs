//! Synthetic prompts of a requested length: common short words, each of which is one token with
//! its leading space in every vocabulary in use. The count is therefore near, not exact; the
//! server's own usage says how near.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const WORDS: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "have", "been", "were", "when", "more",
    "time", "some", "over", "into", "than", "them", "only", "after", "first", "people", "water",
    "long", "day", "where", "work", "three", "place", "year", "back", "light", "hand", "high",
    "keep", "last", "near", "line", "city", "tree", "farm", "story", "night", "life", "north",
    "book", "room", "friend", "idea", "fish", "stop", "once", "base", "horse", "cut", "sure",
    "watch", "color", "face", "wood", "main", "open", "seem", "next", "white", "begin", "walk",
    "example", "ease", "paper", "group", "always", "music", "those", "both", "mark", "letter",
    "mile", "river", "car", "feet", "care", "second", "enough", "plain", "girl", "usual", "young",
    "ready", "above", "ever", "red", "list", "though", "feel", "talk", "bird", "soon", "body",
    "dog", "family", "direct", "pose", "leave", "song", "measure", "door", "product", "black",
    "short", "class", "wind", "question", "happen", "complete", "ship", "area", "half", "rock",
    "order", "fire", "south", "problem", "piece", "told", "knew", "pass", "since", "top", "whole",
    "king", "space",
];

/// Prompts of one length.
#[derive(Debug, Clone)]
pub struct Synthetic {
    seed: u64,
    level: u32,
    tokens: u32,
}

impl Synthetic {
    /// Prompts of about `tokens` tokens; the same seed, level and index give the same prompt.
    pub fn new(seed: u64, level: u32, tokens: u32) -> Self {
        Self { seed, level, tokens }
    }

    /// The prompt of an arrival. Prompts differ from their first word on, so that a prefix cache
    /// has nothing to hit.
    pub fn prompt(&self, index: u64) -> String {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..12].copy_from_slice(&self.level.to_le_bytes());
        key[16..24].copy_from_slice(b"prompts ");
        key[24..].copy_from_slice(&index.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        let mut prompt = String::with_capacity(self.tokens as usize * 6);
        for position in 0..self.tokens {
            if position > 0 {
                prompt.push(' ');
            }
            let word = (u64::from(rng.next_u32()) * WORDS.len() as u64) >> 32;
            prompt.push_str(WORDS[word as usize]);
        }
        prompt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_have_the_length_and_depend_on_seed_level_and_index_alone() {
        let source = Synthetic::new(1, 0, 256);
        assert_eq!(source.prompt(5).split(' ').count(), 256);
        assert_eq!(source.prompt(5), Synthetic::new(1, 0, 256).prompt(5));
        let others = [
            source.prompt(6),
            Synthetic::new(2, 0, 256).prompt(5),
            Synthetic::new(1, 1, 256).prompt(5),
        ];
        assert!(others.iter().all(|other| *other != source.prompt(5)));
    }

    #[test]
    fn one_token_and_many() {
        assert_eq!(Synthetic::new(0, 0, 1).prompt(0).split(' ').count(), 1);
        assert_eq!(Synthetic::new(0, 0, 128_000).prompt(0).split(' ').count(), 128_000);
    }
}
