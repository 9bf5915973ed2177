//! What a ramp and a soak may be combined with.

use crate::args::bench::LoadArgs;
use crate::args::levels::{Concurrency, Requests};
use crate::usage::UsageError;
use dyno_model::limits::MOST_ARRIVALS;
use dyno_model::plan::{Arrival, Load, Warmup};
use dyno_model::ramp::Ramp;
use dyno_model::units::to_s;

/// The load of a ramp, if it can be run.
pub(super) fn ramp_load(
    ramp: Ramp,
    args: &LoadArgs,
    warmup: Option<Warmup>,
) -> Result<Load, UsageError> {
    if args.duration.is_some() {
        return Err(UsageError::new(
            "--duration",
            "cannot be combined with --ramp, which has its own duration; remove it",
        ));
    }
    let before = match warmup {
        Some(Warmup::Requests(_)) => {
            return Err(UsageError::new(
                "--warmup",
                "a ramp is warmed up for a time, at its first rate; write a duration, such as 10s",
            ));
        }
        Some(Warmup::Duration(_)) if ramp.from <= 0.0 => {
            return Err(UsageError::new(
                "--warmup",
                "a ramp is warmed up at its first rate, which is 0/s here; remove it",
            ));
        }
        Some(Warmup::Duration(time)) => ramp.from * to_s(time),
        None => 0.0,
    };
    let most = match args.requests {
        Some(Requests::Number(number)) => number as f64,
        _ => f64::INFINITY,
    };
    let planned = ramp.expected().min(most) + before;
    if planned > MOST_ARRIVALS {
        return Err(UsageError::new(
            "--ramp",
            format!(
                "would need {planned:.0} arrivals, and the limit is 50 million; lower its rates or its time, \
                 or limit it with --requests"
            ),
        ));
    }
    if ramp.expected() < 1.0 {
        return Err(UsageError::new(
            "--ramp",
            format!(
                "would send only {:.2} requests in total; raise its rates or its time",
                ramp.expected()
            ),
        ));
    }
    let Ramp { from, to, over_ns, steps } = ramp;
    let arrival = args.arrival.unwrap_or(Arrival::Poisson);
    Ok(Load::Ramp { from, to, over_ns, steps, arrival })
}

/// Checks that a soak is one constant load.
pub(super) fn check_soak(args: &LoadArgs, trace: bool, lengths: usize) -> Result<(), UsageError> {
    if args.soak.is_none() {
        return Ok(());
    }
    let wrong = |flag: &str, what: &str| {
        Err(UsageError::new(flag, what).hint("--soak 2h --concurrency 32, or --soak 2h --rate 5"))
    };
    if trace {
        return wrong("--soak", "the load of a trace varies, so drift cannot be determined");
    }
    for (flag, given) in [("--burst", args.burst.is_some()), ("--ramp", args.ramp.is_some())] {
        if given {
            return wrong(flag, "cannot be combined with --soak, whose load is constant");
        }
    }
    if args.duration.is_some() {
        return wrong("--duration", "cannot be combined with --soak, which is a duration itself");
    }
    if args.requests.is_some() {
        return wrong("--requests", "cannot be combined with --soak, which has its own duration");
    }
    let levels = |list: Option<usize>| list.filter(|n| *n * lengths > 1).is_some();
    match (&args.concurrency, &args.rate) {
        (None, None) => wrong("--soak", "needs a load to hold; give --concurrency N or --rate R"),
        (concurrency, rate)
            if levels(concurrency.as_ref().map(in_flight))
                || levels(rate.as_ref().map(|list| list.0.len())) =>
        {
            wrong("--soak", "a soak is one level; give one load, and one input and output length")
        }
        _ => Ok(()),
    }
}

/// The number of levels of a closed loop; unlimited for a search.
fn in_flight(concurrency: &Concurrency) -> usize {
    match concurrency {
        Concurrency::List(list) => list.0.len(),
        Concurrency::Auto => usize::MAX,
    }
}
