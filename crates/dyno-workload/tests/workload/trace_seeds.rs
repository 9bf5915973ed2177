//! The seeds of the fuzz target `trace_reader`: whole, cut anywhere, and with bytes changed.

#![allow(clippy::unwrap_used)]

use crate::trace_bytes::{SPECS, check};
use proptest::prelude::*;

fn seeds() -> Vec<(String, Vec<u8>)> {
    crate::seeds::of("trace_reader")
}

#[test]
fn every_seed_is_read_as_everything() {
    let seeds = seeds();
    assert!(seeds.len() >= 12, "{}", seeds.len());
    for (name, seed) in seeds {
        for choice in 0..SPECS.len() as u8 {
            let bytes = [&[choice], &seed[1..]].concat();
            let checked = std::panic::catch_unwind(|| check(&bytes));
            assert!(checked.is_ok(), "{name} as {}", SPECS[usize::from(choice)]);
        }
    }
}

proptest! {
    #[test]
    fn seeds_that_are_cut_and_changed_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[which.index(seeds.len())].1.clone();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(1 + cut.index(bytes.len()));
        check(&bytes);
    }
}
