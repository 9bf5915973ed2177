//! Several load generators on one run. The coordinator is a backend (`levels.rs`) like any other: it has
//! agents run their parts of a level, fetches what they recorded, and passes it on as if it had sent
//! everything itself (`gather`, `coordinated`, `merge`, `told`, `outcome`, `files`); whether the target still serves, it
//! judges by all agents together (`served`). An agent does no preflight and decides nothing: it gets what
//! was settled (`settled`) and sends its part (`agent`, `keeping`), with secrets of its own (`own`). Its records are fetched,
//! or kept where nobody fetches them (`kept`).

mod agent;
mod coordinated;
mod files;
mod folder;
mod gather;
mod keeping;
mod kept;
mod merge;
pub mod need;
mod notices;
mod outcome;
mod own;
mod served;
mod settled;
mod told;

pub use agent::{AgentWork, Ended, Permission, serve, serve_bus, serve_child};
pub use dyno_fleet::nats;
pub use gather::{AgentSource, Local, OnBus};
pub(crate) use gather::{bare_url, gather};
pub use kept::KeepRecords;
pub(crate) use settled::AgreedWorkload;
pub(crate) use told::Learned;

/// The name of this machine.
pub fn host_name() -> String {
    crate::host::describe().name
}
