//! Imports files, prints each run again in the layout that it came in, and says which lines of the
//! file are not among them: `cargo run -p dyno-report --example print_again -- FILE…`.

use dyno_import::{Imported, import};
use dyno_model::Language;
use dyno_report::layout::{Layout, Options, RunToPrint};
use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        match (import(path), std::fs::read_to_string(path)) {
            (Ok(imported), Ok(text)) => show(&imported, &text),
            (Err(error), _) => println!("{error}"),
            (_, Err(error)) => println!("{error}"),
        }
    }
}

fn show(imported: &Imported, source: &str) {
    let mut printed = String::new();
    for run in &imported.runs {
        let summary = &run.summary;
        let Some(origin) = &summary.run.origin else { continue };
        println!(
            "{} line {}: {} {} with {} levels, label {:?}, model {:?}, headings {:?}",
            summary.run.id,
            origin.line.unwrap_or_default(),
            origin.tool,
            origin.form,
            summary.levels.len(),
            summary.run.label,
            summary.run.model,
            origin.headings
        );
        let levels = summary
            .levels
            .iter()
            .take(3)
            .map(|level| (&level.label, level.input_length, level.output_length, &level.load));
        println!("    {:?}", levels.collect::<Vec<_>>());
        let (summary, extras) = (summary.clone(), run.extras.clone());
        let run = RunToPrint { summary, extras, detail: None, plan: None, environment: None };
        for layout in layouts(&origin.tool, &origin.form) {
            let options = Options { language: Language::Chinese, ..Options::default() };
            if let Ok(again) = layout.print(std::slice::from_ref(&run), &options) {
                let text = String::from_utf8_lossy(&again.bytes);
                printed.push_str(part(&text, &origin.form));
                printed.push('\n');
            }
        }
    }
    for problem in &imported.problems {
        let advice = problem.advice.as_deref().unwrap_or_default();
        println!("{:?} {}; {advice}", problem.severity, dyno_words::on_line(problem).what);
    }
    compare(source, &printed);
}

fn layouts(tool: &str, form: &str) -> &'static [Layout] {
    match (tool, form) {
        ("guidellm", _) => &[Layout::Guidellm],
        ("evalscope", _) => &[Layout::Evalscope],
        ("sglang", _) => &[Layout::Sglang],
        (_, "matrix") => &[Layout::VllmMatrix],
        _ => &[Layout::Vllm, Layout::Vllm06],
    }
}

/// EvalScope's layout is pivot and blocks; a run came from one of them.
fn part<'a>(text: &'a str, form: &str) -> &'a str {
    let (pivot, blocks) = text.split_once("\n\n").unwrap_or((text, text));
    match form {
        "pivot" => pivot,
        "block" if text.contains("Benchmarking summary") => blocks,
        _ => text,
    }
}

/// Counts the lines of the source that look like printed ones, and those that are the same.
fn compare(source: &str, printed: &str) {
    let bare = |line: &str| line.split_whitespace().collect::<String>();
    let shape = |line: &str| line.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    for line in printed.lines().map(bare) {
        *shapes.entry(shape(&line)).or_default() += 1;
        *lines.entry(line).or_default() += 1;
    }
    let (mut all, mut same) = (0, 0);
    for (number, line) in (1..).zip(source.lines()) {
        let line = bare(line.trim_start_matches(['>', ' ']));
        let figures = line.contains(|c: char| c.is_ascii_digit());
        if !figures || !shapes.contains_key(&shape(&line)) {
            continue;
        }
        all += 1;
        match lines.get_mut(&line).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                same += 1;
            }
            None => println!("    not printed the same: line {number}: {line}"),
        }
    }
    println!("{same} of {all} lines of metrics are printed the same");
}
