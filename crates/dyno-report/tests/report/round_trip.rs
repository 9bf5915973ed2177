//! What was read is printed again in the layout it came in: with the same metrics.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_analysis::RunResults;
use dyno_import::{Imported, import_bytes};
use dyno_model::metric::Time;
use dyno_model::{Language, LevelSummary};
use dyno_report::layout::{Layout, Options, RunToPrint};
use std::path::Path;

/// The text of a fixture of the importers.
fn fixture(name: &str) -> String {
    let folder = "../dyno-import/tests/fixtures";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    std::fs::read_to_string(path).unwrap()
}

fn read(name: &str) -> Imported {
    import_bytes(name, fixture(name).as_bytes()).unwrap()
}

fn read_text(text: &str) -> Imported {
    import_bytes("text.md", text.as_bytes()).unwrap()
}

fn print(layout: Layout, run: &RunResults) -> String {
    let (summary, extras) = (run.summary.clone(), run.extras.clone());
    let run = RunToPrint { summary, extras, detail: None, plan: None, environment: None };
    let options = Options { language: Language::Chinese, ..Options::default() };
    String::from_utf8(layout.print(&[run], &options).unwrap().bytes).unwrap()
}

/// A line without its spaces.
fn bare(line: &str) -> String {
    line.split_whitespace().collect()
}

/// The lines of a fixture that hold metrics and are not among the printed ones. `reads`: which
/// lines are metrics of results.
fn missing(name: &str, layout: Layout, reads: impl Fn(&str) -> bool) -> Vec<String> {
    let printed: String =
        read(name).runs.iter().map(|run| print(layout, run)).collect::<Vec<_>>().join("\n");
    let mut left: Vec<String> = printed.lines().map(bare).collect();
    let mut missing = Vec::new();
    for line in fixture(name).lines().filter(|line| reads(line)) {
        match left.iter().position(|printed| *printed == bare(line)) {
            Some(at) => _ = left.swap_remove(at),
            None => missing.push(line.trim().to_owned()),
        }
    }
    missing
}

#[test]
fn guidellm() {
    let rows = |line: &str| line.starts_with('|') && line.contains("req/sec");
    let zeros = |line: &str| line.contains("| 0.00 req/sec | 0.00 sec |");
    // Rows of zeros are printed with signs of absence: nothing took 0 s.
    assert_eq!(
        missing("guidellm.md", Layout::Guidellm, |line| rows(line) && !zeros(line)),
        [""; 0]
    );
    assert_eq!(missing("guidellm.md", Layout::Guidellm, |line| rows(line) && zeros(line)).len(), 1);
    let printed = print(Layout::Guidellm, &read("guidellm.md").runs[0]);
    assert!(printed.contains("| asynchronous@1.27 req/sec | 0.00 req/sec | – | – | – | 0.00"));
}

#[test]
fn evalscope() {
    // What differs in a printed pivot is its line of failures, where the source has a cross.
    let is_value = |line: &str| {
        let row = line.starts_with('|') && !line.contains("---") && !line.contains('❌');
        row || (line.starts_with(' ') && line.contains(|c: char| c.is_ascii_digit()))
    };
    assert_eq!(missing("evalscope.md", Layout::Evalscope, is_value), [""; 0]);
}

#[test]
fn vllm_0_6() {
    let is_value = |line: &str| line.contains("):  ") || line.contains("s:  ");
    assert_eq!(missing("vllm.txt", Layout::Vllm06, is_value), [""; 0]);
    assert_eq!(
        missing("vllm.txt", Layout::Vllm, |l| is_value(l) && !l.contains("Token thr")),
        [""; 0]
    );
}

#[test]
fn vllm_today() {
    // The layout has no rows for other percentiles, whole latencies and speculative decoding.
    let is_value = |line: &str| {
        let others = ["P50", "P90", "E2EL", "Accept", "Draft", "Position"];
        line.contains(":  ") && !others.iter().any(|other| line.contains(other))
    };
    assert_eq!(missing("vllm-today.txt", Layout::Vllm, is_value), [""; 0]);
}

#[test]
fn sglang() {
    let is_value = |line: &str| {
        let others = ["retokenized", "text tokens", "Accept length"];
        line.contains(":  ") && !others.iter().any(|other| line.contains(other))
    };
    assert_eq!(missing("sglang.txt", Layout::Sglang, is_value), [""; 0]);
}

#[test]
fn matrix() {
    let rows = |line: &str| line.starts_with('|');
    assert_eq!(missing("matrix.md", Layout::VllmMatrix, rows), [""; 0]);
}

/// What was printed again is read again, and means the same.
#[test]
fn what_is_printed_can_be_imported() {
    let cases = [
        ("guidellm.md", Layout::Guidellm),
        ("vllm.txt", Layout::Vllm06),
        ("sglang.txt", Layout::Sglang),
        ("matrix.md", Layout::VllmMatrix),
    ];
    for (name, layout) in cases {
        for run in &read(name).runs {
            let again = read_text(&print(layout, run));
            assert_eq!(again.runs.len(), 1, "{name}");
            let is_value = |level: &LevelSummary| {
                let times = [
                    &level.times[Time::Ttft],
                    &level.times[Time::Tpot],
                    &level.times[Time::ChunkGap],
                ];
                (level.load, level.throughput, times.map(Option::clone))
            };
            let of =
                |run: &RunResults| -> Vec<_> { run.summary.levels.iter().map(is_value).collect() };
            assert_eq!(of(&again.runs[0]), of(run), "{name}");
        }
    }
}
