//! Studies of Dyno's rules and methods: whether they are right on cases whose truth is known. They may be slow and
//! rough, and print tables for the docs. What measures the speed of the program belongs in `xtask`.

mod fleet;
mod lint;
mod twins;
mod verdict;
mod weka;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo study verdict verdicts compared with the true errors, under disturbances; [RUNS] [--keep FOLDER], or
                    --from FOLDER to judge the runs kept there again
cargo study lint    what dyno lint finds in simulated results of other tools, clean and with a defect
                    planted; [--seed N] [--files N]
cargo study lint own  errors that it finds in clean sweeps of twins; [SWEEPS]
cargo study fleet   several load generators: killed, stopped, compared with one, and many of them
cargo study twins study  engines with known coefficients, measured, fitted and predicted;
                    [--systems N] [--seed N] [--ladder]
cargo study twins speed  time to fit 10 levels of 1,000 requests
cargo study twins real  a real server, measured, one part fitted and the rest predicted; URL FOLDER
                    [--input N] [--output N] [--most N in flight] [--seconds N] [--seed N]
cargo study twins terms  the error of a fit with and without each term of the model; RUN… [--predict RUN…],
                    each a directory, or a directory and levels: RUN#10,20
cargo study weka    traces of coding agents with the statistics of published ones; FOLDER [--files N]
                    [--seed N] [--scale X]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    match arguments.first().map(String::as_str) {
        Some("verdict") => verdict::run(rest),
        Some("lint") => lint::run(rest),
        Some("fleet") => fleet::run(rest),
        Some("twins") => twins::run(rest),
        Some("weka") => weka::run(rest),
        _ => bail!("which study?\n{HELP}"),
    }
}
