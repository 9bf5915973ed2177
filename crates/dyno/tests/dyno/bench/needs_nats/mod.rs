//! Load generators on a real bus.

mod bus;
mod fleet_bus;
mod fleet_faults;
mod fleet_signals;
