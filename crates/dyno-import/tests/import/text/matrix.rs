//! Tables of input length by output length.

use super::*;

#[test]
fn every_cell_is_a_level() {
    let imported = read("matrix.md");
    assert_eq!(imported.runs.len(), 1);
    let run = &imported.runs[0];
    assert_eq!(run.summary.levels.len(), 16);
    let level = &run.summary.levels[5];
    assert_eq!(level.label, "512→512");
    assert_eq!((level.input_length, level.output_length), (Some(512), Some(512)));
    assert_eq!(level.throughput.requests_per_s, Some(0.60));
    assert_eq!(level.throughput.output_tokens_per_s, Some(308.76));
    assert_eq!((level.input_tokens, level.output_tokens), (None, None));
    assert_eq!(load(level), ("unknown", None));
    let extras = run.extras.of(5);
    assert_eq!(extras.latency_per_token_ms, Some(13.02));
    assert_eq!(extras.latency_per_output_token_ms, Some(26.03));
    let figures = &level.reported.as_ref().unwrap().figures;
    assert_eq!(figures["Average latency per output token (ms)"], 26.03);
    assert_eq!(figures.len(), 6);
}

#[test]
fn headings_with_nothing_under_them_belong_to_what_follows() {
    let imported = read("matrix.md");
    let run = &imported.runs[0].summary.run;
    let origin = run.origin.as_ref().unwrap();
    assert_eq!(origin.headings, ["Qwen-14B", "A100 40G", "vllm v0.2.7"]);
    assert_eq!(origin.version.as_deref(), Some("0.2.7"));
    assert_eq!(run.label.as_deref(), Some("Qwen-14B / A100 40G / vllm v0.2.7"));
    assert_eq!(run.model.as_deref(), Some("Qwen-14B"));
}

#[test]
fn an_unknown_load_is_reported() {
    let imported = read("matrix.md");
    let notes = problems(&imported, Severity::Note);
    assert_eq!(notes, [(7, "a length matrix does not say how requests were offered")]);
    assert_eq!(imported.runs[0].summary.notes[0].code, "import_load_unknown");
}
