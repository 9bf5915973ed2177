//! Whether a share of random arrivals is the one expected.

use crate::trend::two_sided;

/// The probability that chance alone takes the share of `all` arrivals at least so far from `expected`,
/// where each belongs to it with that probability. By angles, so that it holds for small shares, too.
pub fn share_p(part: f64, all: f64, expected: f64) -> f64 {
    if all <= 0.0 {
        return 1.0;
    }
    let angle = |share: f64| libm::asin(share.clamp(0.0, 1.0).sqrt());
    two_sided((2.0 * all.sqrt() * (angle(part / all) - angle(expected))).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    #[test]
    fn alarms_are_as_rare_as_stated() {
        let mut rng = SplitMix::new(18);
        for (agents, all, limit) in [(2, 400, 0.01), (8, 2_000, 0.01), (64, 2_000, 0.01)] {
            let trials = 2_000;
            let mut alarms = 0;
            for _ in 0..trials {
                let part = (0..all).filter(|_| rng.below(agents) == 0).count();
                let p = share_p(part as f64, f64::from(all), 1.0 / agents as f64);
                alarms += usize::from(p < limit);
            }
            assert!(alarms <= 36, "{agents} {alarms}");
        }
    }

    #[test]
    fn a_share_that_is_far_off_is_no_chance() {
        assert!(share_p(130.0, 400.0, 0.5) < 1e-9);
        assert!(share_p(0.0, 2_000.0, 1.0 / 64.0) < 1e-9);
        assert_eq!(share_p(0.0, 0.0, 0.5), 1.0);
        assert!(share_p(200.0, 400.0, 0.5) > 0.99);
    }
}
