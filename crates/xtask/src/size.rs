//! Resource use: memory with many streams and over many requests, 10,000 open streams, time to the
//! first byte on the wire, and the size of the binary.

use anyhow::{Context, Result};
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use xtask::lab::{Engine, build, median, number, scratch};

/// A `dyno bench` whose memory was sampled while it ran.
struct Watched {
    summary: serde_json::Value,
    /// Resident memory, sampled, in MB.
    resident: Vec<f64>,
    peak_mb: f64,
}

/// Runs `dyno bench` and samples its memory every 10 ms.
fn watch(dyno: &Path, engine: &Engine, arguments: &[&str]) -> Result<Watched> {
    let out = scratch();
    let mut child = Command::new(dyno)
        .args(["bench", &format!("http://{}", engine.address), "--json", "--quiet", "--out"])
        .arg(&out)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut stdout = child.stdout.take().context("no stdout")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let status = format!("/proc/{}/status", child.id());
    let (mut resident, mut peak_mb) = (Vec::new(), 0.0);
    while child.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kb| kb / 1024.0)
        };
        resident.extend(field("VmRSS:"));
        peak_mb = field("VmHWM:").unwrap_or(peak_mb);
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))??;
    let _ = std::fs::remove_dir_all(&out);
    let summary = serde_json::from_str(&text).context("the summary is not JSON")?;
    Ok(Watched { summary, resident, peak_mb })
}

fn counts(watched: &Watched) -> String {
    let level = &watched.summary["levels"][0];
    let count = |name: &str| number(level, &format!("/requests/{name}"));
    format!(
        "{} completed, {} failed, {} dropped, peak {} in flight, {}",
        count("completed"),
        count("failed"),
        count("dropped"),
        number(level, "/concurrency/peak"),
        level["verdict"].as_str().unwrap_or("?")
    )
}

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let bytes = std::fs::metadata(&dyno)?.len();
    println!("release binary: {:.1} MB (bar 30)", bytes as f64 / 1e6);

    let mut starts: Vec<f64> = Vec::new();
    for _ in 0..9 {
        starts.push(first_request(&dyno)?);
    }
    starts.sort_by(f64::total_cmp);
    println!(
        "first request on the wire: median {:.1} ms, worst {:.1} ms (bar 50)",
        starts[4], starts[8]
    );

    let engine = Engine::start(&dyno, "ttft=100ms,itl=20ms,tokens=256")?;
    let watched = watch(
        &dyno,
        &engine,
        &[
            "--concurrency",
            "1024",
            "--requests",
            "2048",
            "--output-tokens",
            "256",
            "--input-tokens",
            "64",
        ],
    )?;
    println!(
        "1,024 streams × 256 tokens: {:.1} MB at most (bar 100); {}",
        watched.peak_mb,
        counts(&watched)
    );
    drop(engine);

    let engine = Engine::start(&dyno, "ttft=1ms,itl=0ms,tokens=16,batch=16")?;
    println!("memory over requests (64 streams × 16 tokens):");
    for requests in ["1000", "10000", "100000"] {
        let watched = watch(
            &dyno,
            &engine,
            &[
                "--concurrency",
                "64",
                "--requests",
                requests,
                "--output-tokens",
                "16",
                "--input-tokens",
                "64",
            ],
        )?;
        let middle = median(watched.resident.clone());
        println!(
            "  {requests:>7}: {middle:.1} MB in the middle of the run, {:.1} MB at most; {}",
            watched.peak_mb,
            counts(&watched)
        );
    }
    drop(engine);

    let engine = Engine::start(&dyno, "ttft=1s,itl=1s,tokens=20")?;
    let watched = watch(
        &dyno,
        &engine,
        &[
            "--concurrency",
            "10000",
            "--requests",
            "10000",
            "--output-tokens",
            "20",
            "--input-tokens",
            "16",
        ],
    )?;
    println!(
        "10,000 streams, one token per second each: {:.1} MB; {}",
        watched.peak_mb,
        counts(&watched)
    );
    Ok(())
}

/// Milliseconds from the start of the process to the first byte of its first request.
fn first_request(dyno: &Path) -> Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let out = scratch();
    let started = Instant::now();
    let mut child = Command::new(dyno)
        .args(["bench", &format!("http://{}", listener.local_addr()?), "--quiet", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let (mut socket, _) = listener.accept()?;
    let mut byte = [0];
    socket.read_exact(&mut byte)?;
    let elapsed = started.elapsed();
    child.kill()?;
    child.wait()?;
    let _ = std::fs::remove_dir_all(&out);
    Ok(elapsed.as_secs_f64() * 1e3)
}
