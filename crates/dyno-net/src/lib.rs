//! The ground that the client and the embedded engine stand on: one readiness loop with exact
//! deadlines, and one monotonic clock. No HTTP, no meaning.

mod clock;
mod limits;
mod poller;

pub use clock::{Clock, thread_cpu_ns};
pub use limits::{open_files_limit, raise_open_files};
pub use poller::{Interest, Poller, Ready};
