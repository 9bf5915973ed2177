//! What a run is asked to do.

use crate::error::RunError;
use crate::past::Past;
use crate::workload::Workload;
use dyno_drive::StopSignal;
use dyno_model::SEC;
use dyno_model::plan::{LevelPlan, Plan, Target};
use dyno_net::Clock;
use dyno_record::RunDir;
use dyno_wire::tls::TlsSettings;
use dyno_wire::url::TargetUrl;
use std::fmt;
use std::path::PathBuf;

/// What is to be done, and where it goes. [`Order::server`], [`Order::engine`] and [`Order::twin`] make
/// one with the defaults of the command line and no levels.
pub struct Order {
    /// What will be done, and to whom; saved.
    pub plan: Plan,
    /// How whoever the plan names is reached; never saved.
    pub reach: Reach,
    /// What will be sent; absent: the data that the plan names are opened when the run begins.
    pub workload: Option<Workload>,
    /// Where the run is kept.
    pub place: Place,
    /// Ends the run early.
    pub stop: StopSignal,
}

/// How a server is reached, with all that must not be saved.
#[derive(Clone, Default)]
pub struct Reach {
    /// Its URL, with the query; absent: an engine of our own answers.
    pub url: Option<TargetUrl>,
    /// How TLS is set up.
    pub tls: TlsSettings,
    /// Keys and headers.
    pub secrets: Secrets,
    /// Where it is asked for its own figures.
    pub metrics: MetricsFrom,
    /// Do without the kernel's receive times, to see what that costs.
    pub without_stamps: bool,
}

/// What must not be saved or printed.
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

/// Where a server is asked for its own figures.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum MetricsFrom {
    /// At the target, if it has any.
    #[default]
    Target,
    /// Nowhere.
    Nowhere,
    /// At another address.
    Url(TargetUrl),
}

/// Where a run is kept.
pub enum Place {
    /// In a directory that goes with [`crate::Finished`].
    Temporary,
    /// In this directory, which is new or empty.
    At(PathBuf),
    /// In a directory of its own below this one, named by the time.
    Below(PathBuf),
    /// Where it was begun: it is gone on with.
    Resumed(RunDir, Box<Past>),
}

impl Order {
    /// An order for a plan whose target is an engine of our own or a twin.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            reach: Reach::default(),
            workload: None,
            place: Place::Temporary,
            stop: StopSignal::new(),
        }
    }

    /// Measures the server at `url`, which must hold nothing secret: it is saved.
    pub fn server(url: &str) -> Result<Self, RunError> {
        let parsed = TargetUrl::parse(url).map_err(|error| RunError::Usage(error.to_string()))?;
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

    /// Where it is kept.
    pub fn kept(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The run's time: a new one, or that of the run which is gone on with.
    pub(crate) fn clock(&self) -> Clock {
        match &self.place {
            Place::Resumed(_, past) => Clock::resume(past.anchor_unix_ns, past.until + SEC),
            _ => Clock::start(),
        }
    }

    /// What an earlier process left of it.
    pub(crate) fn past(&self) -> Option<&Past> {
        match &self.place {
            Place::Resumed(_, past) => Some(past),
            _ => None,
        }
    }
}
