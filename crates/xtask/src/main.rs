//! Benchmarks that print ratios measured in one run: `cargo xtask truth`, `cost` and `size`.
//! They build the release binary, start the scripted engine on one core and measure `dyno bench`
//! on the other, in turns with a bare receiver.

mod agree;
mod bare;
mod cost;
mod lab;
mod lint;
mod size;
mod truth;
mod verdict;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask truth   excess of dyno's TTFT and ITL over a bare receiver's
cargo xtask cost    CPU per streamed token, against a bare receiver
cargo xtask size    memory, many streams, start-up time, size of the binary
cargo xtask agree   a twin measured over sockets against its own prediction; [NAME|FILE]
cargo xtask verdict verdicts against the truth of a scripted engine, under disturbances; [RUNS]
cargo xtask lint    errors that dyno lint finds in clean sweeps; [SWEEPS]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("truth") => truth::run(),
        Some("cost") => cost::run(),
        Some("size") => size::run(),
        Some("agree") => agree::run(arguments.get(1).map_or("generic-7b-24gb", String::as_str)),
        Some("lint") => lint::run(arguments.get(1).map_or(Ok(200), |n| n.parse())?),
        Some("verdict") => verdict::run(arguments.get(1).map_or(Ok(6), |n| n.parse())?),
        Some("bare") => bare::main(&arguments[1..]),
        _ => bail!("which benchmark?\n{HELP}"),
    }
}
