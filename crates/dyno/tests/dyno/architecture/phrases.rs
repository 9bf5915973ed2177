//! Plain words: phrases that made the prose odd and must not come back, anywhere a person reads.

use super::workspace;
use std::path::{Path, PathBuf};

/// A phrase, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("figures", "metrics, measurements, results or values"),
    ("gone on with", "resumed"),
    ("going on with", "resuming, continuing"),
    ("go on with", "resume, continue"),
    ("goes on with", "resumes, continues"),
    ("foretold", "predicted"),
    ("foretell", "predict"),
    ("foresee", "predict"),
    ("foreseen", "predicted"),
    ("cannot be told", "inconclusive; cannot be determined"),
    ("not to be told", "not identifiable"),
    ("to be had", "available"),
    ("want of", "lack of, out of"),
    ("is no error", "is not an error"),
    ("tells of itself", "reports"),
    ("says of itself", "reports"),
    ("to be known", "notes"),
    ("to begin with", "initially, first"),
    ("not proper", "malformed, incomplete"),
    ("made-up", "synthetic"),
    ("led anew", "replayed with the server's own responses"),
    ("anew", "again, re-"),
    ("answers put between", "with the server's own responses"),
    ("side traffic", "control requests"),
    ("worth having", "useful"),
    ("held against", "compared with"),
    ("hold against", "compare with"),
    ("through a heap", "a backlog"),
    ("a heap of", "a backlog of"),
    ("swept under the carpet", "hidden"),
    ("not spoken here", "unsupported"),
    ("is no text", "is not text"),
    ("less it is worth", "accuracy drops with distance"),
    ("corrected for their number", "corrected for multiple comparisons"),
    ("other words than", "a different message than"),
    ("nothing stands against", "nothing contradicts"),
    ("whoever", "the caller, the reader, anyone who"),
    ("whatever was asked", "the request"),
    ("what is told", "what is reported"),
    ("what was told", "what was reported"),
    ("is gone on", "is resumed"),
    ("of itself", "its own"),
    ("by and by", "gradually"),
    ("infinitely late", "counted as never answered"),
    ("whole-run", "of the whole level"),
    ("what agents speak", "the API that coding agents use"),
    ("drawn for this run", "random seed"),
];

/// Chinese terms that have another word for the same thing: one term each.
const TERMS: &[(&str, &str)] = &[
    ("稳定窗口", "稳态窗口"),
    ("首 token 延迟", "首 token 时延"),
    ("端到端延迟", "端到端时延"),
    ("仿真", "模拟"),
    ("结论", "判定"),
    ("轨迹", "流量记录"),
    ("孪生 {}", "孪生模型 {}"),
    ("全程吞吐量", "整档吞吐量（单个档位）"),
];
/// It reads other tools' tables, which have their own terms.
const OTHERS_TERMS: &str = "crates/dyno-import";

/// What a newcomer reads; generated and recorded files follow from it.
const ROOTS: [&str; 5] = ["crates", "docs", "scripts", ".ci", "fuzz"];
const ENDINGS: [&str; 8] = ["rs", "md", "js", "css", "toml", "txt", "snap", "sh"];
/// Files of older versions and other tools, which say what they said then.
const RECORDED: [&str; 4] = ["fixtures", "target", "corpus", "phrases.rs"];

fn files() -> Vec<PathBuf> {
    let names = [
        "README.md",
        "README.zh-CN.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.toml",
    ];
    let mut found: Vec<PathBuf> = names.map(|name| workspace().join(name)).into();
    let mut folders: Vec<PathBuf> = ROOTS.map(|root| workspace().join(root)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if RECORDED.contains(&name.as_str()) {
                continue;
            }
            let ending = path.extension().map(|end| end.to_string_lossy().into_owned());
            if path.is_dir() {
                folders.push(path);
            } else if ending.is_none_or(|end| ENDINGS.contains(&end.as_str())) {
                found.push(path);
            }
        }
    }
    found
}

/// What people read of Rust code: its comments and texts. Names are code.
fn prose(code: &str) -> String {
    let (mut prose, mut in_text) = (String::new(), false);
    for line in code.replace("'\"'", "' '").lines() {
        let mut escaped = false;
        for (at, c) in line.char_indices() {
            if !in_text && line[at..].starts_with("//") {
                prose.push_str(&line[at..]);
                break;
            }
            if c == '"' && !escaped {
                in_text = !in_text;
                prose.push(' ');
            } else if in_text {
                prose.push(c);
            }
            escaped = c == '\\' && !escaped;
        }
        prose.push('\n');
    }
    prose
}

/// Markdown without what is set as code, such as the names of fields; lines stay lines.
fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let kept = parts.map(|(at, part)| match at % 2 {
        0 => part.to_owned(),
        _ => "\n".repeat(part.matches('\n').count()),
    });
    kept.collect()
}

/// The words of a text in lower case, each with its line: a phrase may be broken by the end of a
/// line and the mark of a comment.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches(['/', '!', '*', '#', '>']);
        let parts = line.split(|c: char| !(c.is_alphanumeric() || "-'_".contains(c)));
        let parts = parts.filter(|part| !part.is_empty());
        words.extend(parts.map(|part| (part.to_lowercase(), number + 1)));
    }
    words
}

fn odd(path: &Path, text: &str) -> Vec<String> {
    let is_code = path.extension().is_some_and(|end| end == "rs");
    let words = match (is_code, path.extension().is_some_and(|end| end == "md")) {
        (true, _) => words(&prose(text)),
        // Without what is set as code, such as the names of fields.
        (_, true) => words(&without_code(text)),
        _ => words(text),
    };
    let mut found = Vec::new();
    for (phrase, instead) in PHRASES {
        let parts: Vec<&str> = phrase.split(' ').collect();
        let is = |window: &[(String, usize)]| window.iter().map(|(word, _)| word).eq(parts.iter());
        for window in words.windows(parts.len()).filter(|window| is(window)) {
            let line = window[0].1;
            found.push(format!("{}:{line}: “{phrase}”: write {instead}", path.display()));
        }
    }
    if !path.starts_with(OTHERS_TERMS) {
        for (number, line) in text.lines().enumerate() {
            let wrong = TERMS.iter().filter(|(term, _)| line.contains(term));
            let place = format!("{}:{}", path.display(), number + 1);
            found
                .extend(wrong.map(|(term, instead)| format!("{place}: “{term}”: write {instead}")));
        }
    }
    found
}

#[test]
fn odd_phrases_stay_away() {
    let found: Vec<String> = files()
        .iter()
        .filter_map(|path| Some((path, std::fs::read_to_string(path).ok()?)))
        .flat_map(|(path, text)| odd(path.strip_prefix(workspace()).unwrap(), &text))
        .collect();
    assert!(found.is_empty(), "{} odd phrases:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_phrase_is_found_across_the_end_of_a_line() {
    let text = "//! A run that was gone\n//! on with, and\nlet figures = \"Figures\"; // done\n";
    let found = odd(Path::new("a.rs"), text);
    let expected = [
        "a.rs:3: “figures”: write metrics, measurements, results or values",
        "a.rs:1: “gone on with”: write resumed",
    ];
    assert_eq!(found, expected);
    let found = odd(Path::new("a.md"), "没有稳定窗口");
    assert_eq!(found, ["a.md:1: “稳定窗口”: write 稳态窗口"]);
    assert!(odd(Path::new("crates/dyno-import/src/a.rs"), "\"首 token 延迟\"").is_empty());
}
