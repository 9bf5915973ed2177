//! The wording of diagnostics: one table a room, all made by one macro, so that no language lacks
//! anything.

mod findings;
mod notes;
mod over_time;
mod server;

pub use findings::Told;
pub use notes::noted;
pub use over_time::OverTimeTold;
pub use server::ServerTold;
