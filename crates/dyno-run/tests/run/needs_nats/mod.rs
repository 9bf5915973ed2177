//! Agents on a real bus.

mod fleet_addresses;
