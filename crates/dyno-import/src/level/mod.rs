//! A level on its way from a tool's file to a summary: what the tool states, its single requests, and
//! the metrics that are recomputed from them.

pub(crate) mod blank;
mod frames;
pub(crate) mod rebuild;
pub(crate) mod same;
mod sample;
pub(crate) mod stated;

pub(crate) use rebuild::RunHead;
pub(crate) use sample::{Ended, Sample};
pub(crate) use stated::{Offered, StatedLevel};
