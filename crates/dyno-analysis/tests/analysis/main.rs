//! From records to a summary, its findings and its verdicts.

mod cache;
mod detail;
mod fleet;
mod fleet_table;
mod glimpse;
mod lengths;
mod lint;
mod metrics;
mod offered;
mod overload;
mod run_dir;
mod schema;
mod search;
mod sessions;
mod slo;
mod steady_rates;
mod traces;
mod verdicts;
