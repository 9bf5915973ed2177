//! Which parameters and settings the data identifies, and within which intervals.

use super::FitOptions;
use super::model::Model;
use super::parameters::Parameter;
use super::report::{FitCompared, Fitted, Mean, Report};
use super::search::{Candidate, QUICK, effort, parallel, refit_without};
use super::space::{Space, misfit};
use super::table::{FitTable, Offer, TableLevel};
use dyno_engine::core::Scheduler;
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::{Length, ProfileRows, TwinLengths, TwinRange};
use dyno_engine::twin::reference::ReferenceValue;
use dyno_model::plan::Load;
use dyno_model::{Message, message};
use std::collections::BTreeMap;

/// Smaller errors count as none.
const FLOOR: f64 = 0.02;
/// The factors by which a parameter is varied.
const FACTORS: [f64; 2] = [1.25, 2.0];

/// Makes a twin of a candidate, with its errors and intervals.
pub(crate) fn judge(table: &FitTable, options: &FitOptions, found: &Candidate) -> Fitted {
    let levels: Vec<&TableLevel> = table.fitted().collect();
    let judge = Judge {
        options,
        found,
        levels: &levels,
        model: found.model(),
        known_pool: table.kv_tokens.is_some(),
    };
    let mut left_out = Mean::default();
    let without = parallel(options.threads, &levels, |level| refit_without(found, &levels, level));
    for (level, model) in levels.iter().zip(&without) {
        left_out.add(level, model, &FitCompared::new(level, model));
    }
    let mut twin = twin(table, &levels, &judge.model);
    let mut unidentified = Vec::new();
    judge.parameters(&mut twin, &mut unidentified);
    judge.choices(&mut unidentified);
    twin.unidentified = unidentified.iter().map(Message::to_string).collect();
    // Evaluate the twin as written, with its rounding.
    let mut twin = Twin::parse(&twin.to_toml(), &table.name).unwrap_or(twin);
    let report = Report::new(table, &Model::of(&twin));
    twin.errors = report.errors.clone();
    Fitted { twin, unidentified, report, leave_one_out: left_out.percent() }
}

struct Judge<'a> {
    options: &'a FitOptions,
    found: &'a Candidate,
    levels: &'a [&'a TableLevel],
    model: Model,
    known_pool: bool,
}

impl Judge<'_> {
    /// How much worse a fit may be before it is more than noise.
    fn noise(&self) -> f64 {
        let metrics: usize = self.levels.iter().map(|level| level.judged().count()).sum();
        let free = metrics.saturating_sub(self.found.space.parameters.len()).max(1);
        4.0 * (self.found.point.value / free as f64).max(FLOOR * FLOOR)
    }

    /// How much worse the fit is with `base` fixed and everything else refitted.
    fn worse(&self, space: &Space, base: &Model) -> f64 {
        let start = space.point(base, |_| 1.0);
        let value = space.descend(&start, self.levels, effort(self.levels, QUICK)).value;
        (value - self.found.point.value).max(0.0)
    }

    /// An interval for each parameter, and the names of those that could be twice or half the value.
    fn parameters(&self, twin: &mut Twin, unidentified: &mut Vec<Message>) {
        let parameters = &self.found.space.parameters;
        let edges = parallel(self.options.threads, parameters, |parameter| {
            [-1.0, 1.0].map(|side| self.edge(*parameter, side))
        });
        for (parameter, [low, high]) in parameters.iter().zip(edges) {
            let value = self.model.get(*parameter);
            let most = FACTORS[1];
            let interval = [low, high].map(|edge| value * edge.unwrap_or(most));
            let interval = [value * value / interval[0], interval[1]];
            twin.intervals.insert(parameter.name().to_owned(), interval);
            let name = parameter.name();
            unidentified.extend(match (low, high) {
                (None, None) => Some(message!(
                    "{name} (half or twice the value fits as well)",
                    "{name}（取一半或两倍同样吻合）"
                )),
                (None, Some(_)) => Some(message!(
                    "{name} (half the value fits as well)",
                    "{name}（取一半同样吻合）"
                )),
                (Some(_), None) => Some(message!(
                    "{name} (twice the value fits as well)",
                    "{name}（取两倍同样吻合）"
                )),
                (Some(_), Some(_)) => None,
            });
        }
        let fixed = [
            (
                Parameter::Attention,
                message!(
                    "attention_ns (prompts of one length: set to its usual share of prefill_token_us)",
                    "attention_ns（提示词只有一种长度：按其在 prefill_token_us 中的通常占比设定）"
                ),
            ),
            (
                Parameter::Kv,
                message!(
                    "kv_ns (requests of one length: set to its usual share of base_ms)",
                    "kv_ns（请求只有一种长度：按其在 base_ms 中的通常占比设定）"
                ),
            ),
            (
                Parameter::Pool,
                message!("kv_blocks (assumed never to be full)", "kv_blocks（假定从不占满）"),
            ),
        ];
        for (parameter, message) in fixed {
            let known = parameter == Parameter::Pool && self.known_pool;
            if !parameters.contains(&parameter) && !known {
                unidentified.push(message);
            }
        }
    }

    /// The factor by which a parameter may be larger or smaller before the fit gets worse; nothing if
    /// it is more than 2.
    fn edge(&self, parameter: Parameter, side: f64) -> Option<f64> {
        let noise = self.noise();
        let worse = |factor: f64| {
            let mut base = self.model;
            base.set(parameter, self.model.get(parameter) * factor.powf(side));
            self.worse(&self.found.space.without(parameter, base), &base)
        };
        let [near, far] = FACTORS;
        let at_near = worse(near);
        if at_near >= noise {
            return Some(near.powf((noise / at_near).sqrt()));
        }
        let at_far = worse(far);
        if at_far < noise {
            return None;
        }
        let share = (noise - at_near) / (at_far - at_near);
        Some(near * (far / near).powf(share))
    }

    /// Settings with an alternative that fits as well.
    fn choices(&self, unidentified: &mut Vec<Message>) {
        let at = self.model.scheduler;
        let others = [
            ("max_seqs", Scheduler { max_seqs: 2 * at.max_seqs, ..at }),
            ("max_seqs", Scheduler { max_seqs: (at.max_seqs / 2).max(1), ..at }),
            ("token_budget", Scheduler { token_budget: at.token_budget.saturating_mul(2), ..at }),
            ("token_budget", Scheduler { token_budget: (at.token_budget / 2).max(1), ..at }),
        ];
        let worse = parallel(self.options.threads, &others, |(_, scheduler)| {
            let base = Model { scheduler: *scheduler, ..self.model };
            let same = misfit(&base, self.levels) - self.found.point.value;
            if same < self.noise() { 0.0 } else { self.worse(&self.found.space.on(base), &base) }
        });
        for (index, (name, other)) in others.iter().enumerate() {
            if worse[index] < self.noise() {
                let value = match *name {
                    "max_seqs" => other.max_seqs,
                    _ => other.token_budget,
                };
                unidentified
                    .push(message!("{name} ({value} fits as well)", "{name}（{value} 同样吻合）"));
            }
        }
    }
}

/// A twin of this model, with the range that the levels cover.
fn twin(table: &FitTable, levels: &[&TableLevel], model: &Model) -> Twin {
    let span = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], value| {
            [least.min(value), most.max(value)]
        })
    };
    let get = |level: &TableLevel, figure| level.metrics.get(&figure).copied();
    let in_flight = |level: &&TableLevel| match level.offer {
        Offer::Load { load: load @ (Load::Concurrency { .. } | Load::Burst { .. }), .. } => {
            Some(load.value())
        }
        Offer::Unknown { .. } => model.client.in_flight.map(f64::from),
        Offer::Cell { .. } => None,
        Offer::Load { .. } => {
            Some(get(level, ReferenceValue::CompletedRate)? * get(level, ReferenceValue::LatencyS)?)
        }
    };
    let rate = |level: &&TableLevel| {
        get(level, ReferenceValue::CompletedRate)
            .or_else(|| Some(get(level, ReferenceValue::OutputTokensPerS)? / level.output))
    };
    let range = TwinRange {
        in_flight: span(&mut levels.iter().filter_map(in_flight)),
        rate: span(&mut levels.iter().filter_map(rate)),
        input: span(&mut levels.iter().map(|level| level.input)),
        output: span(&mut levels.iter().map(|level| level.output)),
    };
    let mean = |length: &dyn Fn(&TableLevel) -> f64| {
        levels.iter().map(|level| length(level)).sum::<f64>() / levels.len() as f64
    };
    let labels = |wanted: &dyn Fn(&TableLevel) -> bool| {
        let rows = table.levels.iter().filter(|level| wanted(level));
        rows.map(|level| level.label.clone()).collect()
    };
    use super::table::Role;
    Twin {
        name: table.name.clone(),
        model: None,
        hardware: None,
        engine: String::new(),
        provenance: String::new(),
        reference: None,
        scheduler: model.scheduler,
        cost: model.cost,
        lengths: TwinLengths {
            input: Length { mean: mean(&|level| level.input), spread: 0.0 },
            output: Length { mean: mean(&|level| level.output), spread: model.spread },
        },
        range: (range.rate[0] <= range.rate[1] && range.in_flight[0] <= range.in_flight[1])
            .then_some(range),
        client: model.client,
        rows: ProfileRows {
            fitted: labels(&|level| level.role == Role::Fitted),
            held_out: labels(&|level| level.role == Role::HeldOut),
            left_out: labels(&|level| matches!(level.role, Role::LeftOut(_))),
        },
        errors: Default::default(),
        intervals: BTreeMap::new(),
        unidentified: Vec::new(),
        accuracy: None,
    }
}
