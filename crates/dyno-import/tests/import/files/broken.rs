//! Files that are damaged, cut off, or of no kind at all.

use crate::files::edits::edited;
use crate::files::{errors, fixture};
use dyno_import::{ImportOutcome, import_bytes};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Every fixture that is a file of text and can be read alone.
static TEXTS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let mut folders = vec![fixture("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end != "db") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                all.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    all.retain(|(name, bytes)| import_bytes(name, bytes).is_ok());
    all.sort();
    all
});

static DATABASE: LazyLock<Vec<u8>> =
    LazyLock::new(|| std::fs::read(fixture("evalscope-1.0.db")).unwrap());

#[test]
fn truncated_json_is_reported_with_its_place() {
    let bytes = std::fs::read(fixture("guidellm-0.3.json")).unwrap();
    let half = bytes.len() / 2;
    let imported = import_bytes("cut.json", &bytes[..half]).unwrap();
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains(&format!("byte {half}")), "{:?}", imported.problems);
}

#[test]
fn lines_before_the_cut_are_read() {
    let bytes = std::fs::read(fixture("vllm-append.json")).unwrap();
    let imported = import_bytes("cut.json", &bytes[..bytes.len() - 100]).unwrap();
    assert_eq!(imported.runs[0].summary.levels.len(), 2);
    let errors = errors(&imported);
    assert!(errors[0].starts_with("line 3") && errors[0].contains("cut off"), "{errors:?}");
}

#[test]
fn only_the_line_that_is_not_json_is_lost() {
    let text = String::from_utf8(std::fs::read(fixture("aiperf.jsonl")).unwrap()).unwrap();
    let damaged = text.replacen("\"metrics\"", "metrics", 4);
    let imported = import_bytes("a.jsonl", damaged.as_bytes()).unwrap();
    assert_eq!(errors(&imported).len(), 4, "{:?}", imported.problems);
    assert!(errors(&imported)[0].starts_with("line 1"), "{:?}", imported.problems);
    // The warm-up and three of eight are lost.
    assert_eq!(imported.runs[0].summary.levels[0].requests.completed, Some(5));
}

#[test]
fn a_byte_order_mark_and_other_line_endings_change_nothing() {
    for (name, bytes) in TEXTS.iter() {
        let text = String::from_utf8(bytes.clone()).unwrap().replace("\r\n", "\n");
        let changed = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let [plain, changed] =
            [bytes.as_slice(), changed.as_bytes()].map(|bytes| import_bytes(name, bytes).unwrap());
        assert_eq!(plain.problems, changed.problems, "{name}");
        let summaries = |imported: &dyno_import::Imported| {
            imported.runs.iter().map(|run| run.summary.clone()).collect::<Vec<_>>()
        };
        assert_eq!(summaries(&plain), summaries(&changed), "{name}");
    }
}

#[test]
fn files_of_no_known_kind_are_refused() {
    for text in ["", "{}", "[]", "{\"benchmarks\": []}", "a,b\n1,2\n", "[1, 2, 3]", "{\"a\""] {
        let error = import_bytes("x", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "`x` contains no results of a known tool", "{text}");
    }
    let known: Vec<String> = dyno_import::known_kinds().iter().map(ToString::to_string).collect();
    let known = known.join("; ");
    assert!(known.contains("guidellm") && known.contains("LMDeploy"), "{known}");
}

#[test]
fn recognised_without_results_is_an_error() {
    let text = r#"{"benchmarks": [{"metrics": {}, "args": {}}]}"#;
    let imported = import_bytes("x.json", text.as_bytes()).unwrap();
    assert_eq!(imported.runs.len(), 0);
    assert!(errors(&imported)[0].contains("json of guidellm without values"), "{imported:?}");
    let empty = ImportOutcome::Empty { tool: "guidellm".to_owned() };
    assert_eq!(imported.files[0].outcome, empty);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_do_no_harm(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        shorten in any::<bool>(),
    ) {
        let (name, bytes) = which.get(TEXTS.as_slice());
        let mut bytes = bytes.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if shorten {
            let length = cut.index(bytes.len());
            bytes.truncate(length);
        }
        let _ = import_bytes(name, &bytes);
    }

    #[test]
    fn changed_databases_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = DATABASE.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = import_bytes("benchmark_data.db", &bytes);
    }

    #[test]
    fn edited_files_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<u8>(), any::<u16>(), any::<u8>()), 1..8),
    ) {
        let (name, bytes) = which.get(TEXTS.as_slice());
        let Ok(imported) = import_bytes(name, &edited(bytes, &edits)) else { return Ok(()) };
        prop_assert!(!imported.runs.is_empty() || !imported.problems.is_empty(), "{name}");
        for level in imported.runs.iter().flat_map(|run| &run.summary.levels) {
            let rates = [level.throughput.requests_per_s, level.throughput.output_tokens_per_s];
            prop_assert!(rates.iter().flatten().all(|rate| rate.is_finite() && *rate >= 0.0));
            let reported = level.reported.iter().flat_map(|reported| reported.figures.values());
            prop_assert!(reported.into_iter().all(|value| value.is_finite()));
        }
    }
}
