//! From records to a summary, its findings and its verdicts.

mod cache;
mod detail;
mod fleet;
mod gates;
mod glimpse;
mod lengths;
mod lint;
mod metrics;
mod needs_minutes;
mod overload;
mod run_dir;
mod schema;
mod search;
mod sessions;
mod slo;
mod traces;
mod trees;
mod verdicts;
mod windows;
