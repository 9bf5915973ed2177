//! A prompt is the same to the engine whether it came over HTTP or directly.

use dyno_drive::{Payload, Prepare, RequestedLengths};
use dyno_engine::predicted::Prompts;
use dyno_engine::prompt_of;
use dyno_engine::{Prompt, PromptError};
use dyno_model::prompt::{ChatMessage, Content, RecordedPrompt};
use dyno_model::prompt::{Conversation, Item, UserTurn};
use dyno_wire::dialect::{Shape, of_path};
use dyno_wire::encode::{Encoder, SecretHeaders};
use dyno_wire::endpoint::Endpoint;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;

const BLOCK: u32 = 2;

/// For messages, or else for plain text.
fn encoder(chat: bool) -> Encoder {
    let path = if chat { "/chat/completions" } else { "/v1/completions" };
    let dialect = of_path(path).unwrap();
    let endpoint = Endpoint::parse("http://twin", dialect).unwrap();
    let shape =
        Shape { model: "m".into(), fields: vec!["ignore_eos"], forced: true, ..Shape::default() };
    Encoder::new(&endpoint, dialect, shape, &SecretHeaders::default())
}

/// What the engine's server makes of an encoded request.
fn over_http(payload: &Payload<Vec<u8>>, chat: bool) -> Result<Prompt, PromptError> {
    let at = payload.body.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    prompt_of(&payload.body[at + 4..], chat, BLOCK)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab \n]{0,12}", ".{0,12}"]
}

fn message() -> impl Strategy<Value = ChatMessage> {
    ("system|user|assistant|", text()).prop_map(|(role, content)| ChatMessage { role, content })
}

/// What a user-supplied body may contain in place of a prompt.
fn said() -> impl Strategy<Value = Value> {
    let parts = prop::collection::vec(text(), 0..3);
    let parts = parts.prop_map(|texts| texts.iter().map(|t| json!({"text": t})).collect());
    let content = prop_oneof![text().prop_map(Value::from), parts, Just(Value::Null)];
    let message = content.prop_map(|content| json!({"role": "user", "content": content}));
    prop_oneof![
        prop::collection::vec(message, 0..3).prop_map(Value::from),
        prop::collection::vec(text(), 0..3).prop_map(Value::from),
        prop::collection::vec(0_u64..9, 0..6).prop_map(Value::from),
        text().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(1.5)),
    ]
}

fn body() -> impl Strategy<Value = Content> {
    let field = || prop::option::of(said());
    (field(), field(), prop::option::of(Just(json!("many")))).prop_map(|fields| {
        let mut body = Map::new();
        body.extend(fields.0.map(|value| ("messages".to_owned(), value)));
        body.extend(fields.1.map(|value| ("prompt".to_owned(), value)));
        // Always replaced, so it does not matter that it is wrong.
        body.extend(fields.2.map(|value| ("max_tokens".to_owned(), value)));
        Content::Body(body)
    })
}

/// Messages with calls of tools and their results.
fn recorded() -> impl Strategy<Value = Content> {
    let arguments = prop::sample::select(vec!["{\"k\": [1, \"a b\"]}", "no JSON", ""]);
    let message = ("system|user|assistant|tool", text(), prop::option::of(arguments)).prop_map(
        |(role, content, arguments)| {
            let call =
                |arguments| json!([{"id": "c", "function": {"name": "f", "arguments": arguments}}]);
            let mut message = json!({"role": role, "content": content, "tool_call_id": "c"});
            message["tool_calls"] = arguments.map_or(Value::Null, call);
            Arc::new(message)
        },
    );
    let tools = json!([{"type": "function", "function": {"name": "f", "description": "a b"}}]);
    (prop::collection::vec(message, 0..5), prop::option::of(Just(Arc::new(tools))))
        .prop_map(|(messages, tools)| Content::Recorded(RecordedPrompt { messages, tools }))
}

fn content() -> impl Strategy<Value = Content> {
    let messages = prop::collection::vec(message(), 0..4);
    let texts = prop_oneof![text().prop_map(Content::Text), messages.prop_map(Content::Messages)];
    prop_oneof![texts, body(), recorded()]
}

proptest! {
    #[test]
    fn a_prompt_is_the_same_over_http_and_directly(
        content in content(),
        chat in any::<bool>(),
        tokens in (prop::option::of(1_u32..9), prop::option::of(1_u32..9)),
    ) {
        let (input_tokens, output_tokens) = tokens;
        let item = Item { content, output_tokens, input_tokens };
        let sent = encoder(chat).single(&item, 5);
        let direct = Prompts { chat, block: BLOCK }.single(&item, 5);
        // A twin counts tokens itself: there are no characters that it could count instead.
        let sent_lengths = RequestedLengths { characters: None, ..sent.lengths };
        prop_assert_eq!(sent_lengths, direct.lengths);
        match (over_http(&sent, chat), direct.body.0) {
            // Only a body that was read knows where it is wrong.
            (Err(http), Err(direct)) => {
                prop_assert!(http.to_string().starts_with(&direct.to_string()));
            }
            (http, direct) => prop_assert_eq!(http, direct),
        }
    }

    #[test]
    fn a_conversation_is_the_same_over_http_and_directly(
        turns in prop::collection::vec((prop::collection::vec(message(), 1..3), text()), 1..5),
    ) {
        let user = turns.iter().map(|(messages, _)| UserTurn {
            think: 3,
            messages: messages.clone(),
            output_tokens: 4,
        });
        let conversation = Conversation { turns: user.collect(), input_tokens: Some(7) };
        let sent = encoder(true).conversation(&conversation).unwrap();
        let direct = Prompts { chat: true, block: BLOCK }.conversation(&conversation).unwrap();
        prop_assert_eq!(&sent.planned, &direct.planned);
        let (mut sent, mut direct) = (sent.requests, direct.requests);
        for (number, (_, answer)) in (0..).zip(&turns) {
            let (over, same) = (sent.take(number).unwrap(), direct.take(number).unwrap());
            // A twin counts tokens itself: there are no characters that it could count instead.
            let sent_lengths = RequestedLengths { characters: None, ..over.payload.lengths };
            prop_assert_eq!(sent_lengths, same.payload.lengths);
            prop_assert_eq!(over_http(&over.payload, true), same.payload.body.0);
            sent.answered(number, answer);
            direct.answered(number, answer);
        }
        let after = turns.len() as u32;
        prop_assert!(sent.take(after).is_none() && direct.take(after).is_none());
    }
}
