//! How much memory foreign input may hold: what servers, files and buses send. What keeps some of it
//! holds a share of one budget, and gives it back when dropped. Beyond the budget a request or a file
//! fails; the process does not.

use crate::message::Localized;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What foreign input may hold of a process, in bytes.
const FOREIGN: usize = 1 << 30;
/// Shares are counted in steps of this size, so that a stream of small events costs nothing.
const STEP: usize = 4 << 10;

/// A number of bytes that may be held at a time. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Account>);

#[derive(Debug)]
struct Account {
    total: usize,
    used: AtomicUsize,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Localized)]
#[message("more than {} MiB of memory would be needed", "需要超过 {} MiB 的内存", self.mib())]
pub struct OverBudget(
    /// The whole budget, in bytes.
    pub usize,
);

impl OverBudget {
    /// The whole budget, in MiB.
    pub fn mib(self) -> usize {
        self.0.div_ceil(1 << 20)
    }
}

impl Budget {
    /// The budget of this process.
    pub fn foreign() -> Self {
        static WHOLE: OnceLock<Budget> = OnceLock::new();
        WHOLE.get_or_init(|| Self::of(FOREIGN)).clone()
    }

    /// A budget of so many bytes.
    pub fn of(total: usize) -> Self {
        Self(Arc::new(Account { total, used: AtomicUsize::new(0) }))
    }

    /// A share of nothing, which can grow.
    pub fn share(&self) -> HeldBytes {
        HeldBytes { budget: self.clone(), bytes: 0 }
    }

    /// A share of so many bytes.
    pub fn hold(&self, bytes: usize) -> Result<HeldBytes, OverBudget> {
        let mut held = self.share();
        held.set(bytes)?;
        Ok(held)
    }

    /// Bytes that are held at the moment.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Parses JSON, unless its values would need more memory than is left.
    pub fn json<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, JsonError> {
        let _held = self.hold(json_weight(bytes))?;
        Ok(serde_json::from_slice(bytes)?)
    }
}

/// Why JSON was not read.
#[derive(Debug, Localized)]
pub enum JsonError {
    /// It needs too much memory.
    #[message(transparent)]
    Over(#[from] OverBudget),
    /// It is not JSON, or not what was expected.
    #[message(transparent)]
    Json(#[from] serde_json::Error),
}

impl From<JsonError> for serde_json::Error {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Over(over) => serde::de::Error::custom(over),
            JsonError::Json(error) => error,
        }
    }
}

/// A share of a budget, given back when dropped.
#[derive(Debug)]
pub struct HeldBytes {
    budget: Budget,
    bytes: usize,
}

impl HeldBytes {
    /// Holds so many bytes from now on. If there are not as many, what was held before is kept.
    pub fn set(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let bytes = bytes.checked_next_multiple_of(STEP).unwrap_or(usize::MAX);
        let Account { total, used } = &*self.budget.0;
        if bytes <= self.bytes {
            if bytes < self.bytes {
                used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
                self.bytes = bytes;
            }
            return Ok(());
        }
        let more = bytes - self.bytes;
        let fits = |used: usize| used.checked_add(more).filter(|sum| sum <= total);
        match used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => {
                self.bytes = bytes;
                Ok(())
            }
            Err(_) => Err(OverBudget(*total)),
        }
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The first entries of an object: a whole node of its tree.
const OBJECT: usize = 640;
/// A further entry; nodes are about half full.
const ENTRY: usize = 112;
/// An element of a list, with the room that a growing list has in reserve.
const ELEMENT: usize = 48;
/// A text, beside its bytes.
const TEXT: usize = 16;

/// About how many bytes of memory the values of a JSON text need, and no fewer by much. The text is not
/// checked: where it is damaged, parsing stops.
pub fn json_weight(bytes: &[u8]) -> usize {
    let mut weight = 0_usize;
    // What a comma separates at each depth: entries of an object or elements of a list.
    let mut objects: Vec<bool> = Vec::new();
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' | b'[' => {
                objects.push(*byte == b'{');
                // What is nested deeper than parsers accept is not built.
                if objects.len() > DEEPEST {
                    return weight;
                }
                weight += if *byte == b'{' { OBJECT } else { 4 * ELEMENT };
            }
            b'}' | b']' => drop(objects.pop()),
            b',' => weight += if objects.last() == Some(&true) { ENTRY } else { ELEMENT },
            b'"' => {
                let length = text_length(rest);
                weight += TEXT + length;
                rest = rest.get(length + 1..).unwrap_or_default();
            }
            _ => {}
        }
    }
    weight
}

/// The nesting that `serde_json` accepts.
const DEEPEST: usize = 128;

/// Bytes up to the quote that ends a text.
fn text_length(rest: &[u8]) -> usize {
    let mut escaped = false;
    let end = rest.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn what_is_held_is_given_back() {
        let budget = Budget::of(100 << 10);
        let mut first = budget.hold(1).unwrap();
        assert_eq!(budget.used(), STEP);
        first.set(60 << 10).unwrap();
        assert_eq!(budget.hold(50 << 10).unwrap_err(), OverBudget(100 << 10));
        assert_eq!(first.set(usize::MAX), Err(OverBudget(100 << 10)));
        let second = budget.hold(40 << 10).unwrap();
        assert_eq!(budget.used(), 100 << 10);
        first.set(5 << 10).unwrap();
        assert_eq!(budget.used(), 48 << 10);
        drop((first, second));
        assert_eq!(budget.used(), 0);
    }

    /// M6: 100 bytes of memory for each byte of text.
    #[test]
    fn json_that_needs_too_much_memory_is_not_parsed() {
        let bomb = format!("[{}0]", "{\"\":0},".repeat(20_000));
        let budget = Budget::of(4 << 20);
        let refused = budget.json::<Value>(bomb.as_bytes()).unwrap_err();
        assert!(matches!(refused, JsonError::Over(_)), "{refused}");
        assert_eq!(refused.to_string(), "more than 4 MiB of memory would be needed");
        let fine = budget.json::<Value>(b"{\"data\":[{\"id\":\"m \\\" [{,\"}]}").unwrap();
        assert_eq!(fine["data"][0]["id"], "m \" [{,");
        assert!(matches!(budget.json::<Value>(b"{").unwrap_err(), JsonError::Json(_)));
        assert_eq!(budget.used(), 0);
    }

    /// The memory of a value, by the sizes of the types that hold it.
    fn memory(value: &Value) -> usize {
        match value {
            Value::String(text) => text.capacity(),
            Value::Array(list) => {
                list.capacity() * size_of::<Value>() + list.iter().map(memory).sum::<usize>()
            }
            Value::Object(fields) => {
                // Nodes of 11 entries, of which at least 5 are used.
                let nodes = fields.len().div_ceil(5).min(fields.len());
                let own = nodes * 11 * (size_of::<Value>() + size_of::<String>());
                let inner = fields.iter().map(|(name, value)| name.len() + memory(value));
                own + inner.sum::<usize>()
            }
            _ => 0,
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\{},]{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 200, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
                prop::collection::vec(("[a-z\"]{0,6}", inner), 0..20)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_about_as_large_as_their_weight(value in values()) {
            let text = serde_json::to_vec(&value).unwrap();
            let read: Value = serde_json::from_slice(&text).unwrap();
            let (memory, weight) = (memory(&read), json_weight(&text));
            prop_assert!(2 * weight + 64 >= memory, "{memory} bytes, {weight} estimated");
        }

        #[test]
        fn any_bytes_have_a_weight(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = Budget::of(1 << 20).json::<Value>(&bytes);
            prop_assert!(json_weight(&bytes) <= 656 * bytes.len());
        }
    }
}
