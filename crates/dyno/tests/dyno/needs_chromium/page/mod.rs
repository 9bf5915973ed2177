//! The HTML report in a real browser: it draws, reacts to pointer and keys, is legible in both themes
//! and on a phone, makes no network requests, and never interprets text as markup. Screenshots are in
//! `target/test-output/page`.
#![allow(clippy::unwrap_used)]

mod browser;
mod charts;
mod compared;
mod looks;
mod pages;
mod safety;
mod scales;
