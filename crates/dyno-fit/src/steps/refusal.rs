//! Why the steps of a level cannot be recovered.

/// A reason that can be shown to a user. A refused level still has its distributions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// Too few requests got tokens.
    TooFewRequests {
        /// Requests with at least two tokens.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The server did not report the tokens of each chunk.
    TokensUnknown {
        /// Requests without these counts.
        requests: usize,
        /// All requests with output.
        of: usize,
    },
    /// Requests failed: what they cost the engine is not known.
    Failed {
        /// Requests that failed after they were sent.
        requests: usize,
        /// All requests.
        of: usize,
    },
    /// Many tokens came several to a chunk, so that the steps between them are hidden.
    SeveralTokens {
        /// Share of all tokens that came with others, from 0 to 1.
        share: f64,
    },
    /// Prompts begin alike, and the server does not say how much of each was in its prefix cache, so that
    /// what steps prefilled is not known.
    CachedUnknown {
        /// Requests without that count.
        requests: usize,
    },
    /// The server reported more requests than this client had in flight.
    ForeignTraffic {
        /// Samples with more.
        samples: usize,
        /// Samples in the level.
        of: usize,
        /// The largest excess, in requests.
        most: u64,
    },
    /// The server reported fewer requests than were certainly being decoded: the metrics are those
    /// of one engine, and the requests went to several.
    MissingTraffic {
        /// Samples with fewer.
        samples: usize,
        /// Samples in the level.
        of: usize,
        /// The largest gap, in requests.
        most: u64,
    },
    /// The requests were sent to several addresses.
    SeveralAddresses {
        /// How many.
        addresses: usize,
    },
    /// The tokens of many requests do not fit common steps: several engines share the requests, sequences
    /// are paused, or the front end is so far behind that it mixes the tokens of several steps.
    NoCommonSteps {
        /// Requests that do not fit.
        requests: usize,
        /// Requests that share steps with others.
        of: usize,
    },
    /// The tokens of a step arrive in groups that are far apart: those of several engines that happen to
    /// take the same time.
    ArrivalsInGroups {
        /// The widest gap in a typical step, as a share of the time between its first arrival and its
        /// last.
        gap: f64,
    },
    /// The front end takes so long for the chunks of a step that they reach into the next one.
    FrontEndHidesSteps {
        /// Time for a chunk, in seconds.
        chunk: f64,
        /// Tokens of a typical step.
        tokens: u32,
        /// The number of requests in flight from which on steps are hidden.
        from: u32,
    },
}
