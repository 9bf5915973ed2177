//! How the embedded engine reads requests and writes responses: the APIs of real servers, the
//! framing of their streams, and the faults that make a response wrong or unusual.
//!
//! Bytes in, bytes out: when a token is due and how it is sent is the engine's.
//!
//! `api` has a module for each API, and nothing outside of it knows an API by name; `framing` writes frames;
//! `fault` says which requests go wrong, and how. No sockets, no clock, and nothing of Dyno's own client.

pub mod api;
pub mod fault;
pub mod framing;
