//! The distribution of lengths: exact percentiles and a small histogram.

use std::collections::BTreeMap;
use std::fmt;

use dyno_model::message::In;
use dyno_model::{Language, Localized, message};

/// Lengths in tokens, each with how often it occurred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataSpread {
    counts: BTreeMap<u32, u64>,
    total: u64,
}

const ROWS: usize = 10;
const BAR: u64 = 40;

impl DataSpread {
    /// Takes a length.
    pub fn add(&mut self, length: u32) {
        *self.counts.entry(length).or_default() += 1;
        self.total += 1;
    }

    /// How many lengths were taken.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The smallest.
    pub fn min(&self) -> Option<u32> {
        self.counts.keys().next().copied()
    }

    /// The largest.
    pub fn max(&self) -> Option<u32> {
        self.counts.keys().next_back().copied()
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        let sum: u128 = self
            .counts
            .iter()
            .map(|(length, count)| u128::from(*length) * u128::from(*count))
            .sum();
        (self.total > 0).then(|| sum as f64 / self.total as f64)
    }

    /// The smallest length that at least `percent` of a hundred do not exceed.
    pub fn percentile(&self, percent: u32) -> Option<u32> {
        let rank = (u128::from(self.total) * u128::from(percent)).div_ceil(100).max(1);
        let mut below = 0_u128;
        self.counts.iter().find_map(|(length, count)| {
            below += u128::from(*count);
            (below >= rank).then_some(*length)
        })
    }

    /// Lengths in ranges of equal width: the first length, the last one, and how many there are.
    pub fn histogram(&self) -> Vec<(u32, u32, u64)> {
        let (Some(min), Some(max)) = (self.min(), self.max()) else { return Vec::new() };
        let span = u64::from(max - min) + 1;
        let width = span.div_ceil(ROWS as u64);
        let rows = span.div_ceil(width);
        (0..rows)
            .map(|row| {
                let first = min + (row * width) as u32;
                let last = (u64::from(first) + width - 1).min(u64::from(max)) as u32;
                (first, last, self.counts.range(first..=last).map(|(_, count)| count).sum())
            })
            .collect()
    }
}

impl Localized for DataSpread {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let (Some(min), Some(max), Some(mean)) = (self.min(), self.max(), self.mean()) else {
            return writeln!(f, "  {}", In(&message!("none", "无"), language));
        };
        write!(f, "  {}", In(&message!("min {min}", "最小 {min}"), language))?;
        for percent in [50, 90, 99] {
            if let Some(length) = self.percentile(percent) {
                write!(f, "   p{percent} {length}")?;
            }
        }
        let last = message!("max {max}   mean {mean:.1}", "最大 {max}   平均 {mean:.1}");
        writeln!(f, "   {}", In(&last, language))?;
        let rows = self.histogram();
        let most = rows.iter().map(|(.., count)| *count).max().unwrap_or(1).max(1);
        let digits = max.to_string().len();
        for (first, last, count) in rows {
            let bar = match count * BAR / most {
                0 if count > 0 => "▏".to_string(),
                length => "█".repeat(length as usize),
            };
            let row = format!("  {first:>digits$} – {last:>digits$}  {bar:<40}  {count}");
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}

impl fmt::Display for DataSpread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}
