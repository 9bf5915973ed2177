//! What is sent and read: bytes in, records out; and the client on scripted sockets.

mod any_bytes;
mod arrivals;
mod clean_end;
mod client;
mod damaged;
mod golden;
mod last_token;
mod prometheus;
mod server_metrics;
mod splitting;
mod sse;
