//! What the client and the embedded engine share: a readiness loop with exact deadlines, a monotonic
//! clock, and reads with the kernel's receive timestamps. No HTTP.

mod clock;
mod limits;
mod poller;
mod stamp;

pub use clock::{Clock, WallOffset, thread_cpu_ns};
pub use limits::{
    cpu_governor, cpu_quota, load_average, local_ports, machine_cores, open_files_limit,
    raise_open_files,
};
pub use poller::{Interest, Poller, Ready};
pub use stamp::{Stamped, ask_for_stamps, read_stamped, stamps_work};
