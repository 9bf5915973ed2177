//! An API without a terminal frame, whose documents end with a NUL: what a clean end of the body means.
//! No API of Dyno is such a one yet, so the dialect is this test's own.

#![allow(clippy::unwrap_used)]

use dyno_dialect::framing::{Framing, WireFrame};
use dyno_dialect::{
    About, Auth, Delta, Dialect, Does, End, Finish, Keep, Malformed, ModelList, Optional, Reader,
    Shape,
};
use dyno_model::budget::Budget;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::exchange::{Exchange, ExchangeProgress, Rules};
use dyno_wire::redact::Redactor;
use serde_json::{Map, Value};

const ARRIVAL: ArrivalTime = ArrivalTime { after: 1_000_000, at: 1_000_000, last_byte_slack: 0 };

/// `{"text":["…"]}`, perhaps with a count of tokens so far (`tokens`) and a `finish`.
#[derive(Debug)]
struct Nul;

static ABOUT: About = About {
    name: "nul",
    title: "",
    task: Task::Generate,
    prefix: "",
    path: "/nul",
    framing: Framing::Nul,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::CleanEnd,
    talk: None,
    names_model: true,
    optional: &[Optional { name: "max_tokens", does: Does::LimitLength }],
    short_by: 0,
    models: &[ModelList::OPENAI],
    health: &[],
    counting: &[],
    resets: &[],
    signs: &[],
};

impl Dialect for Nul {
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn prompt(&self, _: &mut Map<String, Value>, _: &Content) {}
    fn options(&self, _: &mut Map<String, Value>, _: &Shape, _: u32) {}
    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Documents)
    }
}

#[derive(Debug)]
struct Documents;

impl Reader for Documents {
    fn frame(&mut self, frame: WireFrame<'_>, _: Keep) -> Result<Delta, Malformed> {
        let value: Value = serde_json::from_slice(frame.data)
            .map_err(|error| Malformed::Other(error.to_string()))?;
        let text = value["text"][0].as_str().unwrap_or_default().to_owned();
        Ok(Delta {
            output: !text.is_empty(),
            text: Some(text),
            listed_tokens: value["tokens"].as_u64(),
            finish: value["finish"].as_str().map(Finish::new),
            ..Delta::default()
        })
    }
    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        self.frame(WireFrame { kind: b"", data: body }, keep)
    }
}

/// The parts of a response: how its body ends, and what was asked for.
struct Case {
    body: &'static str,
    /// The HTTP body has its end.
    ends: bool,
    requested: Option<u32>,
    fixed: bool,
}

const PLAIN: Case = Case {
    body: "{\"text\":[\"The\"]}\0{\"text\":[\" sky\"]}\0",
    ends: true,
    requested: None,
    fixed: false,
};

impl Case {
    fn response(&self) -> Vec<u8> {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        let end = if self.ends { "0\r\n\r\n" } else { "" };
        let length = self.body.len();
        format!("{head}{length:x}\r\n{}\r\n{end}", self.body).into_bytes()
    }

    fn record_of(&self, parts: &[&[u8]]) -> RequestRecord {
        let rules = Rules {
            dialect: &Nul,
            stream: true,
            keep: Keep { text: true, content: false },
            redactor: Redactor::default(),
            budget: Budget::foreign(),
        };
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        record.requested_output = self.requested;
        let mut exchange = Exchange::new(record, self.fixed);
        for part in parts {
            if let ExchangeProgress::Over { .. } = exchange.on_data(&rules, part, ARRIVAL) {
                return exchange.record;
            }
        }
        exchange.on_close(&rules, None, ARRIVAL);
        exchange.record
    }

    /// Its record, which is the same wherever the network cuts the response.
    fn record(&self) -> RequestRecord {
        let response = self.response();
        let whole = self.record_of(&[&response]);
        let seen = |record: &RequestRecord| {
            let flags = (record.terminal, record.streamed);
            let words = (record.detail.clone(), record.text.clone(), record.finish_reason.clone());
            (record.outcome.clone(), record.output, record.chunks.len(), flags, words)
        };
        for at in 0..response.len() {
            let (left, right) = response.split_at(at);
            assert_eq!(seen(&self.record_of(&[left, right])), seen(&whole), "cut at {at}");
        }
        let bytes: Vec<&[u8]> = response.chunks(1).collect();
        assert_eq!(seen(&self.record_of(&bytes)), seen(&whole), "byte by byte");
        whole
    }
}

#[test]
fn a_finish_reason_confirms_it() {
    let body = "{\"text\":[\"The\"]}\0{\"text\":[\" sky\"],\"finish\":\"stop\"}\0";
    let record = Case { body, ..PLAIN }.record();
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.terminal);
    assert_eq!((record.text.as_deref(), record.chunks.len()), (Some("The sky"), 2));
}

#[test]
fn the_expected_count_confirms_it() {
    let body = "{\"text\":[\"The\"],\"tokens\":1}\0{\"text\":[\" sky\"],\"tokens\":2}\0";
    let all = Case { body, requested: Some(2), ..PLAIN }.record();
    assert_eq!(all.outcome, Outcome::Completed);
    assert!(all.terminal);
    // One less shows nothing, even where the length is fixed: it may have been cut off.
    let fewer = Case { body, requested: Some(3), ..PLAIN }.record();
    assert!(fewer.outcome == Outcome::Unconfirmed && !fewer.terminal);
    let said = fewer.detail.unwrap();
    let [english, chinese] = said.texts();
    assert_eq!(english, "ended without a finish reason, after 2 of 3 tokens");
    assert_eq!(chinese, "没有结束原因即结束，共 2 个 token（请求 3 个）");
    let short = Case { body, requested: Some(3), fixed: true, ..PLAIN }.record();
    assert_eq!(short.outcome, Outcome::Unconfirmed);
}

#[test]
fn a_clean_end_alone_leaves_it_unconfirmed() {
    for requested in [None, Some(3)] {
        let record = Case { requested, ..PLAIN }.record();
        assert_eq!(record.outcome, Outcome::Unconfirmed);
        assert!(!record.terminal);
        assert_eq!(record.text.as_deref(), Some("The sky"));
    }
    // The last document may lack its NUL.
    let record = Case { body: "{\"text\":[\"The\"]}\0{\"text\":[\" sky\"]}", ..PLAIN }.record();
    assert_eq!(record.outcome, Outcome::Unconfirmed);
    assert_eq!(record.text.as_deref(), Some("The sky"));
    let nothing = Case { body: "\0", ..PLAIN }.record();
    assert_eq!(nothing.outcome, Outcome::Failed(FailureClass::StreamEmpty));
}

#[test]
fn what_is_cut_off_is_not_whole() {
    let failed = |case: Case, class: FailureClass| {
        let record = case.record();
        assert_eq!(record.outcome, Outcome::Failed(class), "{:?}", case.body);
        assert!(!record.terminal);
    };
    // In the middle of a document, with a clean end and without.
    failed(
        Case { body: "{\"text\":[\"The\"]}\0{\"text\":[\" s", ..PLAIN },
        FailureClass::StreamTruncated,
    );
    failed(Case { ends: false, ..PLAIN }, FailureClass::StreamReset);
    // What a server writes when its engine does not respond.
    let spoken = "{\"text\":[\"The\"]}\0Engine callback timeout";
    failed(Case { body: spoken, ..PLAIN }, FailureClass::StreamTruncated);
    let spoken = "{\"text\":[\"The\"]}\0Engine callback timeout\0";
    failed(Case { body: spoken, ..PLAIN }, FailureClass::StreamMalformed);
}
