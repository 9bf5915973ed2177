//! Rows of different loads with the same values: measurements repeat to the last digit only by copying.

use super::found::{LintFindings, Sure, of_rows};
use super::near::Column;
use super::rows::{LintRows, LintedLevel};
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::metric::Time;
use dyno_words::{Defect, values};

/// How many digits, over all metrics, must be equal: the chance is one in ten to this power, or where
/// metrics depend on each other one in ten to half of it.
const DIGITS: f64 = 12.0;
/// The fewest metrics that must be equal.
const METRICS: usize = 3;

type Metric<'a> = fn(&LintedLevel<'a>) -> Option<f64>;

fn metrics<'a>() -> [Metric<'a>; 7] {
    [
        LintedLevel::per_s,
        LintedLevel::tokens_per_s,
        LintedLevel::duration_s,
        LintedLevel::latency,
        LintedLevel::ttft,
        |level| level.0.times[Time::Latency].as_ref()?.p99,
        |level| level.0.times[Time::Ttft].as_ref()?.p99,
    ]
}

/// Rows that repeat an earlier one at another load. Simulations may repeat themselves.
pub(super) fn copied(rows: &LintRows<'_>) -> Option<LintFindings> {
    if rows.summary.run.simulated || rows.summary.run.predicted {
        return None;
    }
    let columns = metrics().map(|metric| Column::rates(rows, metric));
    let same = |a: &LintedLevel<'_>, b: &LintedLevel<'_>| {
        let (mut digits, mut equal) = (0.0, 0);
        for (metric, column) in metrics().iter().zip(&columns) {
            match (metric(a), metric(b)) {
                (Some(a), Some(b)) if a == b => {
                    digits += column.steps(a).max(1.0).log10();
                    equal += 1;
                }
                (None, None) => {}
                _ => return false,
            }
        }
        equal >= METRICS && digits >= DIGITS
    };
    let known: Vec<&LintedLevel<'_>> = rows.rows.iter().filter(|level| !level.is_zero()).collect();
    let repeats = |(i, level): (usize, &&LintedLevel<'_>)| -> Option<CatalogueRow> {
        let earlier = known[..i].iter().find(|other| same(other, level))?;
        (earlier.0.load != level.0.load).then(|| level.row())
    };
    let found = known.iter().enumerate().filter_map(repeats).collect();
    of_rows(found, Defect::Copied, Sure::Certain, values![])
}
