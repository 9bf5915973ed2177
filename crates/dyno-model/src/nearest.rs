//! The name somebody probably meant.

use strsim::osa_distance;

/// The one of `known` nearest to `word`, where it is near enough to be a slip of the fingers.
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
    fn slips_are_found_and_strangers_are_not() {
        let known = ["prompt", "system", "turns"];
        assert_eq!(nearest("promt", &known), Some("prompt"));
        assert_eq!(nearest("Prompt", &known), Some("prompt"));
        assert_eq!(nearest("sytsem", &known), Some("system"));
        assert_eq!(nearest("temperature", &known), None);
        assert_eq!(nearest("x", &known), None);
    }
}
