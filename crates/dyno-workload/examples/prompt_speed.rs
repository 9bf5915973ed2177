//! How quickly random prompts are ready, and how much memory they take: 100,000 prompts of 1,024
//! tokens on two threads, with the estimate, with small tokenizers trained here, or with the
//! tokenizer whose path is given.
//!
//! `cargo run --release -p dyno-workload --example prompt_speed [TOKENIZER [PROMPTS [TOKENS]]]`

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dyno_model::prompt::Content;
use dyno_testing::tokenizers::{KINDS, TEMPLATE, templated, trained, write_folder};
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::random::{RandomError, RandomOptions, RandomPrompts};
use dyno_workload::tokenizer::Tokenizer;

/// 100,000 prompts of 1,024 tokens are to be ready within these seconds.
const BAR_SECONDS: f64 = 10.0;
const BAR_TOKENS: f64 = 100_000.0 * 1_024.0;
const THREADS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let prompts = args.get(1).map_or(Ok(100_000), |text| text.parse())?;
    let lengths: Lengths = args.get(2).map_or("1024", String::as_str).parse()?;
    if let Some(path) = args.first() {
        let start = Instant::now();
        let tokenizer = Tokenizer::load(Path::new(path))?;
        println!("{} read in {:.2?}", tokenizer.name(), start.elapsed());
        return measure("given", &tokenizer, prompts, lengths);
    }
    measure("estimate", &Tokenizer::estimate(), prompts, lengths)?;
    for kind in KINDS {
        let place = tempfile::tempdir()?;
        let encoder = trained(kind);
        write_folder(place.path(), &encoder, Some(TEMPLATE));
        println!("\n{kind}; the template alone: {} bytes", templated("").len());
        measure(kind, &Tokenizer::load(place.path())?, prompts, lengths)?;
    }
    Ok(())
}

fn measure(
    name: &str,
    tokenizer: &Tokenizer,
    prompts: u64,
    lengths: Lengths,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let source = RandomPrompts::new(tokenizer, lengths, Key::new(1, 0), RandomOptions::default())?;
    let prepared = start.elapsed();
    let before = resident_kib();
    let start = Instant::now();
    let bytes = make(&source, prompts)?;
    let took = start.elapsed().as_secs_f64();
    let checks = source.checks();
    println!("{name}: prepared in {prepared:.2?}, from pieces: {}", source.from_pieces());
    let tokens = prompts as f64 * lengths.mean();
    println!(
        "  {prompts} prompts of {lengths} tokens on {THREADS} threads: {took:.2} s; 100,000 of \
         1,024 take {:.3} of the {BAR_SECONDS} s they may",
        took / tokens * BAR_TOKENS / BAR_SECONDS
    );
    println!(
        "  {:.0} MB of text, {:.1} million tokens a second; {} prompts counted again, {} wrong",
        bytes as f64 / 1e6,
        tokens / took / 1e6,
        checks.checked,
        checks.wrong
    );
    if let (Some(before), Some(after)) = (before, resident_kib()) {
        let text = bytes as f64 / 1024.0;
        println!(
            "  peak memory {before} KiB before, {after} KiB after: {:.4} of the text that was made",
            (after - before) as f64 / text
        );
    }
    Ok(())
}

/// Makes every prompt once and lets it go; returns the bytes of text.
fn make(source: &RandomPrompts, prompts: u64) -> Result<u64, RandomError> {
    let next = AtomicU64::new(0);
    let work = || -> Result<u64, RandomError> {
        let mut bytes = 0;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= prompts {
                return Ok(bytes);
            }
            if let Content::Text(text) = source.prompt(index)?.content {
                bytes += text.len() as u64;
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_fold(0, |sum, thread| Ok(sum + thread.join().unwrap_or(Ok(0))?))
    })
}

/// The most memory that the process has held so far.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
