//! llama-bench: JSON, JSON lines, CSV and SQL have the same fields.

use crate::files::{errors, import, loads, notes, reported};
use dyno_import::import_bytes;

#[test]
fn every_form_has_a_level_for_each_test() {
    for form in ["json", "jsonl", "csv", "sql"] {
        let imported = import(&format!("llama-bench.{form}"));
        assert_eq!(errors(&imported), Vec::<String>::new(), "{form}");
        assert_eq!(imported.runs.len(), 1, "{form}");
        let run = &imported.runs[0];
        let origin = run.summary.run.origin.as_ref().unwrap();
        assert_eq!(origin.tool, "llama-bench", "{form}");
        assert_eq!(origin.version.as_deref(), Some("7001"), "{form}");
        assert_eq!(run.summary.run.model.as_deref(), Some("pocket 1B Q4_K - Medium"), "{form}");
        let names: Vec<&str> =
            run.summary.levels.iter().map(|level| level.label.as_str()).collect();
        let plain = ["pp512", "tg128", "pp512+tg128", "tg128 @ d4096"];
        assert!(names.iter().zip(plain).all(|(name, test)| name.starts_with(test)), "{names:?}");
        assert_eq!(loads(run), [("unknown", None); 4], "{form}");
        assert!(notes(&imported)[0].contains("without a server"), "{form}");
    }
}

#[test]
fn prompt_tokens_are_input_and_generated_ones_output() {
    let imported = import("llama-bench.json");
    let [prompt, generation, both, deep] = &imported.runs[0].summary.levels[..] else {
        panic!("four tests");
    };
    let speeds = |level: &dyno_model::LevelSummary| {
        (level.throughput.total_tokens_per_s, level.throughput.output_tokens_per_s)
    };
    assert_eq!(speeds(prompt), (Some(4321.5), None));
    assert_eq!(speeds(generation), (Some(98.75), Some(98.75)));
    assert_eq!(speeds(both), (Some(412.5), None));
    assert_eq!(speeds(deep), (Some(81.25), Some(81.25)));
    assert_eq!((prompt.input_length, prompt.output_length), (Some(512), None));
    assert_eq!((both.input_length, both.output_length), (Some(512), Some(128)));
    // What was in the context before is not input of the test.
    assert_eq!((deep.input_length, deep.output_length), (None, Some(128)));
    assert_eq!(reported(deep, "n_depth"), 4096.0);
    assert_eq!(reported(prompt, "stddev_ts"), 12.25);
    assert!(prompt.times.iter().all(|(_, times)| times.is_none()));
    assert_eq!((prompt.requests.completed, prompt.throughput.requests_per_s), (None, None));
}

#[test]
fn settings_that_vary_are_in_the_names() {
    let imported = import("llama-bench.csv");
    let names: Vec<&str> =
        imported.runs[0].summary.levels.iter().map(|level| level.label.as_str()).collect();
    assert_eq!(
        names,
        [
            "pp512 flash_attn=0",
            "tg128 flash_attn=0",
            "pp512+tg128 flash_attn=1",
            "tg128 @ d4096 flash_attn=1"
        ]
    );
}

#[test]
fn a_test_of_nothing_is_left_out() {
    let text = r#"[{"n_prompt": 0, "n_gen": 0, "avg_ts": 5.0}]"#;
    let imported = import_bytes("a.json", text.as_bytes()).unwrap();
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains("n_prompt, n_gen, avg_ts"));
}

#[test]
fn models_are_separate_runs() {
    let text = std::fs::read_to_string(crate::files::fixture("llama-bench.jsonl")).unwrap();
    let other = text.replace("pocket 1B", "pocket 3B");
    let imported = import_bytes("a.jsonl", (text + &other).as_bytes()).unwrap();
    let models: Vec<Option<&str>> =
        imported.runs.iter().map(|run| run.summary.run.model.as_deref()).collect();
    assert_eq!(models, [Some("pocket 1B Q4_K - Medium"), Some("pocket 3B Q4_K - Medium")]);
}
