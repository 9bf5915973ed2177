//! Confidence intervals for samples that are not independent: a bootstrap over blocks of time.
//!
//! Requests in one batch are correlated, so resampling single requests would make intervals far too
//! narrow. Whole blocks are drawn with replacement instead.

use crate::bins::Bins;
use crate::counted::Counted;
use crate::percentile::{PERCENTILES, Percentile, Presence, position};
use crate::quantile;
use crate::rng::SplitMix;

/// Fewer blocks with samples than this give no interval.
pub const MIN_BLOCKS: usize = 8;
const REPLICATES: usize = 400;
const SEED: u64 = 0x6479_6e6f;
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// A 95 % interval, lower end first.
pub type Interval = [f64; 2];

/// 95 % intervals; each is absent if its metric is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Intervals {
    /// Of the mean.
    pub mean: Option<Interval>,
    /// Of the median.
    pub p50: Option<Interval>,
    /// Of the 90th percentile.
    pub p90: Option<Interval>,
    /// Of the 99th percentile.
    pub p99: Option<Interval>,
}

/// Counts per block and bin, filled in a second pass over the samples that made the pooled
/// distribution.
#[derive(Debug, Clone)]
pub struct BlockTable {
    bins: Bins,
    blocks: usize,
    /// Bin by bin, one count for each block.
    counts: Vec<u64>,
    sums: Vec<u128>,
    sizes: Vec<u64>,
    exact: Exact,
}

#[derive(Debug, Clone)]
struct Exact {
    mean: f64,
    quantiles: [f64; 3],
    shown: [bool; 3],
    range: Interval,
}

impl Exact {
    fn new(pooled: &Counted) -> Option<Self> {
        let shown = |q: f64| {
            let near = |p: &&Percentile| (p.share() - q).abs() < 1e-9;
            let presence = PERCENTILES.iter().find(near).map(|p| p.presence(pooled.count()));
            presence.is_some_and(|p| p != Presence::Absent)
        };
        Some(Self {
            mean: pooled.mean()?,
            quantiles: QUANTILES.map(|q| pooled.quantile(q).unwrap_or_default()),
            shown: QUANTILES.map(shown),
            range: [pooled.min()? as f64, pooled.max()? as f64],
        })
    }
}

impl BlockTable {
    /// An empty table of `blocks` blocks for the samples of `pooled`; nothing if it is empty.
    pub fn new(pooled: &Counted, blocks: usize) -> Option<Self> {
        let exact = Exact::new(pooled)?;
        let bins = Bins::new(pooled);
        let counts = vec![0; bins.len() * blocks];
        Some(Self { bins, blocks, counts, sums: vec![0; blocks], sizes: vec![0; blocks], exact })
    }

    /// Counts `value` `times` times in `block`; a block beyond the last counts in the last.
    pub fn add(&mut self, block: usize, value: u64, times: u64) {
        if self.blocks == 0 || times == 0 {
            return;
        }
        let block = block.min(self.blocks - 1);
        self.counts[self.bins.of(value) * self.blocks + block] += times;
        self.sums[block] += u128::from(value) * u128::from(times);
        self.sizes[block] += times;
    }

    /// How many blocks have samples.
    pub fn filled(&self) -> usize {
        self.sizes.iter().filter(|n| **n > 0).count()
    }

    /// The intervals; nothing if fewer than [`MIN_BLOCKS`] blocks have samples.
    ///
    /// They are percentile intervals, widened about the exact metric by Student's factor for so few
    /// blocks, and kept within the range of the samples.
    pub fn intervals(mut self) -> Option<Intervals> {
        let filled: Vec<usize> = (0..self.blocks).filter(|b| self.sizes[*b] > 0).collect();
        if filled.len() < MIN_BLOCKS {
            return None;
        }
        self.accumulate();
        let mut weights = vec![0_u64; self.blocks];
        filled.iter().for_each(|b| weights[*b] = 1);
        let (base_mean, base) = self.figures(&weights);
        let mut means = Vec::with_capacity(REPLICATES);
        let mut quantiles = QUANTILES.map(|_| Vec::with_capacity(REPLICATES));
        let mut rng = SplitMix::new(SEED);
        for _ in 0..REPLICATES {
            weights.fill(0);
            filled.iter().for_each(|_| weights[filled[rng.below(filled.len())]] += 1);
            let (mean, drawn) = self.figures(&weights);
            means.push(mean - base_mean);
            for ((list, drawn), base) in quantiles.iter_mut().zip(drawn).zip(base) {
                list.push(drawn - base);
            }
        }
        let widen = widening(filled.len());
        let around = |exact: f64, list: Vec<f64>| self.around(exact, list, widen);
        let [p50, p90, p99] = quantiles;
        let exact = &self.exact;
        let quantile = |i: usize, list: Vec<f64>| {
            exact.shown[i].then(|| around(exact.quantiles[i], list)).flatten()
        };
        Some(Intervals {
            mean: around(exact.mean, means),
            p50: quantile(0, p50),
            p90: quantile(1, p90),
            p99: quantile(2, p99),
        })
    }

    fn around(&self, exact: f64, mut deviations: Vec<f64>, widen: f64) -> Option<Interval> {
        deviations.sort_by(f64::total_cmp);
        let end = |q: f64| {
            let deviation = quantile(&deviations, q)?;
            Some((exact + widen * deviation).clamp(self.exact.range[0], self.exact.range[1]))
        };
        Some([end(0.025)?.min(exact), end(0.975)?.max(exact)])
    }

    /// Turns counts into counts of this bin and all below.
    fn accumulate(&mut self) {
        for at in self.blocks..self.counts.len() {
            self.counts[at] += self.counts[at - self.blocks];
        }
    }

    /// Mean and quantiles when each block is taken as often as its weight says.
    fn figures(&self, weights: &[u64]) -> (f64, [f64; 3]) {
        let size: u64 = self.sizes.iter().zip(weights).map(|(n, w)| n * w).sum();
        let sum: u128 = self.sums.iter().zip(weights).map(|(s, w)| s * u128::from(*w)).sum();
        let quantiles = QUANTILES.map(|q| {
            let (low, high, part) = position(size, q);
            let low_bin = self.bin_of_rank(weights, low, 0);
            let high_bin = self.bin_of_rank(weights, high, low_bin);
            let (low, high) = (self.bins.value(low_bin), self.bins.value(high_bin));
            low + (high - low) * part
        });
        (sum as f64 / size as f64, quantiles)
    }

    /// The bin that holds the sample at place `rank`, at or after bin `from`.
    fn bin_of_rank(&self, weights: &[u64], rank: u64, from: usize) -> usize {
        let upto = |bin: usize| -> u64 {
            let row = &self.counts[bin * self.blocks..(bin + 1) * self.blocks];
            row.iter().zip(weights).map(|(n, w)| n * w).sum()
        };
        let (mut low, mut high) = (from, self.bins.len() - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if upto(middle) > rank { high = middle } else { low = middle + 1 }
        }
        low
    }
}

/// How much wider Student's 95 % interval is than the normal one, with `blocks` blocks.
fn widening(blocks: usize) -> f64 {
    let freedom = blocks as f64 - 1.0;
    let z = 1.959_964_f64;
    let t = z
        + (z.powi(3) + z) / (4.0 * freedom)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom * freedom);
    t / z * (blocks as f64 / freedom).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(samples: &[u64], per_block: usize) -> BlockTable {
        let pooled = Counted::from_samples(samples.to_vec());
        let mut table = BlockTable::new(&pooled, samples.len().div_ceil(per_block)).unwrap();
        samples.iter().enumerate().for_each(|(i, v)| table.add(i / per_block, *v, 1));
        table
    }

    /// Steps of an AR(1) process with mean 10,000 and standard deviation 1,000.
    fn ar1(rng: &mut SplitMix, phi: f64, n: usize) -> Vec<u64> {
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let mut x = normal();
        (0..n)
            .map(|_| {
                x = phi * x + (1.0 - phi * phi).sqrt() * normal();
                (10_000.0 + 1_000.0 * x).max(0.0) as u64
            })
            .collect()
    }

    fn coverage(phi: f64) -> usize {
        let mut rng = SplitMix::new(77);
        (0..300)
            .filter(|_| {
                let samples = ar1(&mut rng, phi, 40 * 50);
                let [low, high] = table(&samples, 50).intervals().unwrap().mean.unwrap();
                low <= 10_000.0 && 10_000.0 <= high
            })
            .count()
    }

    #[test]
    fn independent_samples_are_covered() {
        let covered = coverage(0.0);
        assert!((270..=297).contains(&covered), "{covered} of 300");
    }

    #[test]
    fn correlated_samples_are_covered() {
        let covered = coverage(0.9);
        assert!(covered >= 264, "{covered} of 300");
    }

    #[test]
    fn few_blocks_give_nothing_and_the_same_input_the_same_answer() {
        let samples: Vec<u64> = (0..700).map(|i| i * 37 % 1000).collect();
        assert_eq!(table(&samples, 100).intervals(), None);
        let again = table(&samples, 50).intervals().unwrap();
        assert_eq!(table(&samples, 50).intervals().unwrap(), again);
    }

    #[test]
    fn constant_samples_have_a_point_for_an_interval() {
        let got = table(&[20_000; 2_000], 50).intervals().unwrap();
        assert_eq!(got.mean, Some([20_000.0; 2]));
        assert_eq!(got.p99, Some([20_000.0; 2]));
    }

    #[test]
    fn an_absent_percentile_has_no_interval() {
        let got = table(&[5, 6, 7, 8, 9, 5, 6, 7, 8, 9], 1).intervals().unwrap();
        assert!(got.p50.is_some() && got.p90.is_none() && got.p99.is_none());
    }

    #[test]
    fn binned_and_exact_intervals_agree() {
        let mut rng = SplitMix::new(3);
        let fine = ar1(&mut rng, 0.5, 40_000).iter().map(|v| v * 10_007).collect::<Vec<_>>();
        let mut slow = Vec::new();
        let filled: Vec<usize> = (0..40).collect();
        let mut draw = SplitMix::new(SEED);
        for _ in 0..REPLICATES {
            let mut all: Vec<f64> = Vec::new();
            filled.iter().for_each(|_| {
                let b = draw.below(40);
                all.extend(fine[b * 1000..(b + 1) * 1000].iter().map(|v| *v as f64));
            });
            all.sort_by(f64::total_cmp);
            slow.push(quantile(&all, 0.99).unwrap());
        }
        slow.sort_by(f64::total_cmp);
        let [low, high] = table(&fine, 1000).intervals().unwrap().p99.unwrap();
        let width = quantile(&slow, 0.975).unwrap() - quantile(&slow, 0.025).unwrap();
        assert!(((high - low) / (width * widening(40)) - 1.0).abs() < 0.1);
    }

    #[test]
    fn student_widens_small_numbers() {
        assert!((widening(8) - 2.364_6 / 1.96 * (8.0_f64 / 7.0).sqrt()).abs() < 0.01);
        assert!(widening(1000) < 1.01);
    }
}
