//! A level divided into equal slices of time, for ramps and soaks.

use super::gather::Gathered;
use super::request_times::request_times;
use dyno_model::metric::Time;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Warmup};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Slice, round6};
use dyno_model::units::to_s;
use dyno_stats::{Counted, PERCENTILES, Presence};

/// Slices of an even ramp and of a soak.
const SLICES: u64 = 20;
/// Cells that tests look at, at least; slices are made of whole ones.
const CELLS: u64 = 40;
const NS_PER_MS: f64 = 1e6;

/// What happened in one cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) arrived: u64,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) shed: u64,
    pub(super) ttft: Vec<u64>,
    pub(super) latency: Vec<u64>,
    /// Sent in it, and still running when the run had to stop.
    censored: u64,
}

/// A level's time in cells, filled by the second reading.
#[derive(Debug)]
pub(super) struct Sliced {
    from: u64,
    /// When sending stopped.
    to: u64,
    /// How long it would have been.
    planned: u64,
    slices: u64,
    per_slice: u64,
    pub(super) cells: Vec<Cell>,
    pub(super) first_failure: Option<u64>,
}

impl Sliced {
    /// For a ramp or a soak; nothing for any other level, or where nothing was sent.
    pub(super) fn new(plan: &LevelPlan, level: &Gathered) -> Option<Self> {
        let from = match plan.warmup {
            None => level.started?,
            Some(Warmup::Duration(time)) => level.started?.saturating_add(time),
            Some(Warmup::Requests(_)) => level.span.first_sent?,
        };
        let (planned, slices) = match plan.load.ramp() {
            Some(ramp) => (Some(ramp.over_ns), ramp.steps.map_or(SLICES, u64::from)),
            None if plan.soak => (None, SLICES),
            None => return None,
        };
        let stopped = match &level.end {
            Some(end) => end.sending_stopped,
            None => level.span.last_sent?,
        };
        let planned = planned.unwrap_or(stopped.saturating_sub(from));
        let to = stopped.min(from.saturating_add(planned));
        if to <= from {
            return None;
        }
        let per_slice = CELLS.div_ceil(slices);
        let cells = vec![Cell::default(); (slices * per_slice) as usize];
        Some(Self { from, to, planned, slices, per_slice, cells, first_failure: None })
    }

    /// Where a cell begins, as an offset from the start.
    pub(super) fn edge(&self, cell: usize) -> u64 {
        let cells = self.cells.len() as u128;
        (u128::from(self.planned) * cell as u128 / cells) as u64
    }

    /// How long the measured time was.
    pub(super) fn length(&self) -> u64 {
        self.to - self.from
    }

    /// Cells that were completed.
    pub(super) fn whole_cells(&self) -> usize {
        (1..=self.cells.len()).take_while(|cell| self.edge(*cell) <= self.length()).count()
    }

    /// An offset from the start, for times within.
    pub(super) fn offset(&self, time: u64) -> Option<u64> {
        time.checked_sub(self.from).filter(|offset| *offset <= self.length())
    }

    fn cell(&mut self, time: u64) -> Option<&mut Cell> {
        let offset = self.offset(time)?;
        let cells = self.cells.len() as u128;
        // The cell whose edges, which are rounded down, hold it.
        let at = (u128::from(offset) * cells / u128::from(self.planned)) as usize;
        let at = if at + 1 < self.cells.len() && self.edge(at + 1) <= offset { at + 1 } else { at };
        let last = self.cells.len() - 1;
        self.cells.get_mut(at.min(last))
    }

    /// Second reading. Requests of all phases count when they end, because the server did the work.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        if let Some(cell) = self.cell(record.end) {
            match record.outcome {
                Outcome::Completed => cell.completed += 1,
                Outcome::Failed(_) | Outcome::Unconfirmed => cell.failed += 1,
                Outcome::Shed(_) => cell.shed += 1,
                Outcome::Dropped(_) | Outcome::Censored => {}
            }
        }
        if !record.phase.is_measured() {
            return;
        }
        if record.outcome.class().is_some() {
            let first = self.first_failure.get_or_insert(record.end);
            *first = record.end.min(*first);
        }
        if let Some(cell) = self.cell(record.intended) {
            cell.arrived += 1;
        }
        let f = request_times(record);
        if let Some(cell) = record.sent.and_then(|sent| self.cell(sent)) {
            cell.ttft.extend(f[Time::Ttft]);
            cell.latency.extend(f[Time::Latency]);
            cell.censored += u64::from(record.outcome == Outcome::Censored);
        }
    }

    /// The slices up to where sending stopped.
    pub(super) fn slices(&self, level: &Gathered) -> Vec<Slice> {
        let length = self.length();
        let mut slices = Vec::new();
        for (i, cells) in (0..self.slices).zip(self.cells.chunks(self.per_slice as usize)) {
            let first = (i * self.per_slice) as usize;
            let (from, to) = (self.edge(first), self.edge(first + cells.len()).min(length));
            if from >= to {
                break;
            }
            let sum = |count: fn(&Cell) -> u64| cells.iter().map(count).sum::<u64>();
            let per_s = |n: u64| round6(n as f64 / to_s(to - from));
            let pooled = |samples: fn(&Cell) -> &Vec<u64>| {
                Counted::from_samples(cells.iter().flat_map(samples).copied().collect())
            };
            let (ttft, latency) = (pooled(|cell| &cell.ttft), pooled(|cell| &cell.latency));
            let censored = sum(|cell| cell.censored);
            let ttft_p99 = percentile(&ttft, censored, "p99");
            slices.push(Slice {
                from_s: round6(to_s(from)),
                to_s: round6(to_s(to)),
                offered_per_s: per_s(sum(|cell| cell.arrived)),
                completed_per_s: per_s(sum(|cell| cell.completed)),
                ttft_p50_ms: percentile(&ttft, censored, "p50").map(|(ms, _)| ms),
                ttft_p99_ms: ttft_p99.map(|(ms, _)| ms),
                ttft_p99_marked: ttft_p99.is_some_and(|(_, marked)| marked),
                latency_p50_ms: percentile(&latency, censored, "p50").map(|(ms, _)| ms),
                failed: sum(|cell| cell.failed),
                shed: sum(|cell| cell.shed),
                in_flight: level.flight.at(self.from.saturating_add(to)),
            });
        }
        slices
    }
}

/// A percentile in milliseconds, where there are enough samples to show it, and whether it is
/// marked. Requests that were still running would have taken longer than all others: a percentile
/// among those is unknown.
fn percentile(samples: &Counted, censored: u64, name: &str) -> Option<(f64, bool)> {
    let percentile = PERCENTILES.iter().find(|percentile| percentile.name == name)?;
    let all = samples.count() + censored;
    let presence = percentile.presence(all);
    let share = percentile.share() * all as f64 / samples.count() as f64;
    let known = presence != Presence::Absent && share <= 1.0;
    let value = samples.quantile(share.min(1.0)).filter(|_| known)?;
    Some((round6(value / NS_PER_MS), presence == Presence::Marked))
}
