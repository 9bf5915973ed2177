//! Output lengths, requested and received.

use serde::{Deserialize, Serialize};

/// The output lengths of completed requests, where the server may end a response before the requested
/// length: no field fixes it, or some response was shorter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutputLengths {
    /// Requested output tokens, on average.
    pub requested_mean: f64,
    /// Output tokens, on average.
    pub received_mean: f64,
    /// The share of responses that have at least the requested length.
    pub reached_share: f64,
    /// A field of the requests fixed the length.
    pub fixed: bool,
}

impl OutputLengths {
    /// Some response was shorter than requested, so that metrics that depend on the length are those
    /// of shorter responses.
    pub fn fell_short(&self) -> bool {
        self.reached_share < 1.0
    }
}
