use super::*;
use crate::rng::SplitMix;
use proptest::prelude::*;

fn normal(rng: &mut SplitMix) -> f64 {
    (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Runs of a server whose metric is `truth`, with this standard deviation between runs.
fn runs(rng: &mut SplitMix, truth: f64, deviation: f64, count: usize) -> Vec<f64> {
    (0..count).map(|_| truth * (deviation * normal(rng)).exp()).collect()
}

fn figure(value: f64, reach: f64) -> OneRunFigure {
    OneRunFigure { value, interval: Some([value * (1.0 - reach), value * (1.0 + reach)]) }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// The same change, seen from the other side.
fn turned(change: f64) -> f64 {
    1.0 / (1.0 + change) - 1.0
}

#[test]
fn welch_as_worked_out_by_hand() {
    // Logarithms 0, 1, 2 and 3, 5: means 1 and 4, variances 1 and 2, error √(1/3 + 1).
    let a = [0.0_f64, 1.0, 2.0].map(f64::exp);
    let b = [3.0_f64, 5.0].map(f64::exp);
    let got = rounds(&a, &b).unwrap();
    assert!(close(got.change, 3.0_f64.exp() - 1.0));
    assert!(close(got.log.errors[0], (4.0_f64 / 3.0).sqrt()));
    // (4/3)² / ((1/3)²/2 + 1²/1)
    assert!(close(got.log.freedom, (16.0 / 9.0) / (1.0 / 18.0 + 1.0)));
    assert_eq!((got.basis, got.runs), (Basis::Rounds, [3, 2]));
}

#[test]
fn pairs_as_worked_out_by_hand() {
    // Differences of logarithms 1, 2 and 3: mean 2, error 1/√3, t = 2√3 with 2 degrees of freedom.
    let a = [1.0, 10.0, 100.0];
    let b = [1.0_f64.exp(), 10.0 * 2.0_f64.exp(), 100.0 * 3.0_f64.exp()];
    let got = paired(&a, &b).unwrap();
    assert!(close(got.log.value, 2.0) && close(got.log.errors[1], 1.0 / 3.0_f64.sqrt()));
    // With 2 degrees of freedom the probability is 1 − t / √(2 + t²).
    assert!(close(got.p, 1.0 - (12.0_f64 / 14.0).sqrt()), "{}", got.p);
}

#[test]
fn what_changes_for_both_cancels_in_pairs_only() {
    let drift = [1.0, 1.03, 1.06, 1.08, 1.10];
    let a: Vec<f64> =
        drift.iter().zip([1.0, 1.002, 0.999, 1.001, 1.0]).map(|(d, n)| d * n).collect();
    let b: Vec<f64> = drift.iter().map(|d| d * 1.02).collect();
    assert!(paired(&a, &b).unwrap().p < 0.001);
    assert!(rounds(&a, &b).unwrap().p > 0.3);
}

#[test]
fn one_run_each_is_never_surer_than_runs_differ() {
    let exact = OneRunFigure { value: 10.0, interval: Some([10.0, 10.0]) };
    let got =
        one_run(exact, OneRunFigure { value: 10.2, interval: Some([10.2; 2]) }, 0.01).unwrap();
    assert!(close(got.log.errors[0], 0.01 * 2.0_f64.sqrt()));
    assert!(got.p > 0.1 && got.low < 0.0 && got.high > 0.04);
    assert_eq!(got.basis, Basis::OneRunEach { assumed: 0.01 });
    // Nothing assumed: what was seen within the runs is all there is.
    assert_eq!(one_run(exact, figure(10.2, 0.0), 0.0).unwrap().p, 0.0);
    assert!(one_run(figure(10.0, 0.05), figure(10.2, 0.05), 0.0).unwrap().p > 0.1);
}

#[test]
fn less_is_assumed_of_a_closed_loop_than_of_an_open_one() {
    use crate::stability::WatchedStatistic::{Mean, P50, P90, P99};
    assert_eq!(between_runs(Loop::Closed, P99), Some(BETWEEN_RUNS));
    assert_eq!(between_runs(Loop::Open, Mean), Some(BETWEEN_RUNS_AT_A_RATE));
    assert_eq!(between_runs(Loop::Open, P50), Some(BETWEEN_RUNS_AT_A_RATE));
    assert_eq!((between_runs(Loop::Open, P90), between_runs(Loop::Open, P99)), (None, None));
}

#[test]
fn lopsided_intervals_count_on_the_side_they_lie() {
    let a = OneRunFigure { value: 1.0, interval: Some([1.0, 1.0]) };
    let b = OneRunFigure { value: 2.0, interval: Some([1.9, 4.0]) };
    let got = one_run(a, b, 0.0).unwrap();
    assert!(close(got.low, 0.9) && close(got.high, 3.0), "{got:?}");
}

#[test]
fn a_throughput_is_known_as_well_as_the_latency() {
    let latency = OneRunFigure { value: 2.0, interval: Some([1.6, 2.5]) };
    let got = OneRunFigure::by_latency(16.0, latency);
    assert_eq!(got, OneRunFigure { value: 16.0, interval: Some([12.8, 20.0]) });
    assert_eq!(
        OneRunFigure::by_latency(16.0, OneRunFigure { interval: None, ..latency }).interval,
        None
    );
}

#[test]
fn no_data_gives_nothing() {
    let some = figure(1.0, 0.1);
    let none = OneRunFigure { value: 1.0, interval: None };
    assert_eq!(one_run(some, none, 0.01), None);
    assert_eq!(compare(&[], &[some], SideOrder::Apart, Some(0.01)), None);
    assert_eq!(rounds(&[1.0], &[1.0]), None);
    assert_eq!(rounds(&[], &[1.0, 2.0]), None);
    assert_eq!(paired(&[1.0, 2.0], &[1.0]), None);
    assert_eq!(paired(&[1.0], &[1.0]), None);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(rounds(&[1.0, bad], &[1.0, 2.0]), None);
        assert_eq!(paired(&[1.0, 2.0], &[1.0, bad]), None);
        assert_eq!(one_run(OneRunFigure { value: bad, ..some }, some, 0.01), None);
    }
}

#[test]
fn the_number_of_runs_and_their_order_decide() {
    let of = |count: usize| vec![figure(1.0, 0.1); count];
    let basis = |a: usize, b: usize, order: SideOrder| {
        compare(&of(a), &of(b), order, Some(0.02)).map(|effect| effect.basis)
    };
    assert_eq!(basis(1, 1, SideOrder::InRounds), Some(Basis::OneRunEach { assumed: 0.02 }));
    assert_eq!(basis(3, 3, SideOrder::InRounds), Some(Basis::Paired));
    assert_eq!(basis(3, 3, SideOrder::Apart), Some(Basis::Rounds));
    assert_eq!(basis(3, 2, SideOrder::InRounds), Some(Basis::Rounds));
    assert_eq!(basis(5, 1, SideOrder::Apart), Some(Basis::OneAgainstSeveral));
    assert_eq!(compare(&of(1), &of(1), SideOrder::Apart, None), None);
    assert!(compare(&of(2), &of(2), SideOrder::Apart, None).is_some());
}

#[test]
fn equal_runs_do_not_differ_by_errors_of_rounding() {
    let got = rounds(&[5.1; 3], &[5.1; 7]).unwrap();
    assert_eq!((got.change, got.p), (0.0, 1.0));
    let more = rounds(&[5.0; 3], &[6.0; 2]).unwrap();
    assert!(close(more.change, 0.2) && more.p < 1e-9);
}

/// The verdict where this is the only test.
fn alone(effect: &Effect, margin: f64) -> ComparisonVerdict {
    conclude(&[*effect], margin)[0].verdict
}

/// C3, C4: the interval that is shown is the one that decides, whatever the number of tests.
#[test]
fn the_interval_contains_no_change_exactly_where_none_is_called() {
    let mut rng = SplitMix::new(77);
    let effects: Vec<Effect> = (0..400)
        .map(|i| {
            let a = runs(&mut rng, 1.0, 0.01, 3);
            let b = runs(&mut rng, 1.0 + 0.001 * f64::from(i % 80), 0.01, 3);
            rounds(&a, &b).unwrap()
        })
        .collect();
    for tests in [1, 5, 20, 80] {
        let (mut called, mut uncorrected) = (0, 0);
        for some in effects.chunks(tests) {
            for (effect, found) in some.iter().zip(conclude(some, MARGIN)) {
                let [low, high] = found.interval;
                let differs =
                    matches!(found.verdict, ComparisonVerdict::Higher | ComparisonVerdict::Lower);
                called += u32::from(differs);
                uncorrected += u32::from(effect.p < 0.05);
                match found.verdict {
                    ComparisonVerdict::Higher => assert!(low > 0.0, "{found:?}"),
                    ComparisonVerdict::Lower => assert!(high < 0.0, "{found:?}"),
                    ComparisonVerdict::NoLargerThan(most) => {
                        assert!(low >= -most && high <= most && most <= MARGIN, "{found:?}");
                    }
                    ComparisonVerdict::NotEnough { .. } => {
                        assert!(low <= 0.0 && high >= 0.0, "{found:?}")
                    }
                }
            }
        }
        assert!(called > 0 && (tests == 1 || called < uncorrected), "{tests}: {called}");
    }
}

/// The gate where this is the only test.
fn gate_alone(effect: &Effect, better: Better, most: f64) -> Gated {
    gate(&[(*effect, better)], most)[0]
}

/// C3: a gate's outcome follows from the interval that it gives, and from nothing else.
#[test]
fn the_end_that_a_gate_gives_is_the_one_that_decides() {
    let mut rng = SplitMix::new(78);
    let mut seen = [0; 3];
    for i in 0..300 {
        let a = runs(&mut rng, 1.0, 0.01, 2 + i % 3);
        let b = runs(&mut rng, 0.9 + 0.001 * (i % 200) as f64, 0.01, 2 + i % 3);
        let effect = rounds(&a, &b).unwrap();
        for (better, limit) in [(Better::Lower, 0.05), (Better::Higher, -0.05)] {
            let found = gate_alone(&effect, better, 0.05);
            let [low, high] = found.interval;
            let (within, beyond) = match better {
                Better::Lower => (high <= limit + 1e-9, low > limit - 1e-9),
                Better::Higher => (low >= limit - 1e-9, high < limit + 1e-9),
            };
            let place = match found.gate {
                GateTest::Pass => 0,
                GateTest::Fail => 1,
                GateTest::Inconclusive { .. } => 2,
            };
            seen[place] += 1;
            assert!([within, beyond, !within && !beyond][place], "{found:?} {effect:?}");
        }
    }
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}

/// C4: of metrics that are all at the limit, none may fail wrongly more often than once in 40 gates,
/// however many there are; and what is twice beyond it fails.
#[test]
fn a_gate_of_many_metrics_fails_wrongly_at_most_once_in_40() {
    let mut rng = SplitMix::new(79);
    let mut failing = |change: f64, metrics: usize| {
        let mut metric = || {
            let (a, b) = (runs(&mut rng, 1.0, 0.01, 5), runs(&mut rng, 1.0 + change, 0.01, 5));
            (rounds(&a, &b).unwrap(), Better::Lower)
        };
        let all = 500;
        let fails = (0..all).filter(|_| {
            let effects: Vec<_> = (0..metrics).map(|_| metric()).collect();
            gate(&effects, 0.05).iter().any(|found| found.gate == GateTest::Fail)
        });
        fails.count() as f64 / f64::from(all)
    };
    for metrics in [1, 4, 20] {
        let wrong = failing(0.05, metrics);
        assert!(wrong < 0.045, "{metrics}: {wrong}");
        let right = failing(0.1, metrics);
        assert!(right > 0.99, "{metrics}: {right}");
    }
}

#[test]
fn verdicts_on_both_sides_of_their_limits() {
    let mut rng = SplitMix::new(4);
    let a = runs(&mut rng, 1.0, 0.01, 5);
    let by = |factor: f64| {
        let b: Vec<f64> = a.iter().rev().map(|value| value * factor).collect();
        rounds(&a, &b).unwrap()
    };
    let called = |effect: &Effect| alone(effect, MARGIN);
    assert_eq!(called(&by(1.1)), ComparisonVerdict::Higher);
    assert_eq!(called(&by(0.9)), ComparisonVerdict::Lower);
    let same = by(1.0);
    assert_eq!(called(&same), ComparisonVerdict::NoLargerThan(same.high));
    assert!(matches!(alone(&same, 0.001), ComparisonVerdict::NotEnough { .. }));
    assert_eq!(ComparisonVerdict::Higher.is_better(Better::Lower), Some(false));
    assert_eq!(ComparisonVerdict::Lower.is_better(Better::Lower), Some(true));
    assert_eq!(ComparisonVerdict::NoLargerThan(0.1).is_better(Better::Higher), None);
}

#[test]
fn as_many_runs_as_are_asked_for_are_enough() {
    // One run each with 3 % between them: too few to exclude 5 %.
    let one = one_run(figure(1.0, 0.0), figure(1.01, 0.0), 0.03).unwrap();
    let ComparisonVerdict::NotEnough { more_rounds: Some(more) } = alone(&one, MARGIN) else {
        panic!("{one:?}");
    };
    let settled = |count: usize| {
        let mut rng = SplitMix::new(12);
        let all = 1_000;
        let settled = (0..all).filter(|_| {
            let a = runs(&mut rng, 1.0, 0.03, count);
            let b = runs(&mut rng, 1.0, 0.03, count);
            let effect = rounds(&a, &b).unwrap();
            !matches!(alone(&effect, MARGIN), ComparisonVerdict::NotEnough { .. })
        });
        settled.count() as f64 / f64::from(all)
    };
    let enough = settled(1 + more as usize);
    assert!((0.78..0.92).contains(&enough), "{more} more runs settle {enough}");
    assert!(settled(more as usize / 2) < 0.7);
    let hopeless = one_run(figure(1.0, 0.0), figure(1.01, 0.0), 1.0).unwrap();
    assert_eq!(alone(&hopeless, MARGIN), ComparisonVerdict::NotEnough { more_rounds: None });
}

#[test]
fn gates_look_at_the_bad_direction_only() {
    let wobble = [0.995, 1.0, 1.005];
    let by = |factor: f64| {
        let scaled = |factor: f64| wobble.map(|value| value * factor);
        rounds(&scaled(3.0), &scaled(3.0 * factor)).unwrap()
    };
    assert_eq!(gate_alone(&by(1.0), Better::Lower, 0.05).gate, GateTest::Pass);
    assert_eq!(gate_alone(&by(1.1), Better::Lower, 0.05).gate, GateTest::Fail);
    assert_eq!(gate_alone(&by(1.1), Better::Higher, 0.05).gate, GateTest::Pass);
    assert_eq!(gate_alone(&by(0.9), Better::Higher, 0.05).gate, GateTest::Fail);
    assert_eq!(gate_alone(&by(0.9), Better::Lower, 0.05).gate, GateTest::Pass);
    assert!(matches!(
        gate_alone(&by(1.05), Better::Lower, 0.05).gate,
        GateTest::Inconclusive { .. }
    ));
    // An improvement may be asked for, and a throughput cannot fall by more than all of it.
    assert_eq!(gate_alone(&by(1.0), Better::Lower, -0.05).gate, GateTest::Fail);
    assert_eq!(gate_alone(&by(0.9), Better::Lower, -0.05).gate, GateTest::Pass);
    assert_eq!(gate_alone(&by(0.1), Better::Higher, 2.0).gate, GateTest::Pass);
}

/// How many of 2,000 intervals of `count` runs each hold the truth, and how many call a change.
fn covered(count: usize, deviations: [f64; 2], change: f64, pairs: bool) -> (usize, usize) {
    let mut rng = SplitMix::new(count as u64 + 90);
    let (mut holds, mut calls) = (0, 0);
    for _ in 0..2_000 {
        let a = runs(&mut rng, 7.0, deviations[0], count);
        let b = runs(&mut rng, 7.0 * (1.0 + change), deviations[1], count);
        let effect = if pairs { paired(&a, &b) } else { rounds(&a, &b) }.unwrap();
        holds += usize::from(effect.low <= change && change <= effect.high);
        calls += usize::from(effect.p < 0.05);
    }
    (holds, calls)
}

#[test]
fn intervals_cover_the_truth() {
    for (count, deviations) in [(2, [0.01, 0.01]), (3, [0.01, 0.03]), (5, [0.02, 0.01])] {
        for pairs in [false, true] {
            let (holds, _) = covered(count, deviations, 0.03, pairs);
            assert!(holds >= 1_870, "{count} {deviations:?} {pairs}: {holds} of 2,000");
        }
    }
}

#[test]
fn equal_servers_are_seldom_called_different_and_others_often() {
    for pairs in [false, true] {
        let (_, wrong) = covered(5, [0.01; 2], 0.0, pairs);
        assert!(wrong <= 130, "{wrong} of 2,000");
        let (_, right) = covered(5, [0.01; 2], 0.05, pairs);
        assert!(right >= 1_950, "{right} of 2,000");
    }
}

proptest! {
    #[test]
    fn a_change_of_unit_changes_nothing(
        a in proptest::collection::vec(0.1_f64..10.0, 2..6),
        b in proptest::collection::vec(0.1_f64..10.0, 2..6),
        unit in 1e-6_f64..1e6,
    ) {
        let scaled = |side: &[f64]| side.iter().map(|value| value * unit).collect::<Vec<_>>();
        let (plain, other) = (rounds(&a, &b).unwrap(), rounds(&scaled(&a), &scaled(&b)).unwrap());
        prop_assert!((plain.change - other.change).abs() < 1e-6 * (1.0 + plain.change));
        prop_assert!((plain.p - other.p).abs() < 1e-6);
    }

    #[test]
    fn swapping_turns_a_change_round(
        rows in proptest::collection::vec((0.5_f64..2.0, 0.5_f64..2.0), 2..6),
        reach in 0.0_f64..0.5,
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let one = |from: f64, to: f64| one_run(figure(from, reach), figure(to, reach / 2.0), 0.01);
        let back = |to: f64, from: f64| one_run(figure(to, reach / 2.0), figure(from, reach), 0.01);
        for (there, back) in [
            (rounds(&a, &b), rounds(&b, &a)),
            (paired(&a, &b), paired(&b, &a)),
            (one(a[0], b[0]), back(b[0], a[0])),
        ] {
            let (Some(there), Some(back)) = (there, back) else {
                // Two rounds that scatter very much have no finite interval, in neither direction.
                prop_assert_eq!(there.is_some(), back.is_some());
                continue;
            };
            prop_assert!(close(turned(there.change), back.change));
            prop_assert!(close(turned(there.low), back.high));
            prop_assert!((there.p - back.p).abs() < 1e-9);
        }
    }

    #[test]
    fn the_interval_and_the_chance_agree(
        a in proptest::collection::vec(0.5_f64..2.0, 2..6),
        b in proptest::collection::vec(0.5_f64..2.0, 2..6),
        within in (0.0_f64..0.9, 0.0_f64..0.9),
    ) {
        let of_one = one_run(figure(a[0], within.0), figure(b[0], within.1), 0.01);
        for effect in [rounds(&a, &b), of_one].into_iter().flatten() {
            prop_assert!(effect.low <= effect.change && effect.change <= effect.high);
            let away = (effect.p - 0.05).abs() < 1e-6;
            prop_assert!(away || (effect.p < 0.05) == (effect.low > 0.0 || effect.high < 0.0));
        }
    }

    #[test]
    fn a_gate_that_allows_more_never_turns_to_fail(
        a in proptest::collection::vec(0.8_f64..1.2, 2..6),
        b in proptest::collection::vec(0.8_f64..1.2, 2..6),
        most in 0.0_f64..0.5,
        more in 0.0_f64..0.4,
    ) {
        let effect = rounds(&a, &b).unwrap();
        let rank = |found: Gated| match found.gate {
            GateTest::Pass => 2,
            GateTest::Inconclusive { .. } => 1,
            GateTest::Fail => 0,
        };
        for better in [Better::Higher, Better::Lower] {
            let of = |most: f64| gate_alone(&effect, better, most);
            let (strict, lax) = (of(most), of(most + more));
            prop_assert!(rank(strict) <= rank(lax));
        }
    }

    /// C4: what a gate and a comparison say of the same changes agrees, whatever the limit.
    #[test]
    fn what_fails_is_worse_and_what_is_better_or_the_same_passes(
        metrics in proptest::collection::vec(
            (proptest::collection::vec(0.9_f64..1.1, 2..6), 0.9_f64..1.1, 0.0_f64..0.02, 1..6_usize),
            1..12,
        ),
        lower in proptest::bool::ANY,
        most in 0.0_f64..0.1,
    ) {
        let better = if lower { Better::Lower } else { Better::Higher };
        let mut rng = SplitMix::new(metrics.len() as u64);
        let effects: Vec<Effect> = metrics
            .iter()
            .filter_map(|(a, change, deviation, count)| match count {
                1 => one_run(figure(1.0, *deviation), figure(*change, deviation / 2.0), 0.01),
                2 => rounds(a, &a.iter().map(|value| value * change).collect::<Vec<_>>()),
                count => {
                    let a = runs(&mut rng, 1.0, *deviation, *count);
                    let b = runs(&mut rng, *change, *deviation, *count);
                    if count % 2 == 0 { rounds(&a, &b) } else { paired(&a, &b) }
                }
            })
            .collect();
        let pairs: Vec<_> = effects.iter().map(|effect| (*effect, better)).collect();
        for (found, said) in gate(&pairs, most).into_iter().zip(conclude(&effects, MARGIN)) {
            let is_better = said.verdict.is_better(better);
            let same = matches!(said.verdict, ComparisonVerdict::NoLargerThan(share) if share <= most);
            let fails = found.gate == GateTest::Fail;
            prop_assert!(!fails || is_better == Some(false), "{found:?} {said:?}");
            let passes = found.gate == GateTest::Pass;
            prop_assert!(passes || !(same || is_better == Some(true)), "{found:?} {said:?}");
        }
    }
}
