//! A single client, compared with that of another binary: start-up, memory, size, CPU per token.

use anyhow::Result;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xtask::lab::{self, Engine, bench, build, median};

const ROUNDS: usize = 5;
const SCRIPT: &str = "ttft=20ms,itl=5ms,tokens=128";

/// What a command took: milliseconds, the largest resident set in MB, and how much of it is its own and no page of
/// a file that all processes share, looked at every millisecond.
fn took(dyno: &Path, arguments: &[&str]) -> Result<[f64; 3]> {
    let script = r#"import re,resource,subprocess,sys,time
b=time.perf_counter();own=0
p=subprocess.Popen(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL)
while p.poll() is None:
    found=re.search(r'RssAnon:\s+(\d+)',open(f'/proc/{p.pid}/status').read())
    own=max(own,int(found[1]) if found else 0)
    time.sleep(0.001)
print((time.perf_counter()-b)*1e3,resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss/1024,own/1024)"#;
    let program = dyno.display().to_string();
    let all = ["-c", script, &program].into_iter().chain(arguments.iter().copied());
    let ran = lab::run(&PathBuf::from("python3"), &all.map(str::to_owned).collect::<Vec<_>>())?;
    let mut numbers = ran.stdout.split_whitespace().filter_map(|number| number.parse().ok());
    Ok(std::array::from_fn(|_| numbers.next().unwrap_or(f64::NAN)))
}

/// What is measured of one binary in a round.
fn measure(dyno: &PathBuf, engine: &Engine) -> Result<[f64; 7]> {
    let version: Vec<f64> =
        (0..10).map(|_| Ok(took(dyno, &["--version"])?[0])).collect::<Result<_>>()?;
    let url = format!("http://{}", engine.address);
    let out = lab::scratch();
    let shown = out.display().to_string();
    let one = ["bench", &url, "--requests", "1", "--concurrency", "1", "--output-tokens", "1"];
    let quiet = ["--quiet", "--no-progress", "--out", &shown];
    let [first, memory, own] = took(dyno, &[&one[..], &quiet[..]].concat())?;
    let _ = std::fs::remove_dir_all(&out);
    let load = "--concurrency 64 --requests 512 --output-tokens 128 --input-tokens 16";
    let began = Instant::now();
    let (summary, ran) = bench(dyno, engine, &load.split_whitespace().collect::<Vec<_>>())?;
    let wall = began.elapsed().as_secs_f64();
    let tokens = 512.0 * 128.0;
    let ttft = lab::number(&summary, "/levels/0/ttft_ms/p99");
    Ok([median(version), first, memory, own, ran.cpu_s * 1e6 / tokens, ttft, wall])
}

pub(crate) fn run(other: &Path) -> Result<()> {
    let ours = build()?;
    let other = other.to_owned();
    for dyno in [&other, &ours] {
        let size = std::fs::metadata(dyno)?.len() as f64 / 1e6;
        println!("{}: {size:.1} MB", dyno.display());
    }
    let engine = Engine::start(&ours, SCRIPT)?;
    let names = [
        "dyno --version, ms",
        "a run of one request, ms",
        "its peak memory, MB",
        "of which its own, MB",
        "64 streams: CPU per token, µs",
        "64 streams: TTFT p99, ms",
        "64 streams: wall time, s",
    ];
    let mut all: [Vec<(f64, f64)>; 7] = Default::default();
    for round in 0..ROUNDS {
        let (theirs, own) = if round % 2 == 0 {
            let theirs = measure(&other, &engine)?;
            (theirs, measure(&ours, &engine)?)
        } else {
            let own = measure(&ours, &engine)?;
            (measure(&other, &engine)?, own)
        };
        for (at, pair) in theirs.into_iter().zip(own).enumerate() {
            all[at].push(pair);
        }
    }
    println!(
        "{:<32} {:>10} {:>10} {:>8}   medians of {ROUNDS}, alternating",
        "", "other", "ours", "ratio"
    );
    for (name, pairs) in names.iter().zip(all) {
        let before = median(pairs.iter().map(|pair| pair.0).collect());
        let now = median(pairs.iter().map(|pair| pair.1).collect());
        let ratio = median(pairs.iter().map(|pair| pair.1 / pair.0).collect());
        println!("{name:<32} {before:>10.3} {now:>10.3} {ratio:>8.3}");
    }
    Ok(())
}
