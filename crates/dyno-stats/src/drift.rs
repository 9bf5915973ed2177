//! Whether a metric drifts while nothing about the load changes: a trend test on its values in
//! equal time slices, and one on two shares.
//!
//! Mann–Kendall, as for a queue, but meant for runs that are long and mostly clean: the variance
//! is enlarged for the correlation between neighbours without a limit that would keep it small.

use crate::trend::{theil_sen, two_sided};

/// Fewer time slices are not enough for a test.
pub const FEWEST_STRETCHES: usize = 10;
/// A p-value below this is significant.
const SIGNIFICANT: f64 = 0.001;
/// The same for the test on the direction of steps.
const ONE_WAY: f64 = 1e-5;
const MOST_CORRELATION: f64 = 0.9;

/// What the test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The probability of such an order of values, or a more extreme one, if nothing drifts.
    pub p: f64,
    /// Nearly every value is above the previous one, or nearly every one below it: unlikely even if
    /// the noise were a random walk.
    pub one_way: bool,
    /// Growth over the whole time by the typical slope, relative to the typical value.
    pub growth: f64,
    /// The least steady growth that would have been found, most of the time, in as much noise.
    pub visible: f64,
}

impl Drift {
    /// Significant, and at least as large as `matters`, a share of the metric.
    pub fn is_drift(&self, matters: f64) -> bool {
        (self.p < SIGNIFICANT || self.one_way) && self.growth.abs() >= matters
    }
}

/// Tests the values of consecutive equal time slices. Absent with fewer than ten, or if the typical
/// value is not positive.
pub fn drift(values: &[f64]) -> Option<Drift> {
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let typical = crate::quantile(&sorted, 0.5).filter(|typical| *typical > 0.0)?;
    if n < FEWEST_STRETCHES {
        return None;
    }
    let slope = theil_sen(values);
    let (mut score, mut ties) = (0.0_f64, 0.0_f64);
    for (i, earlier) in values.iter().enumerate() {
        for later in &values[i + 1..] {
            match later.partial_cmp(earlier) {
                Some(std::cmp::Ordering::Greater) => score += 1.0,
                Some(std::cmp::Ordering::Less) => score -= 1.0,
                _ => {}
            }
        }
    }
    for equal in sorted.chunk_by(|a, b| a == b) {
        let t = equal.len() as f64;
        ties += t * (t - 1.0) * (2.0 * t + 5.0);
    }
    let count = n as f64;
    let plain = (count * (count - 1.0) * (2.0 * count + 5.0) - ties) / 18.0;
    if plain <= 0.0 {
        return Some(Drift { p: 1.0, one_way: false, growth: 0.0, visible: 0.0 });
    }
    let z = (score.abs() - 1.0).max(0.0) / (plain * inflation(values)).sqrt();
    let one_way = p_of_signs(values) < ONE_WAY;
    let visible = visible(values) * inflation(values).sqrt() / typical;
    Some(Drift { p: two_sided(z), one_way, growth: slope * count / typical, visible })
}

/// Standard errors of a slope that are significant in most cases, by simulation. The test counts pairs, of which few
/// values have few, so it needs more there.
fn errors_to_see(count: f64) -> f64 {
    4.5 + 100.0 / count
}

/// Time slices in a long time; a longer one has longer slices, not more of them.
const STRETCHES: f64 = 40.0;

/// How many times as long the time must be for a growth of `wanted` to be found, where `visible` is the least in
/// so many slices: with more slices, and then with less noise in each, as there is more in it.
pub fn longer_to_see(wanted: f64, visible: f64, slices: usize) -> f64 {
    let count = (slices as f64).clamp(1.0, STRETCHES);
    let seen = |slices: f64| errors_to_see(slices) / slices.sqrt();
    let with = |slices: f64| visible * seen(slices) / seen(count);
    let mut slices = count;
    while slices < STRETCHES && with(slices) > wanted {
        slices = (slices + 1.0).min(STRETCHES);
    }
    slices / count * (with(slices) / wanted).max(1.0).powi(2)
}

/// The growth that is seen beside the noise of these values.
fn visible(values: &[f64]) -> f64 {
    let errors = errors_to_see(values.len() as f64);
    let rest = without_parabola(values);
    let count = rest.len() as f64;
    let mean = rest.iter().sum::<f64>() / count;
    let variance = rest.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 3.0).max(1.0);
    errors * (12.0 * variance / count).sqrt()
}

/// The probability that so many steps, or more, go the same way if each way is equally likely.
fn p_of_signs(values: &[f64]) -> f64 {
    let ups = values.windows(2).filter(|pair| pair[1] > pair[0]).count() as u64;
    let downs = values.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64;
    let (steps, most) = (ups + downs, ups.max(downs));
    let log_half = steps as f64 * std::f64::consts::LN_2;
    let chance = |k: u64| libm::exp(log_choose(steps, k) - log_half);
    (2.0 * (most..=steps).map(chance).sum::<f64>()).min(1.0)
}

/// The residuals of the best-fitting parabola: a drift need not be linear, and its curvature is not
/// noise.
fn without_parabola(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let line = |i: usize| i as f64 - middle;
    let bow = |i: usize| line(i) * line(i) - (n * n - 1.0) / 12.0;
    let share = |shape: &dyn Fn(usize) -> f64| {
        let (mut along, mut power) = (0.0, 0.0);
        for (i, value) in values.iter().enumerate() {
            along += shape(i) * value;
            power += shape(i) * shape(i);
        }
        along / power
    };
    let (rise, bend) = (share(&line), share(&bow));
    values.iter().enumerate().map(|(i, v)| v - rise * line(i) - bend * bow(i)).collect()
}

/// How much the score's variance grows when neighbours are correlated. Uses the
/// ranks of the residuals, so that single outliers hide no correlation.
fn inflation(values: &[f64]) -> f64 {
    let n = values.len();
    let rest = without_parabola(values);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| rest[*a].total_cmp(&rest[*b]));
    let middle = (n as f64 - 1.0) / 2.0;
    let mut ranks = vec![0.0; n];
    for (rank, at) in order.into_iter().enumerate() {
        ranks[at] = rank as f64 - middle;
    }
    let power: f64 = ranks.iter().map(|rank| rank * rank).sum();
    let lagged: f64 = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Short detrended series show less correlation than there is: Kendall's correction, with the
    // two degrees of freedom of the parabola.
    let count = n as f64;
    let r = ((count * lagged / power + 3.0) / (count - 6.0)).clamp(0.0, MOST_CORRELATION);
    (1..n).fold(1.0, |sum, k| sum + 2.0 * (1.0 - k as f64 / count) * r.powi(k as i32))
}

/// The probability of at least so many of `few.1` among the marked when `few` and `many` (marked, of
/// all) are equally likely to be marked: Fisher's exact test, one-sided for more in `few`.
pub fn more_marked(few: (u64, u64), many: (u64, u64)) -> f64 {
    let (marked, all) = (few.0 + many.0, few.1 + many.1);
    if few.0 > few.1 || many.0 > many.1 || all == 0 {
        return 1.0;
    }
    let whole = log_choose(all, marked);
    let most = marked.min(few.1);
    let chance = |k: u64| {
        if marked - k > many.1 {
            return 0.0;
        }
        libm::exp(log_choose(few.1, k) + log_choose(many.1, marked - k) - whole)
    };
    (few.0..=most).map(chance).sum::<f64>().min(1.0)
}

fn log_choose(n: u64, k: u64) -> f64 {
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

fn log_factorial(n: u64) -> f64 {
    libm::lgamma(n as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    fn normal(rng: &mut SplitMix) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    /// 38 values about 100 whose noise forgets a share `1 − phi` at each, growing by
    /// `growth` in all.
    fn series(rng: &mut SplitMix, phi: f64, noise: f64, growth: f64) -> Vec<f64> {
        let mut x = normal(rng);
        (0..38)
            .map(|i| {
                x = phi * x + (1.0 - phi * phi).sqrt() * normal(rng);
                100.0 * (1.0 + growth * f64::from(i) / 37.0 + noise * x)
            })
            .collect()
    }

    fn found(seed: u64, phi: f64, noise: f64, growth: f64) -> usize {
        let mut rng = SplitMix::new(seed);
        let one = |rng: &mut SplitMix| drift(&series(rng, phi, noise, growth)).unwrap();
        (0..1000).filter(|_| one(&mut rng).is_drift(0.05)).count()
    }

    /// The bar was at most 1 % of alarms. It holds up to a correlation of 0.6 from one stretch to
    /// the next; at 0.8, where noise lasts for an eighth of the run, there are a little more.
    #[test]
    fn a_growth_that_is_called_visible_is_found_and_a_quarter_of_it_is_not() {
        let mut rng = SplitMix::new(13);
        let mut found = |noise: f64, count: usize, part: f64| {
            let grown = |_: &usize| {
                let quiet: Vec<f64> = (0..count).map(|_| 1.0 + noise * normal(&mut rng)).collect();
                let growth = part * drift(&quiet).unwrap().visible;
                let at = |i: usize| 1.0 + growth * (i as f64 / count as f64 - 0.5);
                let grown: Vec<f64> =
                    (0..count).map(|i| at(i) + noise * normal(&mut rng)).collect();
                drift(&grown).unwrap().p < SIGNIFICANT
            };
            (0..300).filter(grown).count()
        };
        for (noise, count) in [(0.05, 20), (0.1, 40)] {
            let both = [1.0, 0.25].map(|part| found(noise, count, part));
            assert!(both[0] >= 225 && both[1] < 60, "{noise} {count}: {both:?} of 300");
        }
    }

    /// Slices of one length, each with the same noise; past 40 of them, several together.
    #[test]
    fn as_much_longer_as_is_said_shows_the_growth_that_was_asked_for() {
        let mut rng = SplitMix::new(17);
        for (slices, noise) in [(10_usize, 0.05), (15, 0.2), (38, 0.1)] {
            let mut visible = |slices: usize, noise: f64| {
                let mut one = || {
                    let values: Vec<f64> =
                        (0..slices).map(|_| 1.0 + noise * normal(&mut rng)).collect();
                    drift(&values).unwrap().visible
                };
                (0..200).map(|_| one()).sum::<f64>() / 200.0
            };
            let now = visible(slices, noise);
            let times = longer_to_see(0.2, now, slices);
            let all = slices as f64 * times;
            let then = visible((all as usize).min(40), noise / (all / 40.0).max(1.0).sqrt());
            println!("{slices} slices, {noise}: {now:.2}, {times:.1} times as long: {then:.2}");
            assert!(now > 0.2 && (0.1..0.25).contains(&then), "{now} {times} {then}");
        }
        assert_eq!(longer_to_see(0.2, 0.1, 20), 1.0);
    }

    #[test]
    fn what_does_not_drift_is_seldom_called_so_even_with_lasting_noise() {
        for (seed, phi, most) in [(1, 0.0, 10), (2, 0.3, 10), (3, 0.6, 10), (4, 0.8, 20)] {
            let alarms = found(seed, phi, 0.1, 0.0);
            println!("no drift, correlation {phi}: {alarms} of 1000");
            assert!(alarms <= most, "{alarms} of 1000 at {phi}");
        }
    }

    #[test]
    fn a_fifth_over_the_run_is_found_through_noise_of_three_percent() {
        for (seed, phi, least) in [(11, 0.0, 980), (12, 0.3, 920)] {
            let hits = found(seed, phi, 0.03, 0.2);
            println!("20 % drift, noise 3 %, correlation {phi}: {hits} of 1000");
            assert!(hits >= least, "{hits} of 1000 at {phi}");
        }
    }

    /// What grows ever more slowly, or ever faster, leaves something regular about any straight line.
    #[test]
    fn a_drift_that_is_not_even_is_found_through_much_and_through_no_noise() {
        let mut rng = SplitMix::new(21);
        for noise in [0.0, 0.001, 0.01, 0.03] {
            for power in [0.5, 1.0, 2.0] {
                let found = (0..100)
                    .filter(|_| {
                        let bent = |i: i32| 1.0 + 0.6 * (f64::from(i) / 37.0).powf(power);
                        let values: Vec<f64> =
                            (0..38).map(|i| bent(i) * (1.0 + noise * normal(&mut rng))).collect();
                        drift(&values).unwrap().is_drift(0.05)
                    })
                    .count();
                println!("60 % by power {power}, noise {noise}: {found} of 100");
                assert!(found >= 98, "{found} of 100 by power {power} with noise {noise}");
            }
        }
    }

    #[test]
    fn steps_ties_and_short_series_are_no_drift() {
        assert_eq!(drift(&[1.0; 9]), None);
        assert_eq!(drift(&[0.0; 20]), None);
        assert!(!drift(&[7.0; 20]).unwrap().is_drift(0.0));
        let one_late: Vec<f64> = (0..20).map(|i| if i == 19 { 900.0 } else { 100.0 }).collect();
        assert!(!drift(&one_late).unwrap().is_drift(0.0));
    }

    #[test]
    fn shares_are_compared_exactly() {
        // Tea with milk: 3 of 4 guessed right, 1 of 4 in the others.
        assert!((more_marked((3, 4), (1, 4)) - 17.0 / 70.0).abs() < 1e-9);
        assert!((more_marked((0, 10), (0, 10)) - 1.0).abs() < 1e-9);
        assert!(more_marked((40, 1000), (5, 1000)) < 1e-6);
        assert!(more_marked((5, 1000), (40, 1000)) > 0.99);
        assert_eq!(more_marked((0, 0), (0, 0)), 1.0);
    }
}
