//! Messages of prompts and responses: as a replay sends them, and as keys and lengths by which prompts are compared.
//! Which fields of a file make a message is known by its format.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use dyno_model::Nanos;
use serde_json::Value;

use super::AgenticFormat;
use super::key;
use super::reader::TreeDetail;
use super::tree::{PromptMessage, PromptParts, Tree, TreeSession};
use crate::data::At;

/// The messages of a tree, each once.
#[derive(Debug, Default)]
pub(super) struct TreeMessages {
    pub(super) all: Vec<PromptMessage>,
    places: HashMap<u64, u32>,
}

impl TreeMessages {
    /// The place of a message, which is added if it is new. `compared` is what makes two messages equal.
    pub(super) fn place(
        &mut self,
        compared: &Value,
        body: impl FnOnce() -> Value,
        keep: TreeDetail,
    ) -> u32 {
        let text = plain(compared);
        self.add(key::of_text(&text), text.chars().count(), body, keep)
    }

    /// The place of a message of which only `characters` count; with none it is a part of the one before it.
    pub(super) fn counted(
        &mut self,
        compared: &Value,
        characters: usize,
        body: impl FnOnce() -> Value,
        keep: TreeDetail,
    ) -> u32 {
        self.add(key::of_text(&plain(compared)), characters, body, keep)
    }

    fn add(
        &mut self,
        key: u64,
        characters: usize,
        body: impl FnOnce() -> Value,
        keep: TreeDetail,
    ) -> u32 {
        *self.places.entry(key).or_insert_with(|| {
            let characters = u32::try_from(characters).unwrap_or(u32::MAX);
            let body = (keep == TreeDetail::Texts).then(|| Arc::new(body()));
            self.all.push(PromptMessage { parts: vec![(key, characters)], body });
            u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// The tree of a log of agents, with the messages that its turns use: without any it has lengths alone, and
    /// with them it still lacks the text of the system and the tools.
    pub(super) fn tree_of_log(
        &self,
        format: AgenticFormat,
        name: String,
        at: At,
        start: Option<Nanos>,
        mut sessions: Vec<TreeSession>,
    ) -> Tree {
        let turns = sessions.iter_mut().flat_map(|session| &mut session.turns);
        let mut used: Vec<&mut Vec<u32>> =
            turns.flat_map(|turn| [&mut turn.added, &mut turn.response]).collect();
        let messages = self.only(&mut used);
        let prompts = match messages.is_empty() {
            true => PromptParts::Lengths,
            false => PromptParts::Messages { whole: false },
        };
        Tree { name, at, format, start, prompts, messages, sessions, totals: None }
    }

    /// Messages in a tree of their own, and where each of these is in it.
    pub(super) fn only(&self, places: &mut [&mut Vec<u32>]) -> Vec<PromptMessage> {
        let mut new: HashMap<u32, u32> = HashMap::new();
        let mut all = Vec::new();
        for place in places.iter_mut().flat_map(|list| list.iter_mut()) {
            let at = *new.entry(*place).or_insert_with(|| {
                all.extend(self.all.get(*place as usize).cloned());
                u32::try_from(all.len().saturating_sub(1)).unwrap_or(u32::MAX)
            });
            *place = at;
        }
        all
    }
}

/// A value as JSON in plain ASCII, with the fields of objects in the order of their names: equal values are equal texts.
pub(super) fn plain(value: &Value) -> String {
    let mut text = String::new();
    put(value, &mut text);
    text
}

fn put(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => quote(string, text),
        Value::Array(list) => {
            text.push('[');
            for (number, one) in list.iter().enumerate() {
                text.push_str(if number > 0 { ", " } else { "" });
                put(one, text);
            }
            text.push(']');
        }
        Value::Object(object) => {
            let mut fields: Vec<_> = object.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (number, (name, one)) in fields.into_iter().enumerate() {
                text.push_str(if number > 0 { ", " } else { "" });
                quote(name, text);
                text.push_str(": ");
                put(one, text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

fn quote(string: &str, text: &mut String) {
    text.push('"');
    for one in string.chars() {
        match one {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(one),
            other => {
                let mut units = [0_u16; 2];
                for unit in other.encode_utf16(&mut units) {
                    // Writing to a text does not fail.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_are_equal_texts_whatever_the_order_of_their_fields() {
        let one: Value =
            serde_json::from_str(r#"{"b": [1, null], "a": "é\n😀\""}"#).unwrap_or_default();
        let other: Value =
            serde_json::from_str(r#"{"a":"é\n😀\"","b":[1,null]}"#).unwrap_or_default();
        assert_eq!(plain(&one), plain(&other));
        assert_eq!(plain(&one), r#"{"a": "\u00e9\n\ud83d\ude00\"", "b": [1, null]}"#);
    }

    #[test]
    fn a_message_is_held_once_and_its_text_only_if_it_is_kept() {
        let mut messages = TreeMessages::default();
        let body = json!({"role": "user", "content": "a"});
        let place =
            |messages: &mut TreeMessages, keep| messages.place(&body, || body.clone(), keep);
        assert_eq!(place(&mut messages, TreeDetail::Lengths), 0);
        assert_eq!(place(&mut messages, TreeDetail::Texts), 0);
        assert!(messages.all.len() == 1 && messages.all[0].body.is_none());
        let mut kept = TreeMessages::default();
        place(&mut kept, TreeDetail::Texts);
        assert_eq!(kept.all[0].body.as_deref(), Some(&body));
    }
}
