//! What one request asks: the same form for every source of prompts.

pub use dyno_model::prompt::{Content, Item, Message, Texts};
