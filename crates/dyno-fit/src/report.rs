//! What was measured beside what is simulated.

use super::model::Model;
use super::replay::replay;
use super::table::{Level, Role, Table};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Errors;
use dyno_engine::twin::reference::{Figure, Reference};
use std::collections::BTreeMap;

/// A twin that was fitted, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The twin. Its name is that of the table; what it is a twin of is for the caller to say.
    pub twin: Twin,
    /// All levels, measured and simulated.
    pub report: Report,
    /// Mean absolute errors in percent, each fitted level predicted from the others.
    pub leave_one_out: BTreeMap<Figure, f64>,
}

/// A twin beside its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The levels, in order of load.
    pub levels: Vec<Compared>,
    /// Mean absolute errors, in percent of what was measured.
    pub errors: Errors,
}

/// A level, measured and simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What it is called.
    pub label: String,
    /// What it is for.
    pub role: Role,
    /// Each figure that a twin is held to: as measured, and as simulated. The latter is absent if
    /// nothing was completed, or if it is not known what the client did.
    pub figures: BTreeMap<Figure, (f64, Option<f64>)>,
}

/// Replays a twin against all rows of a table. Nothing is fitted.
pub fn verify(twin: &Twin, reference: &Reference) -> Report {
    Report::new(&Table::from(reference), &Model::of(twin))
}

impl Report {
    pub(crate) fn new(table: &Table, model: &Model) -> Self {
        let levels: Vec<Compared> =
            table.levels.iter().map(|level| Compared::new(level, model)).collect();
        let mut fitted = Mean::default();
        let mut held_out = Mean::default();
        for (level, compared) in table.levels.iter().zip(&levels) {
            match level.role {
                Role::Fitted => fitted.add(level, model, compared),
                Role::HeldOut => held_out.add(level, model, compared),
                Role::LeftOut(_) => {}
            }
        }
        let errors = Errors { fitted: fitted.percent(), held_out: held_out.percent() };
        Self { levels, errors }
    }
}

impl Compared {
    pub(crate) fn new(level: &Level, model: &Model) -> Self {
        let simulated = match level.role {
            Role::LeftOut(_) => None,
            _ => replay(level, model),
        };
        let get = |figure| simulated.as_ref().and_then(|figures| figures.get(&figure)).copied();
        let figures = level.judged().map(|(figure, value)| (figure, (value, get(figure))));
        Self { label: level.label.clone(), role: level.role.clone(), figures: figures.collect() }
    }
}

/// Mean absolute errors by figure.
#[derive(Default)]
pub(crate) struct Mean {
    sums: BTreeMap<Figure, (f64, f64)>,
}

impl Mean {
    /// Adds the errors of a level. One of which it is not known what the client did says nothing;
    /// one in which nothing was completed is all wrong.
    pub(crate) fn add(&mut self, level: &Level, model: &Model, compared: &Compared) {
        if level.client_unknown() && model.client.in_flight.is_none() {
            return;
        }
        for (figure, (measured, simulated)) in &compared.figures {
            let error = simulated.map_or(1.0, |simulated| (simulated / measured - 1.0).abs());
            let (sum, number) = self.sums.entry(*figure).or_default();
            *sum += error;
            *number += 1.0;
        }
    }

    pub(crate) fn percent(&self) -> BTreeMap<Figure, f64> {
        // To a hundredth: more would be false precision.
        let round = |percent: f64| (100.0 * percent).round() / 100.0;
        self.sums.iter().map(|(figure, (sum, n))| (*figure, round(100.0 * sum / n))).collect()
    }
}
