//! The state that responses depend on, and the engine behind it.

use super::ServerOptions;
use super::connection::Answering;
use super::outage::Outage;
use super::pace::WritePace;
use crate::brain::Brain;
use crate::live::{Due, Live};
use crate::script::Script;
use crate::slip::Slip;
use dyno_model::Nanos;
use dyno_respond::fault::Selector;

/// What decides when tokens are due.
#[derive(Debug)]
pub(super) enum Backend {
    /// A script.
    Scripted(Script),
    /// An engine.
    Twin(Box<Live>),
}

/// Everything that responses depend on.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) backend: Backend,
    /// Context length.
    pub(super) context: u32,
    /// Tokens of a response that nothing else bounds.
    pub(super) tokens: u32,
    pub(super) faults: Selector,
    pub(super) model: String,
    pub(super) model_json: String,
    pub(super) seed: u64,
    /// The size of vectors.
    pub(super) dimensions: u32,
    pub(super) anchor_unix_ns: u64,
    pub(super) slip: Slip,
    /// Responses begun.
    pub(super) generations: u64,
    /// Responses under way.
    pub(super) running: u64,
    /// Responses that are over, without those to preflight requests.
    pub(super) answered: u64,
    /// Whether usage reports cached prompt tokens.
    cache_report: bool,
    /// Hashes of requests that were dropped and will be dropped again.
    pub(super) poisoned: Vec<u64>,
    die_after: Option<u64>,
    hang_after: Option<u64>,
}

impl Site {
    /// The site before its first request.
    pub(super) fn new(options: ServerOptions, anchor_unix_ns: u64) -> Self {
        let model_json = serde_json::Value::from(options.model.as_str()).to_string();
        let (context, tokens, backend) = match options.brain {
            Brain::Scripted(script) => (script.context, script.tokens, Backend::Scripted(script)),
            Brain::Twin(twin) => {
                (twin.context, twin.tokens, Backend::Twin(Box::new(Live::new(*twin))))
            }
        };
        Self {
            backend,
            context,
            tokens,
            faults: Selector::new(options.faults, options.seed),
            model: options.model,
            model_json,
            seed: options.seed,
            dimensions: options.dimensions,
            anchor_unix_ns,
            slip: Slip::default(),
            generations: 0,
            running: 0,
            answered: 0,
            cache_report: options.cache_report,
            poisoned: Vec::new(),
            die_after: options.die_after,
            hang_after: options.hang_after,
        }
    }

    /// Whether the service has stopped, and how.
    pub(super) fn outage(&self) -> Option<Outage> {
        let reached = |after: Option<u64>| after.is_some_and(|after| self.answered >= after);
        match (reached(self.die_after), reached(self.hang_after)) {
            (true, _) => Some(Outage::Dead),
            (false, true) => Some(Outage::Hung),
            (false, false) => None,
        }
    }

    /// The engine, if there is one.
    pub(super) fn live(&mut self) -> Option<&mut Live> {
        match &mut self.backend {
            Backend::Scripted(_) => None,
            Backend::Twin(live) => Some(live),
        }
    }

    /// Whether usage reports cached prompt tokens.
    pub(super) fn tells_cached(&self) -> bool {
        match &self.backend {
            Backend::Scripted(_) => false,
            Backend::Twin(live) => self.cache_report && live.hashed_block().is_some(),
        }
    }

    /// The due times of a stream whose request was read at `start`.
    pub(super) fn pace(&self, start: Nanos) -> WritePace {
        match &self.backend {
            Backend::Scripted(script) => WritePace::Script { start, script: script.at(start) },
            Backend::Twin(_) => WritePace::engine(start),
        }
    }

    /// A response is over, or its client is gone.
    pub(super) fn over(&mut self, answering: &mut Option<Answering>, now: Nanos) {
        let Some(answering) = answering.take() else { return };
        self.running -= 1;
        if let (Some(live), Some(accepted)) = (self.live(), answering.accepted) {
            live.forget(accepted, now);
        }
    }

    /// Lets the engine do what it has to do by `now`.
    pub(super) fn run(&mut self, now: Nanos) {
        if let Some(live) = self.live() {
            live.run(now);
        }
    }

    /// When the engine has something to do next.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        match &self.backend {
            Backend::Scripted(_) => None,
            Backend::Twin(live) => live.next_due(),
        }
    }

    /// The next tokens of the engine to write.
    pub(super) fn next_write(&mut self) -> Option<Due> {
        let tells_cached = self.tells_cached();
        let mut due = self.live().and_then(Live::next_write)?;
        due.cached = due.cached.filter(|_| tells_cached);
        Some(due)
    }

    /// The engine's tokens were written at `now`.
    pub(super) fn wrote(&mut self, due: &Due, now: Nanos) {
        if let Some(live) = self.live() {
            live.wrote(due, now);
        }
    }
}
