//! How often a soak is said to drift: clean ones, and ones whose server gets 20 % slower, on the
//! engine with its noise. The number of soaks of each kind may follow.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a simulation, not the program")]

use dyno_testing::soak::{CLOSED, OPEN, Soak};

/// Requests, noise of a step, sway of the server.
const KINDS: [(u64, f64, f64); 6] = [
    (1500, 0.03, 0.0),
    (3000, 0.03, 0.0),
    (3000, 0.1, 0.0),
    (3000, 0.3, 0.0),
    (3000, 0.1, 0.02),
    (3000, 0.1, 0.05),
];

fn main() {
    let runs: u64 = std::env::args().nth(1).map_or(1000, |n| n.parse().expect("a number"));
    println!("load   requests noise  sway drift findings");
    for (name, load) in [("closed", CLOSED), ("open", OPEN)] {
        for drift in [0.0, 0.2] {
            for (requests, noise, sway) in KINDS {
                let soak = Soak { load, noise, sway, drift, requests };
                let (found, kinds) = soak.count(0..runs);
                let kinds = kinds.join(" ");
                println!(
                    "{name:<6} {requests:>8} {noise:>5} {sway:>5} {drift:>5} {found} of {runs} \
                     {kinds}"
                );
            }
        }
    }
}
