//! Parses a ramp: `1..50/s over 5m`, or `1..50/s over 5m in 10 steps`.

use super::values::{some_duration, with_hint};
use dyno_model::limits::{HIGHEST_RATE, MOST_STEPS};
use dyno_model::ramp::Ramp;
use dyno_model::units::parse_number;

const SPELLING: &str = "write --ramp '1..50/s over 5m', or --ramp '1..50/s over 5m in 10 steps'";

/// `--ramp`.
pub(crate) fn ramp(text: &str) -> Result<Ramp, String> {
    read(text).map_err(|what| with_hint(what, SPELLING))
}

fn read(text: &str) -> Result<Ramp, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (rates, time, steps) = match words.as_slice() {
        [rates, "over", time] => (rates, time, None),
        [rates, "over", time, "in", steps, "steps"] => (rates, time, Some(*steps)),
        _ => return Err(format!("`{text}` is not a ramp, which has two rates and a time")),
    };
    let rates = rates
        .strip_suffix("/s")
        .ok_or_else(|| format!("`{rates}` has no unit; the rates of a ramp are per second, /s"))?;
    let (from, to) = rates
        .split_once("..")
        .ok_or_else(|| format!("`{rates}/s` is one rate; a ramp goes from one rate to another"))?;
    let (from, to) = (rate(from)?, rate(to)?);
    if from == to {
        return Err(format!(
            "starts and ends at {from}/s; for a constant rate, use --rate {from} --duration {time}"
        ));
    }
    let over_ns = some_duration(time)?;
    let steps = steps.map(step_count).transpose()?;
    Ok(Ramp { from, to, over_ns, steps })
}

fn rate(text: &str) -> Result<f64, String> {
    match parse_number(text) {
        // A third dot is more likely a typo than the start of a fraction.
        Ok(value) if (0.0..=HIGHEST_RATE).contains(&value) && !text.starts_with('.') => Ok(value),
        _ => Err(format!(
            "`{text}` is not a rate; an end of a ramp is a number from 0 to {HIGHEST_RATE}"
        )),
    }
}

fn step_count(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(steps) if (2..=MOST_STEPS).contains(&steps) => Ok(steps),
        _ => Err(format!(
            "`{text}` is not a number of steps; write a whole number from 2 to {MOST_STEPS}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;

    #[test]
    fn ramps_go_up_and_down_evenly_or_in_steps() {
        let even = Ramp { from: 1.0, to: 50.0, over_ns: 300 * SEC, steps: None };
        assert_eq!(ramp("1..50/s over 5m"), Ok(even));
        assert_eq!(ramp("  1..50/s  over 5m "), Ok(even));
        assert_eq!(ramp("1..50/s over 5m in 10 steps"), Ok(Ramp { steps: Some(10), ..even }));
        let down = Ramp { from: 50.0, to: 0.5, ..even };
        assert_eq!(ramp("50..0.5/s over 5m"), Ok(down));
    }

    #[test]
    fn errors_show_the_syntax_of_a_ramp() {
        for (text, what) in [
            ("", "is not a ramp"),
            ("1..50/s", "is not a ramp"),
            ("1..50 over 5m", "`1..50` has no unit"),
            ("5/s over 5m", "one rate"),
            ("1..50/s over 0s", "`0s` is zero"),
            ("1..50/s over 5", "no unit"),
            ("5..5/s over 1m", "--rate 5 --duration 1m"),
            ("-1..5/s over 1m", "`-1` is not a rate"),
            ("1..-5/s over 1m", "`-5` is not a rate"),
            ("1..inf/s over 1m", "`inf` is not a rate"),
            ("1..nan/s over 1m", "`nan` is not a rate"),
            ("1..2e6/s over 1m", "`2e6` is not a rate"),
            ("1...5/s over 1m", "is not a rate"),
            ("1..50/s over 5m in 1 steps", "`1` is not a number of steps"),
            ("1..50/s over 5m in 10", "is not a ramp"),
            ("1..50/s for 5m", "is not a ramp"),
        ] {
            let error = ramp(text).unwrap_err();
            assert!(error.contains(what) && error.contains(SPELLING), "{text}: {error}");
        }
    }
}
