//! Keeps secrets out of everything that is saved or printed: a server may echo a key.

use serde_json::Value;

/// Replaces a secret.
const SHOWN: &str = "[secret]";
/// A shorter prefix of a secret reveals little, and could be any other word.
const SHORTEST_BEGINNING: usize = 8;

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
    /// For these secrets. Very short ones are not replaced: that would garble the text and protect
    /// nothing.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().filter(|s| s.len() >= 4).collect();
        // The longest first, so that a secret within another does not leave the rest of it.
        secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        Self { secrets }
    }

    /// The text without the secrets, and without the beginning of one at its cut-off end.
    pub fn clean(&self, text: &str) -> String {
        let replaced =
            self.secrets.iter().fold(text.to_owned(), |text, s| text.replace(s.as_str(), SHOWN));
        let kept = replaced.trim_end_matches('…');
        let beginnings = self.secrets.iter().filter_map(|secret| beginning_at_end(secret, kept));
        match beginnings.max() {
            Some(length) => format!("{}{SHOWN}", &kept[..kept.len() - length]),
            None => replaced,
        }
    }

    /// The value with every text in it cleaned, names of fields included.
    pub fn clean_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.clean_json(item)).collect(),
            Value::Object(fields) => {
                let cleaned = fields.into_iter().map(|(k, v)| (self.clean(&k), self.clean_json(v)));
                Value::Object(cleaned.collect())
            }
            other => other,
        }
    }
}

/// What is secret about a header: its value, and the parts of it that a server may repeat alone. These
/// are what follows the scheme (`Bearer KEY`), its parameters (`Digest response="…"`), and the values
/// of cookies.
pub fn of_header(name: &str, value: &str) -> Vec<String> {
    const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "apikey", "key"];
    let value = value.trim();
    let mut secrets = vec![value.to_owned()];
    let (first, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let name = name.to_ascii_lowercase();
    let has_scheme =
        name.ends_with("authorization") || SCHEMES.contains(&first.to_ascii_lowercase().as_str());
    let pairs = match name.as_str() {
        "cookie" => value.split(';'),
        _ if has_scheme => {
            secrets.push(rest.trim().to_owned());
            rest.split(',')
        }
        _ => return secrets,
    };
    let values = pairs.filter_map(|pair| Some(pair.split_once('=')?.1.trim().trim_matches('"')));
    secrets.extend(values.map(str::to_owned));
    secrets
}

/// The length of the longest prefix of `secret` that `text` ends with.
fn beginning_at_end(secret: &str, text: &str) -> Option<usize> {
    let longest = secret.len().checked_sub(1)?;
    let mut lengths = (SHORTEST_BEGINNING..=longest).rev().filter(|n| secret.is_char_boundary(*n));
    lengths.find(|n| text.ends_with(&secret[..*n]))
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

    #[test]
    fn parts_of_a_header_are_secret_on_their_own() {
        let clean =
            |name: &str, value: &str, text: &str| Redactor::new(of_header(name, value)).clean(text);
        assert_eq!(clean("Authorization", "Bearer open-sesame", "no open-sesame"), "no [secret]");
        assert_eq!(clean("authorization", "Bearer open-sesame", "Bearer open-sesame"), "[secret]");
        assert_eq!(clean("Proxy-Authorization", "Basic  dTpwYXNz", "dTpwYXNz?"), "[secret]?");
        assert_eq!(clean("X-Auth", "token open-sesame", "open-sesame!"), "[secret]!");
        let digest = r#"Digest username="barley", response="open-sesame""#;
        assert_eq!(clean("Authorization", digest, "open-sesame, barley"), "[secret], [secret]");
        let cookies = "session=open-sesame; theme=barley; x=1";
        assert_eq!(clean("Cookie", cookies, "open-sesame barley 1"), "[secret] [secret] 1");
        // Other headers are secret only as a whole.
        assert_eq!(clean("X-Note", "two words", "words, two words"), "words, [secret]");
        assert_eq!(clean("Authorization", "open-sesame", "open-sesame"), "[secret]");
    }

    #[test]
    fn half_a_secret_is_one_too() {
        let redactor = Redactor::new(["sk-0123456789".into()]);
        assert_eq!(redactor.clean("you sent sk-0123456"), "you sent [secret]");
        assert_eq!(redactor.clean("you sent sk-0123456…"), "you sent [secret]");
        assert_eq!(redactor.clean("you sent sk-0123456 not"), "you sent sk-0123456 not");
        assert_eq!(redactor.clean("you sent sk-…"), "you sent sk-…");
    }

    #[test]
    fn secrets_are_replaced_anywhere_in_json() {
        let redactor = Redactor::new(["sesame".into(), "1234".into()]);
        let value = serde_json::json!({ "a sesame": [1, { "b": "sesame!" }], "n": 1234 });
        let clean = serde_json::json!({ "a [secret]": [1, { "b": "[secret]!" }], "n": 1234 });
        assert_eq!(redactor.clean_json(value), clean);
    }
}
