//! The seeds of the fuzz target `agentic_reader`: whole, cut anywhere, with bytes changed, and written in other ways.

#![allow(clippy::unwrap_used)]

use std::io::Write;

use crate::agentic_bytes::check;
use dyno_workload::agentic::AgenticProfile;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn seeds() -> Vec<(String, Vec<u8>)> {
    let seeds = crate::seeds::of("agentic_reader");
    assert!(seeds.len() >= 17, "{}", seeds.len());
    seeds
}

#[test]
fn every_seed_makes_trees_that_can_be_replayed() {
    for (name, seed) in seeds() {
        assert!(AgenticProfile::from_bytes(&name, &seed).is_ok(), "{name}");
        check(&seed);
    }
}

/// The values of a file, with the fields of objects in another order.
fn values(bytes: &[u8], reversed: bool) -> Option<Vec<Value>> {
    let values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let values: Vec<Value> = values.collect::<Result<_, _>>().ok()?;
    Some(if reversed { values.into_iter().map(other_order).collect() } else { values })
}

fn other_order(value: Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.into_iter().map(other_order).collect()),
        Value::Object(object) => {
            let mut fields: Vec<_> = object.into_iter().collect();
            fields.reverse();
            let fields = fields.into_iter().map(|(name, value)| (name, other_order(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other,
    }
}

#[test]
fn a_file_says_the_same_however_it_is_written() {
    for (name, seed) in seeds() {
        let read = |bytes: &[u8]| AgenticProfile::from_bytes("f", bytes).unwrap().json();
        let expected = read(&seed);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&seed).unwrap();
        assert_eq!(read(&packed.finish().unwrap()), expected, "{name}, packed");
        let Some(values) = values(&seed, true) else {
            assert_eq!(name, "tracelab-workload");
            continue;
        };
        let each = |write: fn(&Value) -> String| {
            values.iter().map(|value| write(value) + "\n").collect::<String>()
        };
        let lines = each(|value| value.to_string());
        let pretty = each(|value| format!("{value:#}"));
        let list = Value::Array(values.clone()).to_string();
        for (how, text) in [("lines", lines), ("pretty", pretty), ("a list", list)] {
            let mut found = read(text.as_bytes());
            // Trees without a name are called by their place, which differs.
            found["left_out"] = expected["left_out"].clone();
            assert_eq!(found, expected, "{name} as {how}");
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

    #[test]
    fn values_of_other_kinds_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        odd in prop::sample::select(vec!["null", "-1", "1e300", "\"\"", "[]", "{}", "true", "[[]]", "0.5", "18446744073709551615"]),
    ) {
        let seeds = seeds();
        let seed = &seeds[which.index(seeds.len())].1;
        let Some(mut values) = values(seed, false) else { return Ok(()) };
        let count: usize = values.iter().map(leaves).sum();
        let mut left = at.index(count.max(1));
        let odd: Value = serde_json::from_str(odd).unwrap();
        for value in &mut values {
            replace(value, &mut left, &odd);
        }
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        check(text.as_bytes());
    }
}

fn leaves(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(leaves).sum(),
        Value::Object(object) => object.values().map(leaves).sum::<usize>(),
        _ => 0,
    }
}

/// Replaces the value of that number.
fn replace(value: &mut Value, left: &mut usize, odd: &Value) {
    if *left == 0 {
        *value = odd.clone();
        *left = usize::MAX;
        return;
    }
    *left = left.saturating_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| replace(one, left, odd)),
        Value::Object(object) => object.values_mut().for_each(|one| replace(one, left, odd)),
        _ => {}
    }
}
