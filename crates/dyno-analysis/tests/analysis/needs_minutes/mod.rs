//! How often findings and verdicts are right, over many simulated runs.

mod fleet_table;
mod offered;
mod steady_rates;
