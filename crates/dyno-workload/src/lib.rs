//! What is sent, as data: prompts, by seed and index. Knows no sockets and no request shapes.

pub mod data;
pub mod item;
pub mod key;
pub mod lengths;
pub mod random;
pub mod session;
pub mod tokenizer;
pub mod trace;
