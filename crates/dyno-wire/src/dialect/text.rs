//! The text of an event, of which measuring wants to know only whether there is any: read
//! without allocating, unless it is to be kept.

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::cell::RefCell;
use std::fmt;

thread_local! {
    /// Where kept text goes while an event is being read; nothing when it is not kept.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `read` and gives back, with its result, all text that it came across.
pub(super) fn keeping<T>(read: impl FnOnce() -> T) -> (T, String) {
    KEPT.with(|kept| *kept.borrow_mut() = Some(String::new()));
    let result = read();
    let text = KEPT.with(|kept| kept.borrow_mut().take()).unwrap_or_default();
    (result, text)
}

fn keep(text: &str) {
    KEPT.with(|kept| {
        if let Some(kept) = kept.borrow_mut().as_mut() {
            kept.push_str(text);
        }
    });
}

/// Whether a piece of output is non-empty. Strings, parts with a `text`, and lists of these.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct HasText(pub(super) bool);

impl<'de> Deserialize<'de> for HasText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = HasText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a list of texts, or null")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<HasText, E> {
                keep(text);
                Ok(HasText(!text.is_empty()))
            }
            fn visit_unit<E: de::Error>(self) -> Result<HasText, E> {
                Ok(HasText(false))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<HasText, A::Error> {
                let mut any = false;
                while let Some(HasText(part)) = parts.next_element()? {
                    any |= part;
                }
                Ok(HasText(any))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<HasText, A::Error> {
                let mut any = false;
                while let Some(key) = fields.next_key::<std::borrow::Cow<'_, str>>()? {
                    if key == "text" {
                        any |= fields.next_value::<HasText>()?.0;
                    } else {
                        fields.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(HasText(any))
            }
        }
        deserializer.deserialize_any(Text)
    }
}
