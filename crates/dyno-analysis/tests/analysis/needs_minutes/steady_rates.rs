//! The steady window's requests/s against servers whose rate is known, and against counting each request
//! where it ended: `cargo test -p dyno-analysis steady_rates -- --nocapture` prints the table.

use dyno_model::frame::Ending;
use dyno_model::plan::{Arrival, Load, Plan, Warmup};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, SEC};
use dyno_testing::runs::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const RUNS: u64 = 100;
/// Seeds that were not used to choose the rule.
const FIRST_SEED: u64 = 50_000;

/// A run against a server whose rate is known.
struct Known {
    plan: Plan,
    records: Vec<RequestRecord>,
    per_s: f64,
    /// When a slot of a closed loop first had nothing left to send.
    starved: Option<u64>,
    /// When the time of the level was over.
    stopped: Option<u64>,
}

/// How a family of servers answers.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    /// Tokens of a stream; none for whole responses.
    tokens: Option<[u64; 2]>,
    serves: Serves,
    /// Requests of each slot that are not measured.
    warmup: u64,
    /// Whether it ends by time, in the middle of requests, not by their number.
    by_time: bool,
    /// The largest errors in per cent, median and worst: about a tenth above those of the table in
    /// docs/metrics.md.
    at_most: [f64; 2],
}

#[derive(Clone, Copy)]
enum Serves {
    /// All in flight together, in equal times.
    Lockstep,
    /// In batches of a part of those in flight, one batch after another.
    Batches,
    /// Each by itself, in times that vary by this much (log-normal).
    Alone(f64),
    /// Each by itself, at random arrivals.
    Open(f64),
}

const FAMILIES: [Family; 18] = [
    family("lockstep, whole", None, Serves::Lockstep, 0, [0.27, 0.28]),
    family("lockstep, 1-4 tokens", Some([1, 4]), Serves::Lockstep, 0, [0.27, 0.28]),
    family("lockstep, 16-128 tokens", Some([16, 128]), Serves::Lockstep, 0, [0.27, 0.28]),
    family("batches, whole", None, Serves::Batches, 0, [0.01, 0.01]),
    family("batches, whole, warm-up", None, Serves::Batches, 3, [0.01, 0.01]),
    family("alone, whole", None, Serves::Alone(0.3), 0, [1.3, 14.5]),
    family("alone, whole, warm-up", None, Serves::Alone(0.3), 3, [1.2, 9.5]),
    family("alone, varied, whole", None, Serves::Alone(1.0), 0, [8.0, 40.0]),
    family("alone, varied, whole, warm-up", None, Serves::Alone(1.0), 3, [7.5, 60.0]),
    family("alone, 16-128 tokens", Some([16, 128]), Serves::Alone(0.3), 0, [1.2, 7.8]),
    family("open, whole", None, Serves::Open(0.5), 0, [0.2, 5.2]),
    timed("lockstep, whole, by time", None, Serves::Lockstep, 0, [0.27, 0.28]),
    timed("lockstep, by time", Some([16, 128]), Serves::Lockstep, 0, [0.27, 0.28]),
    timed("lockstep, warm-up, by time", Some([16, 128]), Serves::Lockstep, 1, [0.27, 0.28]),
    timed("batches, by time", Some([16, 128]), Serves::Batches, 0, [0.01, 0.01]),
    timed("batches, warm-up, by time", Some([16, 128]), Serves::Batches, 3, [0.01, 0.01]),
    timed("alone, by time", Some([16, 128]), Serves::Alone(0.3), 0, [2.0, 22.0]),
    timed("alone, warm-up, by time", Some([16, 128]), Serves::Alone(0.3), 3, [1.9, 12.0]),
];

const fn family(
    name: &'static str,
    tokens: Option<[u64; 2]>,
    serves: Serves,
    warmup: u64,
    at_most: [f64; 2],
) -> Family {
    Family { name, tokens, serves, warmup, by_time: false, at_most }
}

const fn timed(
    name: &'static str,
    tokens: Option<[u64; 2]>,
    serves: Serves,
    warmup: u64,
    at_most: [f64; 2],
) -> Family {
    Family { by_time: true, ..family(name, tokens, serves, warmup, at_most) }
}

fn between(rng: &mut ChaCha8Rng, [least, most]: [u64; 2]) -> u64 {
    least + rng.next_u64() % (most - least + 1)
}

/// A response of `tokens` tokens, the first after this time, or a whole one.
fn response(
    index: u64,
    slot: u32,
    sent: u64,
    [until_first, took]: [u64; 2],
    tokens: Option<u64>,
) -> RequestRecord {
    let mut r = stream(index, slot, 0, 1, 1, 1);
    (r.intended, r.dispatched, r.connected) = (sent, Some(sent), Some(sent));
    (r.sent, r.headers, r.end) = (Some(sent), Some(sent + took / 2), sent + took);
    r.chunks = Default::default();
    let n = tokens.unwrap_or(1);
    (r.streamed, r.last) = (tokens.is_some(), Some(r.end));
    r.first = r.last;
    if tokens.is_some() {
        let first = sent + if n > 1 { until_first } else { took };
        (0..n).for_each(|i| {
            r.chunks.push(first + (sent + took - first) * i / (n - 1).max(1), false, 1)
        });
        r.first = Some(first);
    }
    (r.output, r.requested_output) = (usage(n), Some(n as u32));
    r
}

fn log_normal(rng: &mut ChaCha8Rng, mean: f64, sigma: f64) -> f64 {
    let [u, v] = [0; 2].map(|_: u8| (rng.next_u64() as f64 + 1.0) / (u64::MAX as f64 + 2.0));
    let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    mean * (sigma * normal - sigma * sigma / 2.0).exp()
}

fn run_of(family: Family, seed: u64) -> Known {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let tokens = family.tokens.map(|range| between(&mut rng, range));
    let time = between(&mut rng, [20, 2_000]) * MS;
    match family.serves {
        Serves::Open(sigma) => open(&mut rng, time, sigma, tokens),
        _ => closed_loop(&mut rng, family, time, tokens),
    }
}

/// Slots that send again at once. The next free slot is the one whose response ended first.
fn closed_loop(rng: &mut ChaCha8Rng, family: Family, time: u64, tokens: Option<u64>) -> Known {
    let serves = family.serves;
    let slots = between(rng, [2, 64]);
    let batch = match serves {
        Serves::Batches => slots.div_ceil(between(rng, [2, 3])),
        _ => slots,
    };
    let warmup = slots * family.warmup;
    let requests = warmup + slots * between(rng, [4, 20]) + between(rng, [0, slots - 1]);
    // The part of the time until the first token, and for how long it sends, in hundredths of a round.
    let (prompt, stopped) = if family.by_time {
        let rounds = family.warmup * 100 + between(rng, [210, 1_000]);
        (between(rng, [5, 60]), Some(rounds * time * slots.div_ceil(batch) / 100))
    } else {
        (50, None)
    };
    // Responses of a batch leave one after the other.
    let jitter = time / 200 / slots;
    let mut free: Vec<(u64, u64)> = (0..slots).map(|slot| (slot * 1_000, slot)).collect();
    let (mut busy_until, mut in_batch) = (0_u64, 0_u64);
    let (mut records, mut starved) = (Vec::new(), None::<u64>);
    for index in 0.. {
        free.sort_unstable();
        let (sent, slot) = free[0];
        if stopped.map_or(index == requests, |at| sent > at) {
            break;
        }
        free.remove(0);
        let took = match serves {
            Serves::Alone(sigma) => log_normal(rng, time as f64, sigma) as u64,
            Serves::Lockstep => time + in_batch * jitter,
            Serves::Batches | Serves::Open(_) => {
                if in_batch == 0 {
                    busy_until = busy_until.max(sent) + time;
                }
                busy_until + in_batch * jitter - sent
            }
        };
        in_batch = (in_batch + 1) % batch;
        // The same part of all that the server does; what waits for a batch waits longer.
        let until_first = match serves {
            Serves::Batches if family.by_time => took - time * (100 - prompt) / 100,
            _ => took * prompt / 100,
        };
        let mut record = response(index, slot as u32, sent, [until_first, took], tokens);
        if index < warmup {
            record.phase = Phase::Warmup;
        }
        records.push(record);
        free.push((sent + took, slot));
    }
    for (at, _) in free.into_iter().filter(|_| stopped.is_none()) {
        starved = Some(starved.map_or(at, |first| first.min(at)));
    }
    let per_s = batch as f64 * SEC as f64 / time as f64;
    let load = Load::Concurrency { concurrency: slots as u32 };
    let measured = stopped.is_none().then_some(requests - warmup);
    let mut plan = plan(vec![level_plan("c", load, measured)]);
    plan.levels[0].warmup = Some(Warmup::Requests(warmup)).filter(|_| warmup > 0);
    Known { plan, records, per_s, starved, stopped }
}

fn open(rng: &mut ChaCha8Rng, time: u64, sigma: f64, tokens: Option<u64>) -> Known {
    let requests = between(rng, [200, 2_000]);
    let per_s = between(rng, [10, 200]) as f64;
    let mut records = Vec::new();
    for index in 0..requests {
        // Evenly spaced, so that the rate is known exactly.
        let sent = (index as f64 / per_s * SEC as f64) as u64;
        let took = log_normal(rng, time as f64, sigma) as u64;
        records.push(response(index, 0, sent, [took / 2, took], tokens));
    }
    let load = Load::Rate { rate: per_s, arrival: Arrival::Constant };
    let plan = plan(vec![level_plan("r", load, Some(requests))]);
    Known { plan, records, per_s, starved: None, stopped: None }
}

/// Relative errors of requests/s in the steady window: as reported, and counted where requests end.
fn errors(known: Known) -> Option<[f64; 2]> {
    let Known { plan, records, per_s, starved, stopped } = known;
    let ends: Vec<u64> = records.iter().map(|r| r.end).collect();
    let measured = records.iter().filter(|r| r.phase.is_measured());
    // The window ends where a slot has nothing left to send, or with the last arrival.
    let to = match starved.or(stopped) {
        Some(at) => at,
        None => measured.filter_map(|r| r.sent).max()?,
    };
    let summary = summary_with(&plan, records, |end| {
        end.starved = starved;
        end.sending_stopped = stopped.unwrap_or(end.sending_stopped);
    });
    let steady = summary.levels[0].steady?;
    let from = to.saturating_sub((steady.window_s * SEC as f64) as u64);
    let counted = ends.iter().filter(|end| (from..=to).contains(end)).count() as f64;
    let error = |found: f64| found / per_s - 1.0;
    Some([error(steady.throughput.requests_per_s?), error(counted / steady.window_s)])
}

/// Errors by size, in per cent: median and worst.
fn sizes(mut errors: Vec<f64>) -> [f64; 2] {
    errors.iter_mut().for_each(|error| *error = error.abs() * 100.0);
    errors.sort_by(f64::total_cmp);
    [errors[errors.len() / 2], errors[errors.len() - 1]]
}

/// Errors are no larger than those published. In lockstep, and elsewhere once a server is warm, the median
/// error is no larger than that of counting where requests end.
#[test]
fn the_rate_of_the_steady_window_is_the_servers() {
    println!("| server | runs | reported: median, worst | by ends: median, worst |");
    let mut wrong = Vec::new();
    for (number, family) in FAMILIES.into_iter().enumerate() {
        let seeds = (FIRST_SEED + number as u64 * RUNS..).take(RUNS as usize);
        let found: Vec<[f64; 2]> = seeds.filter_map(|seed| errors(run_of(family, seed))).collect();
        assert!(found.len() * 2 > RUNS as usize, "{}: {} windows", family.name, found.len());
        let [reported, by_ends] =
            [0, 1].map(|which| sizes(found.iter().map(|errors| errors[which]).collect()));
        println!(
            "| {} | {} | {:.2} %, {:.2} % | {:.2} %, {:.2} % |",
            family.name,
            found.len(),
            reported[0],
            reported[1],
            by_ends[0],
            by_ends[1]
        );
        // Without a warm-up, what is left of a short run may be a few requests.
        let cold = !matches!(family.serves, Serves::Open(_)) && family.warmup == 0;
        let is_better = matches!(family.serves, Serves::Lockstep) || !cold;
        let good = reported[0] <= family.at_most[0]
            && reported[1] <= family.at_most[1]
            && (!is_better || reported[0] <= by_ends[0]);
        if !good {
            wrong.push((family.name, reported, by_ends));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A level of so many random arrivals after a warm-up, ended by its schedule: as many as the rate implies, each at
/// any time of it alike, as the open loop sends them.
fn few(rng: &mut ChaCha8Rng, arrivals: u64) -> Known {
    let per_s = between(rng, [1, 20]) as f64;
    let length = (arrivals as f64 / per_s * SEC as f64) as u64;
    let time = between(rng, [20, length / MS / 4]) * MS;
    let at_random = |rng: &mut ChaCha8Rng, count: u64, from: u64, length: u64| {
        let mut at: Vec<u64> = (0..count).map(|_| from + rng.next_u64() % length).collect();
        at.sort_unstable();
        at
    };
    let mut sent = at_random(rng, 2 * arrivals, 0, 2 * length);
    sent.extend(at_random(rng, arrivals, 2 * length, length));
    let records = (0..).zip(sent).map(|(index, sent)| {
        let took = log_normal(rng, time as f64, 0.3) as u64;
        let mut record = response(index, 0, sent, [took / 2, took], None);
        if sent < 2 * length {
            record.phase = Phase::Warmup;
        }
        record
    });
    let records = records.collect();
    let load = Load::Rate { rate: per_s, arrival: Arrival::Poisson };
    let mut plan = plan(vec![level_plan("r", load, None)]);
    plan.levels[0].duration_ns = Some(length);
    plan.levels[0].warmup = Some(Warmup::Duration(2 * length));
    Known { plan, records, per_s, starved: None, stopped: Some(3 * length) }
}

/// The error of the rate from the first measured arrival to the last, by shares: that of earlier versions.
fn between_arrivals(known: &Known) -> f64 {
    let measured = || known.records.iter().filter(|r| r.phase.is_measured()).filter_map(|r| r.sent);
    let (from, to) = (measured().min().unwrap_or(0), measured().max().unwrap_or(0));
    let share = |r: &RequestRecord| {
        let (sent, end) = (r.sent.unwrap_or(r.intended), r.end);
        end.min(to).saturating_sub(sent.max(from)) as f64 / (end - sent) as f64
    };
    let done: f64 = known.records.iter().map(share).sum();
    done / (to - from) as f64 * SEC as f64 / known.per_s - 1.0
}

/// The time before the first arrival and after the last belongs to the rate. Without it, few requests are too many
/// per second.
#[test]
fn steady_rates_of_few_arrivals_are_those_offered() {
    println!("| arrivals | mean error, median size | between arrivals |");
    let mut wrong = Vec::new();
    for (number, (arrivals, bias, size)) in
        [(5, 0.02, 9.5), (10, 0.02, 6.5), (20, 0.02, 4.5)].into_iter().enumerate()
    {
        let runs = 400;
        let seeds = (FIRST_SEED + 10_000 * (number as u64 + 1)..).take(runs);
        let found: Vec<[f64; 2]> = seeds
            .filter_map(|seed| {
                let known = few(&mut ChaCha8Rng::seed_from_u64(seed), arrivals);
                let (before, per_s, stopped) =
                    (between_arrivals(&known), known.per_s, known.stopped);
                let summary = summary_with(&known.plan, known.records, |end| {
                    end.ending = Ending::Duration;
                    end.sending_stopped = stopped.unwrap();
                });
                let rate = summary.levels[0].steady?.throughput.requests_per_s?;
                Some([rate / per_s - 1.0, before])
            })
            .collect();
        assert!(found.len() * 10 > runs * 9, "{} windows", found.len());
        let mean = |which: usize| {
            found.iter().map(|errors| errors[which]).sum::<f64>() / found.len() as f64
        };
        let median = |which: usize| sizes(found.iter().map(|errors| errors[which]).collect())[0];
        let [now, before] = [0, 1].map(|which| (100.0 * mean(which), median(which)));
        println!(
            "| {arrivals} | {:+.1} %, {:.1} % | {:+.1} %, {:.1} % |",
            now.0, now.1, before.0, before.1
        );
        if (now.0 / 100.0).abs() > bias || now.1 > size || now.1 >= before.1 {
            wrong.push((arrivals, now, before));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
