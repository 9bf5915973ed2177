//! Charts before they are drawn.

mod axes;
