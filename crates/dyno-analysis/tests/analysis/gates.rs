//! A gate and a comparison of the same two runs never contradict each other.

use dyno_analysis::compare::{
    Called, Compared, ComparedSide, Comparison, ComparisonTerms, GateAnswer, compare, gated,
};
use dyno_model::Summary;
use dyno_model::load::{LoadKind, LoadSummary};
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, LevelSummary, Throughput};
use dyno_stats::rng::SplitMix;
use dyno_testing::runs::*;
use proptest::prelude::*;
use std::sync::LazyLock;

static BASE: LazyLock<Summary> = LazyLock::new(|| {
    let (plan, records) = closed(8, 30);
    summary_with(&plan, records, |end| end.starved = Some(starved(30)))
});

fn scale(of: &mut Distribution, by: f64) {
    let values = [&mut of.mean, &mut of.p50, &mut of.p90, &mut of.p95, &mut of.p99, &mut of.max];
    values.into_iter().for_each(|value| *value = value.map(|value| value * by));
    let intervals = &mut of.ci95;
    for interval in
        [&mut intervals.mean, &mut intervals.p50, &mut intervals.p90, &mut intervals.p99]
    {
        *interval = interval.map(|ends| ends.map(|end| end * by));
    }
    of.instrument = None;
}

fn slow(work: &mut Throughput, by: f64) {
    for rate in [&mut work.requests_per_s, &mut work.output_tokens_per_s] {
        *rate = rate.map(|rate| rate / by);
    }
}

/// How a load of one side is: by how much TTFT, the gaps between tokens and latency are longer, and
/// how much rounds differ.
type Slower = ([f64; 3], f64);

fn round(load: u32, (slower, spread): &Slower, random: &mut SplitMix) -> LevelSummary {
    let mut level = BASE.levels[0].clone();
    level.load = LoadSummary { kind: LoadKind::Concurrency, value: Some(f64::from(load)) };
    level.label = format!("concurrency {load}");
    let mut by = |place: usize| slower[place] * (spread * (2.0 * random.unit() - 1.0)).exp();
    let factors = [by(0), by(1), by(2)];
    for (time, found) in level.times.iter_mut() {
        let place = match time {
            Time::Ttft => 0,
            Time::Itl | Time::Tpot | Time::ChunkGap => 1,
            _ => 2,
        };
        found.iter_mut().for_each(|found| scale(found, factors[place]));
    }
    slow(&mut level.throughput, factors[2]);
    level.steady.iter_mut().for_each(|steady| slow(&mut steady.throughput, factors[2]));
    level.instrument = None;
    level
}

fn side(loads: &[Slower], rounds: usize, seed: u64) -> Summary {
    let mut random = SplitMix::new(seed);
    let mut levels = Vec::new();
    for (place, load) in (0..).zip(loads) {
        levels.extend((0..rounds).map(|_| round(1 << place, load, &mut random)));
    }
    Summary { levels, ..BASE.clone() }
}

fn compared([a, b]: [&Summary; 2], asked: &[Compared], in_rounds: bool) -> Comparison {
    let sides = [ComparedSide { name: "a", summary: a }, ComparedSide { name: "b", summary: b }];
    compare(
        &sides,
        &ComparisonTerms { asked: asked.to_vec(), in_rounds, ..ComparisonTerms::default() },
    )
}

fn any_side() -> impl Strategy<Value = Vec<Slower>> {
    let slower = prop::array::uniform3(0.85_f64..1.25);
    prop::collection::vec((slower, 0.0_f64..0.06), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// C4: the gate failed what the comparison of the same runs called "needs 1 more run".
    #[test]
    fn what_a_gate_fails_is_called_worse_by_the_comparison_of_the_same_runs(
        slower in any_side(),
        rounds in (1_usize..6, 1_usize..6),
        in_rounds in any::<bool>(),
        limit in prop_oneof![Just(0.0), Just(0.02), Just(0.05), 0.0_f64..0.2],
        one in 0_usize..20,
        seed in any::<u64>(),
    ) {
        let equal: Vec<Slower> = slower.iter().map(|(_, spread)| ([1.0; 3], *spread)).collect();
        let runs = [side(&equal, rounds.0, seed), side(&slower, rounds.1, !seed)];
        let runs = [&runs[0], &runs[1]];
        let plain = compared(runs, &[], in_rounds);
        let metrics: Vec<Compared> = Compared::all().filter(|metric| !metric.is_share()).collect();
        // All metrics, and one: whatever is asked for, the same comparison is printed.
        for chosen in [&[][..], &[metrics[one % metrics.len()]]] {
            let found = gated(&compared(runs, chosen, in_rounds), chosen, limit);
            for check in &found.checks {
                let place = plain.points.iter().position(|point| point.label == check.load);
                let test = place.and_then(|place| plain.test(1, place, check.metric));
                // A time between tokens that was asked for may not be the one that is compared.
                let Some(test) = test else { continue };
                let fails = check.answer == GateAnswer::Fail;
                prop_assert!(!fails || test.called == Called::Worse, "{check:?} {test:?}");
                let fine = match test.called {
                    Called::Better => true,
                    Called::NoLargerThan { share } => share + 1e-6 < limit,
                    Called::Worse | Called::NotEnough { .. } => false,
                };
                prop_assert!(!fine || check.answer == GateAnswer::Pass, "{check:?} {test:?}");
            }
        }
    }
}

/// The property says nothing unless there are such checks.
#[test]
fn checks_of_each_kind_are_among_those_that_are_compared() {
    let mut seen = [0; 3];
    let mut random = SplitMix::new(5);
    for seed in 0..40 {
        let slower = [([1.0 + 0.2 * random.unit(); 3], 0.03)];
        let runs = [side(&[([1.0; 3], 0.03)], 4, seed), side(&slower, 4, !seed)];
        let comparison = compared([&runs[0], &runs[1]], &[], false);
        for check in gated(&comparison, &[], 0.05).checks {
            seen[check.answer as usize] += 1;
            let [low, high] = check.interval.unwrap();
            assert!(low.is_finite() && high.is_finite() && low <= high, "{check:?}");
        }
    }
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}
