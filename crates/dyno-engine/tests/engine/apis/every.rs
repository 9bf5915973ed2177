//! What holds for every API that streams: faults do to it what they do to the others.

use crate::support::{Client, End, Response, engine, post};
use std::time::Duration;

/// A path, a streamed request for eight tokens, and what every frame with a token contains.
struct Streamed {
    path: &'static str,
    body: &'static str,
    token: &'static str,
}

const STREAMED: &[Streamed] = &[
    Streamed {
        path: "/v1/chat/completions",
        body: r#"{"messages":[{"role":"user","content":"a b"}],"max_tokens":8,"stream":true}"#,
        token: "\"content\":\" ",
    },
    Streamed {
        path: "/generate",
        body: r#"{"text":"a b","sampling_params":{"max_new_tokens":8},"stream":true}"#,
        token: "\"text\":\" ",
    },
    Streamed {
        path: "/v1/responses",
        body: r#"{"input":"a b","max_output_tokens":8,"stream":true}"#,
        token: "\"delta\":\" ",
    },
    Streamed {
        path: "/v1/messages",
        body: r#"{"messages":[{"role":"user","content":"a b"}],"max_tokens":8,"stream":true}"#,
        token: "\"text_delta\",\"text\":\" ",
    },
    Streamed {
        path: "/api/chat",
        body: r#"{"messages":[{"role":"user","content":"a b"}],"options":{"num_predict":8}}"#,
        token: "\"content\":\" ",
    },
    Streamed {
        path: "/api/generate",
        body: r#"{"prompt":"a b","options":{"num_predict":8}}"#,
        token: "\"response\":\" ",
    },
];

const FAST: &str = "ttft=1ms,itl=1ms,tokens=9";

fn hit(api: &Streamed, fault: &str) -> Response {
    let running = engine(FAST, &[fault]);
    let mut client = Client::connect(running.addr());
    if fault.starts_with("stall") {
        client.patience(Duration::from_millis(400));
    }
    client.ask(api.path, api.body)
}

fn tokens(api: &Streamed, response: &Response) -> usize {
    response.text().matches(api.token).count()
}

#[test]
fn a_stream_is_complete_with_every_quirk_of_framing() {
    let quirks = ["crlf", "comments", "chunk-split", "close-delimited", "coalesce", "event-lines"];
    for api in STREAMED {
        let plain = hit(api, "no-usage");
        assert_eq!((plain.status, plain.end), (200, End::Proper), "{}", api.path);
        assert_eq!(tokens(api, &plain), 8, "{}: {}", api.path, plain.text());
        for quirk in quirks {
            let response = hit(api, quirk);
            assert_eq!(response.end, End::Proper, "{} {quirk}", api.path);
            assert_eq!(tokens(api, &response), 8, "{} {quirk}: {}", api.path, response.text());
        }
    }
}

#[test]
fn a_stream_breaks_off_where_its_fault_says() {
    let cases = [
        ("reset", End::Reset, 4),
        ("close", End::Closed, 4),
        ("truncate", End::Proper, 4),
        ("stall", End::Silent, 4),
        ("bad-chunk", End::Malformed, 4),
        ("error-event", End::Proper, 4),
        ("short", End::Proper, 4),
        ("empty", End::Proper, 0),
        ("stall-headers", End::Silent, 0),
    ];
    for api in STREAMED {
        let whole = hit(api, "no-usage").text();
        for (fault, end, expected) in cases {
            let response = hit(api, fault);
            assert_eq!((response.status, response.end), (200, end), "{} {fault}", api.path);
            let got = tokens(api, &response);
            // An abort may repeat the text so far.
            let more = usize::from(fault == "error-event" && got > expected);
            assert_eq!(got, expected + more, "{} {fault}: {}", api.path, response.text());
            assert!(response.text().len() < whole.len(), "{} {fault}", api.path);
        }
        let error = hit(api, "error-event").text();
        assert!(error.contains("died in the middle"), "{}: {error}", api.path);
    }
}

#[test]
fn what_drips_is_no_token() {
    for api in STREAMED {
        let running = engine(FAST, &["drip"]);
        let mut client = Client::connect(running.addr());
        client.send(&post(api.path, "", api.body));
        // The patience is for each read, and each is satisfied: the test itself has to stop.
        let (mut seen, mut reads) = (Vec::new(), 0);
        while reads < 6 {
            let mut piece = [0; 4096];
            let n = std::io::Read::read(&mut client.socket, &mut piece).unwrap();
            assert!(n > 0, "{}", api.path);
            seen.extend_from_slice(&piece[..n]);
            reads += 1;
        }
        let text = String::from_utf8(seen).unwrap();
        assert_eq!(text.matches(api.token).count(), 1, "{}: {text}", api.path);
        let ends = ["[DONE]", "message_stop", "response.completed", "\"done\":true"];
        assert!(ends.iter().all(|end| !text.contains(end)), "{}: {text}", api.path);
    }
}

#[test]
fn a_refused_request_is_refused_in_the_words_of_its_api() {
    for api in STREAMED {
        let refused = hit(api, "http-429");
        assert_eq!(refused.status, 429, "{}", api.path);
        assert!(refused.text().contains("told to refuse"), "{}", refused.text());
        let running = engine(FAST, &["auth"]);
        let mut client = Client::connect(running.addr());
        assert_eq!(client.ask(api.path, api.body).status, 401);
        client.send(&post(api.path, "Authorization: Bearer sesame\r\n", api.body));
        assert_eq!(tokens(api, &client.response()), 8, "{}", api.path);
        assert_eq!(client.get(api.path).status, 405, "{}", api.path);
        assert_eq!(client.ask(api.path, "{oops").status, 401, "keys come first");
    }
}
