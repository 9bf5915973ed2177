//! Which level comes next. Numbers in, loads out: what was measured so far goes in, and out comes
//! the next level or the answer. Nothing here sends a request, reads a clock or keeps a state: the
//! same measurements always give the same wish.

pub mod capacity;
pub mod level;

pub use level::{Held, Kind, LevelWish, Margin, Measured, Next};
