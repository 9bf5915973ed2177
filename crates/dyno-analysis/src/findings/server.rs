//! What the server's own figures tell of a level or a run.

use super::words::{digits, percent, values};
use dyno_model::Language;
use dyno_words::ServerTold;
use dyno_words::escape::escape;

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

    /// What was seen, and what to do, in a language.
    pub(super) fn words(&self, language: Language) -> (String, Option<String>) {
        let (what, values, advice) = match self {
            Self::KvFull { label, preemptions, kv_use, all_after } => {
                let what = match (all_after, kv_use) {
                    (true, None) => ServerTold::KvFullFrom,
                    (true, Some(_)) => ServerTold::KvFullFromUsed,
                    (false, None) => ServerTold::KvFullAt,
                    (false, Some(_)) => ServerTold::KvFullAtUsed,
                };
                let mut values = values![escape(label, 80), preemptions];
                values.extend(kv_use.map(percent));
                (what, values, ServerTold::GiveMemory)
            }
            Self::Queue { share, waiting, running, kv_full } => {
                let what =
                    if running.is_some() { ServerTold::QueueRunning } else { ServerTold::Queue };
                let mut values = vec![percent(*share), digits(*waiting, 1)];
                values.extend(running.map(|running| digits(running, 1)));
                let advice = match kv_full {
                    Some(true) => ServerTold::QueueKv,
                    Some(false) => ServerTold::QueueCap,
                    None => ServerTold::QueueUnknown,
                };
                (what, values, advice)
            }
            Self::Fewer { server, here } => {
                let values = vec![digits(*here, 1), digits(*server, 1)];
                (ServerTold::Fewer, values, ServerTold::HeldBack)
            }
            Self::More { server, here } => {
                let values = vec![digits(*server, 1), digits(*here, 1)];
                (ServerTold::More, values, ServerTold::Shared)
            }
            Self::CachedRandom { share } => {
                (ServerTold::CachedRandom, vec![percent(*share)], ServerTold::ClearCache)
            }
        };
        (what.with(language, &values), Some(advice.text(language).to_owned()))
    }
}
