//! Memory and time of a trace file: writes one of a known form, opens it and describes it as `dyno
//! data show` does, and prints the peak of the process's memory after each step.
//!
//! `cargo run --release -p dyno-workload --example trace_memory -- azure 10000000`
//! `cargo run --release -p dyno-workload --example trace_memory -- mooncake 1200000`
//! `cargo run --release -p dyno-workload --example trace_memory -- apart 1200000`: no prefix is shared

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use dyno_workload::data::DataSpec;
use dyno_workload::trace::{Trace, TraceLimits, TraceProfile};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let form = arguments.next().unwrap_or_else(|| "azure".to_owned());
    let rows: u64 = arguments.next().map_or(Ok(1_000_000), |rows| rows.parse())?;
    let place = std::env::temp_dir().join(format!("trace-memory-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    let path = place.join(if form == "azure" { "trace.csv" } else { "trace.jsonl" });
    let shown = written(&path, &form, rows).and_then(|()| show(&path));
    std::fs::remove_dir_all(&place)?;
    shown
}

fn show(path: &Path) -> Result<(), Box<dyn Error>> {
    let size = std::fs::metadata(path)?.len();
    let before = peak()?;
    let start = Instant::now();
    let spec: DataSpec = format!("trace:{}", path.display()).parse()?;
    let trace = Trace::open(&spec, &TraceLimits::default())?;
    let read = start.elapsed().as_secs_f64();
    let opened = peak()?;
    let ids: u64 = trace.requests().map(|request| request.hashes.len() as u64).sum();
    let start = Instant::now();
    let profile = TraceProfile::of(&trace);
    let described = start.elapsed().as_secs_f64();
    let after = peak()?;
    let rows = trace.len();
    println!("{} requests, {ids} ids, {} MB", rows, size / 1_000_000);
    println!("read in {read:.1} s, described in {described:.1} s; {:?}", profile.reuse);
    let needed = |peak: u64| peak.saturating_sub(before);
    let documented = if ids > 0 { 24 * rows + 8 * ids } else { 16 * rows };
    for (what, peak) in [("read", opened), ("described", after)] {
        println!(
            "peak when {what}: {} MB, {:.1} bytes a request; {:.2} of the {} MB documented",
            needed(peak) / 1_000_000,
            needed(peak) as f64 / rows as f64,
            needed(peak) as f64 / documented as f64,
            documented / 1_000_000
        );
    }
    Ok(())
}

/// The most memory that the process has used so far, in bytes.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no VmHWM")?;
    Ok(kilobytes.trim().parse::<u64>()? * 1024)
}

fn written(path: &Path, form: &str, rows: u64) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    if form == "azure" {
        writeln!(out, "TIMESTAMP,ContextTokens,GeneratedTokens")?;
        for index in 0..rows {
            let (second, rest) = (index / 200, index % 200 * 5);
            let (hour, minute) = (second / 3_600 % 24, second / 60 % 60);
            let day = 10 + second / 86_400 % 18;
            let tokens = 100 + index * 7_919 % 4_000;
            writeln!(
                out,
                "2024-05-{day:02} {hour:02}:{minute:02}:{:02}.{rest:03}930+00:00,{tokens},{}",
                second % 60,
                1 + index % 500
            )?;
        }
        return Ok(out.flush()?);
    }
    // Conversations of ten turns, each of which adds a block or two to a common beginning.
    let mut next = 100_u64;
    let mut talks: Vec<Vec<u64>> = vec![Vec::new(); 1_000];
    for index in 0..rows {
        let talk = &mut talks[(index * 31 % 1_000) as usize];
        let new = match form {
            "apart" => {
                talk.clear();
                24
            }
            _ => 2 + index % 4,
        };
        if form != "apart" && (talk.is_empty() || talk.len() > 40) {
            *talk = vec![0, 1 + index % 5];
        }
        for _ in 0..new {
            talk.push(next);
            next += 1;
        }
        let length = 512 * talk.len() as u64 - index % 500;
        writeln!(
            out,
            "{{\"timestamp\": {}, \"input_length\": {length}, \"output_length\": {}, \"hash_ids\": \
             {talk:?}}}",
            index * 3,
            1 + index % 700
        )?;
    }
    Ok(out.flush()?)
}
