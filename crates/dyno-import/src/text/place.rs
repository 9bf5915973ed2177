//! The place of something in a document: the headings above it, and the lines just above.

use super::chatter::is_chatter;
use super::plain::plain;
use dyno_form::lines::{LineKind, TextLine};

/// Lines before a block in which a tool may have stated its settings.
const AHEAD: usize = 400;

/// Nested headings.
const DEEPEST: usize = 12;

/// The place of something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TextPlace {
    /// The headings above, outermost first, as plain text.
    pub(crate) headings: Vec<String>,
    /// The lines of the paragraph just above, unchanged.
    pub(crate) above: Vec<String>,
}

/// Follows a document line by line.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    headings: Vec<(usize, String)>,
    above: Vec<String>,
    /// There was an empty line after the paragraph above.
    gap: bool,
    /// Lines within a fence can name things inside it only.
    names_within: bool,
    /// There was a result within the fence.
    result_within: bool,
    ahead: Vec<String>,
    front_matter: bool,
    /// There is something under the last heading.
    filled: bool,
    /// It is Markdown, in which a line below another makes a heading of that.
    markdown: bool,
}

impl Follower {
    /// At the start of a text.
    pub(crate) fn of(lines: &[TextLine]) -> Self {
        let markdown =
            lines.iter().any(|line| line.kind == LineKind::Open || heading(line).is_some());
        Self { markdown, ..Self::default() }
    }

    /// A line that is not part of a result.
    pub(crate) fn pass(&mut self, line: &TextLine) {
        let text = line.text.as_str();
        if self.in_front_matter(line) {
            return;
        }
        match line.kind {
            LineKind::Open => {
                self.filled = true;
                self.names_within = self.headings.is_empty() && self.above.is_empty();
                self.result_within = false;
                return;
            }
            LineKind::Close => {
                if !self.result_within {
                    self.above.clear();
                }
                return;
            }
            LineKind::Code => {
                self.remember(text);
                if !self.names_within {
                    return;
                }
            }
            LineKind::Text => self.remember(text),
        }
        if text.is_empty() {
            self.gap = true;
        } else if let Some((depth, words)) = heading(line) {
            self.enter(depth, words);
        } else if line.kind == LineKind::Text && self.underlined(text) {
            if let Some(words) = self.above.pop() {
                self.enter(if text.starts_with('=') { 1 } else { 2 }, plain(&words));
            }
        } else if is_chatter(text) {
            // A tool has started: the lines before it are not right above its result.
            self.above.clear();
            self.gap = true;
        } else if !plain(text).is_empty() {
            if self.gap {
                self.above.clear();
            }
            self.gap = false;
            self.filled = true;
            self.above.push(text.to_owned());
        }
    }

    fn remember(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // Of a progress bar only the last state says anything.
        let bar = |line: &str| line.contains("%|");
        if bar(text) && self.ahead.last().is_some_and(|last| bar(last)) {
            self.ahead.pop();
        }
        if self.ahead.len() >= 2 * AHEAD {
            self.ahead.drain(..AHEAD);
        }
        self.ahead.push(text.to_owned());
    }

    /// A line of a table that is not a result: it may state settings, but it is not a title.
    pub(crate) fn skip(&mut self, line: &TextLine) {
        self.remember(&line.text);
    }

    /// The lines that a tool may have printed ahead of its result.
    pub(crate) fn ahead(&self) -> &[String] {
        &self.ahead
    }

    /// A result was found here: returns its place.
    pub(crate) fn found(&mut self) -> TextPlace {
        self.result_within = true;
        self.filled = true;
        self.gap = false;
        self.ahead.clear();
        TextPlace {
            headings: self.headings.iter().map(|(_, words)| words.clone()).collect(),
            above: std::mem::take(&mut self.above),
        }
    }

    fn enter(&mut self, depth: usize, words: String) {
        // A heading directly followed by another one belongs to what follows.
        let full = self.filled || self.headings.len() >= DEEPEST;
        let kept = if full { depth } else { depth + 1 };
        self.headings.retain(|(above, _)| *above < kept);
        self.headings.push((depth, words));
        self.filled = false;
        self.above.clear();
        self.ahead.clear();
        self.gap = false;
    }

    /// Whether a line makes the one above it a heading. A log separates its parts by such lines, too: there
    /// they are as long as a heading only by chance.
    fn underlined(&self, text: &str) -> bool {
        let drawn =
            text.len() >= 3 && (text.chars().all(|c| c == '=') || text.chars().all(|c| c == '-'));
        let above = self.above.last().map(|words| words.chars().count());
        let fits = above.is_some_and(|above| above.abs_diff(text.len()) <= 2);
        drawn && !self.gap && (self.markdown || (fits && self.above.len() == 1))
    }

    /// The front matter that some pages start with.
    fn in_front_matter(&mut self, line: &TextLine) -> bool {
        let rule = line.text == "---";
        if line.number == 1 && rule {
            self.front_matter = true;
        } else if self.front_matter && rule {
            self.front_matter = false;
            return true;
        }
        self.front_matter
    }
}

fn heading(line: &TextLine) -> Option<(usize, String)> {
    let depth = line.text.chars().take_while(|c| *c == '#').count();
    let rest = line.text.get(depth..)?;
    let is_heading =
        line.kind == LineKind::Text && (1..=6).contains(&depth) && rest.starts_with(' ');
    let words = plain(rest);
    (is_heading && !words.is_empty()).then_some((depth, words))
}
