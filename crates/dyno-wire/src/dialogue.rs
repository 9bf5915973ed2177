//! Conversations on the wire: the user's turns are encoded ahead of time, and the server's own
//! replies are inserted between them as they arrive.

use crate::encode::Encoder;
use dyno_drive::{Dialogue, NextTurn, Payload, Prepare, Work};
use dyno_model::Nanos;
use dyno_model::prompt::{Conversation, Item, UserTurn};
use std::collections::VecDeque;

/// A conversation turn of the user, encoded ahead of time.
struct Turn {
    think: Nanos,
    /// Its messages as JSON, with commas between them.
    messages: Vec<u8>,
    /// What follows the messages in the body.
    rest: Vec<u8>,
    output_tokens: u32,
}

impl Turn {
    fn new(encoder: &Encoder, turn: &UserTurn) -> Self {
        let list = serde_json::to_vec(&turn.messages).unwrap_or_default();
        let messages = list.get(1..list.len().saturating_sub(1)).unwrap_or_default().to_vec();
        let rest = [b"],", &encoder.options(turn.output_tokens)[..], b"}"].concat();
        Self { think: turn.think, messages, rest, output_tokens: turn.output_tokens }
    }
}

/// A conversation in progress.
struct Ongoing {
    encoder: Encoder,
    /// All messages so far, as JSON.
    history: Vec<u8>,
    left: VecDeque<Turn>,
}

impl Ongoing {
    /// The request of a turn, with all messages before it.
    fn request(&mut self, turn: &Turn, input_tokens: Option<u32>) -> Payload<Vec<u8>> {
        self.history.extend_from_slice(&turn.messages);
        let body: [&[u8]; 3] = [b"{\"messages\":[", &self.history, &turn.rest];
        self.encoder.request(&body, input_tokens, turn.output_tokens)
    }
}

impl Dialogue<Vec<u8>> for Ongoing {
    fn next(&mut self, answer: &str) -> Option<NextTurn<Vec<u8>>> {
        let turn = self.left.pop_front()?;
        self.history.extend_from_slice(b",{\"role\":\"assistant\",\"content\":");
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.history, answer);
        self.history.extend_from_slice(b"},");
        let payload = self.request(&turn, None);
        Some(NextTurn { think: turn.think, payload })
    }

    fn size(&self) -> usize {
        let left: usize = self.left.iter().map(|turn| turn.messages.len() + turn.rest.len()).sum();
        self.history.len() + left
    }
}

impl Prepare for Encoder {
    type Body = Vec<u8>;

    fn single(&self, item: &Item, output_tokens: u32) -> Payload<Vec<u8>> {
        self.payload(item, output_tokens)
    }

    /// Over the chat API.
    fn conversation(&self, conversation: &Conversation) -> Option<Work<Vec<u8>>> {
        let mut left: VecDeque<Turn> =
            conversation.turns.iter().map(|turn| Turn::new(self, turn)).collect();
        let turn = left.pop_front()?;
        let mut ongoing = Ongoing { encoder: self.clone(), history: Vec::new(), left };
        let first = ongoing.request(&turn, conversation.input_tokens);
        Some(Work { first, then: Some(Box::new(ongoing)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Shape;
    use crate::encode::SecretHeaders;
    use crate::endpoint::Endpoint;
    use dyno_model::plan::Api;
    use dyno_model::prompt::{Content, Message};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn encoder() -> Encoder {
        let endpoint = Endpoint::parse("http://h:8000", Api::OpenAiChat).unwrap();
        let mut extra = serde_json::Map::new();
        extra.insert("top_k".into(), json!(5));
        extra.insert("messages".into(), json!([]));
        let shape = Shape { model: "m".into(), stream: true, extra, ..Shape::default() };
        Encoder::new(&endpoint, Api::OpenAiChat, shape, &SecretHeaders::default())
    }

    fn body(payload: &Payload<Vec<u8>>) -> Value {
        let at = payload.body.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        serde_json::from_slice(&payload.body[at + 4..]).unwrap()
    }

    proptest! {
        /// A turn sends the same request as its whole history encoded at once.
        #[test]
        fn a_turn_is_what_its_history_makes(
            said in prop::collection::vec((".*", ".*", 1_u32..100), 1..6)
        ) {
            let encoder = encoder();
            let turns = said.iter().map(|(user, _, output_tokens)| UserTurn {
                think: 7,
                messages: vec![Message::user(user.clone())],
                output_tokens: *output_tokens,
            });
            let conversation = Conversation { turns: turns.collect(), input_tokens: Some(9) };
            let Work { first, then } = encoder.conversation(&conversation).unwrap();
            let mut talk = then.unwrap();
            let mut history = Vec::new();
            let mut payload = Some(first);
            for (index, (user, answer, output_tokens)) in said.iter().enumerate() {
                history.push(Message::user(user.clone()));
                let sent = payload.take().unwrap();
                prop_assert_eq!(sent.lengths.output, Some(*output_tokens));
                prop_assert_eq!(sent.lengths.input, (index == 0).then_some(9));
                let item = Item {
                    content: Content::Messages(history.clone()),
                    output_tokens: Some(*output_tokens),
                    input_tokens: None,
                };
                let mut whole = body(&encoder.payload(&item, 1));
                whole["messages"] = json!(history);
                prop_assert_eq!(body(&sent), whole);
                history.push(Message { role: "assistant".into(), content: answer.clone() });
                payload = talk.next(answer).map(|next| next.payload);
            }
            prop_assert!(payload.is_none());
        }
    }
}
