//! Findings that several levels share: one, with the levels that it applies to, instead of one for
//! each level.

use super::level::LONGEST_TEXT;
use crate::alike::{advice, alike, invalidates};
use crate::messages::Say;
use dyno_model::summary::LevelSummary;
use dyno_model::{Diagnostic, Language};
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
    // What one begins with need not be repeated by the next.
    let mut prefix = String::new();
    for label in &mut labels {
        match label.strip_prefix(&prefix).filter(|_| !prefix.is_empty()) {
            Some(rest) => *label = rest.to_owned(),
            None => prefix = label[..label.rfind(' ').map_or(0, |at| at + 1)].to_owned(),
        }
    }
    let more = levels.len().saturating_sub(NAMED);
    if more > 0 {
        labels.push(Say::MoreLevels.with(language, &[more.to_string()]));
    }
    labels.join(language.comma())
}

/// The same finding in one or more levels.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// One for each level.
    said: Vec<&'a Diagnostic>,
    /// It makes a level invalid.
    pub(super) invalid: bool,
    /// What was seen, and in which levels.
    seen: Vec<(&'a str, Vec<&'a LevelSummary>)>,
}

/// The findings of levels; those that are alike are one.
pub(super) fn groups<'a>(
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
    all
}

impl Group<'_> {
    fn has(&self, other: &Diagnostic) -> bool {
        self.said.iter().any(|said| alike(said, other))
    }

    /// What to do about it.
    pub(super) fn advice(&self) -> Option<&str> {
        advice(self.said.iter().copied())
    }

    /// What was seen, with the names of the levels, of which there are `of`. Where it differs in its
    /// numbers, all of it is said only for `every` reader.
    pub(super) fn texts(&self, of: usize, every: bool, language: Language) -> Vec<String> {
        let named = |what: &str, levels: &[&LevelSummary]| match of {
            1 => escape(what, LONGEST_TEXT),
            _ => [names(levels, of, language), escape(what, LONGEST_TEXT)].join(language.colon()),
        };
        match &self.seen[..] {
            [(what, levels), others @ ..] if !every && !others.is_empty() && of > 1 => {
                let others: Vec<&LevelSummary> =
                    others.iter().flat_map(|(_, levels)| levels.iter().copied()).collect();
                let others = names(&others, of, language);
                vec![named(what, levels) + &Say::Likewise.with(language, &[others])]
            }
            all => all.iter().map(|(what, levels)| named(what, levels)).collect(),
        }
    }
}
