//! Any bytes as the body of a response in any API, streamed or whole, cut anywhere: the same record as in
//! one piece, and one outcome. As JSON, they are also lists of models, counts of tokens and signs of an
//! API. Input: the API's number, 1 if streamed, where to cut (two bytes), and the body.
#![no_main]

#[path = "reading.rs"]
mod reading;

use dyno_wire::dialect::{DIALECTS, SeenFields};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let [dialect, stream, left, right, body @ ..] = input else { return };
    let stream = stream % 2 == 1;
    let kind = if stream { "text/event-stream" } else { "application/json" };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
    let response = [head.as_bytes(), body].concat();
    reading::check(*dialect, stream, &response, u16::from_le_bytes([*left, *right]));
    if !stream {
        read_beside(*dialect, body);
    }
});

/// Reads a body as the response to what is asked beside the requests of a run.
fn read_beside(dialect: u8, body: &[u8]) {
    let about = DIALECTS[usize::from(dialect) % DIALECTS.len()].about();
    let json: Option<Value> = serde_json::from_slice(body).ok();
    for sign in about.signs {
        (sign.shows)(&SeenFields { status: 200, json: json.as_ref(), body });
    }
    let Some(json) = json else { return };
    for list in about.models {
        assert!(list.names(&json).len() <= body.len());
    }
    for counting in about.counting {
        (counting.count)(&json);
    }
}
