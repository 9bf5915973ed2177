//! Keeps secrets out of everything that is written down: a server may well echo a key.

/// Replaces the secrets it knows.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Knows these secrets. Very short ones are left alone: replacing them would garble the text
    /// and protect nothing.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().filter(|s| s.len() >= 4).collect();
        // The longest first, so that a secret within another does not leave its remains.
        secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        Self { secrets }
    }

    /// The text without the secrets.
    pub fn clean(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, s| text.replace(s.as_str(), "[secret]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_longest_first() {
        let redactor = Redactor::new(["sesame".into(), "Bearer sesame".into(), "x".into()]);
        assert_eq!(redactor.clean("got Bearer sesame, x, sesame"), "got [secret], x, [secret]");
        assert!(!format!("{redactor:?}").contains("sesame"));
    }
}
