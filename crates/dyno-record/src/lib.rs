//! The run directory: write, recover, read.
//!
//! A run directory holds `plan.json`, `environment.json`, `summary.json` and the records in
//! `records.dyno`, which is written during the run and can be read however the run ended: complete
//! frames stay readable, and damage is reported. A label and tags that are set later are in
//! `annotations.json`. Agents whose coordinator was lost leave parts in it (`parts`).
//!
//! `records.dyno` is a magic line followed by frames: length and CRC-32 of the payload (both
//! 32 bits, little-endian), then the payload. The first payload is the header as JSON; each
//! other is one byte for its kind and then tagged fields, of which unknown ones are skipped.
//! `recorder` writes, `reader` reads, `catalog` lists and finds runs. Reports are made elsewhere.

mod agent;
mod annotations;
mod catalog;
mod dir;
mod error;
mod fields;
mod file;
mod level;
mod parts;
mod payload;
mod queue;
mod reader;
mod recorder;
mod request;
mod server;
mod writer;

pub use annotations::Annotations;
pub use catalog::{RunFilter, delete_run, find_run, list_runs, remember_run};
pub use dir::{RunDir, parse_summary};
pub use error::{Doing, RecordError};
pub use file::{FORMAT, MAX_FRAME, encode_file};
pub use parts::{AllRecords, SeenPart};
pub use reader::{Damage, RecordReader};
pub use recorder::Recorder;
pub use writer::{FinishedFile, WrittenFile};
