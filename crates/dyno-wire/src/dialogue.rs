//! Conversations on the wire: the user's turns are encoded ahead of time, and the server's own
//! replies are inserted between them as they arrive.

use crate::dialect::{BETWEEN, Talk};
use crate::encode::Encoder;
use dyno_drive::{Payload, Prepare, TurnRequest, TurnRequests, Turns};
use dyno_model::prompt::{ChatMessage, Conversation, Item, UserTurn};
use serde_json::json;
use std::collections::VecDeque;

/// A conversation turn of the user, encoded ahead of time.
struct Turn {
    /// Its messages as JSON, with commas between them.
    messages: Vec<u8>,
    /// What follows the messages in the body.
    rest: Vec<u8>,
    output_tokens: u32,
}

impl Turn {
    /// `system` is what the system says, where that is a field of its own.
    fn new(encoder: &Encoder, talk: Talk, turn: &UserTurn, system: &[u8]) -> Self {
        let mut messages = Vec::new();
        for message in turn.messages.iter().filter(|message| !talk.is_aside(&message.role)) {
            if !messages.is_empty() {
                messages.push(b',');
            }
            encoder.dialect().message(&mut messages, message);
        }
        let options = encoder.options(turn.output_tokens);
        let rest = [b"],", system, &options[..], b"}"].concat();
        Self { messages, rest, output_tokens: turn.output_tokens }
    }
}

/// What the system says in a conversation, as a field and a comma, where the API has one for it.
fn system(talk: Talk, conversation: &Conversation) -> Vec<u8> {
    let all = conversation.turns.iter().flat_map(|turn| &turn.messages);
    let aside = all.filter(|message| talk.is_aside(&message.role));
    let said: Vec<&str> = aside.map(|message| message.content.as_str()).collect();
    match talk.system {
        Some(field) if !said.is_empty() => {
            format!("\"{field}\":{},", json!(said.join(BETWEEN))).into_bytes()
        }
        _ => Vec::new(),
    }
}

/// A conversation in progress.
struct Ongoing {
    encoder: Encoder,
    /// What the body begins with.
    opening: Vec<u8>,
    /// All messages so far, as JSON.
    history: Vec<u8>,
    left: VecDeque<Turn>,
    /// The first request, until it is taken.
    first: Option<Payload<Vec<u8>>>,
}

impl Ongoing {
    /// Adds messages to those so far.
    fn say(&mut self, messages: &[u8]) {
        if !self.history.is_empty() && !messages.is_empty() {
            self.history.push(b',');
        }
        self.history.extend_from_slice(messages);
    }

    /// The request of a turn, with all messages before it.
    fn request(&mut self, turn: &Turn, input_tokens: Option<u32>) -> Payload<Vec<u8>> {
        self.say(&turn.messages);
        let body: [&[u8]; 3] = [&self.opening, &self.history, &turn.rest];
        self.encoder.request(&body, input_tokens, turn.output_tokens)
    }
}

impl TurnRequests<Vec<u8>> for Ongoing {
    fn take(&mut self, _turn: u32) -> Option<TurnRequest<Vec<u8>>> {
        if let Some(first) = self.first.take() {
            return Some(first.into());
        }
        let turn = self.left.pop_front()?;
        Some(self.request(&turn, None).into())
    }

    fn answered(&mut self, _turn: u32, answer: &str) {
        // Behind the last turn there is nothing to add it to.
        if self.left.is_empty() {
            return;
        }
        let reply = ChatMessage { role: "assistant".to_owned(), content: answer.to_owned() };
        let mut said = Vec::new();
        self.encoder.dialect().message(&mut said, &reply);
        self.say(&said);
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

    /// Only over APIs with messages.
    fn conversation(&self, conversation: &Conversation) -> Option<Turns<Vec<u8>>> {
        let talk = self.dialect().about().talk?;
        let system = system(talk, conversation);
        let turns = conversation.turns.iter();
        let mut left: VecDeque<Turn> =
            turns.map(|turn| Turn::new(self, talk, turn, &system)).collect();
        let turn = left.pop_front()?;
        let opening = format!("{{\"{}\":[", talk.field).into_bytes();
        let encoder = self.clone();
        let mut ongoing = Ongoing { encoder, opening, history: Vec::new(), left, first: None };
        ongoing.first = Some(ongoing.request(&turn, conversation.input_tokens));
        let pauses = conversation.turns.iter().map(|turn| turn.think);
        Some(Turns::conversation(pauses, Box::new(ongoing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{DIALECTS, Dialect, Shape};
    use crate::encode::SecretHeaders;
    use crate::endpoint::Endpoint;
    use dyno_model::prompt::Content;
    use proptest::prelude::*;
    use serde_json::Value;

    /// With fields for every request.
    fn encoder(dialect: &'static dyn Dialect, extra: Value) -> Encoder {
        let endpoint = Endpoint::parse("http://h:8000", dialect).unwrap();
        let extra = extra.as_object().unwrap().clone();
        let shape = Shape { model: "m".into(), stream: true, extra, ..Shape::default() };
        Encoder::new(&endpoint, dialect, shape, &SecretHeaders::default())
    }

    fn body(payload: &Payload<Vec<u8>>) -> Value {
        let at = payload.body.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        serde_json::from_slice(&payload.body[at + 4..]).unwrap()
    }

    proptest! {
        /// A turn sends the same request as its whole history encoded at once, over every API that
        /// has conversations.
        #[test]
        fn a_turn_is_what_its_history_makes(
            said in prop::collection::vec((".*", ".*", 1_u32..100), 1..6),
            system in prop::option::of(".*"),
        ) {
            for dialect in DIALECTS.iter().filter(|dialect| dialect.about().talk.is_some()) {
                let talk = dialect.about().talk.unwrap();
                // Fields for every request do not replace a conversation's messages.
                let replacing = encoder(*dialect, json!({"top_k": 5, talk.field: []}));
                let whole = encoder(*dialect, json!({"top_k": 5}));
                let system = system.clone().map(|content| ChatMessage { role: "system".into(), content });
                let turns = said.iter().enumerate().map(|(index, (user, _, output_tokens))| UserTurn {
                    think: 7,
                    messages: system.iter().filter(|_| index == 0).cloned()
                        .chain([ChatMessage::user(user.clone())]).collect(),
                    output_tokens: *output_tokens,
                });
                let conversation = Conversation { turns: turns.collect(), input_tokens: Some(9) };
                let mut ongoing = replacing.conversation(&conversation).unwrap().requests;
                let mut history: Vec<ChatMessage> = system.into_iter().collect();
                for (index, (user, answer, output_tokens)) in said.iter().enumerate() {
                    history.push(ChatMessage::user(user.clone()));
                    let sent = ongoing.take(index as u32).unwrap().payload;
                    prop_assert_eq!(sent.lengths.output, Some(*output_tokens));
                    prop_assert_eq!(sent.lengths.input, (index == 0).then_some(9));
                    let item = Item {
                        content: Content::Messages(history.clone()),
                        output_tokens: Some(*output_tokens),
                        input_tokens: None,
                    };
                    prop_assert_eq!(body(&sent), body(&whole.payload(&item, 1)));
                    history.push(ChatMessage { role: "assistant".into(), content: answer.clone() });
                    ongoing.answered(index as u32, answer);
                }
                prop_assert!(ongoing.take(said.len() as u32).is_none());
            }
        }
    }
}
