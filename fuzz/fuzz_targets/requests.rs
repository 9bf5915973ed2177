//! Any bytes as a request to the embedded engine, in every API it has: read, or refused as the client's
//! error; and what it then responds is JSON, whole or streamed. Input: the API's number, the tokens of the
//! response, and the body.
#![no_main]

use dyno_respond::api::ask::Ask;
use dyno_respond::api::response::{Facts, KnownPrompt, ResponseToken};
use dyno_respond::api::route::RoutePlace;
use dyno_respond::api::{APIS, RequestBody, ServedApi, WhyFinished};
use dyno_respond::fault::Quirks;
use dyno_respond::framing::{Burst, ServedFraming, Transfer};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

const MODEL: &str = "\"m\"";
const CONTEXT: u32 = 4096;
/// So that responses stay small.
const MOST_TOKENS: u32 = 16;

fuzz_target!(|input: &[u8]| {
    let [api, natural, body @ ..] = input else { return };
    let api = APIS[usize::from(*api) % APIS.len()];
    ask_beside(api, body);
    let body = RequestBody { bytes: body, quirks: Quirks::default(), block: Some(4), dimensions: 16 };
    match api.read(&body) {
        Ok(ask) => respond(api, &ask, u32::from(*natural)),
        Err(refusal) => {
            assert!((400..500).contains(&refusal.status), "{refusal:?}");
            if let WhyFinished::Message(message) = refusal.why {
                is_json(&api.error(refusal.status, &message));
            }
        }
    }
});

fn respond(api: &dyn ServedApi, ask: &Ask, natural: u32) {
    if let Some(complaint) = ask.complaint(CONTEXT) {
        is_json(&api.error(400, &complaint));
        return;
    }
    let (tokens, finish) = ask.length(natural, CONTEXT);
    assert!(tokens <= CONTEXT || ask.output.none);
    let tokens = if ask.output.none { tokens } else { tokens.min(MOST_TOKENS) };
    let facts = Facts {
        quirks: Quirks::default(),
        salt: 7,
        seed: 3,
        start: 1,
        model_json: MODEL,
        prompt_tokens: ask.input(),
        tokens,
        finish,
        tells_cached: false,
    };
    let mut whole = ask.response.whole(&facts).body;
    ask.response.settle(&mut whole, &KnownPrompt { start: None, first: 1, last: 2 });
    is_json(&whole);
    let Some(mut chunks) = ask.response.stream(&facts).filter(|_| ask.stream) else { return };
    let mut framing = ServedFraming::new(api.frames(), Quirks::default(), Transfer::Close);
    let mut burst = Burst::default();
    let mut out = framing.out(&mut burst);
    chunks.open(&mut out);
    for k in 0..tokens {
        let end = (k + 1 == tokens).then_some(finish);
        chunks.token(&mut out, ResponseToken { k, at: u64::from(k) }, end);
    }
    if tokens == 0 {
        chunks.end_without_tokens(&mut out, finish, 1);
    }
    chunks.close(&mut out, u64::from(tokens));
    assert!(burst.writes().any(|write| !write.is_empty()));
}

/// Sends the body to the routes beside the endpoint.
fn ask_beside(api: &dyn ServedApi, body: &[u8]) {
    let place = RoutePlace {
        model: "m",
        context: CONTEXT,
        started: 1,
        brain: "script",
        brain_name: "ttft=1ms".to_owned(),
        has_engine: true,
        running: 0,
        quirks: Quirks::default(),
    };
    for page in api.routes().iter().filter_map(|route| (route.answer)(&place, body)) {
        assert!((200..500).contains(&page.status));
        if page.kind == "application/json" && !page.body.is_empty() {
            is_json(&page.body);
        }
    }
}

fn is_json(body: &[u8]) {
    let read = serde_json::from_slice::<IgnoredAny>(body);
    assert!(read.is_ok(), "{read:?}: {}", String::from_utf8_lossy(body));
}
