//! The embedded engine: which twin or script it follows.

use dyno_engine::core::ConfigError;
use dyno_engine::twin::Twin;
use dyno_engine::{Script, ServerOptions, SlowDown, TwinBrain};
use dyno_model::Message;

/// What an embedded engine behaves like.
#[derive(Debug, Clone)]
pub enum Embedded {
    /// Every response follows an exact schedule.
    Script(Script),
    /// A system that batches.
    Twin(Box<Twin>),
}

impl Embedded {
    /// A twin by its name or file.
    pub fn twin(name: &str) -> Result<Self, Message> {
        Twin::load(name).map(|twin| Self::Twin(Box::new(twin)))
    }

    /// What a plan names: a script has keys and values, a twin has not.
    pub fn named(text: &str) -> Result<Self, Message> {
        if let Ok(script) = text.parse() {
            return Ok(Self::Script(script));
        }
        Self::twin(text).map_err(Message::of)
    }

    /// The same, slowing down over time.
    pub fn slowing_down(self, rate: SlowDown) -> Self {
        match self {
            Self::Script(script) => Self::Script(Script { slow_down: rate, ..script }),
            Self::Twin(mut twin) => {
                twin.cost.slow_down = rate;
                Self::Twin(twin)
            }
        }
    }

    /// A server that behaves like it.
    pub fn options(&self, seed: u64) -> Result<ServerOptions, ConfigError> {
        let options = ServerOptions { seed, ..ServerOptions::default() };
        Ok(match self {
            Self::Script(script) => ServerOptions { brain: (*script).into(), ..options },
            Self::Twin(twin) => {
                let natural = (twin.lengths.output.mean.round() as u32).max(1);
                let brain = TwinBrain::new(&twin.name, twin.core(seed)?, twin.context(), natural);
                ServerOptions { brain: brain.into(), model: twin.name.clone(), ..options }
            }
        })
    }
}
