//! The prompts that are sent, by seed and index, from data files or synthetic. Knows no sockets and no
//! request shapes.

pub mod data;
pub mod item;
pub mod key;
pub mod lengths;
pub mod random;
pub mod session;
pub mod trace;

/// Counts the tokens of a prompt.
pub use dyno_tokenizer as tokenizer;
