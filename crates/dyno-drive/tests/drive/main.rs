//! Arrivals and levels, in virtual time.

mod arrivals;
mod capped;
mod gate;
mod levels;
mod paced;
mod ramps;
mod refusals;
mod sessions;
mod shares;
mod simulated;
mod split_poisson;
mod trees;
