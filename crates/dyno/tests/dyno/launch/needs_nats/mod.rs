//! Scripts that start a bus.

mod scripts;
