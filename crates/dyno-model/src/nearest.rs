//! Suggestions for misspelt names.

use strsim::osa_distance;

/// The entry of `known` nearest to `word`, if it is close enough to be a typo.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (distance, name) =
        known.iter().map(|name| (osa_distance(&word, &name.to_lowercase()), *name)).min()?;
    (distance <= 2 && distance < word.chars().count().max(2)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_matched_and_other_words_are_not() {
        let known = ["prompt", "system", "turns"];
        assert_eq!(nearest("promt", &known), Some("prompt"));
        assert_eq!(nearest("Prompt", &known), Some("prompt"));
        assert_eq!(nearest("sytsem", &known), Some("system"));
        assert_eq!(nearest("temperature", &known), None);
        assert_eq!(nearest("x", &known), None);
    }
}
