//! The prompts that are sent, by seed and index, from data files or synthetic. Knows no sockets and no
//! request shapes.
//!
//! `data` reads data files, `session` makes conversations, `trace` replays recorded traffic; random prompts come from
//! `dyno-random`, token counts from `dyno-tokenizer`.

pub mod data;
pub mod item;
pub mod random;
pub mod session;
pub mod trace;

/// Keys of random prompts, and the lengths that are asked for.
pub use dyno_random::{key, lengths};
/// Counts the tokens of a prompt.
pub use dyno_tokenizer as tokenizer;
