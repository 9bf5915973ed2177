//! Which level comes next. Numbers in, loads out: what was measured so far goes in, and out comes
//! the next level or the answer. Nothing here sends a request, reads a clock or keeps a state: the
//! same measurements always give the same wish, so a run can be taken up where it ended.
//!
//! Each search is a value with a method `next`, which takes all levels so far, in the order in
//! which they were measured, and gives a [`Next`].

pub mod capacity;
pub mod grid;
pub mod ladder;
pub mod level;
pub mod sweep;

pub use capacity::Capacity;
pub use ladder::Ladder;
pub use level::{Held, Kind, LevelWish, Margin, Measured, Next, rounded};
pub use sweep::Sweep;
