//! The shipped twins against the tables that they were fitted to.

use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::{Reference, ReferenceValue};
use dyno_fit::verify;
use std::collections::BTreeMap;

/// The errors in a file are rounded, and so are the coefficients.
const ROUNDING: f64 = 0.02;

fn same(name: &str, stored: &BTreeMap<ReferenceValue, f64>, found: &BTreeMap<ReferenceValue, f64>) {
    let metrics =
        |errors: &BTreeMap<ReferenceValue, f64>| errors.keys().copied().collect::<Vec<_>>();
    assert_eq!(metrics(stored), metrics(found), "{name}");
    for (figure, stored) in stored {
        let found = found[figure];
        assert!((stored - found).abs() <= ROUNDING, "{name} {figure:?}: {stored}, not {found}");
    }
}

#[test]
fn each_twin_is_as_far_from_its_table_as_its_file_says() {
    let mut verified = 0;
    for (name, text) in Twin::shipped() {
        let twin = Twin::parse(text, name).unwrap();
        let Some(reference) = &twin.reference else { continue };
        let reference = Reference::named(reference).unwrap().unwrap();
        let report = verify(&twin, &reference);
        same(name, &twin.errors.fitted, &report.errors.fitted);
        same(name, &twin.errors.held_out, &report.errors.held_out);
        verified += 1;
    }
    assert!(verified > 0, "no twin has a table");
}
