//! Charts before they are drawn: the points of a line, the range of its axes and their ticks. SVG, the
//! terminal's report and the live view draw from it. The page's script draws again at each zoom, so it
//! mirrors the rules in `scales.js`; a test compares the two.
//! How SVG, terminals and HTML draw is not known here.

pub mod axis;
pub mod numbers;
pub mod scale;
mod series;

pub use axis::{Axis, Tick, Ticks};
pub use scale::{Scale, Spacing, bounds, drawable, ordered};
pub use series::{Point, Series, Stop, Trust};
