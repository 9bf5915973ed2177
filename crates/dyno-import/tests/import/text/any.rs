//! Any bytes are read or refused, and never with a panic.

use super::*;
use proptest::prelude::*;

pub(crate) const FIXTURES: [&str; 17] = [
    "guidellm.md",
    "evalscope.md",
    "evalscope-grid.txt",
    "vllm.txt",
    "vllm-today.txt",
    "sglang.txt",
    "matrix.md",
    "mixed.md",
    "defects.md",
    "aiperf.txt",
    "genai-perf.txt",
    "evalscope-1.9.log",
    "evalscope-overview.txt",
    "evalscope-report.txt",
    "guidellm-0.2.txt",
    "guidellm-0.4.log",
    "vllm-sweep.log",
];

/// Whatever was read is sound.
fn sound(bytes: &[u8]) {
    let Ok(imported) = import_bytes("any.md", bytes) else { return };
    assert!(!imported.runs.is_empty() || !imported.problems.is_empty());
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    for problem in &imported.problems {
        assert!(problem.line().is_none_or(|line| line <= lines), "{problem:?}");
        assert!(!problem.what.is_empty() && problem.advice.as_ref().is_some_and(|a| !a.is_empty()));
    }
    for run in &imported.runs {
        assert!(!run.summary.levels.is_empty());
        for level in &run.summary.levels {
            let figures = level.reported.iter().flat_map(|reported| reported.figures.values());
            assert!(figures.clone().all(|figure| figure.is_finite() && *figure >= 0.0));
        }
        assert!(serde_json::to_string(&run.summary).is_ok());
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        sound(&bytes);
    }

    #[test]
    fn any_lines_of_results(
        picks in prop::collection::vec((0..FIXTURES.len(), any::<prop::sample::Index>()), 1..40)
    ) {
        let line = |(file, at): &(usize, prop::sample::Index)| {
            let text = fixture(FIXTURES[*file]);
            let lines: Vec<&str> = text.lines().collect();
            lines[at.index(lines.len())].to_owned()
        };
        sound(picks.iter().map(line).collect::<Vec<_>>().join("\n").as_bytes());
    }

    #[test]
    fn any_change_to_results(
        file in 0..FIXTURES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4, any::<char>()), 1..20)
    ) {
        let mut text: Vec<char> = fixture(FIXTURES[file]).chars().collect();
        for (at, kind, c) in &changes {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match kind {
                0 => text[at] = *c,
                1 => text.insert(at, *c),
                2 => _ = text.remove(at),
                _ => text.truncate(at),
            }
        }
        sound(text.into_iter().collect::<String>().as_bytes());
    }
}
