//! The numbers that a fit may change, and their limits.

/// A number that may be fitted. Its unit is the one of the twin file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Parameter {
    /// Milliseconds for every step.
    Base,
    /// Microseconds for each token that is prefilled.
    PrefillToken,
    /// Nanoseconds for each pair of a prefilled token and one it attends to.
    Attention,
    /// Microseconds for each sequence that decodes.
    Decode,
    /// Nanoseconds for each token that a decoding sequence attends to.
    Kv,
    /// Milliseconds for every step that prefills.
    PrefillBase,
    /// Milliseconds from arrival to the queue.
    FrontEnd,
    /// Decoding sequences above which the slope changes.
    KneeAbove,
    /// Microseconds in total for each sequence above that number.
    KneeSlope,
    /// Milliseconds that many sequences take in addition to one.
    RiseTime,
    /// Sequences in which most of that is reached.
    RiseWithin,
    /// Blocks of the KV pool.
    Pool,
    /// Requests that the client had in flight where it sent as many as it could.
    InFlight,
    /// Microseconds that the client took for each token.
    ClientToken,
    /// Spread of the lengths of responses.
    Spread,
    /// Milliseconds to launch a step that prefills and for which a graph was captured.
    LaunchPrefill,
    /// Milliseconds to launch a step that is larger than any captured graph.
    LaunchLarge,
    /// Microseconds to launch each sequence of a step that prefills.
    LaunchSequence,
    /// Milliseconds of the front end's work on a request.
    FrontRequest,
    /// Microseconds of its work on each token of a prompt.
    FrontInput,
    /// Microseconds of its work on each token of a response.
    FrontChunk,
}

impl Parameter {
    /// Its name in the twin file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Base => "base_ms",
            Self::PrefillToken => "prefill_token_us",
            Self::Attention => "attention_ns",
            Self::Decode => "decode_us",
            Self::Kv => "kv_ns",
            Self::PrefillBase => "prefill_base_ms",
            Self::FrontEnd => "front_end_ms",
            Self::KneeAbove => "knee.above",
            Self::KneeSlope => "knee slope_us",
            Self::RiseTime => "rise.time_ms",
            Self::RiseWithin => "rise.within",
            Self::Pool => "kv_blocks",
            Self::InFlight => "client.in_flight",
            Self::ClientToken => "client.token_us",
            Self::Spread => "lengths.output.spread",
            Self::LaunchPrefill => "launch.prefill_ms",
            Self::LaunchLarge => "launch.large_ms",
            Self::LaunchSequence => "launch.sequence_us",
            Self::FrontRequest => "front.request_ms",
            Self::FrontInput => "front.input_us",
            Self::FrontChunk => "front.chunk_us",
        }
    }

    /// Its smallest and largest plausible value.
    pub(crate) fn limits(self) -> [f64; 2] {
        match self {
            Self::Base | Self::PrefillBase => [0.01, 5_000.0],
            Self::PrefillToken => [0.1, 100_000.0],
            Self::Attention => [1e-3, 1e6],
            Self::Decode | Self::KneeSlope => [0.1, 1e6],
            Self::Kv => [1e-3, 1e6],
            Self::FrontEnd => [0.01, 2_000.0],
            Self::KneeAbove => [1.0, 1_000.0],
            Self::RiseTime => [0.01, 5_000.0],
            Self::RiseWithin => [0.5, 200.0],
            Self::Pool => [16.0, 1e7],
            Self::InFlight => [1.0, 2_000.0],
            Self::ClientToken => [0.1, 10_000.0],
            Self::Spread => [0.01, 2.0],
            Self::LaunchPrefill | Self::LaunchLarge => [0.01, 2_000.0],
            Self::LaunchSequence => [0.01, 10_000.0],
            Self::FrontRequest => [0.01, 1_000.0],
            Self::FrontInput => [1e-3, 1_000.0],
            Self::FrontChunk => [0.1, 10_000.0],
        }
    }

    /// A small penalty for unlikely values, which decides if the data does not: a curve that bends
    /// between two levels could bend anywhere between them, and most bend early.
    pub(crate) fn unlikely(self, value: f64) -> f64 {
        match self {
            Self::RiseWithin => 4e-4 * (value / 8.0).ln().powi(2),
            Self::KneeAbove => 4e-4 * (value / 32.0).ln().powi(2),
            _ => 0.0,
        }
    }
}
