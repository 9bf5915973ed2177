//! Summaries as text, in layouts and as a page.

mod columns;
mod compared;
mod languages;
mod layouts;
mod over_time;
mod page;
mod round_trip;
mod server;
mod text;
mod trees;
