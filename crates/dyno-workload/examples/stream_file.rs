//! Reads a large file of its own making and prints how fast, and how much memory it took:
//!
//! `cargo run --release -p dyno-workload --example stream_file -- 2048 jsonl`
//!
//! The first argument is the size in MiB (2048), the second the layout: `jsonl`, `array`, `csv`,
//! `gzip` or all of them (`all`). A path in the place of the size reads that file instead. Items
//! are shuffled, so that the window of the shuffle is part of the memory.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use dyno_workload::data::{DataOrder, DataSet, DataSpec, PromptSelection};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_else(|| "2048".into());
    if Path::new(&first).exists() {
        return measure(Path::new(&first), fs::metadata(&first)?.len());
    }
    let size = first.parse::<u64>()? * 1024 * 1024;
    let layout = arguments.next().unwrap_or_else(|| "all".into());
    let folder = std::env::temp_dir().join(format!("dyno-stream-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let done = match layout.as_str() {
        "all" => ["jsonl", "array", "csv", "gzip"]
            .iter()
            .try_for_each(|layout| make_and_measure(&folder, layout, size)),
        layout => make_and_measure(&folder, layout, size),
    };
    fs::remove_dir_all(&folder)?;
    done
}

fn make_and_measure(folder: &Path, layout: &str, size: u64) -> Result<(), Box<dyn Error>> {
    let path = folder.join(format!("data.{layout}"));
    generate(&path, layout, size)?;
    measure(&path, size)?;
    fs::remove_file(path)?;
    Ok(())
}

fn measure(path: &Path, size: u64) -> Result<(), Box<dyn Error>> {
    let spec = DataSpec { path: Some(path.to_path_buf()), ..DataSpec::default() };
    let started = Instant::now();
    let data = DataSet::new(&spec)?;
    println!("{}", data.recognised());
    let selection = PromptSelection {
        order: DataOrder::Shuffle,
        seed: 1,
        repeat: false,
        ..PromptSelection::default()
    };
    let mut items = selection.of(&data, None)?;
    for item in items.by_ref() {
        item?;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "  {} items, {:.0} MiB in {seconds:.1} s ({:.0} MiB/s); peak memory of the \
         process so far {} MiB",
        items.tally().given,
        size as f64 / 1024.0 / 1024.0,
        size as f64 / 1024.0 / 1024.0 / seconds,
        peak_memory()? / 1024,
    );
    Ok(())
}

/// Records of about a kilobyte, all different.
fn generate(path: &Path, layout: &str, size: u64) -> Result<(), Box<dyn Error>> {
    let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut out: Box<dyn Write> = match layout {
        "gzip" => Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast())),
        _ => Box::new(file),
    };
    let words = "the quick brown fox jumps over a lazy dog, said \\\"nobody\\\" ".repeat(16);
    match layout {
        "csv" => out.write_all(b"id,prompt\n")?,
        "array" => out.write_all(b"[\n")?,
        "jsonl" | "gzip" => {}
        other => return Err(format!("{other:?}: write jsonl, array, csv, gzip or all").into()),
    }
    let (mut written, mut number) = (0, 0_u64);
    while written < size {
        let record = match layout {
            "csv" => format!("{number},\"{number} {}\"\n", words.replace("\\\"", "\"\"")),
            "array" if number > 0 => format!(",\n{{\"prompt\":\"{number} {words}\"}}"),
            "array" => format!("{{\"prompt\":\"{number} {words}\"}}"),
            _ => format!("{{\"prompt\":\"{number} {words}\"}}\n"),
        };
        out.write_all(record.as_bytes())?;
        written += record.len() as u64;
        number += 1;
    }
    if layout == "array" {
        out.write_all(b"\n]\n")?;
    }
    out.flush()?;
    Ok(())
}

/// The most memory that was resident, in KiB.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
