//! The prompts that are sent, by seed and index, from data files or synthetic. Knows no sockets and no
//! request shapes.
//!
//! `data` reads data files, `session` makes conversations, `trace` replays recorded traffic, `random` makes prompts of
//! exact lengths, `tokenizer` counts tokens, `agentic` reads the recorded traffic of coding agents as trees of sessions.

pub mod agentic;
pub mod data;
pub mod random;
pub mod session;
pub mod tokenizer;
pub mod trace;
