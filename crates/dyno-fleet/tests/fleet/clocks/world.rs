//! A simulated world: clocks that run fast, slow, unsteadily, and jump, and networks that delay, reorder
//! nothing, and lose calls. All times are nanoseconds of true time.

pub(crate) const SECOND: f64 = 1e9;
pub(crate) const MS: f64 = 1e6;

/// Random numbers, the same for the same seed.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    pub(crate) fn chance(&mut self, of: f64) -> bool {
        self.unit() < of
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }

    fn sign(&mut self) -> f64 {
        self.one_of(&[-1.0, 1.0])
    }

    /// About normal, with deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// What the two clocks do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Clocks {
    /// Rates differ by so many ppm, always.
    Steady(f64),
    /// One of the usual drifts, a random walk of the rate, and up to 3 ppm more as the agent gets warm.
    Warming,
    /// NTP corrects one of the clocks every few minutes: by up to 10 ms, at 500 ppm.
    Slewed,
    /// NTP corrects one of the clocks at a rate that decays from 20 to 80 ppm, within minutes.
    SlowlySlewed,
    /// One of the clocks jumps once, by 5 to 500 ms.
    Stepped,
}

pub(crate) const DRIFTS: [f64; 5] = [0.0, 20.0, -20.0, 100.0, -100.0];

/// What a clock shows.
pub(crate) struct Timeline {
    origin: u64,
    /// How far it is ahead of true time at each second.
    ahead: Vec<f64>,
    step: Option<(f64, f64)>,
}

impl Timeline {
    pub(crate) fn read(&self, at: f64) -> u64 {
        let second = ((at / SECOND) as usize).min(self.ahead.len() - 2);
        let (from, to) = (self.ahead[second], self.ahead[second + 1]);
        let ahead = from + (to - from) * (at / SECOND - second as f64);
        let jumped = self.step.filter(|(when, _)| at >= *when).map_or(0.0, |(_, by)| by);
        self.origin + (at + ahead + jumped).round() as u64
    }
}

/// The clocks of coordinator and agent for some seconds. `loaded` says when the agent works.
pub(crate) fn timelines(
    clocks: Clocks,
    seconds: usize,
    loaded: &dyn Fn(f64) -> bool,
    rng: &mut Rng,
) -> (Timeline, Timeline) {
    let drift = match clocks {
        Clocks::Steady(drift) => drift,
        _ => rng.one_of(&DRIFTS),
    };
    let walk = if let Clocks::Steady(_) = clocks { 0.0 } else { 0.02 };
    let mut rates = [vec![0.0; seconds], vec![drift; seconds]];
    let (mut walked, mut warm) = (0.0, 0.0);
    for (second, rate) in rates[1].iter_mut().enumerate() {
        walked += walk * rng.normal();
        let heat = if loaded(second as f64 * SECOND) { 3.0 } else { 0.0 };
        warm += (heat - warm) / 60.0;
        *rate += walked + if walk > 0.0 { warm } else { 0.0 };
    }
    let mut second = rng.exponential(200.0) as usize;
    while second < seconds {
        let (side, sign) = (rng.one_of(&[0, 1]), rng.sign());
        let (size, length) = (rng.between(20.0, 80.0), rng.between(2.0, 20.0));
        for (since, rate) in rates[side][second..].iter_mut().enumerate() {
            *rate += sign
                * match clocks {
                    Clocks::Slewed if (since as f64) < length => 500.0,
                    Clocks::SlowlySlewed => size * (-(since as f64) / 120.0).exp(),
                    _ => 0.0,
                };
        }
        second += 30 + rng.exponential(300.0) as usize;
    }
    let step = (clocks == Clocks::Stepped)
        .then(|| (rng.unit() * seconds as f64 * SECOND, 5.0 * MS * 100f64.powf(rng.unit())));
    let stepped = rng.one_of(&[0, 1]);
    let [ours, theirs] = rates;
    let timeline = |rates: Vec<f64>, origin: u64, step: Option<(f64, f64)>| {
        let mut ahead = vec![0.0];
        for rate in rates {
            ahead.push(ahead[ahead.len() - 1] + rate * 1e3);
        }
        Timeline { origin, ahead, step }
    };
    let origin = rng.next() % 1_000_000_000_000_000;
    (
        timeline(ours, 5_000_000_000, step.filter(|_| stepped == 0)),
        timeline(theirs, origin, step.filter(|_| stepped == 1)),
    )
}

/// What a network does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Network {
    /// 0.1 ms each way, always.
    Constant,
    /// 0.1 ms and an exponential delay of 0.3 ms on average.
    Jitter,
    /// 0.2 ms, or 5 ms for one message in ten.
    Bimodal,
    /// 5 ms there and 0.5 ms back, and some jitter.
    Asymmetric,
    /// 0.2 ms; a fifth of the calls is lost, one in twenty stalls for 200 ms.
    Lossy,
    /// 0.2 ms, and for 5 s of 30 another 50 ms on average on the way there.
    Bursts,
    /// 0.2 ms, and during a level 20 ms more on average there and 2 ms back.
    Queueing,
    /// 40 ms each way with jitter of 5 ms on average.
    Distant,
}

pub(crate) const NETWORKS: [Network; 8] = [
    Network::Constant,
    Network::Jitter,
    Network::Bimodal,
    Network::Asymmetric,
    Network::Lossy,
    Network::Bursts,
    Network::Queueing,
    Network::Distant,
];

impl Network {
    /// How long a call and its answer take; `None` if one of them is lost.
    pub(crate) fn delays(self, at: f64, loaded: bool, rng: &mut Rng) -> Option<(f64, f64)> {
        let some = |rng: &mut Rng| 0.2 * MS + rng.exponential(0.02 * MS);
        let both = match self {
            Self::Constant => (0.1 * MS, 0.1 * MS),
            Self::Jitter => {
                (0.1 * MS + rng.exponential(0.3 * MS), 0.1 * MS + rng.exponential(0.3 * MS))
            }
            Self::Bimodal => {
                let mut way = || if rng.chance(0.1) { 5.0 * MS } else { 0.2 * MS };
                (way(), way())
            }
            Self::Asymmetric => {
                (5.0 * MS + rng.exponential(0.5 * MS), 0.5 * MS + rng.exponential(0.05 * MS))
            }
            Self::Lossy => {
                if rng.chance(0.2) {
                    return None;
                }
                let way =
                    |rng: &mut Rng| some(rng) + if rng.chance(0.05) { 200.0 * MS } else { 0.0 };
                (way(rng), way(rng))
            }
            Self::Bursts => {
                let burst = (at / SECOND) % 30.0 < 5.0;
                let more = if burst { rng.exponential(50.0 * MS) } else { 0.0 };
                (some(rng) + more, some(rng))
            }
            Self::Queueing if loaded => {
                (some(rng) + rng.exponential(20.0 * MS), some(rng) + rng.exponential(2.0 * MS))
            }
            Self::Queueing => (some(rng), some(rng)),
            Self::Distant => {
                (40.0 * MS + rng.exponential(5.0 * MS), 40.0 * MS + rng.exponential(5.0 * MS))
            }
        };
        Some(both)
    }
}
