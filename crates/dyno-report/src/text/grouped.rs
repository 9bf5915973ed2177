//! Findings and notes that several levels share: printed once, with the levels they apply to,
//! instead of once for each level.

use super::TextOptions;
use super::level::{LONGEST_TEXT, advice};
use super::paint::heading;
use crate::alike::{alike, invalidates};
use crate::messages::Say;
use dyno_model::summary::LevelSummary;
use dyno_model::{Diagnostic, Language};
use dyno_words::columns::wrap;
use dyno_words::escape::escape;

/// Levels that are named before the others are only counted.
const NAMED: usize = 12;
const LABEL: usize = 40;

/// The levels by name: `concurrency 1, 2, 4`, or that it is all of them.
pub(crate) fn names(levels: &[&LevelSummary], of: usize, language: Language) -> String {
    if levels.len() > 2 && levels.len() == of {
        return Say::AllLevels.text(language).to_owned();
    }
    let mut labels: Vec<String> =
        levels.iter().take(NAMED).map(|level| escape(&level.label, LABEL)).collect();
    let first = labels.first().cloned().unwrap_or_default();
    let begins = first.rfind(' ').map_or(0, |at| at + 1);
    let (prefix, _) = first.split_at(begins);
    if !prefix.is_empty() && labels.iter().all(|label| label.starts_with(prefix)) {
        labels.iter_mut().skip(1).for_each(|label| *label = label.split_off(begins));
    }
    let more = levels.len().saturating_sub(NAMED);
    if more > 0 {
        labels.push(Say::MoreLevels.with(language, &[more.to_string()]));
    }
    labels.join(language.comma())
}

/// What two or more levels have in common.
#[derive(Debug, Default)]
pub(super) struct Grouped<'a> {
    reasons: Vec<Group<'a>>,
    notes: Vec<Group<'a>>,
}

#[derive(Debug)]
struct Group<'a> {
    /// One for each level.
    said: Vec<&'a Diagnostic>,
    invalid: bool,
    /// What was seen, and in which levels.
    seen: Vec<(&'a str, Vec<&'a LevelSummary>)>,
}

impl<'a> Grouped<'a> {
    /// What the levels share.
    pub(super) fn of(levels: &'a [LevelSummary]) -> Self {
        Self {
            reasons: groups(levels, |level| &level.reasons),
            notes: groups(levels, |level| &level.notes),
        }
    }

    /// A reason of a level that is printed with those of others.
    pub(super) fn has_reason(&self, reason: &Diagnostic) -> bool {
        self.reasons.iter().any(|group| group.has(reason))
    }

    /// A note of a level that is printed with those of others.
    pub(super) fn has_note(&self, note: &Diagnostic) -> bool {
        self.notes.iter().any(|group| group.has(note))
    }

    /// The section above the levels; nothing where they share nothing.
    pub(super) fn section(&self, levels: usize, options: &TextOptions) -> String {
        if self.reasons.is_empty() && self.notes.is_empty() {
            return String::new();
        }
        let title = heading(Say::SeveralLevels.text(options.language), options);
        let mut out = format!("\n{title}\n");
        for group in &self.reasons {
            let mark = if group.invalid { "✗" } else { "!" };
            out.push_str(&group.text(mark, levels, options));
        }
        self.notes.iter().for_each(|group| out.push_str(&group.text("·", levels, options)));
        out
    }
}

fn groups<'a>(
    levels: &'a [LevelSummary],
    of: fn(&LevelSummary) -> &Vec<Diagnostic>,
) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    for level in levels {
        for said in of(level) {
            let invalid = invalidates(said, level.verdict);
            let seen = (said.what.as_str(), vec![level]);
            match all.iter_mut().find(|group| group.has(said)) {
                Some(group) => {
                    group.said.push(said);
                    group.invalid |= invalid;
                    match group.seen.iter_mut().find(|(what, _)| *what == said.what) {
                        Some((_, same)) => same.push(level),
                        None => group.seen.push(seen),
                    }
                }
                None => all.push(Group { said: vec![said], invalid, seen: vec![seen] }),
            }
        }
    }
    let several = |group: &Group| {
        let mut levels = group.seen.iter().flat_map(|(_, levels)| levels);
        let first = levels.next();
        levels.any(|level| first.is_some_and(|first| !std::ptr::eq(*first, *level)))
    };
    all.retain(several);
    all
}

impl Group<'_> {
    fn has(&self, other: &Diagnostic) -> bool {
        self.said.iter().any(|said| alike(said, other))
    }

    fn text(&self, mark: &str, levels: usize, options: &TextOptions) -> String {
        let mut out = String::new();
        for (at, (what, same)) in self.seen.iter().enumerate() {
            let names = names(same, levels, options.language);
            let text = [names.as_str(), &escape(what, LONGEST_TEXT)].join(options.language.colon());
            let start = if at == 0 { format!("  {mark} ") } else { "    ".to_owned() };
            out.push_str(&wrap(&start, &text, options.prose()));
        }
        out + &advice(self.said.iter().copied(), options)
    }
}
