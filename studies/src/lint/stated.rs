//! What a tool states of a level: counts, rates and the statistics of times, by the tools' own
//! definitions.

use super::simulated::{Load, Request, Setting};

/// Statistics of times, in milliseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Stats {
    pub(super) mean: f64,
    pub(super) std: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    sorted: Vec<f64>,
    /// By what all of them are multiplied: planted defects.
    pub(super) factor: f64,
    /// The median and p99 are in each other's place.
    pub(super) swapped: bool,
}

impl Stats {
    fn of(mut seconds: Vec<f64>) -> Self {
        seconds.iter_mut().for_each(|value| *value *= 1e3);
        seconds.sort_by(f64::total_cmp);
        let n = seconds.len().max(1) as f64;
        let mean = seconds.iter().sum::<f64>() / n;
        let variance = seconds.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        Self {
            mean,
            std: variance.sqrt(),
            min: seconds.first().copied().unwrap_or_default(),
            max: seconds.last().copied().unwrap_or_default(),
            sorted: seconds,
            factor: 1.0,
            swapped: false,
        }
    }

    /// All multiplied by a factor.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let [mean, std, min, max] = [self.mean, self.std, self.min, self.max].map(|v| v * factor);
        Self { mean, std, min, max, factor: self.factor * factor, ..self.clone() }
    }

    /// Only the times below a bound; the last of them is at it.
    pub(super) fn cut(&self, below_ms: f64) -> Self {
        let mut kept: Vec<f64> =
            self.sorted.iter().copied().filter(|ms| *ms < below_ms).map(|ms| ms / 1e3).collect();
        if let Some(last) = kept.last_mut() {
            *last = below_ms / 1e3;
        }
        Self::of(kept)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// With linear interpolation, as all the tools.
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        let percent = match (self.swapped, percent) {
            (true, 50.0) => 99.0,
            (true, 99.0) => 50.0,
            (_, percent) => percent,
        };
        let Some(last) = self.sorted.len().checked_sub(1) else { return 0.0 };
        let place = percent / 100.0 * last as f64;
        let (low, high) = (self.sorted[place as usize], self.sorted[place.ceil() as usize]);
        (low + (high - low) * place.fract()) * self.factor
    }
}

/// What a tool states of a level.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    pub(super) load: Load,
    pub(super) output_length: Option<u32>,
    pub(super) burstiness: f64,
    pub(super) planned: u64,
    pub(super) completed: u64,
    /// Nothing where the tool does not state failures.
    pub(super) failed: Option<u64>,
    pub(super) incomplete: u64,
    pub(super) duration_s: f64,
    pub(super) per_s: f64,
    pub(super) output_per_s: f64,
    pub(super) total_per_s: f64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) in_flight: f64,
    pub(super) ttft: Stats,
    pub(super) latency: Stats,
    /// Of each request with more than one token.
    pub(super) tpot: Stats,
    /// Between events, over all of them.
    pub(super) itl: Stats,
    /// TPOT, weighted by tokens.
    pub(super) by_token: f64,
}

fn tpot(request: &Request) -> Option<f64> {
    (request.output > 1).then(|| (request.latency() - request.ttft) / f64::from(request.output - 1))
}

impl Stated {
    /// Of a whole run: everything that completed, divided by the duration.
    pub(super) fn of(setting: &Setting, load: Load, all: &[Request], idle_s: f64) -> Self {
        let duration_s = all.iter().map(|one| one.end).fold(0.0, f64::max) + idle_s;
        let done: Vec<&Request> = all.iter().filter(|one| !one.failed).collect();
        let failed = all.len() - done.len();
        Self {
            planned: all.len() as u64,
            failed: Some(failed as u64),
            ..Self::of_completed(setting, load, &done, duration_s)
        }
    }

    /// Of a window, as guidellm measures: requests that were in it at all, rates of what happened in
    /// it; those still running at its end are incomplete.
    pub(super) fn of_window(
        setting: &Setting,
        load: Load,
        all: &[Request],
        window: [f64; 2],
    ) -> Self {
        let [from, to] = window;
        let within = |one: &&Request| one.end >= from && one.sent <= to;
        let ended = |one: &&Request| one.end <= to;
        let all: Vec<&Request> = all.iter().filter(within).collect();
        let done: Vec<&Request> =
            all.iter().copied().filter(ended).filter(|one| !one.failed).collect();
        let failed = all.iter().copied().filter(ended).filter(|one| one.failed).count() as u64;
        let incomplete = all.iter().copied().filter(|one| one.end > to).count() as u64;
        let whole = Self::of_completed(setting, load, &done, to - from);
        // A response that began before the window has a part of its tokens in it.
        let share = |one: &&Request| {
            ((one.end - one.sent.max(from)) / one.latency().max(1e-9)).clamp(0.0, 1.0)
        };
        let tokens: f64 = done.iter().map(|one| share(one) * f64::from(one.output)).sum();
        Self {
            planned: done.len() as u64 + failed + incomplete,
            failed: Some(failed),
            incomplete,
            output_per_s: tokens / (to - from),
            ..whole
        }
    }

    fn of_completed(setting: &Setting, load: Load, done: &[&Request], duration_s: f64) -> Self {
        let sum = |of: fn(&Request) -> u32| done.iter().map(|one| u64::from(of(one))).sum::<u64>();
        let (input_tokens, output_tokens) = (sum(|one| one.input), sum(|one| one.output));
        let decode: f64 = done.iter().map(|one| one.latency() - one.ttft).sum();
        let steps = output_tokens.saturating_sub(done.len() as u64).max(1);
        Self {
            load,
            output_length: setting.output_length(),
            burstiness: setting.burstiness,
            planned: done.len() as u64,
            completed: done.len() as u64,
            failed: None,
            incomplete: 0,
            duration_s,
            per_s: done.len() as f64 / duration_s,
            output_per_s: output_tokens as f64 / duration_s,
            total_per_s: (input_tokens + output_tokens) as f64 / duration_s,
            input_tokens,
            output_tokens,
            in_flight: done.iter().map(|one| one.latency()).sum::<f64>() / duration_s,
            ttft: Stats::of(done.iter().map(|one| one.ttft).collect()),
            latency: Stats::of(done.iter().map(|one| one.latency()).collect()),
            tpot: Stats::of(done.iter().filter_map(|one| tpot(one)).collect()),
            itl: Stats::of(done.iter().flat_map(|one| one.gaps.iter().copied()).collect()),
            by_token: decode / steps as f64 * 1e3,
        }
    }

    pub(super) fn mean_output(&self) -> f64 {
        self.output_tokens as f64 / self.completed.max(1) as f64
    }

    pub(super) fn mean_input(&self) -> f64 {
        self.input_tokens as f64 / self.completed.max(1) as f64
    }
}
