//! Benchmarks of the release binary. Those that compare it with a bare receiver start the scripted
//! engine on one core and alternate between the two clients on the other.

mod agree;
mod bare;
mod bombs;
mod cost;
mod fleet;
mod folder;
mod hold;
mod lab;
mod lint;
mod million;
mod size;
mod truth;
mod twins;
mod verdict;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask truth   excess of dyno's TTFT and ITL over those of a bare receiver
cargo xtask cost    CPU time per streamed token, compared with a bare receiver
cargo xtask size    memory, many streams, start-up time, size of the binary
cargo xtask hold    streams that this machine can hold at the same time, and what each costs; [STREAMS]
                    [CLIENTS, each with an engine] [SOURCE ADDRESSES]
cargo xtask agree   a twin measured over sockets, compared with its own prediction; [NAME|FILE]
cargo xtask verdict verdicts compared with the true errors, under disturbances; [RUNS] [--keep FOLDER], or
                    --from FOLDER to judge the runs kept there again
cargo xtask lint    what dyno lint finds in simulated results of other tools, clean and with a defect
                    planted; [--seed N] [--files N]
cargo xtask lint own  errors that it finds in clean sweeps of twins; [SWEEPS]
cargo xtask import  time to import a thousand result files of other tools; [FOLDER to take them from]
cargo xtask fleet   several load generators: killed, stopped, compared with one, and many of them
cargo xtask predict time to predict a million requests
cargo xtask bombs   peak memory under hostile servers, files and requests; [part of a name]
cargo xtask twins study  engines with known coefficients, measured, fitted and predicted;
                    [--systems N] [--seed N] [--ladder]
cargo xtask twins speed  time to fit 10 levels of 1,000 requests
cargo xtask twins real  a real server, measured, one part fitted and the rest predicted; URL FOLDER
                    [--input N] [--output N] [--most N in flight] [--seconds N] [--seed N]
cargo xtask twins terms  the error of a fit with and without each term of the model; RUN… [--predict RUN…],
                    each a directory, or a directory and levels: RUN#10,20";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("truth") => truth::run(),
        Some("cost") => cost::run(),
        Some("size") => size::run(),
        Some("hold") => hold::run(
            arguments.get(1).map_or(Ok(10_000), |n| n.parse())?,
            arguments.get(2).map_or(Ok(1), |n| n.parse())?,
            arguments.get(3).map_or("127.0.0.2-127.0.0.9", String::as_str),
        ),
        Some("agree") => agree::run(arguments.get(1).map_or("generic-7b-24gb", String::as_str)),
        Some("lint") => lint::run(&arguments[1..]),
        Some("import") => folder::run(&arguments[1..]),
        Some("predict") => million::run(),
        Some("twins") => twins::run(&arguments[1..]),
        Some("verdict") => verdict::run(&arguments[1..]),
        Some("fleet") => fleet::run(&arguments[1..]),
        Some("bombs") => bombs::run(arguments.get(1).map(String::as_str)),
        Some("bare") => bare::main(&arguments[1..]),
        _ => bail!("which benchmark?\n{HELP}"),
    }
}
