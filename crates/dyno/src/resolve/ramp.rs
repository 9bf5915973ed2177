//! What a ramp and a soak may be combined with.

use crate::args::bench::LoadArgs;
use crate::args::levels::{Concurrency, Requests};
use crate::usage::UsageError;
use dyno_model::limits::MOST_ARRIVALS;
use dyno_model::plan::{Arrival, Load, Warmup};
use dyno_model::ramp::Ramp;
use dyno_model::units::to_s;
use dyno_model::{Message, message};

/// The load of a ramp, if it can be run.
pub(super) fn ramp_load(
    ramp: Ramp,
    args: &LoadArgs,
    warmup: Option<Warmup>,
) -> Result<Load, UsageError> {
    if args.duration.is_some() {
        return Err(UsageError::new(
            "--duration",
            message!(
                "cannot be combined with --ramp, which has its own duration; remove it",
                "不能与 --ramp 同时使用，爬坡自带时长；请去掉"
            ),
        ));
    }
    let before = match warmup {
        Some(Warmup::Requests(_)) => {
            return Err(UsageError::new(
                "--warmup",
                message!(
                    "a ramp is warmed up for a time, at its first rate; write a duration, such \
                     as 10s",
                    "爬坡以起始请求速率预热一段时间；请写时长，例如 10s"
                ),
            ));
        }
        Some(Warmup::Duration(_)) if ramp.from <= 0.0 => {
            return Err(UsageError::new(
                "--warmup",
                message!(
                    "a ramp is warmed up at its first rate, which is 0/s here; remove it",
                    "爬坡以起始请求速率预热，而此处为 0/s；请去掉"
                ),
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
            message!(
                "would need {planned:.0} arrivals, and the limit is 50 million; lower its rates \
                 or its time, or limit it with --requests",
                "需要 {planned:.0} 个到达请求，而上限为 5000 万；请降低请求速率或缩短时长，或用 \
                 --requests 限制"
            ),
        ));
    }
    if ramp.expected() < 1.0 {
        return Err(UsageError::new(
            "--ramp",
            message!(
                "would send only {:.2} requests in total; raise its rates or its time",
                "总共只会发送 {:.2} 个请求；请提高请求速率或延长时长",
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
    let wrong = |flag: &str, what: Message| {
        Err(UsageError::new(flag, what).hint(message!(
            "--soak 2h --concurrency 32, or --soak 2h --rate 5",
            "--soak 2h --concurrency 32 或 --soak 2h --rate 5"
        )))
    };
    if trace {
        return wrong(
            "--soak",
            message!(
                "the load of a trace varies, so drift cannot be determined",
                "流量记录的负载是变化的，无法判断漂移"
            ),
        );
    }
    for (flag, given) in [("--burst", args.burst.is_some()), ("--ramp", args.ramp.is_some())] {
        if given {
            return wrong(
                flag,
                message!(
                    "cannot be combined with --soak, whose load is constant",
                    "不能与 --soak 同时使用，浸泡测试的负载是恒定的"
                ),
            );
        }
    }
    if args.duration.is_some() {
        return wrong(
            "--duration",
            message!(
                "cannot be combined with --soak, which is a duration itself",
                "不能与 --soak 同时使用，它本身就是时长"
            ),
        );
    }
    if args.requests.is_some() {
        return wrong(
            "--requests",
            message!(
                "cannot be combined with --soak, which has its own duration",
                "不能与 --soak 同时使用，浸泡测试自带时长"
            ),
        );
    }
    let levels = |list: Option<usize>| list.filter(|n| *n * lengths > 1).is_some();
    match (&args.concurrency, &args.rate) {
        (None, None) => wrong(
            "--soak",
            message!(
                "needs a load to hold; give --concurrency N or --rate R",
                "需要指定保持的负载；请加 --concurrency N 或 --rate R"
            ),
        ),
        (concurrency, rate)
            if levels(concurrency.as_ref().map(in_flight))
                || levels(rate.as_ref().map(|list| list.0.len())) =>
        {
            wrong(
                "--soak",
                message!(
                    "a soak is one level; give one load, and one input and output length",
                    "浸泡测试只有一个档位；请指定一个负载、一个输入长度和一个输出长度"
                ),
            )
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
