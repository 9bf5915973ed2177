//! A Markdown page as this test sees it: fenced blocks with their marks, and hidden set-up commands.
//! What is done with them is in `run.rs`, how samples are compared in `shape.rs`.

use std::ops::Range;

/// What a mark asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// The commands are run.
    Run,
    /// The commands are run while an engine listens at `http://localhost:8000`.
    Engine,
    /// The one command is started and becomes the engine of the blocks below it.
    Serve,
    /// The commands are run with `--dry-run`.
    Plan,
    /// A sample of what the block before it printed.
    Output,
    /// Only shown, for the reason given.
    Shown,
}

/// One command, and the sample of its output where the page has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) script: String,
    /// Lines of the page, counted from 0.
    pub(super) sample: Option<Range<usize>>,
}

/// A block, or a hidden set-up command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) mark: Mark,
    /// The line of the opening fence, counted from 1.
    pub(super) line: usize,
    pub(super) status: i32,
    /// Real time was measured, so a busy machine may change verdicts.
    pub(super) measured: bool,
    pub(super) commands: Vec<Command>,
}

/// Languages that must be marked: what a reader would type, and what a program printed.
const MARKED: [&str; 5] = ["sh", "bash", "shell", "console", "text"];

/// The blocks of a page that have a mark, in order, or every mistake in the marks.
pub(super) fn blocks(page: &str) -> Result<Vec<Block>, Vec<String>> {
    let lines: Vec<&str> = page.lines().collect();
    let (mut blocks, mut mistakes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim();
        if let Some(script) =
            line.strip_prefix("<!-- before: ").and_then(|l| l.strip_suffix(" -->"))
        {
            blocks.push(Block {
                mark: Mark::Run,
                line: at + 1,
                status: 0,
                measured: false,
                commands: vec![Command { script: script.to_owned(), sample: None }],
            });
        } else if let Some(info) = line.strip_prefix("```") {
            let end =
                (at + 1..lines.len()).find(|&l| lines[l].trim() == "```").unwrap_or(lines.len());
            match block(info, at, &lines[at + 1..end]) {
                Ok(found) => blocks.extend(found),
                Err(mistake) => mistakes.push(format!("line {}: {mistake}", at + 1)),
            }
            at = end;
        }
        at += 1;
    }
    if mistakes.is_empty() { Ok(blocks) } else { Err(mistakes) }
}

fn block(info: &str, at: usize, body: &[&str]) -> Result<Option<Block>, String> {
    let (language, marks) = info.split_once(' ').unwrap_or((info, ""));
    if !MARKED.contains(&language) {
        return Ok(None);
    }
    let (words, reason) = marks.split_once(':').unwrap_or((marks, ""));
    let mut words = words.split(' ');
    let text = language == "text";
    let mark = match words.next().unwrap_or_default() {
        "run" if !text => Mark::Run,
        "engine" if !text => Mark::Engine,
        "serve" if !text => Mark::Serve,
        "plan" if !text => Mark::Plan,
        "output" if text => Mark::Output,
        "shown" if !reason.trim().is_empty() => Mark::Shown,
        "shown" => {
            return Err(format!("```{info}: say why it is not run: `{language} shown: REASON`"));
        }
        _ if text => {
            return Err(format!("```{info}: mark it `text output` or `text shown: REASON`"));
        }
        _ => {
            return Err(format!(
                "```{info}: mark it `{language} run`, `engine`, `serve`, `plan` or `shown: REASON`"
            ));
        }
    };
    let (mut status, mut measured) = (0, mark == Mark::Engine);
    for word in words {
        if word == "measured" {
            measured = true;
            continue;
        }
        let number = word.strip_prefix("status=").and_then(|number| number.parse().ok());
        status = number.ok_or_else(|| {
            format!("```{info}: `{word}` is unknown; there are status=N and measured")
        })?;
    }
    let commands = match (&mark, language) {
        (Mark::Shown, _) => Vec::new(),
        (Mark::Output, _) => {
            vec![Command { script: String::new(), sample: Some(at + 1..at + 1 + body.len()) }]
        }
        (_, "console") => console(at + 1, body)?,
        _ => vec![Command { script: body.join("\n"), sample: None }],
    };
    Ok(Some(Block { mark, line: at + 1, status, measured, commands }))
}

/// `$ command`, lines that continue it, then what it prints.
fn console(first: usize, body: &[&str]) -> Result<Vec<Command>, String> {
    let mut commands: Vec<Command> = Vec::new();
    let mut continued = false;
    for (at, line) in body.iter().enumerate() {
        let typed = line.trim_start().strip_prefix("$ ");
        match (commands.last_mut(), typed) {
            (Some(last), None) if continued => last.script = format!("{}\n{line}", last.script),
            (_, Some(typed)) => commands.push(Command { script: typed.to_owned(), sample: None }),
            (Some(last), None) => {
                let start = last.sample.as_ref().map_or(first + at, |sample| sample.start);
                last.sample = Some(start..first + at + 1);
            }
            (None, None) => return Err("a console block begins with `$ COMMAND`".to_owned()),
        }
        continued = line.ends_with('\\') && (continued || typed.is_some());
    }
    Ok(commands)
}
