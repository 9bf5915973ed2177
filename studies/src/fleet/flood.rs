//! Loads that no client can send: whether it stops when it is told to, what it has recorded by then, and how
//! much memory it takes.

use super::all_met;
use super::processes::{Run, is_alive, kib, requests, signal};
use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use xtask::lab::{Engine, build};

const SCRIPT: &str = "ttft=5ms,itl=1ms,tokens=2";
const EVERY: &str = "--seed 1 --drain 2s";
/// A trace has lengths of its own.
const LENGTHS: &str = "--input-tokens 16 --output-tokens 2";
/// Everything has to be over by then.
const WITHIN: f64 = 5.0;
/// The part of the requests that must be on disk unless their client was killed.
const LEAST: f64 = 0.95;
/// What a client may take: a few thousand requests in flight, and what is being written.
const MEMORY_MB: f64 = 512.0;

/// What is done to a run, and after how many seconds.
#[derive(Clone, Copy)]
enum Act {
    Interrupt(u64),
    Kill(u64),
    Nothing,
}

/// What no client can send for a minute.
const FLOOD: [&str; 4] = ["--rate", "100000", "--duration", "60s"];
const BY_TWO: [&str; 6] = ["--agents", "2", "--rate", "100000", "--duration", "60s"];
const TRACE: &str = "trace.csv";

/// A case: its name, the load, what is done, and the expected exit status.
type Case = (&'static str, &'static [&'static str], Act, Option<i32>);

const CASES: [Case; 7] = [
    ("alone, Ctrl-C", &FLOOD, Act::Interrupt(4), Some(130)),
    ("alone, left alone", &FLOOD, Act::Nothing, Some(4)),
    ("ramp, Ctrl-C", &["--ramp", "1..100000/s over 20s"], Act::Interrupt(9), Some(130)),
    ("trace, Ctrl-C", &["--data", TRACE], Act::Interrupt(5), Some(130)),
    ("two agents, Ctrl-C", &BY_TWO, Act::Interrupt(5), Some(130)),
    ("coordinator, kill -9", &BY_TWO, Act::Kill(5), None),
    ("alone, kill -9", &["--rate", "60000", "--duration", "60s"], Act::Kill(5), None),
];

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let engine = Engine::on_any_core(&dyno, &["--scripted", SCRIPT])?;
    println!("bench {LENGTHS} {EVERY}\nscript {SCRIPT}");
    println!(
        "{:<22}{:>9}{:>6}{:>11}{:>11}{:>11}{:>10}",
        "case", "over s", "exit", "answered", "late", "on disk", "peak MB"
    );
    let mut missed = Vec::new();
    for case in CASES {
        let wrong = tried(&dyno, &engine, case)?;
        missed.extend(wrong.into_iter().map(|why| format!("{}: {why}", case.0)));
    }
    println!("over s: from the signal to the end of all processes; late: requests after that");
    all_met(&missed)
}

/// Runs one case and prints its row; what was not as promised.
fn tried(dyno: &Path, engine: &Engine, (name, load, act, status): Case) -> Result<Vec<String>> {
    let before = requests(engine)?.0;
    let place = super::processes::place()?;
    if load.contains(&TRACE) {
        write_trace(&place.join(TRACE))?;
    }
    let lengths = if load.contains(&TRACE) { "" } else { LENGTHS };
    let more = lengths.split_whitespace().chain(EVERY.split_whitespace());
    let arguments: Vec<&str> = load.iter().copied().chain(more).collect();
    let mut run = Run::start_with(place, dyno, engine, &arguments)?;
    let mut peak = 0.0;
    let at = match act {
        Act::Interrupt(s) | Act::Kill(s) => Duration::from_secs(s),
        Act::Nothing => Duration::from_secs(90),
    };
    while run.began.elapsed() < at && run.child.try_wait()?.is_none() {
        peak = peak_of(&run, peak);
    }
    let agents = run.agents();
    let acted = Instant::now();
    match act {
        Act::Interrupt(_) => signal(run.child.id(), "INT"),
        Act::Kill(_) => signal(run.child.id(), "KILL"),
        Act::Nothing => {}
    }
    while acted.elapsed() < Duration::from_secs(60)
        && (run.child.try_wait()?.is_none() || agents.iter().any(|agent| is_alive(*agent)))
    {
        peak = peak_of(&run, peak);
    }
    let over = acted.elapsed().as_secs_f64();
    let ended = run.end(Duration::from_secs(1))?;
    let then = requests(engine)?.0;
    std::thread::sleep(Duration::from_secs(1));
    let late = requests(engine)?.0 - then;
    let recorded = run.report(dyno).map_or(0, |report| recorded(&report));
    println!(
        "{name:<22}{over:>9.2}{:>6}{:>11}{late:>11}{recorded:>11}{:>10.0}",
        ended.map_or("–".to_owned(), |status| status.to_string()),
        then - before,
        peak
    );
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, why: String| {
        if !holds {
            wrong.push(why);
        }
    };
    expect(over <= WITHIN, format!("over only after {over:.1} s"));
    expect(ended == status, format!("ended with {ended:?}: {}", run.said()));
    expect(late == 0, format!("{late} requests came later"));
    // A client that is killed itself loses what is in flight, and the last tenth of a second.
    let killed = matches!(act, Act::Kill(_)) && agents.is_empty();
    let least = if killed { 1.0 } else { (then - before) as f64 * LEAST };
    expect(recorded as f64 >= least, format!("{recorded} of {} on disk", then - before));
    expect(peak <= MEMORY_MB, format!("{:.0} MB", peak));
    Ok(wrong)
}

/// The most memory that any process of a run had so far, in MB, or as much as before.
fn peak_of(run: &Run, before: f64) -> f64 {
    std::thread::sleep(Duration::from_millis(50));
    let all = run.agents().into_iter().chain([run.child.id()]);
    all.map(|process| kib(process, "status", "VmHWM:") / 1024.0).fold(before, f64::max)
}

/// Requests of which there is a record.
fn recorded(report: &Value) -> u64 {
    let levels = report["levels"].as_array().into_iter().flatten();
    let kinds = ["completed", "failed", "shed", "dropped", "censored"];
    let of = |level: &Value| {
        kinds.iter().filter_map(|kind| level["requests"][kind].as_u64()).sum::<u64>()
    };
    levels.map(of).sum()
}

/// 1.5 million requests in 15 s.
fn write_trace(path: &Path) -> Result<()> {
    let mut text = "request_id,timestamp,input_tokens,output_tokens\n".to_owned();
    for request in 0..1_500_000_u64 {
        let (s, rest) = (request / 100_000, request % 100_000);
        text.push_str(&format!("{request},{s}.{rest:05},16,2\n"));
    }
    Ok(std::fs::write(path, text)?)
}
