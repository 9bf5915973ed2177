//! Searches, against the truth.

mod capacity;
mod capacity_truth;
mod compare;
mod compare_truth;
mod support;
mod twins;
