//! What one request asks: the same form for every source of prompts.

pub use dyno_core::prompt::{Content, Item, Message};
