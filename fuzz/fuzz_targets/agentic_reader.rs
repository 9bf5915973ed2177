//! Any bytes as the traffic of coding agents: trees that can be replayed, or refused with a message, and never with a
//! panic.

#![no_main]

#[path = "../../crates/dyno-workload/tests/workload/agentic_bytes/mod.rs"]
mod agentic_bytes;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| agentic_bytes::check(input));
