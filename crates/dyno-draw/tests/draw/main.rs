//! Charts of runs, and how their text is drawn.

mod charts;
