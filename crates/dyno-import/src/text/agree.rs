//! Whether a pivot table and the blocks of the same section say the same.

use super::group::Group;
use super::part::Finding;
use dyno_report::LevelSummary;
use dyno_report::summary::Distribution;
use std::collections::BTreeMap;

/// A figure that both have: its name, the decimals of the coarser, and where it is found.
type Figure = (&'static str, i32, fn(&LevelSummary) -> Option<f64>);

const FIGURES: [Figure; 8] = [
    ("time taken (s)", 3, |l| l.duration_s),
    ("QPS", 3, |l| l.throughput.requests_per_s),
    ("mean latency (s)", 3, |l| seconds(l, |d| d.mean)),
    ("throughput (tokens/s)", 3, |l| l.throughput.output_tokens_per_s),
    ("p50 latency (s)", 4, |l| seconds(l, |d| d.p50)),
    ("p90 latency (s)", 4, |l| seconds(l, |d| d.p90)),
    ("p99 latency (s)", 4, |l| seconds(l, |d| d.p99)),
    ("failed requests", 0, |l| l.requests.failed.map(|failed| failed as f64)),
];

fn seconds(level: &LevelSummary, of: fn(&Distribution) -> Option<f64>) -> Option<f64> {
    level.latency_ms.as_ref().and_then(of).map(|millis| millis / 1e3)
}

/// Notes every figure on which a pivot and the blocks under the same headings differ.
pub(super) fn compare(groups: &mut [Group]) {
    let mut sections: BTreeMap<&[String], Vec<&LevelSummary>> = BTreeMap::new();
    for group in groups.iter() {
        if group.part.tool == "evalscope" && group.part.form == "block" {
            let levels = group.part.levels.iter().map(|(level, _)| level);
            sections.entry(&group.place.headings).or_default().extend(levels);
        }
    }
    let mut found: Vec<(usize, Finding)> = Vec::new();
    for (at, pivot) in groups.iter().enumerate().filter(|(_, group)| group.part.form == "pivot") {
        // Blocks are compared with the first table of their section.
        let Some(blocks) = sections.remove(pivot.place.headings.as_slice()) else { continue };
        let columns: BTreeMap<_, _> =
            pivot.part.levels.iter().map(|(level, _)| (load(level), level)).collect();
        let mut without: BTreeMap<_, _> = columns.clone();
        for block in blocks {
            without.remove(&load(block));
            match columns.get(&load(block)) {
                Some(level) => {
                    let differing = differing(level, block).into_iter();
                    found.extend(differing.map(|what| (at, disagreement(block, what))));
                }
                None => found.push((at, lacking(block, "a block but no column"))),
            }
        }
        found.extend(without.values().map(|level| (at, lacking(level, "a column but no block"))));
    }
    for (at, finding) in found {
        if let Some(group) = groups.get_mut(at) {
            group.part.findings.push(finding);
        }
    }
}

/// The load as a key.
fn load(level: &LevelSummary) -> (&str, Option<u64>) {
    (&level.load.kind, level.load.value.map(f64::to_bits))
}

/// What differs by more than rounding.
fn differing(pivot: &LevelSummary, block: &LevelSummary) -> Vec<String> {
    let of = |(name, decimals, figure): &Figure| {
        let (column, stated) = (figure(pivot)?, figure(block)?);
        let step = 10f64.powi(-decimals);
        let apart = (column - stated).abs() > 0.51 * step;
        let digits = usize::try_from(*decimals).unwrap_or_default();
        apart.then(|| {
            format!("{name} is {column:.digits$} in the pivot and {stated:.digits$} in the block")
        })
    };
    FIGURES.iter().filter_map(of).collect()
}

fn disagreement(block: &LevelSummary, what: String) -> Finding {
    Finding::note(
        "import_disagrees",
        line(block),
        format!("{}: {what}", block.label),
        "both are kept, as runs of their own; ask the source which holds",
    )
}

fn lacking(level: &LevelSummary, what: &str) -> Finding {
    Finding::note(
        "import_unmatched",
        line(level),
        format!("{} has {what} in this section", level.label),
        "that level is in one of the two runs only",
    )
}

fn line(level: &LevelSummary) -> u64 {
    level.reported.as_ref().and_then(|reported| reported.line).unwrap_or_default()
}
