//! The layouts that people paste: each of them for one run of every workflow, each against the
//! published tables it is taken from, and what holds for all.
#![allow(clippy::unwrap_used)]

mod answers;
#[cfg(feature = "parquet")]
mod parquet_tables;
mod published;
mod runs;
mod safety;
mod uncertain;
mod workflows;
