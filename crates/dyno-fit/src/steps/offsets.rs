//! The step of each request's first token, solved from requests that overlap.

use super::stream::Stream;
use dyno_stats::upper_median;

/// Tokens on each side of the likeliest step that are tried.
const TRIED: usize = 4;
/// Deviations beyond this many steps all count the same: a pause of one request says no more.
const FARTHEST: f64 = 4.0;
/// What lateness counts, against its changes. Little: the front end may be late, but it is late in the
/// same way for all tokens of a request. It decides where steps are so regular that nothing else does.
const CONSTANT: f64 = 0.05;
/// The same for tokens before all others of their step. The newest request is rarely served first.
const EARLY: f64 = 1.5 * CONSTANT;
/// With fewer tokens in common, an alignment is doubtful.
const FEW: usize = 4;
/// A first token this share of a step after the last step came with it.
const TOGETHER: f64 = 0.5;
/// A mean deviation of this share of a step is no alignment.
const UNFIT: f64 = 0.35;

/// A request with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Index of its record among those given.
    pub record: usize,
    /// Index of the step that gave its first token.
    pub step: usize,
    /// Mean deviation of its tokens from the steps of other requests, in steps; absent where it shares
    /// no step with others.
    pub error: Option<f64>,
}

/// The places of all requests. Steps are numbered from 0, without gaps.
#[derive(Debug)]
pub(super) struct Solved {
    /// The step of each request's first token.
    pub(super) offsets: Vec<usize>,
    /// The earliest arrival in each step, in microseconds.
    pub(super) ends: Vec<f64>,
    errors: Vec<Option<f64>>,
}

impl Solved {
    /// Requests whose tokens do not fit the steps of the others, and requests that have others.
    pub(super) fn unfit(&self) -> (usize, usize) {
        let known: Vec<f64> = self.errors.iter().flatten().copied().collect();
        (known.iter().filter(|error| **error > UNFIT).count(), known.len())
    }

    /// The places, given the final numbers of the steps.
    pub(super) fn placed(&self, streams: &[Stream], firsts: &[usize]) -> Vec<Placed> {
        let all = streams.iter().zip(firsts).zip(&self.errors);
        let placed = |((stream, step), error): ((&Stream, &usize), &Option<f64>)| Placed {
            record: stream.record,
            step: *step,
            error: *error,
        };
        all.map(placed).collect()
    }
}

/// Places streams, which are in the order of their first tokens. `typical` is the time of a step.
pub(super) fn solve(streams: &[Stream], typical: f64) -> Solved {
    let mut fit = Fit { typical, late: Vec::new() };
    let mut ends: Vec<f64> = Vec::new();
    let mut offsets = Vec::with_capacity(streams.len());
    for stream in streams {
        let offset = fit.place(stream, &ends);
        for (index, at) in stream.tokens.iter().enumerate() {
            match ends.get_mut(offset + index) {
                Some(end) => *end = end.min(*at),
                None => ends.push(*at),
            }
        }
        offsets.push(offset);
    }
    let earliest = Earliest::of(streams, &offsets, ends.len());
    let errors = streams.iter().enumerate().map(|(index, stream)| {
        let cost = fit.against_others(stream, index, offsets[index], &earliest)?;
        (cost.shared >= FEW).then_some(cost.spread / typical)
    });
    let errors = errors.collect();
    Solved { offsets, ends, errors }
}

/// How well a request fits a place.
struct Cost {
    /// Mean change of its lateness from token to token. In the wrong place, that is the change of the
    /// time of steps; the lateness itself may drift, as requests before it in the order end.
    change: f64,
    /// Mean deviation from its own median lateness.
    spread: f64,
    /// Its median lateness.
    level: f64,
    /// Tokens in steps of others.
    shared: usize,
}

impl Cost {
    fn value(&self, typical: f64) -> f64 {
        let level = self.level * if self.level < 0.0 { -EARLY } else { CONSTANT };
        let doubt = if self.shared < FEW { 0.1 * typical } else { 0.0 };
        self.change + level + doubt
    }
}

struct Fit {
    typical: f64,
    /// Room for the lateness of tokens.
    late: Vec<f64>,
}

impl Fit {
    /// Where a request fits the steps of those that began before it.
    fn place(&mut self, stream: &Stream, ends: &[f64]) -> usize {
        let Some(likeliest) = likeliest(stream, ends) else {
            return self.after_all(stream.first(), ends);
        };
        let tried = likeliest.saturating_sub(TRIED)..=(likeliest + TRIED).min(ends.len());
        let costs = tried.filter_map(|offset| {
            let cost = self.cost(stream, |index| ends.get(offset + index).copied())?;
            Some((cost.value(self.typical), offset))
        });
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(ends.len(), |(_, offset)| offset)
    }

    /// The place of a request whose first token came after all others: in the last step, if it came
    /// with it, or in one after it.
    fn after_all(&self, first: f64, ends: &[f64]) -> usize {
        let with_last = ends.last().is_some_and(|last| first - last < TOGETHER * self.typical);
        ends.len() - usize::from(with_last)
    }

    /// How well it fits the steps of all others.
    fn against_others(
        &mut self,
        stream: &Stream,
        index: usize,
        offset: usize,
        all: &Earliest,
    ) -> Option<Cost> {
        self.cost(stream, |token| all.without(offset + token, index))
    }

    /// Compares the tokens of a request with the ends of steps.
    fn cost(&mut self, stream: &Stream, end: impl Fn(usize) -> Option<f64>) -> Option<Cost> {
        self.late.clear();
        for (index, at) in stream.compared() {
            self.late.extend(end(index).map(|end| at - end));
        }
        let farthest = FARTHEST * self.typical;
        let shared = self.late.len();
        let changes = self.late.windows(2).map(|pair| (pair[1] - pair[0]).abs().min(farthest));
        let change = changes.sum::<f64>() / shared.max(2) as f64;
        let level = upper_median(&mut self.late)?;
        let sum: f64 = self.late.iter().map(|late| (late - level).abs().min(farthest)).sum();
        Some(Cost { change, spread: sum / shared as f64, level, shared })
    }
}

/// The first step of a request if each of its tokens came right after the end of its step; absent
/// where it shares no step with those before.
fn likeliest(stream: &Stream, ends: &[f64]) -> Option<usize> {
    let last = *ends.last()?;
    let within = stream.compared().take_while(|(_, at)| *at <= last);
    let mut offsets: Vec<f64> = within
        .map(|(index, at)| ends.partition_point(|end| *end <= at) as f64 - 1.0 - index as f64)
        .collect();
    Some(upper_median(&mut offsets)?.max(0.0) as usize)
}

/// The two earliest arrivals of a step.
#[derive(Debug, Clone, Copy)]
struct Step {
    end: f64,
    by: usize,
    second: f64,
}

/// The two earliest arrivals of each step, so that a request can be compared with all but itself.
struct Earliest(Vec<Step>);

impl Earliest {
    fn of(streams: &[Stream], offsets: &[usize], count: usize) -> Self {
        let none = Step { end: f64::INFINITY, by: usize::MAX, second: f64::INFINITY };
        let mut steps = vec![none; count];
        for (by, (stream, offset)) in streams.iter().zip(offsets).enumerate() {
            for (step, at) in steps[*offset..].iter_mut().zip(&stream.tokens) {
                if *at < step.end {
                    *step = Step { end: *at, by, second: step.end };
                } else {
                    step.second = step.second.min(*at);
                }
            }
        }
        Self(steps)
    }

    /// The earliest arrival in a step that is not of this request.
    fn without(&self, step: usize, request: usize) -> Option<f64> {
        let step = self.0.get(step)?;
        let end = if step.by == request { step.second } else { step.end };
        end.is_finite().then_some(end)
    }
}
