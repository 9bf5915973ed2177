//! Arrivals of a level at a fixed rate: randomly spaced, but exactly as many as the rate implies.
//!
//! The number of plain Poisson arrivals in a given time is random: at 2.5 per second for 20 seconds,
//! one run in twenty has fewer than 36 or more than 64 arrivals instead of 50. So arrivals are
//! conditioned on their number. Given the number, those of a Poisson process are independent and
//! uniform over the time; equivalently, its gaps are scaled to fill it, which is done here and works
//! for gamma gaps, too. Bursts and lulls within the level remain.

use crate::arrivals::Arrivals;
use dyno_model::Nanos;
use dyno_model::plan::{Arrival, LevelPlan, Warmup};
use std::collections::VecDeque;

/// A part of a level. Times are in mean gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    /// Arrivals in it.
    count: u64,
    /// Gaps that fill it: with one more than arrivals, the last gap reaches to its end; with none,
    /// all arrivals are at its beginning.
    gaps: u64,
    /// How long it is; absent: as long as its gaps are, to its last arrival.
    span: Option<f64>,
}

impl Part {
    /// What its gaps, which `unit` draws next, are multiplied by.
    fn scale(&self, unit: &mut Arrivals) -> f64 {
        let began = unit.past();
        unit.pass(self.gaps);
        let sum = unit.past() - began;
        // Gaps that are all too small to add up are left as they are.
        self.span.filter(|_| sum > 0.0).map_or(1.0, |span| span / sum)
    }
}

/// After the end of what is planned.
const ENDLESS: Part = Part { count: u64::MAX, gaps: u64::MAX, span: None };

/// Arrival offsets of a level, in order and without end, from its start. They depend on plan, seed
/// and number of the level alone.
#[derive(Debug, Clone)]
pub struct PacedArrivals {
    /// Gaps with a mean of 1.
    unit: Arrivals,
    rate: f64,
    /// With what the gaps of each part are multiplied by: known from the start, because it takes a while to
    /// add up the gaps of a long part, and arrivals are drawn while a level runs.
    to_come: VecDeque<(Part, f64)>,
    now: Part,
    /// Arrivals left in the current part.
    left: u64,
    /// What its gaps are multiplied by.
    scale: f64,
    /// When it began, and when the unit process did so.
    began: f64,
    unit_began: f64,
    last: f64,
}

impl PacedArrivals {
    /// The arrivals of a level. Where they begin conversations, the planned number of requests does
    /// not determine how many there are.
    pub fn new(
        seed: u64,
        level: u32,
        rate: f64,
        arrival: Arrival,
        plan: &LevelPlan,
        conversations: bool,
    ) -> Self {
        let unit = Arrivals::new(seed, level, 1.0, arrival);
        let mut ahead = unit.clone();
        let to_come = match arrival {
            // Their number is exact without any scaling.
            Arrival::Constant => Vec::new(),
            _ => parts(rate, plan, conversations),
        };
        let to_come = to_come.into_iter().map(|part| (part, part.scale(&mut ahead))).collect();
        Self {
            unit,
            rate,
            to_come,
            now: Part { count: 0, gaps: 0, span: None },
            left: 0,
            scale: 1.0,
            began: 0.0,
            unit_began: 0.0,
            last: 0.0,
        }
    }

    /// When the next arrival is due, in mean gaps from the start.
    fn next_due(&mut self) -> f64 {
        while self.left == 0 {
            self.begin_next();
        }
        self.left -= 1;
        self.last = match self.now.gaps {
            0 => self.began,
            _ => self.began + (self.unit.next_due() - self.unit_began) * self.scale,
        };
        self.last
    }

    fn begin_next(&mut self) {
        self.began = self.now.span.map_or(self.last, |span| self.began + span);
        self.unit.pass(self.now.gaps.saturating_sub(self.now.count));
        self.unit_began = self.unit.past();
        (self.now, self.scale) = self.to_come.pop_front().unwrap_or((ENDLESS, 1.0));
        self.left = self.now.count;
    }
}

impl Iterator for PacedArrivals {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        Some((self.next_due() * 1e9 / self.rate).round() as Nanos)
    }
}

/// The parts of a level: its warm-up, and what is measured.
fn parts(rate: f64, plan: &LevelPlan, conversations: bool) -> Vec<Part> {
    let span_of = |time: Nanos| rate * time as f64 / 1e9;
    let within = |count: u64, span: f64| Part { count, gaps: count + 1, span: Some(span) };
    let requests = plan.requests.filter(|_| !conversations);
    let mut all = Vec::new();
    match plan.warmup {
        Some(Warmup::Requests(_)) if conversations => return all,
        Some(Warmup::Requests(count)) => all.push(within(count, count as f64)),
        Some(Warmup::Duration(time)) => {
            all.push(within(span_of(time).round() as u64, span_of(time)))
        }
        None => {}
    }
    let time = plan.duration_ns.map(span_of);
    match (requests, time) {
        (Some(count), time) if time.is_none_or(|span| count as f64 <= span) => {
            // A rate is measured from the first request to the last. The time of the first is random.
            all.push(Part { count: 1, gaps: 1, span: None });
            let gaps = count.saturating_sub(1);
            all.push(Part { count: gaps, gaps, span: Some(gaps as f64) });
        }
        (_, Some(span)) => {
            // A level without any arrival would measure nothing.
            let count = (span.round() as u64).max(1);
            match plan.warmup {
                // The time is counted from the first measured request.
                Some(Warmup::Requests(_)) => {
                    all.push(Part { count: 1, gaps: 0, span: Some(0.0) });
                    all.push(within(count - 1, span));
                }
                _ => all.push(within(count, span)),
            }
        }
        (_, None) => {}
    }
    all
}
