//! Bodies as real servers write them, and the record that each becomes: a folder per dialect, named
//! after it, with bodies (`NAME.sse`, `.ndjson`, `.nul`, `.json`), what is expected of each
//! (`NAME.expected`) and, where it matters, what was asked for (`NAME.ask`, one `key = value` per
//! line: `status`, `requested`, `inputs`, `fixed`, `stream`, `header.NAME`).
//!
//! `GOLDEN=openai-chat cargo test -p dyno-wire golden` writes the expected files of this dialect,
//! `GOLDEN=write` those of all; look at each change.

#![allow(clippy::unwrap_used)]

use dyno_model::budget::Budget;
use dyno_model::plan::Api;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::dialect::{DIALECTS, Dialect, Keep, find};
use dyno_wire::exchange::{Exchange, ExchangeProgress, Rules};
use dyno_wire::redact::Redactor;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const ARRIVAL: ArrivalTime = ArrivalTime { after: 1_000_000, at: 1_000_000, last_byte_slack: 0 };
/// Bodies up to this size are cut at every byte.
const CUT_EVERYWHERE: usize = 2_000;

struct Case {
    path: PathBuf,
    dialect: &'static dyn Dialect,
    body: Vec<u8>,
    asked: BTreeMap<String, String>,
}

impl Case {
    fn read(path: PathBuf, dialect: &'static dyn Dialect) -> Self {
        let body = fs::read(&path).unwrap();
        let asked = fs::read_to_string(path.with_extension("ask")).unwrap_or_default();
        let pair = |line: &str| {
            let (key, value) = line.split_once('=').unwrap();
            (key.trim().to_owned(), value.trim().to_owned())
        };
        let asked = asked.lines().filter(|line| !line.is_empty()).map(pair).collect();
        Self { path, dialect, body, asked }
    }

    fn kind(&self) -> &'static str {
        match self.path.extension().unwrap().to_str().unwrap() {
            "sse" => "text/event-stream",
            "ndjson" => "application/x-ndjson",
            "nul" => "text/event-stream",
            "json" => "application/json",
            other => panic!("{other} is not a kind of body"),
        }
    }

    /// The HTTP response with this body, ended cleanly.
    fn response(&self, body: &[u8]) -> Vec<u8> {
        let status = self.asked.get("status").map_or("200", String::as_str);
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Type: {}\r\n", self.kind());
        for (key, value) in &self.asked {
            if let Some(name) = key.strip_prefix("header.") {
                write!(head, "{name}: {value}\r\n").unwrap();
            }
        }
        let mut bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        // In chunks of odd sizes, which say nothing about frames.
        for part in body.chunks(701) {
            bytes.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            bytes.extend_from_slice(part);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }

    fn record(&self, parts: &[&[u8]]) -> RequestRecord {
        let rules = Rules {
            dialect: self.dialect,
            stream: self.asked.get("stream").is_none_or(|stream| stream == "true"),
            keep: Keep { text: true, content: true },
            redactor: Redactor::default(),
            budget: Budget::foreign(),
        };
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        record.requested_output = self.asked.get("requested").map(|n| n.parse().unwrap());
        record.inputs = self.asked.get("inputs").map(|n| n.parse().unwrap());
        let fixed = self.asked.get("fixed").is_some_and(|fixed| fixed == "true");
        let mut exchange = Exchange::new(record, fixed);
        for part in parts {
            if let ExchangeProgress::Over { .. } = exchange.on_data(&rules, part, ARRIVAL) {
                return exchange.record;
            }
        }
        exchange.on_close(&rules, None, ARRIVAL);
        exchange.record
    }
}

/// What is measured of a response, for people.
fn shown(record: &RequestRecord) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| writeln!(out, "{name}: {value}").unwrap();
    line("outcome", format!("{:?}", record.outcome));
    if let Some(detail) = &record.detail {
        line("detail", detail.to_string().escape_debug().to_string());
    }
    let count = |count: Option<dyno_model::record::TokenCount>| {
        count.map_or("unknown".to_owned(), |c| format!("{} by {:?}", c.tokens, c.source))
    };
    line("input tokens", count(record.input));
    if let Some(inputs) = record.inputs {
        line("inputs", inputs.to_string());
    } else {
        line("output tokens", count(record.output));
    }
    for (name, tokens) in [("cached", record.cached), ("reasoning", record.reasoning)] {
        if let Some(tokens) = tokens {
            line(name, tokens.to_string());
        }
    }
    if let Some(tokens) = record.unstreamed {
        line("not streamed", tokens.to_string());
    }
    if record.usage_ignored {
        line("usage", "ignored".to_owned());
    }
    let per_chunk: Vec<String> = record.chunks.iter().map(|c| c.tokens.to_string()).collect();
    if record.streamed {
        let known = if record.chunk_tokens_known { "counted" } else { "assumed" };
        line("tokens per chunk", format!("{} ({known})", per_chunk.join(" ")));
    }
    if let Some(tokens) = record.finish_tokens {
        line("tokens at the end", tokens.to_string());
    }
    if let Some(reason) = &record.finish_reason {
        line("finish", reason.escape_debug().to_string());
    }
    if let Some(times) = &record.server {
        line("server", format!("{times:?}"));
    }
    if record.heartbeats > 0 {
        line("heartbeats", record.heartbeats.to_string());
    }
    if record.lost_frames > 0 {
        line("lost frames", record.lost_frames.to_string());
    }
    let ended = match record.terminal {
        true => "with the terminal frame",
        false => "without a terminal frame",
    };
    line("ended", ended.to_owned());
    line("text", format!("{:?}", record.text.as_deref().unwrap_or_default()));
    out
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let api: Api = serde_json::from_value(name.clone().into()).unwrap();
        let dialect = find(&api).unwrap_or_else(|| panic!("{name} is not a dialect"));
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if !["expected", "ask"].map(Some).contains(&path.extension().and_then(|e| e.to_str())) {
                cases.push(Case::read(path, dialect));
            }
        }
    }
    cases.sort_by(|a, b| a.path.cmp(&b.path));
    cases
}

#[test]
fn every_body_becomes_the_record_that_is_expected() {
    let written = std::env::var("GOLDEN").unwrap_or_default();
    let mut wrong = Vec::new();
    for case in cases() {
        let found = shown(&case.record(&[&case.response(&case.body)]));
        let expected = case.path.with_extension("expected");
        if written == "write" || written == case.dialect.about().name {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", case.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn however_it_is_cut_into_reads_the_record_is_the_same() {
    for case in cases() {
        let response = case.response(&case.body);
        let whole = shown(&case.record(&[&response]));
        let step = 1 + response.len() / CUT_EVERYWHERE;
        for at in (0..response.len()).step_by(step) {
            let (left, right) = response.split_at(at);
            assert_eq!(
                shown(&case.record(&[left, right])),
                whole,
                "{} cut at {at}",
                case.path.display()
            );
        }
        let bytes: Vec<&[u8]> = response.chunks(1).collect();
        assert_eq!(shown(&case.record(&bytes)), whole, "{} byte by byte", case.path.display());
    }
}

#[test]
fn a_body_that_ends_early_is_not_taken_for_a_whole_one() {
    for case in cases() {
        let step = 1 + case.body.len() / CUT_EVERYWHERE;
        for at in (0..case.body.len()).step_by(step) {
            let record = case.record(&[&case.response(&case.body[..at])]);
            let says_so = record.terminal || record.finish_reason.is_some();
            let file = case.path.display();
            assert!(!record.is_completed() || says_so, "{file} up to {at}:\n{}", shown(&record));
        }
    }
}

#[test]
fn what_follows_the_end_changes_nothing() {
    for case in cases() {
        let alone = case.record(&[&case.response(&case.body)]);
        if alone.terminal && alone.streamed {
            let twice = [&case.body[..], b"\n\n", &case.body].concat();
            let twice = case.record(&[&case.response(&twice)]);
            assert_eq!(shown(&twice), shown(&alone), "{}", case.path.display());
        }
    }
}

#[test]
fn every_dialect_has_golden_bodies() {
    let cases = cases();
    for dialect in DIALECTS {
        let name = dialect.about().name;
        let count = cases.iter().filter(|case| case.dialect.about().name == name).count();
        assert!(count >= 3, "{name} has {count} golden bodies; add some to tests/golden/{name}/");
    }
}
