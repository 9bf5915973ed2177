//! Several load generators on one run.

pub mod need;
