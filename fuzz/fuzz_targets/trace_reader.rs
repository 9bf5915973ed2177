//! Any bytes as a trace of every form, with and without a mapping, and as recorded sessions: read to
//! the end or refused with a message, and never with a panic.

#![no_main]

#[path = "../../crates/dyno-workload/tests/workload/trace_bytes/mod.rs"]
mod trace_bytes;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| trace_bytes::check(input));
