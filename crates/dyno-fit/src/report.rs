//! Measured and simulated values side by side.

use super::model::Model;
use super::replay::replay;
use super::table::{FitTable, Role, TableLevel};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Errors;
use dyno_engine::twin::reference::{Reference, ReferenceValue};
use dyno_model::Message;
use std::collections::BTreeMap;

/// A twin that was fitted, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The twin, with the name of the table. The caller fills in which system it is.
    pub twin: Twin,
    /// Parameters and settings that the table does not identify; the twin's file has them in English.
    pub unidentified: Vec<Message>,
    /// All levels, measured and simulated.
    pub report: Report,
    /// Leave-one-out errors: mean absolute errors in percent, each level predicted from the others.
    pub leave_one_out: BTreeMap<ReferenceValue, f64>,
}

/// A twin compared with its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The levels, in order of load.
    pub levels: Vec<FitCompared>,
    /// Mean absolute errors in percent of the measured values.
    pub errors: Errors,
}

/// A level, measured and simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct FitCompared {
    /// Its label.
    pub label: String,
    /// How it is used.
    pub role: Role,
    /// Each metric, measured and simulated. The latter is absent if no request completed, or if the
    /// client's load is not known.
    pub metrics: BTreeMap<ReferenceValue, (f64, Option<f64>)>,
}

/// Replays a twin against all rows of a table. Nothing is fitted.
pub fn verify(twin: &Twin, reference: &Reference) -> Report {
    Report::new(&FitTable::from(reference), &Model::of(twin))
}

impl Report {
    pub(crate) fn new(table: &FitTable, model: &Model) -> Self {
        let levels: Vec<FitCompared> =
            table.levels.iter().map(|level| FitCompared::new(level, model)).collect();
        let mut fitted = Mean::default();
        let mut held_out = Mean::default();
        for (level, compared) in table.levels.iter().zip(&levels) {
            match level.role {
                Role::Fitted => fitted.add(level, model, compared),
                Role::HeldOut => held_out.add(level, model, compared),
                Role::LeftOut(_) => {}
            }
        }
        let errors =
            Errors { fitted: fitted.percent(), held_out: held_out.percent(), ..Errors::default() };
        Self { levels, errors }
    }
}

impl FitCompared {
    pub(crate) fn new(level: &TableLevel, model: &Model) -> Self {
        let simulated = match level.role {
            Role::LeftOut(_) => None,
            _ => replay(level, model),
        };
        let get = |figure| simulated.as_ref().and_then(|metrics| metrics.get(&figure)).copied();
        let metrics = level.judged().map(|(figure, value)| (figure, (value, get(figure))));
        Self { label: level.label.clone(), role: level.role.clone(), metrics: metrics.collect() }
    }
}

/// Mean absolute errors by metric.
#[derive(Default)]
pub(crate) struct Mean {
    sums: BTreeMap<ReferenceValue, (f64, f64)>,
}

impl Mean {
    /// Adds the errors of a level. A level with an unknown load is skipped; one in which no request
    /// completed counts as an error of 100 %.
    pub(crate) fn add(&mut self, level: &TableLevel, model: &Model, compared: &FitCompared) {
        if level.client_unknown() && model.client.in_flight.is_none() {
            return;
        }
        for (figure, (measured, simulated)) in &compared.metrics {
            let error = simulated.map_or(1.0, |simulated| (simulated / measured - 1.0).abs());
            let (sum, number) = self.sums.entry(*figure).or_default();
            *sum += error;
            *number += 1.0;
        }
    }

    pub(crate) fn percent(&self) -> BTreeMap<ReferenceValue, f64> {
        // To a hundredth: more would be false precision.
        let round = |percent: f64| (100.0 * percent).round() / 100.0;
        self.sums.iter().map(|(figure, (sum, n))| (*figure, round(100.0 * sum / n))).collect()
    }
}
