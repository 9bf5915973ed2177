//! What the client and the embedded engine share: a readiness loop with exact deadlines, a monotonic
//! clock, reads with the kernel's receive timestamps, waits for a CPU, and the CPUs and limits of this process.
//! No HTTP.

mod clock;
mod cpus;
mod limits;
mod poller;
mod run_queue;
mod source;
mod stamp;

pub use clock::{Clock, WallOffset, thread_cpu_ns};
pub use cpus::{allowed_cpus, pin_to_cpu};
pub use limits::{
    available_memory, cpu_governor, cpu_quota, free_space, load_average, local_ports,
    machine_cores, open_files_limit, raise_open_files,
};
pub use poller::{Interest, Poller, Ready};
pub use run_queue::RunQueue;
pub use source::{SourceFault, bind_source, check_source};
pub use stamp::{Stamped, ask_for_stamps, read_stamped, stamps_work};
