//! Every check of `lint` by itself: its size (how often it reports honest values near its threshold) and
//! its power (the defect it is for, at a stated size). `cargo study lint` does the same with whole files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod counts;
mod drained;
mod load;
mod made;
mod rows;
mod times;
