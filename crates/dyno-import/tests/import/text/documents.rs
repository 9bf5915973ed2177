//! Documents with several tools, marks of quotation, and other ways of writing the same.

use super::*;
use dyno_import::ImportError;

#[test]
fn two_tools_in_one_document() {
    let imported = read("mixed.md");
    let found: Vec<(String, Option<&str>, usize)> = imported
        .runs
        .iter()
        .map(|run| {
            let origin = run.summary.run.origin.as_ref().unwrap();
            let what = format!("{} {}", origin.tool, origin.form);
            (what, run.summary.run.label.as_deref(), run.summary.levels.len())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("guidellm table".to_owned(), Some("Two tools on one page"), 2),
            ("vllm block".to_owned(), Some("Qwen2-72B-Instruct, input_len=80"), 1),
            ("vllm matrix".to_owned(), Some("Two tools on one page"), 1),
        ]
    );
    let level = &imported.runs[1].summary.levels[0];
    assert_eq!((load(level), level.input_length), (("concurrency", Some(4.0)), Some(80)));
    assert_eq!(problems(&imported, Severity::Error), []);
}

#[test]
fn the_same_in_any_encoding_and_with_any_line_ends() {
    for name in ["guidellm.md", "evalscope.md", "vllm.txt", "matrix.md"] {
        let text = fixture(name);
        let plain = import_bytes(name, text.as_bytes()).unwrap();
        let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
        let wide: Vec<u8> =
            std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        for bytes in [crlf.into_bytes(), quoted.into_bytes(), wide] {
            let other = import_bytes(name, &bytes).unwrap();
            assert_eq!(plain.problems, other.problems);
            let summaries = |imported: &Imported| -> Vec<_> {
                imported.runs.iter().map(|run| run.summary.clone()).collect()
            };
            assert_eq!(summaries(&plain), summaries(&other));
        }
    }
}

#[test]
fn a_file_of_no_known_kind_is_refused() {
    for bytes in [&b""[..], b"# Nothing here\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", b"\x7fELF\0\0"]
    {
        let error = import_bytes("notes.md", bytes).unwrap_err();
        assert!(matches!(error, ImportError::Unknown { .. }));
        let words = error.to_string();
        assert!(words == "`notes.md` contains no results of a known tool", "{words}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent.md");
    let words = dyno_import::import(&path).unwrap_err().to_string();
    assert!(words.contains("absent.md") && words.starts_with("cannot read"), "{words}");
    std::fs::write(&path, fixture("matrix.md")).unwrap();
    let imported = dyno_import::import(&path).unwrap();
    assert_eq!(imported.runs[0].summary.run.origin.as_ref().unwrap().file, "absent.md");
}

#[test]
fn summaries_can_be_written_and_read_again() {
    for name in ["guidellm.md", "evalscope.md", "vllm-today.txt", "matrix.md"] {
        for run in read(name).runs {
            let json = serde_json::to_string(&run.summary).unwrap();
            let again: dyno_model::Summary = serde_json::from_str(&json).unwrap();
            assert_eq!(again, run.summary);
        }
    }
}

#[test]
fn summaries_follow_the_schema() {
    let schema = include_str!("../../../../../docs/schema/summary-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for name in crate::text::any::FIXTURES {
        for run in read(name).runs {
            let value = serde_json::to_value(&run.summary).unwrap();
            let wrong: Vec<String> =
                validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert_eq!(wrong, [""; 0], "{name}");
        }
    }
}
