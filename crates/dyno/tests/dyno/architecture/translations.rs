//! Every message has a Chinese translation, in every crate but those in [`UNTRANSLATED`]. Messages
//! are found by the calls and attributes that make them, so a new one fails here before anybody reads
//! English in a Chinese locale.

use super::{folders, sources, workspace};
use std::collections::BTreeSet;
use std::path::Path;

/// Crates whose messages need no pair in `translations/`, each with the reason.
const UNTRANSLATED: &[(&str, &str)] = &[
    ("dyno-words", "its texts are catalogues, which have both languages"),
    ("dyno-testing", "for tests; not shipped"),
    ("xtask", "for contributors; not shipped"),
];

/// What a message is made by. The texts within its parentheses, or up to the end of its statement,
/// reach a person.
const MAKERS: [&str; 26] = [
    "#[error(",
    "UsageError::new(",
    ".hint(",
    "with_hint(",
    "printer.note(",
    "printer.warn(",
    "printer.error(",
    "printer.remark(",
    "observer.warn(",
    "observer.error(",
    "RunError::setting(",
    "RunError::Usage(",
    "RunError::Target(",
    "RunError::Own(",
    "RunError::Interrupted(",
    "Err(",
    "in_spec(",
    "refuse(",
    "wrong(",
    "fault(",
    ".ok_or(",
    ".ok_or_else(",
    ".map_err(",
    "advice.push(",
    "let wrong",
    "let message",
];

/// Files and folders whose messages go to clients of the engine as a server's responses, which are
/// English.
const RESPONSES: [&str; 6] = [
    "crates/dyno-engine/src/core/request.rs",
    "crates/dyno-engine/src/server/generate.rs",
    "crates/dyno-engine/src/server/reactor.rs",
    "crates/dyno-engine/src/server/routes.rs",
    "crates/dyno-engine/src/server/stream.rs",
    "crates/dyno-respond/src/api/",
];

/// Texts that need no translation, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Only flags and commands, which are the same in every language.
    ("--columns, --percentiles", "flags"),
    ("--concurrency {most} --requests N", "flags"),
    ("--data trace:FILE,speed=2,from=1m,to=5m", "flags"),
    ("--slo 'ttft.p99<500ms and errors<1%'", "flags"),
    ("dyno bench", "a command"),
    ("tar -x", "a command"),
    ("dyno bench --data trace:FILE,speed=2 --slo TERMS", "a command"),
    ("dyno capacity", "a command"),
    ("dyno predict", "a command"),
    // Parts that are put together; their parts are translated.
    ("{message}\n  hint: {hint}", "a form"),
];

/// A text that is split where its hint begins: both parts are translated separately.
const HINT: &str = "\\n  hint: ";

/// The code of a file without its tests and comments, so that quotes in them do not matter.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Where the string literal that begins at `start` ends, behind its quote.
fn literal_end(code: &str, start: usize) -> usize {
    let bytes = code.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The code without the rows of messages, which have both languages beside each other.
fn without_rows(code: &str) -> String {
    let mut parts = code.split("message!(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| {
        let text = |at: usize| part[at..].find('"').map(|start| literal_end(part, at + start));
        kept + &part[text(0).and_then(text).unwrap_or(0)..]
    })
}

/// The length of a character literal such as `'"'` at `at`; nothing for a lifetime.
fn character(code: &str, at: usize) -> Option<usize> {
    let rest = code[at..].strip_prefix('\'')?;
    let length = match rest.strip_prefix('\\') {
        Some(escaped) => 1 + escaped.chars().next()?.len_utf8(),
        None => rest.chars().next()?.len_utf8(),
    };
    rest.get(length..)?.starts_with('\'').then_some(length + 2)
}

/// The string literals from `start` to the matching bracket or the end of the statement.
fn literals(code: &str, start: usize) -> Vec<&str> {
    let (mut depth, mut at, mut found) = (0, start, Vec::new());
    while let Some(c) = code[at..].chars().next() {
        match c {
            '"' => {
                let end = literal_end(code, at);
                found.push(&code[at + 1..(end - 1).max(at + 1)]);
                at = end;
                continue;
            }
            '\'' => {
                at += character(code, at).unwrap_or(1);
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth <= 1 => return found,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return found,
            _ => {}
        }
        at += c.len_utf8();
    }
    found
}

/// A literal as it stands in `translations/`: without the line breaks of the source.
fn joined(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// Whether a text is for a person: at least two words, one of them outside its places.
fn is_message(text: &str) -> bool {
    let mut outside = String::new();
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    let word = |word: &str| word.chars().filter(char::is_ascii_lowercase).count() > 1;
    text.trim().contains(' ') && outside.split(' ').any(word)
}

/// The messages of a source file.
fn messages(text: &str) -> BTreeSet<String> {
    let code = without_rows(&code(text));
    let starts = MAKERS.iter().flat_map(|maker| {
        let bracket = usize::from(maker.ends_with('('));
        code.match_indices(maker).map(move |(at, maker)| at + maker.len() - bracket)
    });
    let all = starts.flat_map(|start| literals(&code, start)).map(joined);
    let parts = all.flat_map(|text| text.split(HINT).map(str::to_owned).collect::<Vec<_>>());
    parts.filter(|text| is_message(text)).collect()
}

/// The crates whose messages are checked: a new one is, unless it is excepted.
fn checked() -> Vec<String> {
    let folders = folders();
    for (name, _) in UNTRANSLATED {
        assert!(folders.iter().any(|folder| folder == name), "`{name}` is gone from crates/");
    }
    let excepted = |folder: &String| UNTRANSLATED.iter().any(|(name, _)| name == folder);
    folders.into_iter().filter(|folder| !excepted(folder)).collect()
}

fn is_excepted(text: &str) -> bool {
    EXCEPTIONS.iter().any(|(known, _)| known.split(HINT).any(|part| part == text))
}

#[test]
fn every_message_has_a_translation() {
    let known: BTreeSet<&str> = dyno_words::known().collect();
    let mut missing = Vec::new();
    for folder in checked() {
        for (path, text) in sources(&folder) {
            let place = path.strip_prefix(workspace()).unwrap_or(&path).display().to_string();
            let is_response = RESPONSES.iter().any(|responses| place.starts_with(responses));
            if is_response || path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            let without = messages(&text);
            let without =
                without.iter().filter(|text| !known.contains(text.as_str()) && !is_excepted(text));
            missing.extend(without.map(|text| format!("{place}: {text}")));
        }
    }
    missing.sort();
    assert!(
        missing.is_empty(),
        "{} messages have no Chinese; add each to crates/dyno-words/translations:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// Where agents are lost: whatever is said there may become the reason, and stand in a report.
const REASONS: [&str; 2] = ["crates/dyno-fleet/src/", "crates/dyno-run/src/fleet/"];
/// Its texts have both languages.
const IN_BOTH: &str = "crates/dyno-run/src/fleet/need.rs";
/// Texts in these folders that are no sentences.
const NO_REASONS: [&str; 7] = [
    // What servers and files are recognised by.
    "permissions violation",
    "BEGIN NATS USER JWT",
    // Commands and flags, which are the same in every language.
    "dyno bench",
    "dyno agent",
    "--bus TOKEN@",
    "--bus USER:PASSWORD@",
    "--bus USER@",
];

#[test]
fn every_reason_why_an_agent_is_lost_has_a_translation() {
    let known: BTreeSet<&str> = dyno_words::known().collect();
    let mut missing = BTreeSet::new();
    let mut seen = 0;
    for (path, text) in ["dyno-fleet", "dyno-run"].into_iter().flat_map(sources) {
        let place = path.strip_prefix(workspace()).unwrap_or(&path).display().to_string();
        let inside = REASONS.iter().any(|folder| place.starts_with(folder));
        if !inside || place.ends_with("tests.rs") || place == IN_BOTH {
            continue;
        }
        let code = without_rows(&code(&text));
        let mut at = 0;
        while let Some(start) = code[at..].find('"').map(|found| at + found) {
            at = literal_end(&code, start);
            let said = joined(&code[start + 1..(at - 1).max(start + 1)]);
            seen += usize::from(is_message(&said));
            if is_message(&said) && !known.contains(&*said) && !NO_REASONS.contains(&&*said) {
                missing.insert(format!("{place}: {said}"));
            }
        }
    }
    assert!(seen > 50, "{seen} texts were found");
    assert!(missing.is_empty(), "these have no Chinese:\n{missing:#?}");
}

#[test]
fn every_translation_is_of_a_text_in_the_code() {
    // The operating system and parsers say these, and the code puts some together.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno-words/translations");
    let outside = ["system.txt", "composed.txt"];
    let outside = outside.map(|file| std::fs::read_to_string(folder.join(file)).unwrap()).concat();
    let all: Vec<String> = folders()
        .iter()
        .flat_map(|folder| sources(folder))
        .flat_map(|(_, text)| {
            let code = code(&text);
            let all = code.match_indices('"').map(|(at, _)| at);
            all.map(|at| joined(&code[at + 1..(literal_end(&code, at) - 1).max(at + 1)]))
                .collect::<Vec<_>>()
        })
        .collect();
    let texts: BTreeSet<&str> = all.iter().flat_map(|text| text.split(HINT)).collect();
    let gone = dyno_words::known().filter(|english| {
        !texts.contains(english) && !outside.contains(&format!("en: {english}\n"))
    });
    let gone: Vec<&str> = gone.collect();
    assert!(gone.is_empty(), "no code says this any more:\n{}", gone.join("\n"));
}

#[test]
fn messages_are_found_where_they_are_made() {
    let text = r#"
        // Err("a comment is not a message")
        #[error("{flag}: {words}")]
        #[error("the file `{0}` is \
                 empty")]
        let wrong = |at: char| at == '"' || at == ')';
        Err(format!("{} is not {:?}\n  hint: write one", a, b))
        UsageError::new("--rate", "too high").hint(format!("at most {most}"));
        Err(message!("a row has both languages", "一行有两种语言", FILE))
        let other = "this is not a message";
    "#;
    let found: Vec<String> = messages(text).into_iter().collect();
    let expected =
        ["at most {most}", "the file `{0}` is empty", "too high", "write one", "{} is not {:?}"];
    assert_eq!(found, expected);
}
