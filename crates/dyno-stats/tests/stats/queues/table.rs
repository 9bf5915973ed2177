//! How often the saturation test gives each result, over many simulated queues.

use super::{Queue, Server, Shape};
use dyno_stats::rng::SplitMix;
use dyno_stats::{Offered, Saturation, saturation};

/// Shares of runs in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Said {
    pub(crate) saturated: f64,
    pub(crate) cannot_tell: f64,
}

const fn many(servers: usize) -> Server {
    Server::Many { servers }
}

use Shape::{Constant, Erlang, Exponential, Lognormal, Mixed};

/// The queues that the test's constants were set on.
pub(crate) const TUNED_ON: [Queue; 10] = [
    Queue { name: "M/E2/1", arrivals: Exponential, service: Erlang(2), server: many(1) },
    Queue { name: "M/H2/2", arrivals: Exponential, service: Mixed, server: many(2) },
    Queue { name: "M/M/4", arrivals: Exponential, service: Exponential, server: many(4) },
    Queue { name: "E4/M/8", arrivals: Erlang(4), service: Exponential, server: many(8) },
    Queue { name: "E4/E4/3", arrivals: Erlang(4), service: Erlang(4), server: many(3) },
    Queue { name: "M/E4/100", arrivals: Exponential, service: Erlang(4), server: many(100) },
    Queue { name: "D/D/40", arrivals: Constant, service: Constant, server: many(40) },
    Queue {
        name: "batch of 32",
        arrivals: Exponential,
        service: Exponential,
        server: Server::Batch { cap: 32, base: 0.03, each: 0.0005, steps: 150.0 },
    },
    Queue {
        name: "batch of 128",
        arrivals: Exponential,
        service: Erlang(4),
        server: Server::Batch { cap: 128, base: 0.02, each: 0.0004, steps: 300.0 },
    },
    Queue {
        name: "batch of 256, constant arrivals",
        arrivals: Constant,
        service: Erlang(4),
        server: Server::Batch { cap: 256, base: 0.02, each: 0.0001, steps: 300.0 },
    },
];

const BATCH_OF_64: Server = Server::Batch { cap: 64, base: 0.015, each: 0.0003, steps: 200.0 };

/// The queues that it is judged on: none of those above.
pub(crate) const JUDGED_ON: [Queue; 9] = [
    Queue { name: "M/M/1", arrivals: Exponential, service: Exponential, server: many(1) },
    Queue { name: "M/D/1", arrivals: Exponential, service: Constant, server: many(1) },
    Queue { name: "M/M/16", arrivals: Exponential, service: Exponential, server: many(16) },
    Queue { name: "M/D/16", arrivals: Exponential, service: Constant, server: many(16) },
    Queue { name: "D/M/16", arrivals: Constant, service: Exponential, server: many(16) },
    Queue {
        name: "batch of 64, exponential work",
        arrivals: Exponential,
        service: Exponential,
        server: BATCH_OF_64,
    },
    Queue {
        name: "batch of 64, equal work",
        arrivals: Exponential,
        service: Constant,
        server: BATCH_OF_64,
    },
    Queue {
        name: "M/lognormal/1, cv 1.5",
        arrivals: Exponential,
        service: Lognormal(1.5),
        server: many(1),
    },
    Queue {
        name: "M/lognormal/16, cv 1.5",
        arrivals: Exponential,
        service: Lognormal(1.5),
        server: many(16),
    },
];

/// Queues that are harder than most, looked at after the judging: thousands in flight, bursts, work
/// of very different sizes, batches whose speed hardly or strongly depends on how full they are.
pub(crate) const HARDER: [Queue; 7] = [
    Queue { name: "M/M/1000", arrivals: Exponential, service: Exponential, server: many(1_000) },
    Queue { name: "M/E4/500", arrivals: Exponential, service: Erlang(4), server: many(500) },
    Queue {
        name: "M/lognormal/200, cv 1.5",
        arrivals: Exponential,
        service: Lognormal(1.5),
        server: many(200),
    },
    Queue { name: "H2/M/16", arrivals: Mixed, service: Exponential, server: many(16) },
    Queue {
        name: "lognormal/M/16, cv 3",
        arrivals: Lognormal(3.0),
        service: Exponential,
        server: many(16),
    },
    Queue {
        name: "batch of 512, hardly slower when full",
        arrivals: Exponential,
        service: Lognormal(1.0),
        server: Server::Batch { cap: 512, base: 0.02, each: 0.00002, steps: 300.0 },
    },
    Queue {
        name: "batch of 512, much slower when full",
        arrivals: Exponential,
        service: Lognormal(1.0),
        server: Server::Batch { cap: 512, base: 0.01, each: 0.0005, steps: 300.0 },
    },
];

/// What is said of `runs` levels of `count` arrivals each, at `load` times the capacity.
pub(crate) fn said(queue: &Queue, seed: u64, load: f64, count: usize, runs: usize) -> Said {
    let mut rng = SplitMix::new(seed);
    let (mut saturated, mut cannot_tell) = (0, 0);
    for _ in 0..runs {
        let seen = queue.run(&mut rng, load, count);
        let to = seen.arrivals.last().copied().unwrap_or_default();
        let offered = Offered { arrivals: &seen.arrivals, ends: &seen.ends, from: 0.0, to };
        match saturation(offered) {
            Saturation::Saturated(_) => saturated += 1,
            Saturation::Inconclusive(_) => cannot_tell += 1,
            Saturation::Carried(_) => {}
        }
    }
    let share = |n: usize| 100.0 * n as f64 / runs as f64;
    Said { saturated: share(saturated), cannot_tell: share(cannot_tell) }
}
