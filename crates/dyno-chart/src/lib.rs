//! Charts before they are drawn: what a line goes through, how far its axes reach, what stands at
//! them. SVG, the terminal's report and the live view draw from it; the page's script, which draws
//! anew at each zoom, mirrors it in `scales.js`, and a test holds the two against each other.

pub mod axis;
pub mod numbers;
pub mod scale;
mod series;

pub use axis::{Axis, Tick, Ticks};
pub use scale::{Scale, Spacing, bounds, drawable, ordered};
pub use series::{Point, Series, Stop, Trust};
