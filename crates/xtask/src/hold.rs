//! How many streams one machine can hold at the same time, and what each of them costs: several clients,
//! each with its own engine because a process may be short of file descriptors, all from several local
//! addresses. Streams are counted by the engines.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use xtask::lab::{Engine, build, number, scratch};

/// Each stream lasts a minute, in which all others are opened, with few tokens: holding is measured here,
/// not timing. The preflight asks for 16 tokens, so it takes most of a minute, too.
const SCRIPT: &str = "ttft=1s,itl=3s,tokens=20";
const TOKENS: &str = "20";

/// A client that is running, with the engine it measures.
struct Pair {
    engine: Engine,
    client: Child,
    out: PathBuf,
    /// Resident memory before the first stream, in kB: of the client and of the engine.
    before: [f64; 2],
    most: [f64; 2],
}

pub(crate) fn run(streams: u32, pairs: u32, sources: &str) -> Result<()> {
    let dyno = build()?;
    let pairs = pairs.max(1);
    let each = streams.div_ceil(pairs);
    println!(
        "{pairs} clients × {each} streams from {sources}; {} open files for each process, {} ports for \
         each address",
        shown(dyno_net::raise_open_files()),
        shown(dyno_net::local_ports())
    );
    let idle = kernel_kb();
    let begun = Instant::now();
    let mut all = Vec::new();
    for _ in 0..pairs {
        all.push(Pair::start(&dyno, each, sources)?);
    }
    let (mut most, mut most_kernel, mut samples) = (0.0_f64, 0.0_f64, Vec::new());
    while all.iter_mut().any(|pair| matches!(pair.client.try_wait(), Ok(None))) {
        let held: f64 = all.iter().map(|pair| running(&pair.engine.address).unwrap_or(0.0)).sum();
        samples.push((begun.elapsed().as_secs_f64(), held));
        most = most.max(held);
        most_kernel = most_kernel.max(kernel_kb() - idle);
        all.iter_mut().for_each(Pair::weigh);
        std::thread::sleep(Duration::from_millis(250));
    }
    let share =
        |part: f64| samples.iter().find(|(_, held)| *held >= most * part).map(|(at, _)| *at);
    println!("most streams at the same time: {most} of {streams}");
    if let (Some(first), Some(last)) = (share(0.01), share(0.99)) {
        println!("  opened between {first:.1} s and {last:.1} s after the start");
        let held = samples.iter().filter(|(_, held)| *held >= most * 0.99).map(|(at, _)| at);
        let until = held.fold(last, |latest, at| at.max(latest));
        println!("  99 % of them held until {until:.1} s");
    }
    for (index, name) in ["client", "engine"].into_iter().enumerate() {
        let grown: f64 = all.iter().map(|pair| pair.most[index] - pair.before[index]).sum();
        println!("{name}: {:.2} kB for each stream", grown / most);
    }
    println!(
        "kernel: {:.2} kB for each stream, both ends ({:.0} MB of slab and socket buffers)",
        most_kernel / most,
        most_kernel / 1024.0
    );
    for pair in all {
        println!("{}", pair.end()?);
    }
    Ok(())
}

impl Pair {
    fn start(dyno: &Path, streams: u32, sources: &str) -> Result<Self> {
        let engine = Engine::on_any_core(dyno, &["--scripted", SCRIPT])?;
        let out = scratch();
        let client = Command::new(dyno)
            .args(["bench", &format!("http://{}", engine.address), "--json", "--quiet"])
            .args([
                "--burst",
                &streams.to_string(),
                "--input-tokens",
                "16",
                "--output-tokens",
                TOKENS,
            ])
            .args(["--source-address", sources, "--timeout-connect", "60s", "--report", "none"])
            .args(["--metrics", "none", "--out"])
            .arg(&out)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let before = [resident_kb(client.id()), resident_kb(engine.id())];
        Ok(Self { engine, client, out, before, most: before })
    }

    fn weigh(&mut self) {
        let now = [resident_kb(self.client.id()), resident_kb(self.engine.id())];
        for (most, now) in self.most.iter_mut().zip(now) {
            *most = most.max(now);
        }
    }

    fn end(self) -> Result<String> {
        let output = self.client.wait_with_output()?;
        let _ = std::fs::remove_dir_all(&self.out);
        let summary: serde_json::Value =
            serde_json::from_slice(&output.stdout).context("the summary is not JSON")?;
        let level = &summary["levels"][0];
        let count = |name: &str| number(level, &format!("/requests/{name}"));
        let codes = |list: &str| -> Vec<String> {
            let items = level[list].as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(|item| item["code"].as_str().map(str::to_owned)).collect()
        };
        Ok(format!(
            "{} completed, {} failed, {} dropped, peak {} in flight, {} {:?} {:?}",
            count("completed"),
            count("failed"),
            count("dropped"),
            number(level, "/concurrency/peak"),
            level["verdict"].as_str().unwrap_or("?"),
            codes("reasons"),
            codes("notes"),
        ))
    }
}

fn shown(limit: Option<u64>) -> String {
    limit.map_or("unlimited".to_owned(), |limit| limit.to_string())
}

/// Responses that an engine is writing.
fn running(address: &str) -> Result<f64> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let line = text.lines().find(|line| line.starts_with("dyno_engine_requests_running"));
    Ok(line.and_then(|line| line.rsplit(' ').next()).context("no such metric")?.parse()?)
}

/// The value of a line `Name: N kB` of a file.
fn field(path: &str, name: &str) -> Option<f64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn resident_kb(process: u32) -> f64 {
    field(&format!("/proc/{process}/status"), "VmRSS:").unwrap_or(0.0)
}

/// Memory of the kernel for sockets: their structures, and the pages of their buffers.
fn kernel_kb() -> f64 {
    let sockets = std::fs::read_to_string("/proc/net/sockstat").unwrap_or_default();
    let tcp = sockets.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let pages = tcp.rsplit(' ').next().and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0);
    field("/proc/meminfo", "Slab:").unwrap_or(0.0) + pages * 4.0
}
