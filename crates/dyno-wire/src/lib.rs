//! How requests are sent and responses are read: [`http`], an [`exchange`] that turns one response into
//! one record by the [`dialect`] of its API, and the [`client`] that owns the sockets. Only the client
//! does I/O, so that every way of splitting the bytes can be tested without sockets.
//!
//! `preflight` settles the fields of requests and finds out which API a server has, `dialogue` and `encode`
//! prepare requests, `explain` describes a response that is not from an inference server. An API's name, statistics
//! and files are not known here.

pub mod client;
pub mod dialogue;
pub mod encode;
pub mod endpoint;
pub mod exchange;
mod explain;
pub mod http;
pub mod preflight;
pub mod prometheus;
pub mod redact;
pub mod server_metrics;
pub mod tls;
pub mod url;

pub use dyno_dialect as dialect;
pub use dyno_dialect::framing;
