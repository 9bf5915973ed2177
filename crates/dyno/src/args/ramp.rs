//! Parses a ramp: `1..50/s over 5m`, or `1..50/s over 5m in 10 steps`.

use super::values::some_duration;
use dyno_model::limits::{HIGHEST_RATE, MOST_STEPS};
use dyno_model::ramp::Ramp;
use dyno_model::units::parse_number;
use dyno_model::{Message, message};

/// `--ramp`.
pub(crate) fn ramp(text: &str) -> Result<Ramp, Message> {
    read(text).map_err(|what| {
        what.with_hint(message!(
            "write --ramp '1..50/s over 5m', or --ramp '1..50/s over 5m in 10 steps'",
            "请写 --ramp '1..50/s over 5m' 或 --ramp '1..50/s over 5m in 10 steps'"
        ))
    })
}

fn read(text: &str) -> Result<Ramp, Message> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (rates, time, steps) = match words.as_slice() {
        [rates, "over", time] => (rates, time, None),
        [rates, "over", time, "in", steps, "steps"] => (rates, time, Some(*steps)),
        _ => {
            return Err(message!(
                "`{text}` is not a ramp, which has two rates and a time",
                "`{text}` 不是爬坡；爬坡由两个请求速率和一个时长组成"
            ));
        }
    };
    let rates = rates.strip_suffix("/s").ok_or_else(|| {
        message!(
            "`{rates}` has no unit; the rates of a ramp are per second, /s",
            "`{rates}` 没有单位；爬坡的请求速率按每秒计，写 /s"
        )
    })?;
    let (from, to) = rates.split_once("..").ok_or_else(|| {
        message!(
            "`{rates}/s` is one rate; a ramp goes from one rate to another",
            "`{rates}/s` 只有一个请求速率；爬坡是从一个请求速率到另一个"
        )
    })?;
    let (from, to) = (rate(from)?, rate(to)?);
    if from == to {
        return Err(message!(
            "starts and ends at {from}/s; for a constant rate, use --rate {from} --duration {time}",
            "起点和终点都是 {from}/s；恒定的请求速率请使用 --rate {from} --duration {time}"
        ));
    }
    let over_ns = some_duration(time)?;
    let steps = steps.map(step_count).transpose()?;
    Ok(Ramp { from, to, over_ns, steps })
}

fn rate(text: &str) -> Result<f64, Message> {
    match parse_number(text) {
        // A third dot is more likely a typo than the start of a fraction.
        Ok(value) if (0.0..=HIGHEST_RATE).contains(&value) && !text.starts_with('.') => Ok(value),
        _ => Err(message!(
            "`{text}` is not a rate; an end of a ramp is a number from 0 to {HIGHEST_RATE}",
            "`{text}` 不是请求速率；爬坡的端点是 0 到 {HIGHEST_RATE} 的数"
        )),
    }
}

fn step_count(text: &str) -> Result<u32, Message> {
    match text.parse::<u32>() {
        Ok(steps) if (2..=MOST_STEPS).contains(&steps) => Ok(steps),
        _ => Err(message!(
            "`{text}` is not a number of steps; write a whole number from 2 to {MOST_STEPS}",
            "`{text}` 不是级数；请写 2 到 {MOST_STEPS} 的整数"
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
            let error = ramp(text).unwrap_err().to_string();
            assert!(
                error.contains(what) && error.contains("\n  hint: write --ramp '1..50/s over 5m'"),
                "{text}: {error}"
            );
        }
    }
}
