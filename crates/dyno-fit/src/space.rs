//! The search space: points of logarithms of parameters, their models, and how far these are from the
//! measurements.

use super::FitOptions;
use super::choice::Choice;
use super::model::Model;
use super::parameters::Parameter;
use super::progress::FitProgress;
use super::replay::replay;
use super::simplex::{Point, Simplex};
use super::table::{FitTable, TableLevel};
use std::sync::Arc;

/// The error of a metric that the model does not produce at all: a factor of 20.
const ABSENT: f64 = 3.0;
/// Errors of logarithms above this count linearly instead of squared: one impossible measurement
/// must not dominate the fit.
const LARGE: f64 = 0.25;

/// The parameters that vary, and a model for the rest.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    base: Model,
    pub(crate) parameters: Vec<Parameter>,
    attention_ratio: f64,
    kv_ratio: f64,
    progress: Arc<FitProgress>,
}

impl Space {
    /// The space of a choice.
    pub(crate) fn new(
        table: &FitTable,
        levels: &[&TableLevel],
        choice: &Choice,
        options: &FitOptions,
    ) -> Self {
        Self {
            base: choice.model(table),
            parameters: choice.parameters(table, levels),
            attention_ratio: options.attention_ratio,
            kv_ratio: options.kv_ratio,
            progress: Arc::clone(&options.progress),
        }
    }

    /// The same space with another model for the rest.
    pub(crate) fn on(&self, base: Model) -> Self {
        Self { base, ..self.clone() }
    }

    /// The same space with another model for the rest, and without one parameter.
    pub(crate) fn without(&self, parameter: Parameter, base: Model) -> Self {
        let mut parameters = self.parameters.clone();
        parameters.retain(|other| *other != parameter);
        Self { base, parameters, ..self.clone() }
    }

    /// The model at a point, and a penalty if the point is beyond the limits or unlikely.
    pub(crate) fn model(&self, at: &[f64]) -> (Model, f64) {
        let mut model = self.base;
        let mut beyond = 0.0;
        for (parameter, at) in self.parameters.iter().zip(at) {
            let [least, most] = parameter.limits().map(f64::ln);
            let inside = at.clamp(least, most);
            beyond += (at - inside).powi(2) + parameter.unlikely(inside.exp());
            model.set(*parameter, inside.exp());
        }
        if !self.parameters.contains(&Parameter::Attention) {
            model.cost.attention = self.attention_ratio * model.cost.prefill_token;
        }
        if !self.parameters.contains(&Parameter::Kv) {
            model.cost.kv = self.kv_ratio * model.cost.base;
        }
        (model, beyond)
    }

    /// The point of a model; parameters that it does not have are taken from `or`.
    pub(crate) fn point(&self, model: &Model, or: impl Fn(Parameter) -> f64) -> Vec<f64> {
        let value = |parameter: &Parameter| {
            let value = model.get(*parameter);
            if value > 0.0 { value } else { or(*parameter) }
        };
        self.parameters.iter().map(|parameter| value(parameter).ln()).collect()
    }

    /// The sum of squared errors of the logarithms at a point.
    pub(crate) fn misfit(&self, at: &[f64], levels: &[&TableLevel]) -> f64 {
        let (model, beyond) = self.model(at);
        beyond + misfit(&model, levels)
    }

    /// The lowest point found from `start`.
    pub(crate) fn descend(&self, start: &[f64], levels: &[&TableLevel], simplex: Simplex) -> Point {
        if self.parameters.is_empty() {
            return Point { at: Vec::new(), value: self.misfit(&[], levels) };
        }
        let found = simplex.minimise(start, |at| self.misfit(at, levels));
        self.progress.step(simplex);
        found
    }
}

impl Space {
    /// Takes smaller and smaller steps along one axis after the other while they improve the fit, to
    /// leave local minima in which a simplex gets stuck.
    pub(crate) fn walk(&self, mut point: Point, levels: &[&TableLevel]) -> Point {
        for step in [0.2, 0.08, 0.03] {
            for axis in 0..point.at.len() {
                for way in [step, -step] {
                    let mut at = point.at.clone();
                    at[axis] += way;
                    let value = self.misfit(&at, levels);
                    if value < point.value {
                        point = Point { at, value };
                        break;
                    }
                }
            }
        }
        point
    }
}

/// The sum of squared errors of the logarithms of all metrics of all levels.
pub(crate) fn misfit(model: &Model, levels: &[&TableLevel]) -> f64 {
    levels.iter().map(|level| level_misfit(model, level)).sum()
}

/// The sum over the metrics of one level.
pub(crate) fn level_misfit(model: &Model, level: &TableLevel) -> f64 {
    let simulated = replay(level, model);
    let error = |(figure, measured): (_, f64)| {
        let simulated = simulated.as_ref().and_then(|metrics| metrics.get(&figure));
        let error = simulated.map_or(ABSENT, |simulated| (simulated / measured).ln());
        2.0 * LARGE * LARGE * ((1.0 + (error / LARGE).powi(2)).sqrt() - 1.0)
    };
    level.judged().map(error).sum()
}
