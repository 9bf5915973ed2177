//! The name somebody probably meant.

/// The one of `known` nearest to `word`, where it is near enough to be a slip of the fingers.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (distance, name) =
        known.iter().map(|name| (distance(&word, &name.to_lowercase()), *name)).min()?;
    (distance <= 2 && distance < word.chars().count().max(2)).then_some(name)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
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
