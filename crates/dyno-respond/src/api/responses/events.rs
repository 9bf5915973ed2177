//! The events of a stream, each with its number.

use super::object::Object;
use crate::api::AnswerFinish;
use crate::api::response::{Chunks, ResponseStart, ResponseToken};
use crate::framing::Out;
use dyno_model::Nanos;
use serde_json::{Value, json};
use std::io::Write;

/// An item of the output, as its events name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Reasoning,
    Message,
}

/// The names of an item's events.
struct Names {
    part_added: &'static str,
    delta: &'static str,
    done: &'static str,
    part_done: &'static str,
}

impl Item {
    fn names(self) -> Names {
        match self {
            Self::Reasoning => Names {
                part_added: "response.reasoning_part.added",
                delta: "response.reasoning_text.delta",
                done: "response.reasoning_text.done",
                part_done: "response.reasoning_part.done",
            },
            Self::Message => Names {
                part_added: "response.content_part.added",
                delta: "response.output_text.delta",
                done: "response.output_text.done",
                part_done: "response.content_part.done",
            },
        }
    }

    fn part(self, text: &str) -> Value {
        match self {
            Self::Reasoning => json!({"type": "reasoning_text", "text": text}),
            Self::Message => {
                json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
            }
        }
    }
}

/// A stream under way.
#[derive(Debug)]
pub(super) struct Events {
    object: Object,
    /// The number of the next event.
    number: u32,
    cached: Option<u32>,
    /// The item whose tokens come, and where they began.
    item: Option<(Item, u32)>,
    /// What stands between the number and the text of a delta, and after it.
    around: [Vec<u8>; 2],
}

impl Events {
    pub(super) fn new(object: Object) -> Self {
        Self { object, number: 0, cached: None, item: None, around: [Vec::new(), Vec::new()] }
    }

    /// An event with the fields that `render` writes after its type and number.
    fn put(&mut self, out: &mut Out<'_>, name: &str, render: impl FnOnce(&Self, &mut Vec<u8>)) {
        out.event(name, |out| self.render(out, name, render));
        self.number += 1;
    }

    fn render(&self, out: &mut Vec<u8>, name: &str, render: impl FnOnce(&Self, &mut Vec<u8>)) {
        let number = self.number;
        let _ = write!(out, "{{\"type\":\"{name}\",\"sequence_number\":{number},");
        render(self, out);
        out.push(b'}');
    }

    fn item_id(&self, item: Item) -> String {
        let prefix = if item == Item::Reasoning { "rs" } else { "msg" };
        format!("{prefix}_{}", self.object.id)
    }

    /// Where an item stands in the output.
    fn index(&self, item: Item) -> usize {
        usize::from(item == Item::Message && self.object.reasoning() > 0)
    }

    /// `"item_id":…`, `"output_index":…` and `"content_index":0`.
    fn place(&self, item: Item) -> String {
        let (id, index) = (self.item_id(item), self.index(item));
        format!("\"item_id\":\"{id}\",\"output_index\":{index},\"content_index\":0")
    }

    fn open_item(&mut self, out: &mut Out<'_>, item: Item, first: u32) {
        let (index, place, names) = (self.index(item), self.place(item), item.names());
        let mut added = match item {
            Item::Reasoning => self.object.reasoning_item(""),
            Item::Message => self.object.message_item(""),
        };
        added["status"] = "in_progress".into();
        added["content"] = json!([]);
        self.put(out, "response.output_item.added", |_, out| {
            let _ = write!(out, "\"output_index\":{index},\"item\":{added}");
        });
        let part = item.part("");
        self.put(out, names.part_added, |_, out| {
            let _ = write!(out, "{place},\"part\":{part}");
        });
        let after: &[u8] = match item {
            Item::Reasoning => b"\"}",
            Item::Message => b"\",\"logprobs\":[]}",
        };
        self.around = [format!(",{place},\"delta\":\"").into_bytes(), after.to_vec()];
        self.item = Some((item, first));
    }

    /// Ends the item whose tokens came, before token `end`.
    fn close_item(&mut self, out: &mut Out<'_>, end: u32) {
        let Some((item, first)) = self.item.take() else { return };
        let (index, place, names) = (self.index(item), self.place(item), item.names());
        let text = self.object.text(first..end);
        let quoted = Value::from(text.as_str());
        self.put(out, names.done, |_, out| {
            let _ = write!(out, "{place},\"text\":{quoted}");
            if item == Item::Message {
                out.extend_from_slice(b",\"logprobs\":[]");
            }
        });
        let part = item.part(&text);
        self.put(out, names.part_done, |_, out| {
            let _ = write!(out, "{place},\"part\":{part}");
        });
        let done = match item {
            Item::Reasoning => self.object.reasoning_item(&text),
            Item::Message => self.object.message_item(&text),
        };
        self.put(out, "response.output_item.done", |_, out| {
            let _ = write!(out, "\"output_index\":{index},\"item\":{done}");
        });
    }
}

impl Chunks for Events {
    fn opens_early(&self) -> bool {
        true
    }

    fn open(&mut self, out: &mut Out<'_>) {
        for name in ["response.created", "response.in_progress"] {
            self.put(out, name, |events, out| {
                out.extend_from_slice(b"\"response\":");
                events.object.put_in_progress(out);
            });
        }
    }

    fn start(&mut self, start: ResponseStart) {
        self.cached = start.cached;
    }

    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, _end: Option<AnswerFinish>) {
        let reasoning = self.object.reasoning();
        let item = if token.k < reasoning { Item::Reasoning } else { Item::Message };
        if self.item.is_none_or(|(open, _)| open != item) {
            self.close_item(out, token.k);
            self.open_item(out, item, token.k);
        }
        let name = item.names().delta;
        out.event(name, |out| {
            let _ = write!(out, "{{\"type\":\"{name}\",\"sequence_number\":{}", self.number);
            out.extend_from_slice(&self.around[0]);
            out.extend_from_slice(self.object.word(token.k).as_bytes());
            out.extend_from_slice(&self.around[1]);
        });
        self.number += 1;
    }

    fn end_without_tokens(&mut self, _out: &mut Out<'_>, _finish: AnswerFinish, _at: Nanos) {}

    fn close(&mut self, out: &mut Out<'_>, _at: Nanos) {
        self.close_item(out, self.object.tokens);
        let name = "response.completed";
        out.last(name, |out| {
            self.render(out, name, |events, out| {
                out.extend_from_slice(b"\"response\":");
                events.object.put_complete(out, |out| {
                    if let Some(cached) = events.cached {
                        let details = format!("{{\"cached_tokens\":{cached}}}");
                        let _ = write!(out, "\"input_tokens_details\":{details},");
                    }
                });
            });
        });
    }

    fn fail(&mut self, out: &mut Out<'_>, message: &str) {
        let name = "response.failed";
        out.last(name, |out| {
            self.render(out, name, |events, out| {
                out.extend_from_slice(b"\"response\":");
                events.object.put_failed(out, message);
            });
        });
    }
}
