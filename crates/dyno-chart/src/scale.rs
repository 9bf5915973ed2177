//! From values to pixels, and the round values at an axis.

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// The same distance for the same difference.
    Linear,
    /// The same distance for the same ratio; only for values above 0.
    Log,
}

/// Values from `low` to `high` on the pixels from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Linear or logarithmic.
    pub spacing: Spacing,
    /// The value at `from`.
    pub low: f64,
    /// The value at `to`.
    pub high: f64,
    /// The pixel (or terminal cell) of `low`.
    pub from: f64,
    /// The pixel of `high`.
    pub to: f64,
}

impl Scale {
    /// The pixel of a value; the middle where `low` equals `high`.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => (value / self.low).log2() / (self.high / self.low).log2(),
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        self.from + share * (self.to - self.from)
    }
}

/// A value that can be drawn: finite, and not so large or small that arithmetic fails.
pub fn drawable(value: f64) -> Option<f64> {
    match value.abs() {
        size if size < 1e-100 => Some(0.0),
        size if size < 1e100 => Some(value),
        _ => None,
    }
}

/// The least and the greatest; absent without values.
pub fn bounds(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    values.into_iter().fold(None, |bounds: Option<[f64; 2]>, value| {
        let [low, high] = bounds.unwrap_or([value, value]);
        Some([low.min(value), high.max(value)])
    })
}

/// The distinct values in ascending order.
pub fn ordered(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn magnitude(value: f64) -> f64 {
    10_f64.powf(value.log10().floor())
}

/// The least of 1, 2 and 5 times a power of ten that divides `span` into at most `parts`.
pub(crate) fn step(span: f64, parts: usize) -> f64 {
    let least = span / parts as f64;
    let unit = magnitude(least);
    let fits = |factor: &&f64| *factor * unit >= least * (1.0 - 1e-9);
    [1.0, 2.0, 5.0].iter().find(fits).map_or(unit * 10.0, |factor| factor * unit)
}

/// Multiples of `step` from `low` to `high`.
pub(crate) fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let count = (last - first).clamp(0.0, 100.0) as u32;
    (0..=count).map(|i| (first + f64::from(i)) * step).collect()
}

/// The same, in at most `parts` steps.
pub(crate) fn round(low: f64, high: f64, parts: usize) -> Vec<f64> {
    multiples(low, high, step(high - low, parts))
}

/// Bounds around the values and 0, with some room, and the round values between them.
pub(crate) fn linear(low: f64, high: f64, parts: usize) -> ([f64; 2], Vec<f64>) {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let high = if high > low { high } else { low + 1.0 };
    let step = step(high - low, parts);
    let room = (high - low) * 0.04;
    let bounds = [if low < 0.0 { low - room } else { 0.0 }, high + room];
    (bounds, multiples(bounds[0], bounds[1], step))
}

/// Round bounds around values above 0, and the round values between them.
pub(crate) fn log(low: f64, high: f64, parts: usize) -> ([f64; 2], Vec<f64>) {
    let round = |value: f64, up: bool| {
        let unit = magnitude(value);
        let factors = [1.0, 2.0, 5.0, 10.0];
        let found = match up {
            true => factors.iter().find(|factor| *factor * unit >= value * (1.0 - 1e-9)),
            false => factors.iter().rev().find(|factor| *factor * unit <= value * (1.0 + 1e-9)),
        };
        found.map_or(value, |factor| factor * unit)
    };
    let (low, mut high) = (round(low, false), round(high, true));
    if high <= low {
        high = low * 10.0;
    }
    ([low, high], Density::Print.powers(low, high, parts))
}

/// How many round values a logarithmic axis has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Density {
    /// For SVG and PNG: 1, 2 and 5 times the powers of ten, or only the powers, or some of them.
    Print,
    /// For the page: 1 and 3 times the powers where 1, 2 and 5 do not fit.
    Page,
}

impl Density {
    /// About `count` round values between two fixed ends.
    pub fn between(self, spacing: Spacing, [low, high]: [f64; 2], count: usize) -> Vec<f64> {
        match spacing {
            Spacing::Log if !self.is_narrow(low, high) => self.powers(low, high, count),
            _ => round(low, high, count),
        }
    }

    /// The ends are so near that there may be no power of ten between them.
    pub(crate) fn is_narrow(self, low: f64, high: f64) -> bool {
        high / low < if self == Self::Print { 5.0 } else { 4.0 }
    }

    fn powers(self, low: f64, high: f64, parts: usize) -> Vec<f64> {
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let (decades, room) = ((high / low).log10(), parts as f64 + 1.0);
        let factors: &[f64] = match self {
            _ if decades * 3.0 <= room => &[1.0, 2.0, 5.0],
            Self::Page if decades * 2.0 <= room => &[1.0, 3.0],
            _ => &[1.0],
        };
        let stride = ((decades / parts as f64).ceil() as usize).max(1);
        let powers = (first..=last).step_by(stride).map(|exponent| 10_f64.powi(exponent));
        let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
        let inside = |value: &f64| *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9);
        all.filter(inside).collect()
    }
}

/// Powers of two from `low` to `high`; at most about twenty.
pub(crate) fn doublings(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let stride = ((last - first) / 20 + 1).max(1) as usize;
    (first..=last).step_by(stride).map(|exponent| 2_f64.powi(exponent)).collect()
}

/// The steps of a time axis, in seconds.
const TIMES: [f64; 20] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0,
    3600.0, 7200.0, 14400.0, 43200.0, 86400.0,
];

/// Round times between two.
pub(crate) fn times(low: f64, high: f64, parts: usize) -> Vec<f64> {
    let least = (high - low) / parts as f64;
    let found = TIMES.iter().find(|time| **time >= least);
    let step = found.copied().unwrap_or_else(|| step(high - low, parts));
    multiples(low, high, step)
}

/// The spacing in which these values, in ascending order, are more even.
pub(crate) fn evener(values: &[f64]) -> Spacing {
    let unevenness = |map: fn(f64) -> f64| {
        let gaps: Vec<f64> = values.windows(2).map(|pair| map(pair[1]) - map(pair[0])).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        gaps.iter().map(|gap| (gap / mean - 1.0).powi(2)).sum::<f64>()
    };
    let positive = values.first().is_some_and(|least| *least > 0.0);
    if positive && values.len() > 2 && unevenness(f64::log2) < unevenness(|value| value) {
        Spacing::Log
    } else {
        Spacing::Linear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(linear(0.3, 25.0, 5), ([0.0, 26.0], vec![0.0, 5.0, 10.0, 15.0, 20.0, 25.0]));
        assert_eq!(
            linear(0.0, 0.0, 5),
            ([0.0, 1.04], vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0])
        );
        assert_eq!(linear(3.0, 9.7, 5).1, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear(-30.0, 70.0, 5).1, [-20.0, 0.0, 20.0, 40.0, 60.0]);
    }

    #[test]
    fn logarithms_have_ones_twos_and_fives_while_there_is_room() {
        assert_eq!(log(3.0, 70.0, 6), ([2.0, 100.0], vec![2.0, 5.0, 10.0, 20.0, 50.0, 100.0]));
        assert_eq!(log(40.0, 90_000.0, 6).1, [100.0, 1000.0, 10_000.0, 100_000.0]);
        assert!(log(1e-90, 1e90, 6).1.len() <= 7);
        assert_eq!(log(5.0, 5.0, 6).0, [5.0, 50.0]);
    }

    #[test]
    fn doublings_are_powers_of_two_and_few() {
        assert_eq!(doublings(3.0, 70.0), [4.0, 8.0, 16.0, 32.0, 64.0]);
        assert!(doublings(1e-90, 1e90).len() <= 21);
    }

    #[test]
    fn time_is_counted_in_minutes_not_in_hundreds_of_seconds() {
        assert_eq!(times(0.0, 600.0, 6), [0.0, 120.0, 240.0, 360.0, 480.0, 600.0]);
        assert_eq!(times(0.0, 7200.0, 5), [0.0, 1800.0, 3600.0, 5400.0, 7200.0]);
    }

    #[test]
    fn ladders_are_logarithmic_and_even_steps_linear() {
        assert_eq!(evener(&[1.0, 2.0, 4.0, 8.0, 16.0]), Spacing::Log);
        assert_eq!(evener(&[8.0, 16.0, 32.0, 64.0, 128.0, 150.0, 200.0, 256.0]), Spacing::Log);
        assert_eq!(evener(&[4.0, 8.0, 12.0, 16.0, 20.0]), Spacing::Linear);
        assert_eq!(evener(&[0.0, 2.0, 4.0, 8.0]), Spacing::Linear);
        assert_eq!(evener(&[8.0]), Spacing::Linear);
    }

    #[test]
    fn a_scale_maps_its_ends_and_puts_a_single_figure_in_the_middle() {
        let scale = Scale { spacing: Spacing::Log, low: 1.0, high: 16.0, from: 0.0, to: 100.0 };
        assert_eq!([1.0, 4.0, 16.0].map(|value| scale.at(value)), [0.0, 50.0, 100.0]);
        assert_eq!(Scale { high: 1.0, ..scale }.at(1.0), 50.0);
    }
}
