//! The prompts that are sent, by seed and index, from data files or synthetic. Knows no sockets and no
//! request shapes.
//!
//! `data` reads data files, `session` makes conversations, `trace` replays recorded traffic, `random` makes prompts of
//! exact lengths, `tokenizer` counts tokens.

pub mod data;
pub mod random;
pub mod session;
pub mod tokenizer;
pub mod trace;
