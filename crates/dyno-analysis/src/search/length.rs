//! How long the levels of a search are, and why: long enough for the SLO's percentiles, for a queue
//! to settle, and for filling and draining not to be most of it. Lengths are round numbers.

use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, SEC};
use dyno_words::number::digits;
use dyno_words::{LoadNote, values};

/// Arrivals come by chance, so that a few more are planned for.
pub(super) const TO_SPARE: f64 = 1.1;
/// A level lasts for at least so many latencies of a request that is alone: a queue takes some of
/// them to settle.
pub const TURNOVERS: f64 = 60.0;
/// The same where a rough answer is enough.
pub const FEW_TURNOVERS: f64 = 15.0;
/// A steady window is there after fill, drain and two latencies; more leaves it some room.
pub(super) const LATENCIES: f64 = 5.0;
/// A closed loop without a time runs for so many requests a slot.
const PER_SLOT: f64 = 10.0;

/// Why a level is as long as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reason {
    /// So many requests have to arrive.
    Requests(u64),
    /// A queue has to settle, where a request alone takes so long.
    Settling { turnovers: f64, latency_ms: f64 },
    /// A steady window needs several latencies of a full server.
    Latencies { latency_ms: f64 },
    /// Each slot of a closed loop has to be used several times.
    PerSlot,
    /// The last level at this load, so many times shorter, could not be judged.
    TooFew { times: f64 },
}

impl Reason {
    /// In words, of the level that follows `before` others.
    pub(super) fn said(self, before: usize, level: &LevelPlan) -> Option<Diagnostic> {
        let length = match (level.duration_ns, level.requests) {
            (Some(time), _) => shown(time),
            (None, Some(requests)) => requests.to_string(),
            (None, None) => return None,
        };
        let (number, label) = (before + 1, level.label.clone());
        let seconds = |ms: f64| digits(ms / 1e3, 2);
        Some(match (self, level.duration_ns.is_some()) {
            (Self::Requests(count), _) => {
                LoadNote::LengthForRequests.with(values![number, label, length, count])
            }
            (Self::Settling { turnovers, latency_ms }, _) => {
                let values = values![number, label, length, turnovers, seconds(latency_ms)];
                LoadNote::LengthToSettle.with(values)
            }
            (Self::Latencies { latency_ms }, _) => {
                let values = values![number, label, length, LATENCIES, seconds(latency_ms)];
                LoadNote::LengthForWindow.with(values)
            }
            (Self::PerSlot, _) => {
                LoadNote::LengthPerSlot.with(values![number, label, length, PER_SLOT])
            }
            (Self::TooFew { times }, true) => {
                LoadNote::LengthAgain.with(values![number, label, length, digits(times, 1)])
            }
            (Self::TooFew { times }, false) => {
                LoadNote::RequestsAgain.with(values![number, label, length, digits(times, 1)])
            }
        })
    }
}

/// Makes a level of a capacity search as long as it has to be: at least so many turnovers of the latency
/// `alone`, the median of one request at a time, in milliseconds; `times`: how many times longer than the last at this load.
pub(super) fn settle(
    level: &mut LevelPlan,
    least_requests: u64,
    (turnovers, alone): (f64, Option<f64>),
    times: Option<f64>,
) -> Option<Reason> {
    let mut why = None;
    if let Some(given) = level.duration_ns {
        let turnover = alone.map_or(0, |ms| round_up((turnovers * ms * 1e6) as u64));
        let settled = given.max(turnover);
        let needed = lasting(settled, least_requests, &level.load);
        if needed > settled {
            why = Some(Reason::Requests(arrivals(needed, &level.load)));
        } else if settled > given {
            why = alone.map(|latency_ms| Reason::Settling { turnovers, latency_ms });
        }
        level.duration_ns = Some(needed);
    }
    if let Some(given) = level.requests {
        let needed = in_a_closed_loop(given, &level.load);
        why = (needed > given).then_some(Reason::PerSlot);
        level.requests = Some(needed);
    }
    if let Some(times) = times {
        let longer = |of: u64| of as f64 * times;
        level.duration_ns = level.duration_ns.map(|time| round_up(longer(time) as u64));
        level.requests = level.requests.map(|requests| two_digits_up(longer(requests)));
        why = Some(Reason::TooFew { times });
    }
    why
}

/// A time in which a full server of this median latency, in milliseconds, is steady for a while.
pub(super) fn for_latencies(latency_ms: f64) -> u64 {
    round_up((LATENCIES * latency_ms * 1e6) as u64)
}

/// A time in which at least so many requests arrive.
pub fn lasting(time: u64, least: u64, load: &Load) -> u64 {
    match load {
        Load::Rate { rate, .. } => {
            let needed = (TO_SPARE * least as f64 / rate * 1e9) as u64;
            if needed > time { round_up(needed) } else { time }
        }
        _ => time,
    }
}

/// At least so many requests, and more where many are in flight: filling and draining must not be
/// most of a level.
pub fn in_a_closed_loop(least: u64, load: &Load) -> u64 {
    match load {
        Load::Concurrency { .. } => least.max((PER_SLOT * load.value()) as u64),
        _ => least,
    }
}

/// About how many requests arrive in a time.
fn arrivals(time: u64, load: &Load) -> u64 {
    (load.value() * time as f64 / 1e9).round() as u64
}

/// A whole number of seconds; from a minute on of 5, and from ten of 30.
fn round_up(time: u64) -> u64 {
    let step = match time / SEC {
        ..60 => SEC,
        60..600 => 5 * SEC,
        _ => 30 * SEC,
    };
    time.div_ceil(step).saturating_mul(step)
}

fn shown(time: u64) -> String {
    match to_s(time) {
        seconds if seconds < 600.0 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60.0),
    }
}

/// The next whole number with two digits that count.
fn two_digits_up(number: f64) -> u64 {
    let step = 10_f64.powi((number.max(1.0).log10().floor() as i32 - 1).max(0));
    ((number / step).ceil() * step) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Arrival;

    fn at(rate: f64, seconds: u64) -> LevelPlan {
        let load = Load::Rate { rate, arrival: Arrival::Poisson };
        LevelPlan { duration_ns: Some(seconds * SEC), ..LevelPlan::new(load) }
    }

    #[test]
    fn lengths_are_round_and_never_too_short() {
        for (seconds, rounded) in [(12.2, 13), (59.9, 60), (61.0, 65), (599.0, 600), (601.0, 630)] {
            assert_eq!(round_up((seconds * 1e9) as u64), rounded * SEC);
        }
        assert_eq!([9.2, 217.0, 1_201.0].map(two_digits_up), [10, 220, 1_300]);
    }

    #[test]
    fn a_low_rate_takes_longer_and_says_why() {
        let mut level = at(3.0, 20);
        let why = settle(&mut level, 100, (TURNOVERS, Some(50.0)), None);
        assert_eq!(level.duration_ns, Some(37 * SEC));
        assert_eq!(why, Some(Reason::Requests(111)));
        let said = why.and_then(|why| why.said(2, &level)).unwrap();
        assert_eq!(said.what, "level 3 (rate 3): 37 s, so that about 111 requests arrive");
    }

    /// C7: a rough answer does not wait for a minute at each level.
    #[test]
    fn a_rough_answer_gives_a_queue_less_time() {
        let lasts = |turnovers| {
            let load = Load::Rate { rate: 50.0, arrival: dyno_model::plan::Arrival::Poisson };
            let mut level = LevelPlan { duration_ns: Some(5 * SEC), ..LevelPlan::new(load) };
            let why = settle(&mut level, 100, (turnovers, Some(1000.0)), None);
            assert_eq!(why, Some(Reason::Settling { turnovers, latency_ms: 1000.0 }));
            level.duration_ns.unwrap() / SEC
        };
        assert_eq!((lasts(TURNOVERS), lasts(FEW_TURNOVERS)), (60, 15));
    }

    #[test]
    fn slow_responses_and_undecided_levels_take_longer() {
        let mut level = at(100.0, 20);
        let why = settle(&mut level, 100, (TURNOVERS, Some(700.0)), None);
        assert_eq!((level.duration_ns, why.is_some()), (Some(42 * SEC), true));
        let mut level = at(100.0, 20);
        let why = settle(&mut level, 100, (TURNOVERS, Some(100.0)), Some(2.5));
        assert_eq!(level.duration_ns, Some(50 * SEC));
        assert_eq!(why, Some(Reason::TooFew { times: 2.5 }));
    }

    #[test]
    fn what_the_user_asked_for_is_left_alone() {
        let mut level = at(100.0, 20);
        assert_eq!(settle(&mut level, 100, (TURNOVERS, Some(100.0)), None), None);
        assert_eq!(level.duration_ns, Some(20 * SEC));
        let mut level = LevelPlan::closed_loop(64, 200);
        assert_eq!(settle(&mut level, 100, (TURNOVERS, None), None), Some(Reason::PerSlot));
        assert_eq!(level.requests, Some(640));
    }
}
