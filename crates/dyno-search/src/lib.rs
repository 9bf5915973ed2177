//! Chooses the next level: takes the levels measured so far, and returns the next level or the result.
//! Nothing here sends a request, reads a clock or keeps state. The same measurements always give the
//! same next level, so an interrupted run can be resumed.
//!
//! Each search is a value with a method `next`, which takes all levels so far, in the order in
//! which they were measured, and returns a [`NextLevel`].

pub mod capacity;
pub mod grid;
pub mod ladder;
pub mod level;
pub mod sweep;

pub use capacity::Capacity;
pub use ladder::Ladder;
pub use level::{HeldLoad, LevelKind, LevelWish, Margin, MeasuredLevel, NextLevel, rounded};
pub use sweep::Sweep;
