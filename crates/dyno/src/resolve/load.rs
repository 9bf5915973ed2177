//! The levels of a run: which load, and when each level stops.

use super::capacity;
use super::data::{Nature, Sizes};
use super::notes::Notes;
use super::ramp::{check_soak, ramp_load};
use super::search::{LONGEST, MOST_AT_ONCE, one_length, search, until};
use crate::args::bench::LoadArgs;
use crate::args::capacity::CapacitySearch;
use crate::args::levels::{Concurrency, Requests};
use crate::args::plan::EachLevelArgs;
use crate::usage::UsageError;
use dyno_analysis::search::level_name;
use dyno_model::level_schedule::Search;
use dyno_model::limits::{MOST_ARRIVALS, MOST_IN_FLIGHT};
use dyno_model::plan::{Arrival, LevelPlan, Load, Warmup};
use dyno_model::slo::Slo;
use dyno_model::units::{format_duration, to_s};
use dyno_model::{Message, Nanos, SEC, message};

/// The levels where no load is given: light for a server, and beyond the knee of the embedded engine,
/// within a minute.
const LADDER: Ladder = Ladder { steps: &[1, 4, 16], duration: 20 * SEC };
const EMBEDDED_LADDER: Ladder = Ladder { steps: &[1, 8, 32, 96], duration: 12 * SEC };
const LADDER_REQUESTS_PER_SLOT: u64 = 20;
const DEFAULT_DURATION: Nanos = 30 * SEC;

/// Levels of the closed loop, and how long each may take.
struct Ladder {
    steps: &'static [u32],
    duration: Nanos,
}

/// When a level stops.
#[derive(Clone, Copy, PartialEq, Default)]
struct Stop {
    requests: Option<u64>,
    duration: Option<Nanos>,
    /// Requests per slot of a closed loop.
    per_slot: Option<u64>,
}

impl Stop {
    /// With `per_slot` converted to a number of requests.
    fn of(self, load: &Load) -> Self {
        let slots = match load {
            Load::Concurrency { concurrency } => u64::from(*concurrency),
            _ => 1,
        };
        let per_slot = self.per_slot.map(|times| times.saturating_mul(slots));
        Self { requests: self.requests.or(per_slot), ..self }
    }
}

/// The levels that are asked for: a list, or a search.
pub(super) struct Wanted<'a> {
    pub(super) load: &'a LoadArgs,
    pub(super) each: &'a EachLevelArgs,
    pub(super) search: Option<&'a CapacitySearch>,
}

/// The levels in the order they run, and the search that adds to them.
pub(super) fn levels(
    wanted: &Wanted<'_>,
    sizes: &[Sizes],
    nature: Nature,
    slo: Option<&Slo>,
    embedded: bool,
    notes: &mut Notes,
) -> Result<(Vec<LevelPlan>, Option<Search>), UsageError> {
    let Wanted { load: args, each, .. } = *wanted;
    at_most_one_load(args)?;
    fits_the_data(wanted, nature)?;
    check_cap(args)?;
    check_soak(args, matches!(nature, Nature::Trace { .. }), sizes.len())?;
    if args.sweep_spacing.is_some() && args.sweep.is_none() {
        return Err(UsageError::new(
            "--sweep-spacing",
            message!(
                "sets the spacing of a sweep; add --sweep, or remove it",
                "设置扫描的间距；请加 --sweep，或去掉此参数"
            ),
        ));
    }
    let open = args.rate.is_some() || args.ramp.is_some() || args.sweep.is_some();
    if args.arrival.is_some() && !open {
        return Err(UsageError::new(
            "--arrival",
            message!(
                "sets the spacing of open-loop arrivals; add --rate R or --ramp, or remove it",
                "设置开环到达的间隔；请加 --rate R 或 --ramp，或去掉此参数"
            ),
        ));
    }
    let warmup = match each.warmup {
        Some(Warmup::Requests(0) | Warmup::Duration(0)) => None,
        warmup => warmup,
    };
    let (requests, per_slot) = match args.requests {
        Some(Requests::Number(number)) => (Some(number), None),
        Some(Requests::PerSlot(times)) => (None, Some(times)),
        None => (None, None),
    };
    check_per_slot(args, per_slot, nature)?;
    let until = until(args, nature)?;
    let longest = until.as_ref().map(|_| args.max_duration.unwrap_or(LONGEST));
    let given = Stop { requests, duration: args.duration.or(args.soak).or(longest), per_slot };
    // Every tree is replayed once where nothing else ends the level.
    let has_end = matches!(nature, Nature::Trees { endless: false, .. });
    let looking = wanted.search.map(|search| capacity::looking(search, slo, nature)).transpose()?;
    let several = match &looking {
        Some(looking) => one_length(sizes, "--slo").map(|()| Some(looking.search.clone()))?,
        None => search(args, sizes)?,
    };
    if nature.ignores_lengths() {
        notes.push(message!(
            "--output-tokens has no effect: a trace has its own output lengths",
            "--output-tokens 无效：流量记录自带输出长度"
        ));
    }
    let loads = if let Nature::Trace { speed, .. } = nature {
        vec![(Load::Trace { speed }, given)]
    } else if let Some(looking) = &looking {
        let stop = Stop { requests: looking.requests, duration: looking.duration, per_slot: None };
        vec![(looking.first, stop)]
    } else if args.sweep.is_some() {
        let full = args.max_concurrency.unwrap_or(MOST_AT_ONCE);
        let loads = [1, full].map(|concurrency| Load::Concurrency { concurrency });
        with_stop(loads.into_iter(), given, has_end)
    } else if let Some(Concurrency::Auto) = &args.concurrency {
        with_stop(std::iter::once(Load::Concurrency { concurrency: 1 }), given, has_end)
    } else if let Some(Concurrency::List(list)) = &args.concurrency {
        with_stop(
            list.0.iter().map(|&concurrency| Load::Concurrency { concurrency }),
            given,
            has_end,
        )
    } else if let Some(list) = &args.rate {
        let arrival = args.arrival.unwrap_or(Arrival::Poisson);
        let loads =
            with_stop(list.0.iter().map(|&rate| Load::Rate { rate, arrival }), given, has_end);
        if !has_end || given != Stop::default() {
            check_arrivals(&loads, warmup)?;
        }
        loads
    } else if let Some(ramp) = args.ramp {
        let duration = Some(ramp.over_ns);
        let stop = Stop { requests: given.requests, duration, per_slot: None };
        vec![(ramp_load(ramp, args, warmup)?, stop)]
    } else if let Some(list) = &args.burst {
        check_burst(given, warmup)?;
        let stop = |requests| Stop { requests: Some(requests), duration: None, per_slot: None };
        list.0.iter().map(|&requests| (Load::Burst { requests }, stop(requests))).collect()
    } else {
        ladder(given, embedded, args.max_concurrency, notes)
    };
    let mut levels: Vec<LevelPlan> = Vec::with_capacity(loads.len() * sizes.len());
    for (load, stop) in loads {
        for size in sizes {
            // In a grid the lengths distinguish the levels, so they come first.
            let name = match (sizes.len(), &load) {
                (1, load) if several.is_some() => level_name(several.as_ref(), load),
                (1, Load::Trace { speed }) => format!("trace ×{speed}"),
                (1, Load::Ramp { from, to, .. }) => format!("ramp {from}..{to}/s"),
                (_, Load::Ramp { from, to, .. }) => format!("{} @{from}..{to}/s", size.name),
                (1, _) => format!("{} {}", load.kind(), load.value()),
                (_, Load::Rate { rate, .. }) => format!("{} @{rate}/s", size.name),
                (_, Load::Burst { requests }) => format!("{} burst {requests}", size.name),
                _ => format!("{} @{}", size.name, load.value()),
            };
            levels.push(LevelPlan {
                label: label(name, &levels),
                load,
                requests: stop.requests,
                duration_ns: stop.duration,
                warmup,
                drain_ns: each.drain,
                input_tokens: size.input.clone(),
                output_tokens: size.output.clone(),
                inputs: size.inputs,
                once: has_end && stop == Stop::default() && load.ramp().is_none(),
                capacity: None,
                extrapolated: false,
                repeat: None,
                until: until.clone(),
                soak: args.soak.is_some(),
                max_concurrency: args
                    .max_concurrency
                    .filter(|_| load.is_open() || several.is_some()),
            });
        }
    }
    Ok((levels, several))
}

fn at_most_one_load(args: &LoadArgs) -> Result<(), UsageError> {
    let given: Vec<&str> = [
        ("--concurrency", args.concurrency.is_some()),
        ("--rate", args.rate.is_some()),
        ("--ramp", args.ramp.is_some()),
        ("--burst", args.burst.is_some()),
        ("--sweep", args.sweep.is_some()),
    ]
    .into_iter()
    .filter_map(|(flag, given)| given.then_some(flag))
    .collect();
    match given.as_slice() {
        [] | [_] => Ok(()),
        [first, rest @ ..] => Err(UsageError::new(
            *first,
            message!(
                "cannot be combined with {}; give one kind of load",
                "不能与 {} 同时使用；请只指定一种负载",
                rest.join(", ")
            ),
        )
        .hint(message!(
            "closed loop: --concurrency N; open loop: --rate R or --ramp; backlog: --burst N",
            "闭环：--concurrency N；开环：--rate R 或 --ramp；积压：--burst N"
        ))),
    }
}

/// A trace has its own load, and a conversation cannot be sent at once.
fn fits_the_data(wanted: &Wanted<'_>, nature: Nature) -> Result<(), UsageError> {
    let args = wanted.load;
    let given = [
        ("--concurrency", args.concurrency.is_some()),
        ("--rate", args.rate.is_some()),
        ("--ramp", args.ramp.is_some()),
        ("--burst", args.burst.is_some()),
        ("--sweep", args.sweep.is_some()),
        ("--arrival", args.arrival.is_some()),
    ];
    let given = given.into_iter().find_map(|(flag, given)| given.then_some(flag));
    match (nature, given) {
        (Nature::Trace { .. }, _) if wanted.search.is_some() => Err(UsageError::new(
            "--data",
            message!(
                "a trace is replayed at its own times, so there is no load to search; remove it, \
                 or replay it at increasing speeds with dyno bench --slo",
                "流量记录按自身时间重放，没有可供搜索的负载；请去掉，或用 `dyno bench --slo` \
                 以递增的速度重放"
            ),
        )
        .hint(Message::quoted("dyno bench --data trace:FILE,speed=2 --slo TERMS"))),
        (Nature::Trace { .. }, Some(flag)) => Err(UsageError::new(
            flag,
            message!(
                "a trace is replayed at its own times; remove {flag}, or set speed= in --data",
                "流量记录按自身时间重放；请去掉 {flag}，或在 --data 中设置 speed="
            ),
        )
        .hint(Message::quoted("--data trace:FILE,speed=2,from=1m,to=5m"))),
        (nature, Some("--burst")) if nature.is_session() => Err(UsageError::new(
            "--burst",
            message!(
                "the turns of a conversation cannot be sent at once; give --concurrency N for N \
                 concurrent users, or --rate R for R new ones per second",
                "会话的各轮不能同时发送；请用 --concurrency N 指定 N 个并发用户，或用 --rate R \
                 指定每秒新增 R 个"
            ),
        )),
        _ => Ok(()),
    }
}

/// A cap is for loads that do not say how many are in flight.
fn check_cap(args: &LoadArgs) -> Result<(), UsageError> {
    let Some(most) = args.max_concurrency else { return Ok(()) };
    let wrong = |what| Err(UsageError::new("--max-concurrency", what));
    match (&args.concurrency, &args.burst) {
        (Some(Concurrency::List(_)), _) => wrong(message!(
            "--concurrency says how many are in flight; leave one of them out",
            "--concurrency 已指定并发数；请去掉其中一个"
        )),
        (_, Some(_)) => wrong(message!(
            "a burst sends everything at once; leave one of them out",
            "突发请求一次全部发送；请去掉其中一个"
        ))
        .map_err(|error| {
            error.hint(Message::quoted(format_args!("--concurrency {most} --requests N")))
        }),
        _ => Ok(()),
    }
}

/// Only a closed loop has slots.
fn check_per_slot(
    args: &LoadArgs,
    per_slot: Option<u64>,
    nature: Nature,
) -> Result<(), UsageError> {
    let open = args.rate.is_some() || args.sweep.is_some() || args.ramp.is_some();
    let closed = !open && args.burst.is_none();
    match per_slot {
        Some(times) if !closed || matches!(nature, Nature::Trace { .. }) => Err(UsageError::new(
            "--requests",
            message!(
                "`{times}x` is the number of requests per slot of a closed loop; write the \
                 total, or give --concurrency",
                "`{times}x` 是闭环中每个并发名额的请求数；请写总数，或加 --concurrency"
            ),
        )),
        _ => Ok(()),
    }
}

/// Each load with its end: a time where none is given, unless the data have an end.
fn with_stop(loads: impl Iterator<Item = Load>, given: Stop, has_end: bool) -> Vec<(Load, Stop)> {
    let stop = match given {
        Stop { requests: None, duration: None, per_slot: None } if !has_end => {
            Stop { duration: Some(DEFAULT_DURATION), ..given }
        }
        given => given,
    };
    loads.map(|load| (load, stop.of(&load))).collect()
}

fn ladder(given: Stop, embedded: bool, most: Option<u32>, notes: &mut Notes) -> Vec<(Load, Stop)> {
    let ladder = if embedded { EMBEDDED_LADDER } else { LADDER };
    let explicit = given != Stop::default();
    let bounds: Message = if explicit {
        message!("each level ends at the given limits", "每级按指定的限制结束")
    } else {
        message!(
            "each level ends after {LADDER_REQUESTS_PER_SLOT} requests per slot or {}",
            "每级在每个并发 {LADDER_REQUESTS_PER_SLOT} 个请求或 {} 后结束",
            format_duration(ladder.duration)
        )
    };
    let allowed = ladder.steps.iter().copied().filter(|step| most.is_none_or(|most| *step <= most));
    let steps: Vec<String> = allowed.clone().map(|step| step.to_string()).collect();
    let steps = match steps.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            message!("{} and {last}", "{} 和 {last}", rest.join(", "))
        }
        _ => Message::quoted(steps.concat()),
    };
    notes.push(message!(
        "no load given: running concurrency {steps}; {bounds}",
        "未指定负载：将依次测试并发数 {steps}；{bounds}"
    ));
    allowed
        .map(|concurrency| {
            let load = Load::Concurrency { concurrency };
            let stop = if explicit {
                given
            } else {
                let per_slot = Some(LADDER_REQUESTS_PER_SLOT);
                Stop { requests: None, duration: Some(ladder.duration), per_slot }
            };
            (load, stop.of(&load))
        })
        .collect()
}

fn check_burst(given: Stop, warmup: Option<Warmup>) -> Result<(), UsageError> {
    if given.requests.is_some() || given.per_slot.is_some() {
        return Err(UsageError::new(
            "--requests",
            message!(
                "cannot be combined with --burst, whose N is the number of requests; remove it",
                "不能与 --burst 同时使用，其 N 就是请求数；请去掉"
            ),
        ));
    }
    if given.duration.is_some() {
        return Err(UsageError::new(
            "--duration",
            message!(
                "cannot be combined with --burst, which sends everything at once; remove it",
                "不能与 --burst 同时使用，突发请求一次全部发送；请去掉"
            ),
        )
        .hint(message!(
            "--timeout-total limits how long a response may take",
            "用 --timeout-total 限制响应的最长时间"
        )));
    }
    match warmup {
        Some(Warmup::Duration(_)) => Err(UsageError::new(
            "--warmup",
            message!(
                "a burst cannot be warmed up for a time; write a number of requests, such as 20",
                "突发请求不能按时长预热；请写请求数，例如 20"
            ),
        )),
        Some(Warmup::Requests(count)) if count > u64::from(MOST_IN_FLIGHT) => Err(UsageError::new(
            "--warmup",
            message!(
                "`{count}` is too many for a burst; write at most {MOST_IN_FLIGHT}",
                "`{count}` 对突发请求过多；最多写 {MOST_IN_FLIGHT}"
            ),
        )),
        _ => Ok(()),
    }
}

fn check_arrivals(loads: &[(Load, Stop)], warmup: Option<Warmup>) -> Result<(), UsageError> {
    for (load, stop) in loads {
        let rate = load.value();
        let by_time = stop.duration.map_or(f64::INFINITY, |duration| rate * to_s(duration));
        let by_count = stop.requests.map_or(f64::INFINITY, |requests| requests as f64);
        let before = match warmup {
            Some(Warmup::Requests(count)) => count as f64,
            Some(Warmup::Duration(time)) => rate * to_s(time),
            None => 0.0,
        };
        let planned = by_time.min(by_count) + before;
        if planned > MOST_ARRIVALS {
            return Err(UsageError::new(
                "--rate",
                message!(
                    "{rate} requests per second would need {planned:.0} arrivals, and the limit \
                     is 50 million; lower the rate, --duration or --warmup, or limit it with \
                     --requests",
                    "每秒 {rate} 个请求需要 {planned:.0} 个到达请求，而上限为 5000 万；\
                     请降低请求速率、--duration 或 --warmup，或用 --requests 限制"
                ),
            ));
        }
    }
    Ok(())
}

/// A name for tables, numbered if an earlier level has the same.
fn label(name: String, before: &[LevelPlan]) -> String {
    let equal = |level: &&LevelPlan| {
        level
            .label
            .strip_prefix(&name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    match before.iter().filter(equal).count() {
        0 => name,
        n => format!("{name} ({})", n + 1),
    }
}
