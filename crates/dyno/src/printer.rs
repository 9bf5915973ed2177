//! All output of the program: results go to stdout, everything else to stderr. Handles --quiet and
//! --no-progress, and clears the progress line before a message. A closed pipe is not an error.

use crate::exit::Exit;
use dyno_live::{ProgressStyle, Said, Terminal, prefix};
use dyno_model::message::In;
use dyno_model::versus::Side;
use dyno_model::{Language, Localized, Message, message};
use dyno_words::columns::{width, wrap};
use dyno_words::escape;
use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What may be printed, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutputOptions {
    /// No notes and no progress.
    pub(crate) quiet: bool,
    /// No progress.
    pub(crate) no_progress: bool,
    /// The result is JSON.
    pub(crate) json: bool,
    /// Progress and messages are JSON lines.
    pub(crate) json_progress: bool,
}

/// The narrowest terminal that results are fitted to.
const NARROWEST: usize = 40;
/// Messages kept for the live view.
const REMEMBERED: usize = 64;

/// The state of the terminal.
#[derive(Debug, Default)]
struct Screen {
    line_shown: bool,
    /// While the live view has the terminal: messages to print when it closes.
    held: Option<Vec<String>>,
    said: VecDeque<Said>,
}

/// Prints messages and results. Copies share the screen.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    manners: OutputOptions,
    language: Language,
    colour: bool,
    on_terminal: bool,
    /// Which of two runs the messages are about.
    about: Option<Side>,
    screen: Arc<Mutex<Screen>>,
}

impl Printer {
    /// A printer for this process.
    pub(crate) fn new(manners: OutputOptions, language: Language) -> Self {
        let on_terminal = io::stderr().is_terminal();
        Self {
            manners,
            language,
            colour: on_terminal && colour_wanted(),
            on_terminal: on_terminal && !is_dumb(),
            about: None,
            screen: Arc::default(),
        }
    }

    /// The same screen with other manners.
    pub(crate) fn with(&self, manners: OutputOptions) -> Self {
        Self { manners, ..self.clone() }
    }

    /// The same screen, in another language.
    pub(crate) fn speaking(&self, language: Language) -> Self {
        Self { language, ..self.clone() }
    }

    /// The language of messages: that of the locale, unless `--lang` says otherwise.
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// The same screen, for messages about one of two runs.
    pub(crate) fn about(&self, side: Side) -> Self {
        Self { about: Some(side), ..self.clone() }
    }

    /// Useful to know; not printed with --quiet.
    pub(crate) fn note(&self, text: &impl Localized) {
        if !self.manners.quiet {
            self.say("note", "2", text);
        }
    }

    /// Something to fix.
    pub(crate) fn warn(&self, text: &impl Localized) {
        self.say("warning", "33", text);
    }

    /// Why the command fails.
    pub(crate) fn error(&self, text: &impl Localized) {
        self.say("error", "31", text);
    }

    /// Plain text on stderr, without a prefix; not printed with --quiet.
    pub(crate) fn remark(&self, text: &impl Localized) {
        if self.manners.json_progress {
            self.message("remark", &self.attributed(text));
        } else if !self.manners.quiet {
            let text = fitted("", &self.attributed(text), stderr_width());
            print(&mut self.cleared(), text);
        }
    }

    /// An event for programs, where they are wanted.
    pub(crate) fn event(&self, event: impl FnOnce() -> serde_json::Value) {
        if self.manners.json_progress {
            print(&mut self.cleared(), event().to_string());
        }
    }

    fn message(&self, kind: &str, text: &str) {
        self.event(|| serde_json::json!({"event": "message", "kind": kind, "text": text}));
    }

    /// The result, on stdout. A closed pipe is not an error: its reader has what it wanted.
    pub(crate) fn result(&self, text: &str) -> Exit {
        self.result_by(|stdout| stdout.write_all(text.as_bytes()))
    }

    /// A result that is written piece by piece.
    pub(crate) fn result_by(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Exit {
        let written = {
            let _screen = self.cleared();
            let mut stdout = io::BufWriter::new(io::stdout().lock());
            write(&mut stdout).and_then(|()| stdout.flush())
        };
        match written {
            Ok(()) => Exit::Fine,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
            Err(error) => {
                self.error(&message!(
                    "cannot write the result to stdout: {error}",
                    "无法将结果写到标准输出：{error}"
                ));
                Exit::Bug
            }
        }
    }

    /// Whether the result goes to a terminal.
    pub(crate) fn result_on_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether the result may be coloured.
    pub(crate) fn result_colour(&self) -> bool {
        self.result_on_terminal() && colour_wanted()
    }

    /// Columns of the terminal that the result goes to; nothing for files and pipes.
    pub(crate) fn terminal_width(&self) -> Option<usize> {
        match rustix::termios::tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 => Some(usize::from(size.ws_col).max(NARROWEST)),
            _ => None,
        }
    }

    fn say(&self, kind: &'static str, colour: &str, text: &dyn Localized) {
        if self.manners.json_progress {
            return self.message(kind, &self.attributed(text));
        }
        let mut screen = self.cleared();
        let text = self.attributed(text);
        screen.said.push_back(Said { kind, text: text.clone() });
        if screen.said.len() > REMEMBERED {
            screen.said.pop_front();
        }
        let prefix = prefix(kind, self.language);
        let line = fitted(&prefix, &text, stderr_width());
        let prefix = prefix.trim_end();
        print(
            &mut screen,
            match line.strip_prefix(prefix).filter(|_| self.colour) {
                Some(rest) => format!("\x1b[{colour}m{prefix}\x1b[0m{rest}"),
                None => line,
            },
        );
    }

    fn attributed(&self, text: &dyn Localized) -> String {
        let text = shown(text, self.language);
        match self.about {
            Some(side) => format!("{side}{}{text}", self.language.colon()),
            None => text,
        }
    }

    fn cleared(&self) -> MutexGuard<'_, Screen> {
        let mut screen = self.lock();
        if std::mem::take(&mut screen.line_shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        screen
    }

    fn lock(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Terminal for Printer {
    fn progress_style(&self) -> ProgressStyle {
        if self.manners.quiet || self.manners.no_progress {
            ProgressStyle::Hidden
        } else if self.manners.json_progress {
            ProgressStyle::Json
        } else if self.on_terminal {
            ProgressStyle::Line
        } else if self.manners.json {
            ProgressStyle::Hidden
        } else {
            ProgressStyle::Plain
        }
    }

    fn colour(&self) -> bool {
        self.colour
    }

    fn note(&self, text: &dyn Localized) {
        Self::note(self, &text);
    }

    fn draw_line(&self, line: &str) -> bool {
        let mut screen = self.lock();
        screen.line_shown = true;
        let mut stderr = io::stderr().lock();
        write!(stderr, "\r{line}\x1b[K").and_then(|()| stderr.flush()).is_ok()
    }

    fn plain_line(&self, line: &str) -> bool {
        print(&mut self.cleared(), line.to_owned())
    }

    fn clear_line(&self) {
        drop(self.cleared());
    }

    fn hold(&self) {
        self.cleared().held.get_or_insert_default();
    }

    fn release(&self) {
        let mut screen = self.lock();
        for text in screen.held.take().unwrap_or_default() {
            print(&mut screen, text);
        }
    }

    fn said(&self) -> Vec<Said> {
        self.lock().said.iter().cloned().collect()
    }
}

/// Columns of the terminal that messages go to; nothing for files and pipes.
fn stderr_width() -> Option<usize> {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 => Some(usize::from(size.ws_col).max(NARROWEST)),
        _ => None,
    }
}

/// The text behind `first`, with lines that are too long for the terminal broken between words; what
/// is left of such a line is indented.
fn fitted(first: &str, text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return format!("{first}{text}") };
    let mut out = Vec::new();
    for (place, line) in text.split('\n').enumerate() {
        let first = if place == 0 { first } else { "" };
        if width(first) + width(line) <= columns {
            out.push(format!("{first}{line}"));
            continue;
        }
        let body = line.trim_start_matches(' ');
        let start = format!("{first}{}", &line[..line.len() - body.len()]);
        // Behind a prefix the rest stands below the text, otherwise a little to the right of it.
        let further = if first.is_empty() { 2 } else { 0 };
        let wrapped = wrap(&" ".repeat(width(&start) + further), body, columns);
        let wrapped = wrapped.trim_end_matches('\n');
        out.push(start.clone() + wrapped.trim_start_matches(' '));
    }
    out.join("\n")
}

/// Prints a line on stderr, or holds it back; `false` if stderr is closed.
fn print(screen: &mut Screen, line: String) -> bool {
    match &mut screen.held {
        Some(held) => {
            held.push(line);
            true
        }
        None => writeln!(io::stderr(), "{line}").is_ok(),
    }
}

fn colour_wanted() -> bool {
    !is_dumb() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Prints an error when the state of the screen is unknown, as after a panic.
pub(crate) fn emergency(text: &Message, language: Language) {
    dyno_live::restore_terminal();
    let start = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let prefix = prefix("error", language);
    let _ = writeln!(io::stderr(), "{start}{prefix}{}", shown(text, language));
}

/// A text for the terminal. Errors quote files, servers and arguments; nothing of it may reach the terminal
/// as it is.
fn shown(text: &dyn Localized, language: Language) -> String {
    escape::lines(&In(text, language).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(manners: OutputOptions, on_terminal: bool) -> ProgressStyle {
        Printer { on_terminal, ..Printer::new(manners, Language::English) }.progress_style()
    }

    #[test]
    fn long_messages_are_broken_between_words_and_only_on_a_terminal() {
        let text = "each level starts when the one before has drained\n  hint: use --drain to change that time limit";
        assert_eq!(fitted("note: ", text, None), format!("note: {text}"));
        let expected = "note: each level starts when the one\n      before has drained\n  hint: use --drain to \
                        change that\n    time limit";
        assert_eq!(fitted("note: ", text, Some(40)), expected);
        assert_eq!(fitted("", "  a  table   row", Some(40)), "  a  table   row");
        for columns in 40..100 {
            assert!(
                fitted("note: ", text, Some(columns)).lines().all(|line| width(line) <= columns)
            );
        }
    }

    /// L2: an error quotes text of a file as it is.
    #[test]
    fn no_message_moves_the_cursor() {
        let printer = Printer::new(OutputOptions::default(), Language::English);
        let hint = Message::quoted("none");
        let wrong = Message::quoted("unknown variant `\x1b[2J\u{202e}`").with_hint(hint);
        let said = printer.attributed(&wrong);
        assert_eq!(said, "unknown variant `\\u{1b}[2J\\u{202e}`\n  hint: none");
    }

    #[test]
    fn what_is_held_is_kept_and_remembered() {
        let printer = Printer::new(OutputOptions::default(), Language::English);
        printer.hold();
        let quiet = printer.with(OutputOptions { quiet: true, ..OutputOptions::default() });
        let [one, unheard, two] = ["one", "unheard", "two"].map(Message::quoted);
        printer.note(&one);
        quiet.note(&unheard);
        printer.warn(&two);
        assert!(printer.plain_line("three"));
        let held = printer.lock().held.clone().unwrap();
        assert_eq!(held.len(), 3);
        assert!(held[0].ends_with("one") && held[1].ends_with("two") && held[2] == "three");
        let said = printer.said();
        assert_eq!(said.iter().map(|said| said.kind).collect::<Vec<_>>(), ["note", "warning"]);
        printer.release();
        assert_eq!(printer.lock().held, None);
    }

    #[test]
    fn progress_is_shown_on_terminals_and_in_logs() {
        let plain = OutputOptions::default();
        let json = OutputOptions { json: true, ..plain };
        assert_eq!(style(plain, true), ProgressStyle::Line);
        assert_eq!(style(plain, false), ProgressStyle::Plain);
        assert_eq!(style(json, true), ProgressStyle::Line);
        assert_eq!(style(json, false), ProgressStyle::Hidden);
        let lines = OutputOptions { json_progress: true, ..json };
        assert_eq!(
            (style(lines, true), style(lines, false)),
            (ProgressStyle::Json, ProgressStyle::Json)
        );
        for manners in
            [OutputOptions { quiet: true, ..plain }, OutputOptions { no_progress: true, ..plain }]
        {
            assert_eq!(style(manners, true), ProgressStyle::Hidden);
            assert_eq!(style(manners, false), ProgressStyle::Hidden);
        }
    }
}
