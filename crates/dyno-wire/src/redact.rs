//! Keeps secrets out of everything that is saved or printed: a server may echo a key.

mod spelling;

use serde_json::Value;
use spelling::{SHORTEST_BEGINNING, ends_at, in_base64};

/// Replaces a secret.
const SHOWN: &str = "[secret]";

/// Replaces the secrets it knows, however a server writes them: plain, with the escapes of JSON, URLs and HTML,
/// or as base64.
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
        let plain: Vec<String> = secrets.into_iter().filter(|s| s.len() >= 4).collect();
        let mut secrets: Vec<String> = plain.iter().flat_map(|secret| in_base64(secret)).collect();
        secrets.extend(plain);
        secrets.sort();
        secrets.dedup();
        Self { secrets }
    }

    /// The text without the secrets, and without the beginning of one at its cut-off end.
    pub fn clean(&self, text: &str) -> String {
        self.clean_of(text, 0)
    }

    /// A name that a server chose, such as that of a model, without the secrets. Short ones stay: `qwen` may be
    /// a tenant, and part of every model's name.
    pub fn clean_name(&self, name: &str) -> String {
        self.clean_of(name, SHORTEST_BEGINNING)
    }

    /// The text without secrets of at least so many bytes.
    fn clean_of(&self, text: &str, shortest: usize) -> String {
        let mut cleaned = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let secrets = self.secrets.iter().filter(|secret| secret.len() >= shortest);
            // The longest, so that a secret within another does not leave the rest of it.
            match secrets.filter_map(|secret| ends_at(secret, text, at)).max() {
                Some(end) => {
                    cleaned.push_str(SHOWN);
                    at = end;
                }
                None => {
                    cleaned.push(c);
                    at += c.len_utf8();
                }
            }
        }
        cleaned
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

#[cfg(test)]
mod tests {
    use super::spelling::sextet;
    use super::*;
    use proptest::prelude::*;

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

    /// The ways in which servers write what they repeat.
    fn written(secret: &str, way: usize) -> String {
        let each = |write: &dyn Fn(char) -> String| secret.chars().map(write).collect::<String>();
        let escaped = |c: char| match c {
            '/' | '"' | '\\' => format!("\\{c}"),
            c => c.to_string(),
        };
        let percent = |c: char| format!("%{:02X}", u32::from(c));
        match way {
            0 => secret.to_owned(),
            1 => each(&escaped),
            2 => each(&|c| format!("\\u{:04x}", u32::from(c))),
            3 => each(&|c| if c.is_alphanumeric() { c.to_string() } else { percent(c) }),
            4 => each(&|c| percent(c).replace('%', "%25")),
            5 => each(&|c| format!("&#{};", u32::from(c))),
            6 => dyno_words::escape::quoted(secret),
            // JSON within JSON, and what Rust writes.
            7 => each(&|c| escaped(c).chars().map(escaped).collect()),
            8 => secret.escape_debug().to_string(),
            9 => each(&|c| format!("\\u{{{:x}}}", u32::from(c))),
            10 => each(&|c| format!("\\x{:02X}", u32::from(c))),
            _ => unreachable!(),
        }
    }

    /// As a whole, with so many bytes before and behind it.
    fn base64(text: &str) -> String {
        let length = (text.len() * 8).div_ceil(6);
        (0..length).map(|at| sextet(text.as_bytes(), at, "+/")).collect()
    }

    #[test]
    fn secrets_are_replaced_as_json_urls_html_and_base64_write_them() {
        let redactor = Redactor::new(["AbCd/EfGh+\"x\\==".into()]);
        for text in [
            r#"Invalid key AbCd\/EfGh+\"x\\=="#,
            r#"Invalid key AbCd\u002fEfGh\u002B\u0022x\u005c=="#,
            "Invalid key AbCd%2FEfGh%2b%22x%5C%3D%3D",
            "Invalid key AbCd/EfGh&#43;&quot;x&#x5c;==",
            r#"Invalid key AbCd\\\/EfGh+\\\"x\\\\=="#,
        ] {
            assert_eq!(redactor.clean(text), "Invalid key [secret]", "{text}");
        }
        // Base64 with a name before it, as `Basic` has, in each of the three places.
        for name in ["", "me", "you", "them"] {
            let text = base64(&format!("{name}:AbCd/EfGh+\"x\\==."));
            let cleaned = redactor.clean(&text);
            assert!(cleaned.contains("[secret]") && cleaned.len() < text.len(), "{cleaned}");
        }
        assert_eq!(redactor.clean("cut AbCd\\/EfGh\\u00"), "cut [secret]");
        assert_eq!(redactor.clean("cut AbCd%2FEfGh%…"), "cut [secret]");
        assert_eq!(redactor.clean("AbCd/Ef is not it"), "AbCd/Ef is not it");
        assert_eq!(sextet(b"Man", 0, "+/"), 'T');
        assert_eq!(base64("Man"), "TWFu");
    }

    #[test]
    fn names_keep_short_words_and_lose_keys() {
        let redactor = Redactor::new(["qwen".into(), "sk-0123456789".into()]);
        assert_eq!(redactor.clean_name("qwen-7b-sk-0123456789"), "qwen-7b-[secret]");
    }

    proptest! {
        #[test]
        fn nothing_of_a_key_is_left_in_any_spelling(
            key in "[!-~]{8,40}",
            before in "[ -~]{0,12}",
            behind in "[ -~]{0,12}",
            way in 0_usize..11,
            cut in any::<prop::sample::Index>(),
        ) {
            let redactor = Redactor::new([key.clone()]);
            let repeated = written(&key, way);
            let cleaned = redactor.clean(&format!("{before}{repeated}{behind}"));
            prop_assert!(!cleaned.contains(&repeated), "{cleaned}");
            prop_assert!(cleaned.contains(SHOWN));
            let whole = format!("{before} {}", base64(&format!("{before}{key}")));
            let cleaned = redactor.clean(&whole);
            let core = &in_base64(&key);
            prop_assert!(core.iter().all(|core| !cleaned.contains(core.as_str())), "{cleaned}");
            // Cut off anywhere behind its eighth character.
            let plain = key.chars().count();
            let kept = cut.index(plain - 7) + 8;
            let text = format!("{before} {}", &key[..kept]);
            prop_assert!(!redactor.clean(&text).contains(&key[..kept]), "{text}");
        }

        #[test]
        fn text_without_the_secret_stays(text in "[ -~é…]{0,60}") {
            let redactor = Redactor::new(["\u{1}no such secret\u{2}".into()]);
            prop_assert_eq!(redactor.clean(&text), text);
        }
    }
}
