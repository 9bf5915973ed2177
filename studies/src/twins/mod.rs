//! Studies of `dyno fit`: which error each term of the model removes on records (`terms.rs`), how long a fit
//! takes (`speed.rs`), how well a real server is predicted (`real.rs`), and how well engines whose coefficients
//! are known are found, and predicted.
//!
//! # How known engines are judged
//!
//! **Systems** are random engines of the family that records are fitted with (`system.rs`), with noise in
//! step times, now and then a slow step, and some delay of each chunk on its way to the client.
//!
//! **Measured** is what the guide recommends (`loads.rs`): a ladder of closed loops, Poisson rates at 30,
//! 60 and 85 % of the highest throughput on the ladder, and one level of mixed lengths. The fit gets the
//! records, with the tokens of each chunk, and nothing about the engine. With `--ladder`, only the ladder
//! is measured, so that every open loop is of a kind that the fit has not seen.
//!
//! **Coefficients.** For each coefficient of the family and each system: is the true value within the
//! interval of the fit? Those that the fit names as not identifiable are counted apart. Goal: 90 %, and at
//! most 20 % named. An interval that begins at 0 only bounds a coefficient from above; how many do is
//! shown, too.
//!
//! **Settings.** Policy, steps ahead and the captured size are right or wrong; those that the fit names as
//! not identifiable are counted apart. Goal for the policy: 95 %.
//!
//! **Predictions** of loads that were not measured: each is sent to the true engine, with its noise, and to
//! the fitted one. A prediction is within the goal if it is at most 5 % off on throughput and the median
//! and 90th percentile of latency, and 10 % on those of TTFT and ITL. Loads of which the true engine
//! completes more than 90 % of its highest throughput with these lengths are not judged, except bursts and
//! conversations. Goal: 90 % of all values. How often the truth is within the interval of the fit is shown,
//! too, as the interval is printed; ITL's 90th percentile has none. Those for which the fit's own interval of predictions is wider
//! than three times the goal count as named; both shares are shown, with and without them. So is how often
//! the true engine itself, with other noise, is within the goal.
//!
//! Seeds below 1000 are for development. Those of published tables are looked at once.

mod checks;
mod found;
mod judged;
mod levels;
mod loads;
mod measured;
mod predicted;
mod random;
mod real;
mod speed;
mod study;
mod system;
mod tables;
mod terms;

use anyhow::{Result, bail};
use judged::Runs;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        let given = at.and_then(|at| arguments.get(at + 1));
        given.map_or(Ok(default), |given| given.parse::<u64>())
    };
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    match arguments.first().map(String::as_str) {
        Some("study") => study::run(
            number("--systems", 50)?,
            number("--seed", 1)?,
            if flag("--ladder") { Runs::Ladder } else { Runs::Recommended },
            flag("--verbose"),
        ),
        Some("checks") => checks::run(number("--systems", 30)?, number("--seed", 1)?),
        Some("speed") => speed::run(),
        Some("real") => real::run(&arguments[1..]),
        Some("terms") => terms::run(&arguments[1..]),
        _ => bail!("which one? `study`, `checks`, `speed`, `real` or `terms`"),
    }
}
