//! The APIs over real HTTP: what a client of each sees, with the times of the script and of a twin.

mod every;
mod messages;
mod ollama;
mod own_responses;
mod pooling;
mod recorded;
mod responses;
mod sglang;
