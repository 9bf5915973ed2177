//! The run directory.

mod catalog;
mod common;
mod directory;
mod parts;
mod process;
mod recovery;
