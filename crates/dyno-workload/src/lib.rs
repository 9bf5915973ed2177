//! What is sent, as data: prompts, by seed and index. Knows no sockets and no request shapes.

mod synthetic;

pub use synthetic::Synthetic;
