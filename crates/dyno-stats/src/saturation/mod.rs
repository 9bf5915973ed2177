//! Whether a server was overloaded, from arrivals and ends alone.
//!
//! While a server is busy, requests end as fast as it can serve them. So the test uses only the time
//! in which the number in flight was at a certain level or above, and compares arrivals with ends
//! there. If the server keeps up, the queue falls below the level again and again, each time with one
//! more end than arrivals; if not, it stays above. The scatter of the counts is estimated from the
//! data, so a regular server is judged after few arrivals and an irregular one later.
//! `docs/concepts/saturation.md` has the reasons and the error rates.

mod flight;

use flight::{Above, Flight};

/// The level is exceeded for all but this share of the time.
const BELOW: f64 = 0.2;
/// Surpluses of this size must be detected.
const MARGIN: f64 = 0.05;
/// The smallest surplus that is called saturation, however certain.
const LEAST: f64 = 0.02;
/// Standard errors for an alarm, and against one: about 1 % and 5 % with 19 degrees of freedom.
const SURE_IT_IS: f64 = 2.3;
const SURE_IT_IS_NOT: f64 = 1.73;
/// Equal parts of the time above the level, for the standard error.
const BATCHES: usize = 20;
/// The start is skipped for so many times as long as filling took.
const SKIPPED_FILLS: f64 = 2.0;
/// A stretch must last so many times as long as filling took.
const NEEDED_FILLS: f64 = 10.0;
/// Fewer arrivals are not tested.
pub const FEWEST_ARRIVALS: usize = 100;

/// What arrived and what ended, sorted, in seconds; and the stretch of time to be judged, which
/// should reach from the first arrival (or the end of a warm-up) to the last. Whatever lies
/// outside the stretch may be left in: what is before it says how many were in flight at its
/// beginning. An end is an end, however the request ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offered<'a> {
    /// When requests arrived.
    pub arrivals: &'a [f64],
    /// When requests ended, in the order of the ends.
    pub ends: &'a [f64],
    /// Beginning of the stretch.
    pub from: f64,
    /// End of the stretch.
    pub to: f64,
}

/// Requests that the server could not serve, as a share of those offered: 0.1 means that one of ten
/// arrivals was left over. Negative means spare capacity while the queue was longest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surplus {
    /// The estimate.
    pub share: f64,
    /// Its standard error.
    pub error: f64,
}

/// How much longer the test needs at the same rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct More {
    /// More arrivals.
    pub arrivals: u64,
    /// More seconds.
    pub seconds: f64,
}

/// What the test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Saturation {
    /// More was offered than could be served.
    Saturated(Surplus),
    /// The server kept up.
    Carried(Surplus),
    /// Inconclusive: the time was too short for this load, or the server was still filling. How much
    /// more is needed is absent if nothing ended.
    Inconclusive(Option<More>),
}

/// Tests a level. See the module for how.
pub fn saturation(offered: Offered<'_>) -> Saturation {
    let Offered { arrivals, ends, from, to } = offered;
    let length = to - from;
    if !length.is_finite() || length <= 0.0 {
        return Saturation::Inconclusive(None);
    }
    let flight = Flight::new(arrivals, ends, from, to);
    let count = flight.arrivals();
    let more = |times: f64| {
        let extra = (times - 1.0).max(0.0);
        let arrivals = (extra * count as f64).ceil() as u64;
        Saturation::Inconclusive(Some(More { arrivals, seconds: extra * length }))
    };
    let Some(filling) = filling(&flight).filter(|_| count > 0) else {
        return Saturation::Inconclusive(None);
    };
    let needed = (NEEDED_FILLS * filling / length).max(FEWEST_ARRIVALS as f64 / count as f64);
    if needed > 1.0 {
        return more(needed);
    }
    let start = from + SKIPPED_FILLS * filling;
    let level = flight.level(start, BELOW).max(1);
    let Some(surplus) = surplus(&flight.above(start, level), count as f64 / length) else {
        return more(2.0);
    };
    let Surplus { share, error } = surplus;
    if share - SURE_IT_IS * error > -MARGIN && share > LEAST {
        Saturation::Saturated(surplus)
    } else if share + SURE_IT_IS_NOT * error < MARGIN {
        Saturation::Carried(surplus)
    } else {
        // Small enough to decide on most surpluses, and on this one.
        let usual = 2.0 * MARGIN / (SURE_IT_IS + SURE_IT_IS_NOT);
        let here = match share > LEAST {
            true => (share + MARGIN) / SURE_IT_IS,
            false => (MARGIN - share) / SURE_IT_IS_NOT,
        };
        more((error / usual.min(here)).powi(2))
    }
}

/// How long the server took to fill: by how much its ends are behind the pace of the second half.
/// About one service time after an empty start, about 0 after a warm-up, and not much longer however
/// long the queue grows. Nothing if nothing ended in that half.
fn filling(flight: &Flight) -> Option<f64> {
    let half = (flight.to - flight.from) / 2.0;
    let first = flight.ends_before(flight.from + half);
    let second = flight.ends() - first;
    (second > 0).then(|| half * (1.0 - first as f64 / second as f64).max(0.0))
}

fn surplus(above: &Above, rate: f64) -> Option<Surplus> {
    if above.moves.len() < 2 * BATCHES || above.time <= 0.0 {
        return None;
    }
    let mut batches = [0.0; BATCHES];
    for (at, by) in &above.moves {
        let part = (at / above.time * BATCHES as f64) as usize;
        batches[part.min(BATCHES - 1)] += *by as f64;
    }
    let parts = BATCHES as f64;
    let net: f64 = batches.iter().sum();
    let squares: f64 = batches.iter().map(|b| (b - net / parts).powi(2)).sum();
    let came = rate * above.time;
    let error = (squares * parts / (parts - 1.0)).sqrt() / came;
    Some(Surplus { share: net / came, error })
}
