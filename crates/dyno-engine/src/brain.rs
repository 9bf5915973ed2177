//! What decides when the tokens of a server are due.

use crate::core::Core;
use crate::live::LiveLog;
use crate::script::Script;

/// What decides when tokens are due.
#[derive(Debug, Clone)]
pub enum Brain {
    /// A script: the same times for every response, whatever the load.
    Scripted(Script),
    /// Continuous batching, in real time.
    Twin(Box<TwinBrain>),
}

impl Default for Brain {
    fn default() -> Self {
        Self::Scripted(Script::default())
    }
}

impl From<Script> for Brain {
    fn from(script: Script) -> Self {
        Self::Scripted(script)
    }
}

impl From<TwinBrain> for Brain {
    fn from(twin: TwinBrain) -> Self {
        Self::Twin(Box::new(twin))
    }
}

/// An engine with continuous batching for a server to run.
#[derive(Debug, Clone)]
pub struct TwinBrain {
    pub(crate) name: String,
    pub(crate) core: Core,
    pub(crate) context: u32,
    pub(crate) tokens: u32,
    pub(crate) log: Option<LiveLog>,
}

impl TwinBrain {
    /// An idle engine with the name of its twin, the context length it accepts, and the length of
    /// responses that nothing else bounds (at least 1).
    pub fn new(name: impl Into<String>, core: Core, context: u32, tokens: u32) -> Self {
        Self { name: name.into(), core, context, tokens: tokens.max(1), log: None }
    }

    /// Logs all events, so that they can be replayed in virtual time.
    pub fn with_log(mut self, log: LiveLog) -> Self {
        self.log = Some(log);
        self
    }
}
