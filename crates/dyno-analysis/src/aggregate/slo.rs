//! The SLO in a level's summary: which requests met it, and the outcome of the level.

use super::request_times::request_times;
use super::timeline::for_each_gap;
use crate::counts::Counts;
use crate::slo::judge;
use dyno_model::metric::Time;
use dyno_model::record::RequestRecord;
use dyno_model::slo::{Slo, Term};
use dyno_model::summary::{LevelSummary, SloSummary, round6, tidy};
use dyno_model::units::to_s;

const NS_PER_MS: f64 = 1e6;

/// Completed requests that met every term on times.
pub(super) struct Goodput<'a> {
    slo: &'a Slo,
    met: u64,
    /// Requests for which it cannot be determined.
    unknown: u64,
}

/// A value of one request.
enum Own {
    Nanos(f64),
    /// There is nothing to measure, as in a response of one token: no bound is broken.
    Nothing,
    /// It is unknown.
    Unknown,
}

impl Own {
    fn or_unknown(nanos: Option<u64>) -> Self {
        nanos.map_or(Self::Unknown, |nanos| Self::Nanos(nanos as f64))
    }
}

impl<'a> Goodput<'a> {
    pub(super) fn new(slo: &'a Slo) -> Self {
        Self { slo, met: 0, unknown: 0 }
    }

    /// Counts a measured request.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        if !record.is_completed() {
            return;
        }
        match meets(self.slo, record) {
            Some(met) => self.met += u64::from(met),
            None => self.unknown += 1,
        }
    }

    /// Puts the outcome of the SLO into the level's summary. `waits`: the waiting time of requests is
    /// known, which it is not past capacity.
    pub(super) fn finish(
        self,
        level: &mut LevelSummary,
        counts: &Counts,
        duration: Option<u64>,
        waits: bool,
    ) {
        let ended = counts.ended();
        let known = self.unknown == 0 && (waits || !self.slo.terms().iter().any(on_waits));
        let duration = duration.filter(|_| known && counts.completed > 0);
        level.slo = Some(SloSummary {
            verdict: judge(level, self.slo),
            goodput_per_s: duration.and_then(|ns| tidy(self.met as f64 / to_s(ns))),
            met_share: (known && ended > 0).then(|| round6(self.met as f64 / ended as f64)),
        });
    }
}

/// Whether it bounds a time that includes the wait for a slot in the batch.
fn on_waits(term: &Term) -> bool {
    term.metric.time().is_some_and(|time| !matches!(time, Time::Tpot | Time::Itl))
}

/// Whether a completed request met every term on times; nothing where that cannot be determined.
pub(super) fn meets(slo: &Slo, record: &RequestRecord) -> Option<bool> {
    let f = request_times(record);
    let mut known = true;
    for term in slo.terms() {
        let own = match term.metric.time() {
            None => Own::Nothing,
            Some(Time::Tpot) if one_token(record) => Own::Nothing,
            Some(Time::Itl) => mean_itl(record),
            Some(time) => Own::or_unknown(f[time]),
        };
        match own {
            Own::Nanos(nanos) if !term.holds(nanos / NS_PER_MS) => return Some(false),
            Own::Nanos(_) | Own::Nothing => {}
            Own::Unknown => known = false,
        }
    }
    known.then_some(true)
}

fn one_token(record: &RequestRecord) -> bool {
    record.streamed && record.output.is_some_and(|output| output.tokens < 2)
}

/// The mean over a request's tokens.
fn mean_itl(record: &RequestRecord) -> Own {
    if !record.streamed {
        return Own::Unknown;
    }
    let (mut time, mut tokens, mut unknown) = (0_u64, 0_u64, false);
    for_each_gap(record, |gap| {
        unknown |= gap.tokens.is_none();
        if let Some((_, carried)) = gap.per_token() {
            time = time.saturating_add(gap.gap_ns);
            tokens += carried;
        }
    });
    match tokens {
        _ if unknown => Own::Unknown,
        0 => Own::Nothing,
        tokens => Own::Nanos(time as f64 / tokens as f64),
    }
}
