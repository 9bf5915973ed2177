//! Detectors on simulated queues.

mod queues;
mod saturation;
mod saturation_table;
mod stability;
mod stability_table;
