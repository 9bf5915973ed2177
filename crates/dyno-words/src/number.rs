//! Numbers within text.

/// A share in percent.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value >= 10.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// A share as a change in percent, with its sign.
pub fn change(share: f64) -> String {
    format!("{:+.0}", share * 100.0)
}

/// A number with so many decimals.
pub fn digits(value: f64, count: usize) -> String {
    format!("{value:.count$}")
}

/// A number with one decimal, unless it is large.
pub fn short(value: f64) -> String {
    digits(value, usize::from(value < 100.0))
}

/// Milliseconds with one decimal, or seconds for long times.
pub fn millis(ms: f64) -> String {
    if ms >= 10_000.0 { format!("{} s", short(ms / 1e3)) } else { format!("{} ms", short(ms)) }
}

/// Whole milliseconds, or seconds.
pub fn seconds(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.0} ms") } else { format!("{:.2} s", ms / 1e3) }
}

/// Bytes in the unit that fits.
pub fn bytes(count: f64) -> String {
    let units = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    let fits = units.iter().find(|(size, _)| count >= *size);
    fits.map_or_else(
        || format!("{count:.0} B"),
        |(size, unit)| format!("{:.1} {unit}", count / size),
    )
}

/// A time since a start, in hours, minutes and seconds.
pub fn clock(seconds: f64) -> String {
    let digits = usize::from(seconds < 10.0);
    let seconds = if digits == 0 { seconds.round() } else { seconds };
    reading(seconds, digits)
}

/// Several times since a start: all with the decimals that tell one from the
/// next.
pub fn clocks(all: &[f64]) -> Vec<String> {
    let step = all.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    let rounded = |seconds: f64, digits: i32| {
        let scale = 10_f64.powi(digits);
        (seconds * scale).round() / scale
    };
    let exact = |digits: &i32| {
        all.iter().all(|at| (rounded(*at, *digits) - at).abs() < ROUNDED_OFF * step.min(1.0))
    };
    let digits = (0..MOST_DECIMALS).find(exact).unwrap_or(MOST_DECIMALS);
    all.iter().map(|at| reading(rounded(*at, digits), digits.unsigned_abs() as usize)).collect()
}

/// The share of the time between two that may be rounded off.
const ROUNDED_OFF: f64 = 0.1;
const MOST_DECIMALS: i32 = 3;

fn reading(seconds: f64, digits: usize) -> String {
    let whole = seconds as u64;
    let width = if digits > 0 { digits + 3 } else { 2 };
    let rest = seconds - (whole / 60 * 60) as f64;
    match (whole / 3600, whole / 60 % 60) {
        (0, 0) => format!("{rest:.digits$}s"),
        (0, m) => format!("{m}m{rest:0width$.digits$}s"),
        (h, m) => format!("{h}h{m:02}m{rest:0width$.digits$}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!([0.0, 0.004, 0.25].map(percent), ["0 %", "0.4 %", "25 %"]);
        assert_eq!([0.5, -0.25].map(change), ["+50", "-25"]);
        assert_eq!([99.96, 100.0].map(short), ["100.0", "100"]);
        assert_eq!([99.0, 25_000.0].map(millis), ["99.0 ms", "25.0 s"]);
        assert_eq!([99.6, 1_500.0].map(seconds), ["100 ms", "1.50 s"]);
        assert_eq!([512.0, 2048.0, 3e9].map(bytes), ["512 B", "2.0 KiB", "2.8 GiB"]);
        assert_eq!([9.0, 59.0, 61.0, 3_700.0].map(clock), ["9.0s", "59s", "1m01s", "1h01m40s"]);
    }

    /// B13: slices of 1.5 s were printed as 9.0s, 11s, 12s.
    #[test]
    fn times_have_the_decimals_that_tell_them_apart() {
        assert_eq!(clocks(&[9.0, 59.0, 61.0, 3_700.0]), ["9s", "59s", "1m01s", "1h01m40s"]);
        assert_eq!(clocks(&[9.0, 10.5, 12.0, 61.5]), ["9.0s", "10.5s", "12.0s", "1m01.5s"]);
        assert_eq!(clocks(&[0.0, 0.25, 59.999]), ["0.00s", "0.25s", "1m00.00s"]);
        assert_eq!(clocks(&[]), Vec::<String>::new());
        assert_eq!(clocks(&[7.0]), ["7s"]);
    }
}
