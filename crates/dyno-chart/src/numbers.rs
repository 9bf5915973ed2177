//! Numbers at an axis, with no more digits than the step needs.

/// Labels for the round values of one axis, all with the same decimals and the same unit.
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

/// A value of a logarithmic axis, or a load.
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
