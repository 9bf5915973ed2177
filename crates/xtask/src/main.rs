//! Benchmarks of the release binary. Those that compare it with a bare receiver start the scripted
//! engine on one core and alternate between the two clients on the other. Studies of rules and methods do not
//! belong here, but in `studies/`.

mod agree;
mod bare;
mod bombs;
mod cost;
mod folder;
mod hold;
mod million;
mod size;
mod truth;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask truth   excess of dyno's TTFT and ITL over those of a bare receiver
cargo xtask cost    CPU time per streamed token, compared with a bare receiver
cargo xtask size    memory, many streams, start-up time, size of the binary
cargo xtask hold    streams that this machine can hold at the same time, and what each costs; [STREAMS]
                    [CLIENTS, each with an engine] [SOURCE ADDRESSES]
cargo xtask agree   a twin measured over sockets, compared with its own prediction; [NAME|FILE]
cargo xtask import  time to import a thousand result files of other tools; [FOLDER to take them from]
cargo xtask predict time to predict a million requests
cargo xtask bombs   peak memory under hostile servers, files and requests; [part of a name]

Studies, which measure rules and methods rather than the program, are in `cargo study`.";

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
        Some("import") => folder::run(&arguments[1..]),
        Some("predict") => million::run(),
        Some("bombs") => bombs::run(arguments.get(1).map(String::as_str)),
        Some("bare") => bare::main(&arguments[1..]),
        _ => bail!("which benchmark?\n{HELP}"),
    }
}
