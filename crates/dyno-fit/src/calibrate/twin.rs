//! A calibrated engine as a twin, with its errors, its intervals and what remains unknown.

use super::Calibrated;
use super::check::allow_for_misfit;
use super::unknown::Unknown;
use crate::trial::{Figures, Quantity, SentRequest, Trial, TrialKind, most_in_flight};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::{
    Accuracy, Errors, Length, ProfileRows, TwinClient, TwinLengths, TwinRange,
};
use dyno_engine::twin::reference::ReferenceValue;
use dyno_stats::upper_median;
use std::collections::BTreeMap;

/// No prediction is better than this many percent.
const FINEST: f64 = 2.0;
/// Half the width of a 95 % interval in standard deviations: they are known from few levels, and the
/// settings of the engine were chosen with all of them.
const WIDE: f64 = 3.2;
/// The standard deviation of errors over the median of their sizes.
const DEVIATION: f64 = 1.4826;
/// How much wider intervals are if all levels were of one kind of load.
const UNSEEN: f64 = 1.6;
/// What such levels do not show of other kinds, as standard deviations of logarithms: of throughput, TTFT,
/// ITL and latency. Set with engines of which only closed loops were known (`cargo study twins study
/// --ladder`, seeds 5 to 7).
const NOT_SHOWN: [f64; 4] = [0.01, 0.15, 0.02, 0.035];

/// Values of tables and the quantities of trials that they are.
const FIGURES: [(ReferenceValue, Quantity); 5] = [
    (ReferenceValue::CompletedRate, Quantity::Rate),
    (ReferenceValue::TtftMs, Quantity::TtftMean),
    (ReferenceValue::ItlMs, Quantity::ItlMean),
    (ReferenceValue::LatencyS, Quantity::LatencyMean),
    (ReferenceValue::P90S, Quantity::LatencyP90),
];

impl Calibrated {
    /// The twin. The caller says which system it is.
    pub fn twin(&self, name: &str) -> Twin {
        let trials = || self.levels.iter().map(|(trial, _)| trial);
        let mut twin = Twin {
            name: name.to_owned(),
            model: None,
            hardware: None,
            engine: String::new(),
            provenance: String::new(),
            reference: None,
            scheduler: self.model.scheduler,
            cost: self.model.cost,
            lengths: lengths(trials()),
            range: range(trials()),
            client: TwinClient::default(),
            rows: ProfileRows {
                fitted: trials().map(|trial| trial.label.clone()).collect(),
                ..ProfileRows::default()
            },
            errors: Errors {
                fitted: self.fitted(),
                held_out: self.held_out(),
                kinds: self.by_kind(),
            },
            intervals: self.intervals.clone(),
            unidentified: self.unknown.iter().map(Unknown::words).collect(),
            accuracy: self.accuracy(),
        };
        let fitted_to: Vec<Trial> = trials().cloned().collect();
        allow_for_misfit(&mut twin, &fitted_to);
        twin
    }

    /// Mean absolute errors on the levels that it was fitted to, in percent.
    fn fitted(&self) -> BTreeMap<ReferenceValue, f64> {
        let error = |(figure, quantity): &(ReferenceValue, Quantity)| {
            let errors = self.levels.iter().filter_map(|(trial, simulated)| {
                let measured = Figures::of(trial)?.get(*quantity);
                let error = (simulated.as_ref()?.get(*quantity) / measured - 1.0).abs();
                // Responses of one token have no time between tokens.
                error.is_finite().then_some(error)
            });
            Some((*figure, percent(mean(errors)?)))
        };
        FIGURES.iter().filter_map(error).collect()
    }

    /// Mean absolute errors on levels that were left out, in percent.
    fn held_out(&self) -> BTreeMap<ReferenceValue, f64> {
        let error = |(figure, quantity): &(ReferenceValue, Quantity)| {
            Some((*figure, percent(self.left_out.error(*quantity)?)))
        };
        FIGURES.iter().filter_map(error).collect()
    }

    /// Typical errors on levels of each kind that were left out, in percent: the medians of their sizes, as
    /// standard deviations. Where a kind has one level, nothing like it was left to predict it.
    fn by_kind(&self) -> BTreeMap<String, Accuracy> {
        use Quantity::{ItlMean, ItlP50, LatencyP50, LatencyP90, Rate, TtftMean, TtftP50, TtftP90};
        let known = |kind: TrialKind| {
            let of = || self.left_out.levels.iter().filter(|missed| missed.kind == kind);
            if of().count() < 2 {
                return None;
            }
            let typical = |quantities: &[Quantity]| {
                let errors = of().flat_map(|missed| {
                    quantities.iter().filter_map(|quantity| missed.by.get(quantity))
                });
                let mut sizes: Vec<f64> = errors.map(|by| by.abs()).collect();
                let median = upper_median(&mut sizes)?;
                Some(percent((DEVIATION * median).exp() - 1.0))
            };
            let accuracy = Accuracy {
                rate: typical(&[Rate])?,
                ttft: typical(&[TtftMean, TtftP50, TtftP90])?,
                itl: typical(&[ItlMean, ItlP50]),
                latency: typical(&[LatencyP50, LatencyP90])?,
            };
            Some((kind.name().to_owned(), accuracy))
        };
        TrialKind::ALL.into_iter().filter_map(known).collect()
    }

    /// Half the widths of 95 % intervals of predictions, from the levels that were left out.
    fn accuracy(&self) -> Option<Accuracy> {
        use Quantity::{ItlMean, ItlP50, LatencyP50, LatencyP90, Rate, TtftMean, TtftP50, TtftP90};
        // A kind of load that was not measured is harder than any that was.
        let any =
            |of: fn(TrialKind) -> bool| self.left_out.levels.iter().any(|missed| of(missed.kind));
        let both = any(|kind| kind == TrialKind::Open) && any(|kind| kind != TrialKind::Open);
        let (unseen, not_shown) = if both { (1.0, [0.0; 4]) } else { (UNSEEN, NOT_SHOWN) };
        let half = |quantities: &[Quantity], not_shown: f64| {
            let missed = self.left_out.levels.iter();
            let squares = missed.flat_map(|missed| {
                quantities.iter().filter_map(|quantity| missed.by.get(quantity)).map(|by| by * by)
            });
            let deviation = (unseen * mean(squares)?.sqrt()).hypot(not_shown);
            Some(percent((WIDE * deviation).exp() - 1.0).max(FINEST))
        };
        Some(Accuracy {
            rate: half(&[Rate], not_shown[0])?,
            ttft: half(&[TtftMean, TtftP50, TtftP90], not_shown[1])?,
            itl: half(&[ItlMean, ItlP50], not_shown[2]),
            latency: half(&[LatencyP50, LatencyP90], not_shown[3])?,
        })
    }

    /// The root of the mean squared error of the levels that it was fitted to.
    pub fn residual(&self) -> f64 {
        self.square.sqrt()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// A share in percent, to a tenth.
fn percent(share: f64) -> f64 {
    (1e3 * share).round() / 10.0
}

fn lengths<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> TwinLengths {
    let length = |of: fn(&SentRequest) -> u32| {
        let all =
            || trials.clone().flat_map(|trial| &trial.requests).map(|sent| f64::from(of(sent)));
        let mean_of = mean(all()).unwrap_or(1.0).max(1.0);
        let variance = mean(all().map(|length| (length - mean_of).powi(2))).unwrap_or(0.0);
        Length { mean: mean_of, spread: variance.sqrt() / mean_of }
    };
    TwinLengths { input: length(|sent| sent.input), output: length(|sent| sent.output) }
}

fn range<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Option<TwinRange> {
    let span = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], value| {
            [least.min(value), most.max(value)]
        })
    };
    let figures = || trials.clone().filter_map(Figures::of);
    let requests = || trials.clone().flat_map(|trial| &trial.requests);
    let range = TwinRange {
        in_flight: span(&mut trials.clone().map(|trial| f64::from(most_in_flight(trial)))),
        rate: span(&mut figures().map(|figures| figures.get(Quantity::Rate))),
        input: span(&mut requests().map(|sent| f64::from(sent.input))),
        output: span(&mut requests().map(|sent| f64::from(sent.output))),
    };
    (range.rate[0] <= range.rate[1]).then_some(range)
}
