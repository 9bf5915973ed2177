//! Clocks of several load generators: the stated bound holds, in a simulated world and on real sockets.

mod table;
mod trial;
mod world;

use table::{KINDS, row};

/// Not one of the seeds with which the constants were set.
const SEED: u64 = 71;

/// The table in the docs has 1,000 trials a row: `cargo run -p dyno-fleet --example clock_table`.
#[test]
fn stated_bound_contains_the_true_offset() {
    for kind in KINDS {
        let row = row(kind, 40, SEED);
        let name = kind.name;
        assert!(row.level.covered >= 0.97, "{name}: {row:?}");
        assert!(row.start.covered >= 0.97, "{name}: {row:?}");
    }
}
