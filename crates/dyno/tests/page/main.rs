//! The HTML report in a real browser: it draws, answers to pointer and keys, is legible in both
//! themes and on a phone, asks nobody for anything, and takes nothing in it for markup. Pictures are
//! kept in `target/test-output/page`.
#![allow(clippy::unwrap_used)]

mod browser;
mod charts;
mod compared;
mod looks;
mod pages;
mod safety;
mod scales;
