//! Runs the client that made a level against a simulated engine, and reads off the figures as
//! that client would.

mod cell;
mod figures;
mod front;
mod lengths;
mod session;

use super::model::Model;
use super::table::{End, Level, Offer};
use crate::twin::reference::Figure;
use dyno_model::Nanos;
use session::Session;
use std::collections::BTreeMap;

/// The figures that `level` would have shown, had the engine been `model`; nothing if the engine
/// takes no such request, or if none ended in time.
pub(crate) fn replay(level: &Level, model: &Model) -> Option<BTreeMap<Figure, f64>> {
    let mut session = Session::new(level, model)?;
    match level.offer {
        Offer::Closed { in_flight, end } => {
            closed(&mut session, in_flight.or(model.client.in_flight)?, end)?;
        }
        Offer::Open { rate, at_most, end } => open(&mut session, rate, at_most, end)?,
        Offer::Burst { requests } => {
            for _ in 0..requests {
                session.send(0)?;
            }
            session.drain();
        }
        Offer::Cell { requests } => return cell::replay(level, model, requests),
    }
    let mut timings = session.into_timings();
    if model.client.token_us > 0.0 {
        front::wait(&mut timings, 1e-6 * model.client.token_us);
    }
    figures::figures(level, &timings)
}

fn seconds(seconds: f64) -> Nanos {
    (1e9 * seconds) as Nanos
}

/// Each request that ends is followed by the next.
fn closed(session: &mut Session, in_flight: u32, end: End) -> Option<()> {
    let (most, until) = match end {
        End::Requests { requests, .. } => (requests, Nanos::MAX),
        End::Dropped { seconds: s } | End::Drained { seconds: s } => (u32::MAX, seconds(s)),
    };
    let workers = in_flight.min(most);
    for _ in 0..workers {
        session.send(0)?;
    }
    while let Some(at) = session.next(until) {
        // A worker whose first request is given up sends no more.
        let lost = session.given_up().is_some_and(|id| id < workers);
        if session.sent() < most && !lost {
            session.send(at)?;
        }
    }
    if matches!(end, End::Drained { .. }) {
        session.drain();
    }
    Some(())
}

/// Requests are sent when they are due, or when one ends if there are too many.
fn open(session: &mut Session, rate: f64, at_most: Option<u32>, end: End) -> Option<()> {
    let (most, until) = match end {
        End::Requests { requests, .. } => (requests, Nanos::MAX),
        End::Dropped { seconds: s } | End::Drained { seconds: s } => (u32::MAX, seconds(s)),
    };
    let at_most = at_most.unwrap_or(u32::MAX);
    'sending: while session.sent() < most {
        let mut at = seconds(f64::from(session.sent()) / rate);
        if at >= until {
            break;
        }
        while session.next(at).is_some() {}
        while session.in_flight() >= at_most {
            match session.next(until) {
                Some(ended) => at = ended,
                None => break 'sending,
            }
        }
        session.send(at)?;
    }
    match end {
        End::Dropped { .. } => while session.next(until).is_some() {},
        _ => session.drain(),
    }
    Some(())
}
