//! Dyno's time of a token is when the server wrote it, however busy the machine: the engine keeps the
//! clock before and after each write, and the kernel stamps the packet in between.

use crate::bench::engines::EngineProcess;
use crate::bench::place::Place;
use crate::bench::process::{Process, run};
use dyno_record::RunDir;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// How far the two processes' clocks may be apart, and what a stamp may miss the write by.
const TOLERANCE: i64 = 50_000;
/// A record's times are whole microseconds.
const MICROSECOND: i64 = 1_000;
/// Lengths of the responses, each of which is asked for once: they tell them apart.
const LENGTHS: std::ops::Range<u64> = 40..140;

/// The clock before a write and after it, in nanoseconds since 1970, and its tokens.
type Write = [i64; 3];

/// The writes of each response by the engine's ledger, by its number of tokens.
fn written(ledger: &str) -> BTreeMap<u64, Vec<Write>> {
    let mut responses = BTreeMap::new();
    for line in ledger.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let number = |write: &Value, at: usize| write[at].as_i64().unwrap();
        let writes = entry["writes"].as_array().unwrap().iter();
        let writes: Vec<Write> = writes.map(|w| [0, 1, 2].map(|at| number(w, at))).collect();
        let tokens = writes.iter().map(|write| write[2] as u64).sum();
        // What the preflight asked for is shorter.
        if LENGTHS.contains(&tokens) {
            assert!(responses.insert(tokens, writes).is_none(), "two responses of {tokens} tokens");
        }
    }
    responses
}

/// How far each event lies outside of its write, for writes of one token that were read alone.
fn misses(place: &Place, ledger: &str) -> Vec<i64> {
    let anchor = RunDir::open(place.run_dir()).unwrap().records().unwrap().header().anchor_unix_ns;
    let written = written(ledger);
    let requests = place.requests();
    assert_eq!(requests.len(), LENGTHS.count());
    let mut misses = Vec::new();
    for record in requests {
        let writes = &written[&record.output.unwrap().tokens];
        // Events by the write that brought them.
        let mut events = record.chunks.iter().peekable();
        for [before, after, tokens] in writes {
            let mut of_this: Vec<_> = events.by_ref().take(*tokens as usize).collect();
            let event = of_this.pop().expect("a token that was written and never read");
            let with_the_next = events.peek().is_some_and(|next| next.coalesced);
            if *tokens > 1 || event.coalesced || with_the_next {
                continue;
            }
            let at = anchor as i64 + event.at_us as i64 * MICROSECOND;
            misses.push((before - (at + MICROSECOND)).max(at - after).max(0));
        }
        assert!(events.next().is_none(), "a token that was read and never written");
    }
    misses
}

fn stamps_lie_within_the_writes(busy_processes: usize) {
    let place = Place::new();
    let rows = LENGTHS.map(|tokens| format!("a prompt,{tokens}\n")).collect::<String>();
    let data = place.file("lengths.csv", &format!("prompt,output_tokens\n{rows}"));
    let ledger = place.path().join("ledger.jsonl");
    let script = format!("--scripted ttft=20ms,itl=4ms --ledger {}", ledger.display());
    let engine = EngineProcess::with(&place, &script);
    // They end with this value.
    let _busy: Vec<Process> = (0..busy_processes)
        .map(|_| {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]);
            Process::start(command)
        })
        .collect();
    let requests = LENGTHS.count();
    let args = format!("--concurrency 8 --requests {requests} --warmup 0 --data {data}");
    run(place.bench(&engine.url(), &args)).expect_measured();

    let client = &place.level_ends()[0].client;
    let [stamped, not] = [client.read_delay.count(), client.unstamped_reads];
    assert!(
        not * 100 <= stamped,
        "this kernel gives no receive stamps (SO_TIMESTAMPNS): {not} of {} reads had none",
        stamped + not
    );
    let misses = misses(&place, &std::fs::read_to_string(&ledger).unwrap());
    let tokens: u64 = LENGTHS.sum();
    assert!(misses.len() as u64 > tokens / 10, "only {} of {tokens} came alone", misses.len());
    let mut outside: Vec<i64> = misses.iter().copied().filter(|miss| *miss > TOLERANCE).collect();
    outside.sort_unstable();
    let [far, all] = [outside.len(), misses.len()];
    assert!(far * 1_000 <= all, "{far} of {all} lie outside of their writes, by ns: {outside:?}");
}

#[test]
fn stamps_lie_within_the_writes_of_the_server() {
    stamps_lie_within_the_writes(0);
}

#[test]
fn stamps_lie_within_the_writes_beside_two_busy_processes() {
    stamps_lie_within_the_writes(2);
}
