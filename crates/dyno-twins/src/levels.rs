//! The quantities by which levels are compared with a twin, as the columns of a table.

use crate::shown::compare::number;
use dyno_fit::Quantity;
use dyno_model::Language;

/// A column: its quantity, its head, and its name in JSON.
struct Column {
    quantity: Quantity,
    head: [&'static str; 2],
    key: &'static str,
}

const COLUMNS: [Column; 5] = [
    column(Quantity::Rate, ["req/s", "请求/秒"], "requests_per_s"),
    column(Quantity::TtftP50, ["TTFT p50 ms"; 2], "ttft_p50_ms"),
    column(Quantity::ItlP50, ["ITL p50 ms"; 2], "itl_p50_ms"),
    column(Quantity::LatencyP50, ["latency p50 ms", "时延 p50 ms"], "latency_p50_ms"),
    column(Quantity::LatencyP90, ["latency p90 ms", "时延 p90 ms"], "latency_p90_ms"),
];

const fn column(quantity: Quantity, head: [&'static str; 2], key: &'static str) -> Column {
    Column { quantity, head, key }
}

/// The quantities that are shown, in order.
pub(crate) fn shown() -> impl Iterator<Item = Quantity> {
    COLUMNS.iter().map(|column| column.quantity)
}

/// The heads of a table of levels, whose first column is the level's name.
pub(crate) fn heads(language: Language) -> Vec<String> {
    let heads = std::iter::once(["level", "负载"]).chain(COLUMNS.iter().map(|column| column.head));
    heads.map(|head| language.choose(head).to_owned()).collect()
}

/// The head of one quantity; its name in the library where it is not shown.
pub(crate) fn head(quantity: Quantity, language: Language) -> String {
    let column = COLUMNS.iter().find(|column| column.quantity == quantity);
    column.map_or_else(|| format!("{quantity:?}"), |column| language.choose(column.head).to_owned())
}

/// The name of a quantity in JSON.
pub(crate) fn key(quantity: Quantity) -> Option<&'static str> {
    COLUMNS.iter().find(|column| column.quantity == quantity).map(|column| column.key)
}

/// Measured → simulated.
pub(crate) fn pair(measured: f64, simulated: Option<f64>) -> String {
    if !measured.is_finite() {
        return "–".to_owned();
    }
    match simulated.filter(|value| value.is_finite()) {
        Some(simulated) => format!("{} → {}", number(measured), number(simulated)),
        None => number(measured),
    }
}

/// An error as a signed percentage, from the logarithm of simulated over measured.
pub(crate) fn percent(log: f64) -> String {
    format!("{:+.1} %", 100.0 * log.exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shares_of_what_was_measured() {
        assert_eq!(
            [1.1_f64.ln(), 0.5_f64.ln(), 0.0].map(percent),
            ["+10.0 %", "-50.0 %", "+0.0 %"]
        );
        assert_eq!(pair(8.0, Some(9.5)), "8.00 → 9.50");
        assert_eq!(pair(8.0, Some(f64::NAN)), "8.00");
        assert_eq!(pair(f64::NAN, Some(2.0)), "–");
    }
}
