//! How the embedded engine reads requests and writes responses: the APIs of real servers, the
//! framing of their streams, and the faults that make a response wrong or unusual.
//!
//! Bytes in, bytes out: when a token is due and how it is sent is the engine's.

pub mod api;
pub mod fault;
pub mod framing;
