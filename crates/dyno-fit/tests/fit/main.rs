//! Predictions, and the shipped twins against their tables.

mod conversations;
mod prompts;
mod twins;
