//! Figures at an axis: no more digits than the step needs.

/// Labels for round figures of one axis: all with the same decimals and the same unit.
pub fn labels(ticks: &[f64]) -> Vec<String> {
    let largest = ticks.iter().fold(0.0_f64, |largest, tick| largest.max(tick.abs()));
    let (unit, suffix) = match largest {
        size if size >= 1e13 => return ticks.iter().map(|tick| scientific(*tick)).collect(),
        size if size >= 1e10 => (1e9, "G"),
        size if size >= 1e7 => (1e6, "M"),
        size if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let values: Vec<f64> = ticks.iter().map(|tick| tick / unit).collect();
    let exact = |digits: &usize| {
        let rounded = |value: &f64| format!("{value:.digits$}").parse().unwrap_or(f64::NAN);
        values.iter().all(|value| (rounded(value) - value).abs() <= value.abs() * 1e-6)
    };
    let Some(digits) = (0..=5).find(exact) else {
        return ticks.iter().map(|tick| scientific(*tick)).collect();
    };
    let label = |value: &f64| match *value == 0.0 {
        true => "0".to_owned(),
        false => format!("{value:.digits$}{suffix}"),
    };
    values.iter().map(label).collect()
}

/// One figure of a logarithmic axis or a load, by itself.
pub fn label(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-4..1e10).contains(&size) => scientific(value),
        size if size >= 1e7 => format!("{}M", trimmed(value / 1e6)),
        size if size >= 1e5 => format!("{}k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

/// About four digits.
fn trimmed(value: f64) -> String {
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn scientific(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.1e}");
    text.replace(".0e", "e")
}

/// A time from the start: `0`, `30s`, `2m`, `1h30m`.
pub fn time(seconds: f64) -> String {
    if !(10.0..=1e8).contains(&seconds) {
        let unit = if seconds == 0.0 { "" } else { "s" };
        return format!("{}{unit}", label(seconds));
    }
    let whole = seconds.round() as u64;
    let parts = [(whole / 3600, "h"), (whole / 60 % 60, "m"), (whole % 60, "s")];
    parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_the_step() {
        assert_eq!(labels(&[0.0, 2.5, 5.0]), ["0", "2.5", "5.0"]);
        assert_eq!(labels(&[0.0, 5000.0, 10_000.0]), ["0", "5k", "10k"]);
        assert_eq!(labels(&[0.0, 0.00002]), ["0", "0.00002"]);
        assert_eq!(labels(&[0.0, 1e-9]), ["0", "1e-9"]);
        assert_eq!(labels(&[0.0, 5e20])[1], "5e20");
    }

    #[test]
    fn single_figures_are_short() {
        let shown = [1.0, 0.5, 150.0, 4096.0, 3.9333, 250_000.0, 1e-7].map(label);
        assert_eq!(shown, ["1", "0.5", "150", "4096", "3.933", "250k", "1e-7"]);
        let shown = [0.0, 0.5, 30.0, 90.0, 3600.0, 5400.0].map(time);
        assert_eq!(shown, ["0", "0.5s", "30s", "1m30s", "1h", "1h30m"]);
    }
}
