//! The order for a run: plan, target, data and place.

use crate::error::RunError;
use crate::fleet::AgentSource;
use crate::past::Past;
use crate::workload::Workload;
use dyno_drive::StopSignal;
use dyno_model::environment::Address;
use dyno_model::plan::{LevelPlan, Plan, Target};
use dyno_model::{Diagnostic, Message, SEC};
use dyno_net::Clock;
use dyno_record::RunDir;
use dyno_wire::client::{Resolver, SlowSink, Sources};
use dyno_wire::tls::TlsSettings;
use dyno_wire::url::TargetUrl;
use std::fmt;
use std::path::PathBuf;

/// What to do, and where to write it. [`Order::server`], [`Order::engine`] and [`Order::twin`] create
/// one with the defaults of the command line and no levels.
pub struct Order {
    /// The plan; saved.
    pub plan: Plan,
    /// How to reach the target; never saved.
    pub reach: ConnectionSettings,
    /// The data to send; absent: the plan's data are opened when the run begins.
    pub workload: Option<Workload>,
    /// Where to write the run.
    pub place: RunOutput,
    /// Ends the run early.
    pub stop: StopSignal,
    /// What is known about the target before the preflight.
    pub notes: Vec<Diagnostic>,
    /// Where the agents of a plan with a fleet come from.
    pub crew: Option<AgentSource>,
    /// The command line that asks for it, without secrets; saved.
    pub command: Vec<String>,
}

/// How to reach a server, with everything that must not be saved.
#[derive(Clone, Default)]
pub struct ConnectionSettings {
    /// Its URL, with the query; absent: an embedded engine is used.
    pub url: Option<TargetUrl>,
    /// How TLS is set up.
    pub tls: TlsSettings,
    /// Keys and headers.
    pub secrets: Secrets,
    /// Where to poll its metrics.
    pub metrics: MetricsFrom,
    /// How its name is resolved.
    pub resolver: Resolver,
    /// Its addresses that have numbers already.
    pub numbered: Vec<Address>,
    /// Local addresses that connections are opened from; none: the system chooses.
    pub sources: Sources,
    /// Ignore the kernel's receive timestamps, to measure their effect.
    pub without_stamps: bool,
    /// The server that agents ask for token counts, where it is not the target.
    pub counting: Option<Counter>,
    /// Hears which request before the first level has no response yet.
    pub slow: Option<SlowSink>,
}

/// A server that counts tokens for runs on another.
#[derive(Clone)]
pub struct Counter {
    /// Its URL, with the query.
    pub url: TargetUrl,
    /// Keys and headers.
    pub secrets: Secrets,
}

/// Credentials, which must not be saved or printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Sent as `Authorization: Bearer …`.
    pub api_key: Option<String>,
    /// Extra headers, in order.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

/// Where to poll a server's metrics.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum MetricsFrom {
    /// At the target, if it has a metrics endpoint.
    #[default]
    Target,
    /// Nowhere.
    Nowhere,
    /// At another address.
    Url(TargetUrl),
}

/// Where a run is written.
pub enum RunOutput {
    /// In a temporary directory that is removed with [`crate::FinishedRun`].
    Temporary,
    /// In this directory, which is new or empty.
    At(PathBuf),
    /// In a new directory below this one, named by the time.
    Below(PathBuf),
    /// In its existing directory: the run is resumed.
    Resumed(RunDir, Box<Past>),
}

impl RunOutput {
    /// The directory of a run with this name, where that is known before the run is written.
    pub(crate) fn directory(&self, name: &str) -> Option<PathBuf> {
        match self {
            Self::Temporary => None,
            Self::At(path) => Some(path.clone()),
            Self::Below(path) => Some(path.join(name)),
            Self::Resumed(dir, _) => Some(dir.path().to_owned()),
        }
    }
}

impl Order {
    /// An order for a plan whose target is an embedded engine or a twin.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            reach: ConnectionSettings::default(),
            workload: None,
            place: RunOutput::Temporary,
            stop: StopSignal::new(),
            notes: Vec::new(),
            crew: None,
            command: Vec::new(),
        }
    }

    /// Measures the server at `url`, which must hold nothing secret: it is saved.
    pub fn server(url: &str) -> Result<Self, RunError> {
        let parsed = TargetUrl::parse(url).map_err(|error| RunError::Usage(Message::of(error)))?;
        let mut order = Self::new(Plan::new(Target::at(url)));
        order.reach.url = Some(parsed);
        Ok(order)
    }

    /// Measures an embedded engine: a twin by name or file, or a script such as
    /// `ttft=20ms,itl=2ms,tokens=16`.
    pub fn engine(name: &str) -> Self {
        Self::new(Plan::new(Target::engine(name)))
    }

    /// Predicts with a twin, by name or file, in virtual time.
    pub fn twin(name: &str) -> Self {
        Self::new(Plan::new(Target { predicted: true, ..Target::engine(name) }))
    }

    /// Adds a level.
    pub fn level(mut self, level: LevelPlan) -> Self {
        self.plan.levels.push(level);
        self
    }

    /// Sets where it is written.
    pub fn kept(self, place: RunOutput) -> Self {
        Self { place, ..self }
    }

    /// The run's clock: a new one, or that of the run being resumed.
    pub(crate) fn clock(&self) -> Clock {
        match &self.place {
            RunOutput::Resumed(_, past) => Clock::resume(past.anchor_unix_ns, past.until + SEC),
            _ => Clock::start(),
        }
    }

    /// The recorded state of the run being resumed.
    pub fn past(&self) -> Option<&Past> {
        match &self.place {
            RunOutput::Resumed(_, past) => Some(past),
            _ => None,
        }
    }
}
