//! What the server's own figures tell of a level or a run.

use super::words::percent;
use crate::escape::escape;

/// What there is to say.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerFinding {
    /// Of the whole run: from a level on, requests lost their place in the batch.
    KvFull {
        /// The first such level.
        label: String,
        /// Requests that lost their place in it.
        preemptions: u64,
        /// Largest share of the KV cache in use there, where it is known.
        kv_use: Option<f64>,
        /// It is so in every level after it, too.
        all_after: bool,
    },
    /// Requests waited in the server for most of the level.
    Queue {
        /// Share of the samples in which some waited.
        share: f64,
        /// How many on average.
        waiting: f64,
        /// How many were in the batch meanwhile.
        running: Option<f64>,
        /// Whether the KV cache was full meanwhile, where that is known.
        kv_full: Option<bool>,
    },
    /// The server had far fewer requests than were in flight from here.
    Fewer {
        /// Running and waiting, on average.
        server: f64,
        /// In flight from here, on average.
        here: f64,
    },
    /// The server had far more requests than were in flight from here.
    More {
        /// Running and waiting, on average.
        server: f64,
        /// In flight from here, on average.
        here: f64,
    },
    /// The prefix cache had much of prompts that are random.
    CachedRandom {
        /// Share of prompt tokens.
        share: f64,
    },
}

impl ServerFinding {
    /// A stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::KvFull { .. } => "kv_cache_full",
            Self::Queue { .. } => "server_queue",
            Self::Fewer { .. } => "server_has_fewer",
            Self::More { .. } => "server_has_more",
            Self::CachedRandom { .. } => "cached_random",
        }
    }

    /// What was seen, and what to do.
    pub(super) fn words(&self) -> (String, &'static str) {
        match self {
            Self::KvFull { label, preemptions, kv_use, all_after } => {
                let (from, on) = if *all_after { ("from ", " on") } else { ("at ", "") };
                let used =
                    kv_use.map(|share| format!(", {} in use", percent(share))).unwrap_or_default();
                let label = escape(label, 80);
                let requests = if *preemptions == 1 { "request" } else { "requests" };
                (
                    format!(
                        "the KV cache is full {from}{label}{on}: preemptions begin there \
                         ({preemptions} {requests}{used})"
                    ),
                    "a request that loses its place is computed again, which costs throughput and \
                     shows as long gaps; give the cache more memory, or cap the number of \
                     sequences",
                )
            }
            Self::Queue { share, waiting, running, kv_full } => {
                let ran = running
                    .map(|running| format!(", while {running:.1} were in the batch"))
                    .unwrap_or_default();
                (
                    format!(
                        "requests waited in the server for {} of the level: {waiting:.1} on \
                         average{ran}",
                        percent(*share)
                    ),
                    match kv_full {
                        Some(true) => {
                            "its KV cache is full, so no more fit into the batch; TTFT includes \
                             this wait"
                        }
                        Some(false) => {
                            "its cap on sequences or on tokens a step is reached, not its KV \
                             cache; TTFT includes this wait"
                        }
                        None => {
                            "its cap on sequences or on tokens a step, or its KV cache, is \
                             reached; TTFT includes this wait"
                        }
                    },
                )
            }
            Self::Fewer { server, here } => (
                format!(
                    "{here:.1} requests were in flight from here on average, but the server had \
                     {server:.1}, running or waiting"
                ),
                "something in between holds them back or spreads them: a proxy, a limit of the \
                 front end, or several servers behind one address of which one is asked",
            ),
            Self::More { server, here } => (
                format!(
                    "the server had {server:.1} requests, running or waiting, on average, but \
                     only {here:.1} were in flight from here"
                ),
                "others use it, so these figures are of a shared server; measure it alone, or \
                 count all clients",
            ),
            Self::CachedRandom { share } => (
                format!(
                    "the prefix cache had {} of the prompt tokens, although the prompts are random",
                    percent(*share)
                ),
                "prompts of an earlier run with this seed, or a long chat template, flatter TTFT \
                 and throughput; use another --seed or --unique-prefix, or clear the cache",
            ),
        }
    }
}
