//! Time in integer fractions of a nanosecond: many steps taken at once last exactly as long as the
//! same steps one by one, and rounding errors do not accumulate.

use dyno_model::Nanos;

/// Bits after the nanosecond.
const BITS: u32 = 32;

/// A time or a duration in parts of a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Fine(pub(crate) u128);

impl Fine {
    /// One nanosecond.
    pub(crate) const NANO: Self = Self(1 << BITS);
    /// Half of one, to round.
    pub(crate) const HALF: Self = Self(1 << (BITS - 1));
    /// The latest representable time.
    const END: Self = Self((Nanos::MAX as u128) << BITS);

    /// The nearest to so many seconds.
    pub(crate) fn from_seconds(seconds: f64) -> Self {
        Self::nearest(seconds * (1e9 * (1_u64 << BITS) as f64))
    }

    fn nearest(parts: f64) -> Self {
        // Conversion is faster where the value fits 64 bits, as it mostly does.
        let rounded = parts + 0.5;
        match rounded < (1_u64 << 63) as f64 {
            true => Self(u128::from(rounded as u64)),
            false => Self(rounded as u128),
        }
    }

    /// The beginning of a nanosecond.
    pub(crate) fn from_nanos(nanos: Nanos) -> Self {
        Self(u128::from(nanos) << BITS)
    }

    /// The nanosecond in which it lies.
    pub(crate) fn nanos(self) -> Nanos {
        (self.0.min(Self::END.0) >> BITS) as Nanos
    }

    /// The sum, saturating.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0)).min(Self::END)
    }

    /// So many times as long.
    pub(crate) fn times(self, count: u128) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Longer or shorter by a factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        let parts = u64::try_from(self.0).map_or(self.0 as f64, |parts| parts as f64);
        Self::nearest(parts * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_nanosecond_add_up() {
        let third = Fine::from_seconds(1e-9 / 3.0);
        assert_eq!(third.nanos(), 0);
        assert_eq!(third.times(4).nanos(), 1);
        assert_eq!(Fine::from_nanos(7).plus(third).nanos(), 7);
        assert_eq!(Fine::from_seconds(1.5).nanos(), 1_500_000_000);
        assert_eq!(Fine::from_seconds(2e5).nanos(), 200_000_000_000_000);
        assert_eq!(Fine::NANO.scaled(2.5).nanos(), 2);
    }

    #[test]
    fn time_has_an_end() {
        let long = Fine::from_seconds(1e300);
        assert_eq!(long.plus(long).nanos(), Nanos::MAX);
        assert_eq!(long.times(u128::MAX).nanos(), Nanos::MAX);
    }
}
