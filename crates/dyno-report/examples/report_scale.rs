//! How reading a run grows with it: writes runs of 10,000, 100,000 and 1,000,000 requests of 16
//! tokens, reads each in a process of its own, and prints time, memory, and how both grow.
//!
//! `cargo run --release -p dyno-report --example report_scale [-- REQUESTS…]`

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use dyno_analysis::{Detail, DirSource, summarise};
use dyno_model::frame::{Ending, Frame, LevelEnd, LevelStart, RunEnd, RunHeader};
use dyno_model::outcome::Outcome;
use dyno_model::plan::{
    Api, DataPlan, LengthSpec, LevelPlan, Load, PLAN_SCHEMA, Plan, RequestPlan, Shard, Target,
    Task, Timeouts, UsageWanted,
};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::summary::Extras;
use dyno_model::{MS, SEC};
use dyno_record::{Recorder, RunDir};
use dyno_report::layout::{Layout, Options, RunToPrint};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const SLOTS: u32 = 256;
const TOKENS: u64 = 16;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, dir] = args.as_slice()
        && flag == "--read"
    {
        return read(Path::new(dir));
    }
    let mut sizes: Vec<u64> = args.iter().map(|arg| arg.parse().expect("a number")).collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 1_000_000];
    }
    println!(
        "| requests | tokens | records | summary, table | and the page | page | memory at most |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut all = Vec::new();
    for requests in sizes {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("run");
        write(&path, requests);
        let size = std::fs::metadata(path.join("records.dyno")).expect("records").len();
        let out = Command::new(std::env::current_exe().unwrap()).arg("--read").arg(&path).output();
        let out = String::from_utf8(out.expect("a process").stdout).expect("text");
        let found: Vec<f64> = out.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let &[summary_s, page_s, memory_mb, page_mb] = found.as_slice() else { panic!("{out}") };
        println!(
            "| {requests} | {} | {:.1} MB | {summary_s:.2} s | {page_s:.2} s | {page_mb:.2} MB | \
             {memory_mb:.0} MB |",
            requests * TOKENS,
            size as f64 / 1e6
        );
        all.push((requests as f64, summary_s, page_s, memory_mb));
    }
    for pair in all.windows(2) {
        let [a, b] = pair else { continue };
        println!(
            "{:.0} times the requests: {:.1} times the time of the summary, {:.1} of the page, \
             {:.1} times the memory",
            b.0 / a.0,
            b.1 / a.1,
            b.2 / a.2,
            b.3 / a.3
        );
    }
}

/// Sums a run up as `dyno report` does.
fn read(path: &Path) {
    let dir = RunDir::open(path).expect("a run");
    let (plan, environment) = (dir.read_plan().unwrap(), dir.read_environment().unwrap());
    let begun = Instant::now();
    let source = DirSource::open(&dir).unwrap();
    let summary = summarise(&plan, environment.as_ref(), &source);
    let mut run = RunToPrint {
        summary,
        extras: Extras::default(),
        detail: None,
        plan: Some(plan),
        environment,
    };
    let printed = Layout::Table.print(std::slice::from_ref(&run), &Options::default()).unwrap();
    assert!(String::from_utf8_lossy(&printed.bytes).contains("p99"));
    let summed = begun.elapsed().as_secs_f64();
    run.detail = Some(Detail::gather(&source));
    let page = Layout::Html.print(&[run], &Options::default()).unwrap();
    let paged = begun.elapsed().as_secs_f64() - summed;
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    println!("{summed} {paged} {} {}", kib * 1024.0 / 1e6, page.bytes.len() as f64 / 1e6);
}

/// A closed loop whose times jitter by the microsecond, so that hardly two are the same.
fn write(path: &Path, requests: u64) {
    let dir = RunDir::create(path).expect("a new directory");
    let plan = plan(requests);
    dir.write_plan(&plan).unwrap();
    let header = RunHeader {
        format: 1,
        run_id: "20260301T000000Z-1a2b".to_owned(),
        shard: 0,
        shards: 1,
        anchor_unix_ns: 1_772_323_200 * SEC,
        plan_hash: plan.hash(),
        version: "0.1.0".to_owned(),
    };
    let recorder = Recorder::start(&dir, header).unwrap();
    recorder.send(Frame::LevelStart(LevelStart { level: 0, started: 0 }));
    let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
    let mut free = vec![0_u64; SLOTS as usize];
    let mut last = 0;
    for index in 0..requests {
        let slot = (index % u64::from(SLOTS)) as u32;
        let record = record(index, slot, free[slot as usize], &mut chance);
        free[slot as usize] = record.end;
        last = last.max(record.end);
        recorder.send(Frame::Request(Box::new(record)));
    }
    let end = LevelEnd {
        planned: Some(requests),
        issued: requests,
        ..LevelEnd::at(0, Ending::Requests, last)
    };
    recorder.send(Frame::LevelEnd(Box::new(end)));
    recorder.send(Frame::RunEnd(RunEnd { ended: last, ending: Ending::Requests }));
    let finished = recorder.finish();
    assert!(finished.error.is_none() && finished.unwritten.is_empty());
}

fn record(index: u64, slot: u32, free: u64, chance: &mut u64) -> RequestRecord {
    let mut up_to = |limit: u64| {
        *chance ^= *chance << 13;
        *chance ^= *chance >> 7;
        *chance ^= *chance << 17;
        *chance % limit
    };
    let sent = free + up_to(200_000);
    let mut record = RequestRecord::new(0, index, slot, Phase::Measured, free);
    record.widths = Some(Default::default());
    record.outcome = Outcome::Completed;
    (record.dispatched, record.connected, record.sent) = (Some(free), Some(free), Some(sent));
    let mut at = sent + 80 * MS + up_to(60 * MS);
    record.first = Some(at);
    for token in 0..TOKENS {
        at += if token == 0 { 0 } else { 18 * MS + up_to(4 * MS) };
        record.chunks.push(at, false, 1);
    }
    (record.last, record.end) = (Some(at), at);
    (record.streamed, record.terminal, record.reused) = (true, true, true);
    record.input = Some(TokenCount { tokens: 128, source: TokenSource::Usage });
    record.output = Some(TokenCount { tokens: TOKENS, source: TokenSource::Usage });
    record.requested_output = Some(TOKENS as u32);
    record.status = Some(200);
    record
}

fn plan(requests: u64) -> Plan {
    let level = LevelPlan {
        label: format!("c={SLOTS}"),
        load: Load::Concurrency { concurrency: SLOTS },
        requests: Some(requests),
        duration_ns: None,
        warmup: None,
        drain_ns: 30 * SEC,
        input_tokens: LengthSpec::fixed(128),
        output_tokens: LengthSpec::fixed(TOKENS as u32),
        capacity: None,
        extrapolated: false,
        repeat: None,
        inputs: None,
        once: false,
        until: None,
        soak: false,
        max_concurrency: None,
    };
    Plan {
        schema: PLAN_SCHEMA.to_owned(),
        target: Target {
            url: Some("http://127.0.0.1:8000/v1".to_owned()),
            embedded: None,
            predicted: false,
            api: Api::named("openai-chat"),
            insecure: false,
            header_names: vec![],
            source_addresses: None,
            accuracy: None,
        },
        levels: vec![level],
        data: DataPlan::default(),
        request: RequestPlan {
            task: Task::default(),
            model: None,
            stream: true,
            temperature: None,
            stop: vec![],
            extra_body: None,
            usage: UsageWanted::Final,
        },
        timeouts: Timeouts { connect_ns: SEC, total_ns: SEC, first_token_ns: SEC, idle_ns: SEC },
        allow_failures: 0.01,
        shed_retries: None,
        max_failures: None,
        slo: None,
        seed: 42,
        shard: Shard::WHOLE,
        fleet: None,
        label: None,
        note: None,
        save_text: false,
        course: Default::default(),
        server: Default::default(),
    }
}
