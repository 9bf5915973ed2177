//! The signal that ends a run early: raised once to stop sending, twice to stop at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How urgently to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Continue.
    No,
    /// Send nothing more; what is in flight may end within the drain time.
    Sending,
    /// Give up what is in flight as well.
    Now,
}

/// Shared between a signal handler and the drivers.
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<AtomicUsize>);

impl StopSignal {
    /// A signal that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the signal once more.
    pub fn raise(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// The counter behind it, for a signal handler.
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// How urgently to stop.
    pub fn get(&self) -> Stop {
        match self.0.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Sending,
            _ => Stop::Now,
        }
    }
}
