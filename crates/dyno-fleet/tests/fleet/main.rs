//! Several load generators: their clocks, their pipes and their bus.

mod clocks;
mod needs_nats;
mod partners;
