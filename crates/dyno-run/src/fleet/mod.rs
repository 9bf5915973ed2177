//! Several load generators on one run. The coordinator is a bench (`levels.rs`) like any other: it has
//! agents run their parts of a level, fetches what they recorded, and passes it on as if it had sent
//! everything itself (`bench`, `merge`, `files`). An agent does no preflight and decides nothing: it gets
//! what was settled (`settled`) and sends its part (`agent`).

mod agent;
mod bench;
mod files;
mod merge;
pub mod need;
mod notices;
mod settled;

pub use agent::{Agent, Permission, serve, serve_bus, serve_child};
pub(crate) use bench::gather;
pub use bench::{Crew, Local, OnBus};
pub use dyno_fleet::nats;
pub(crate) use settled::Settled;

/// The name of this machine.
pub fn host_name() -> String {
    crate::host::describe().name
}
