//! Findings that several levels share: one, with the levels that it applies to, instead of one for
//! each level.

use crate::alike::{advice, alike, invalidates, numbers, worst};
use crate::messages::Say;
use dyno_model::summary::LevelSummary;
use dyno_model::{Diagnostic, Language};
use dyno_words::escape::escape;
use dyno_words::level_name;

/// Levels that are named before the others are only counted.
const NAMED: usize = 12;
const LABEL: usize = 40;
/// An advice that is so many times more than another level needs is not for all of them.
const FAR: f64 = 1.5;
/// Findings that differ in their numbers are listed up to this many.
const LISTED: usize = 3;
/// The longest text of a finding, which may name every metric.
const LONGEST_FINDING: usize = 600;

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
    said: Vec<(&'a Diagnostic, &'a LevelSummary)>,
    /// It makes its levels invalid.
    pub(super) invalid: bool,
    /// What was seen, and in which levels; each level is in one place.
    seen: Vec<(Vec<&'a str>, Vec<&'a LevelSummary>)>,
}

/// The findings of levels; those that are alike are one.
pub(super) fn groups<'a>(
    levels: &'a [LevelSummary],
    of: fn(&LevelSummary) -> &Vec<Diagnostic>,
) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    for level in levels {
        for own in of_level(level, of(level)) {
            match all.iter_mut().find(|group| group.has(own.said[0].0, own.invalid)) {
                Some(group) => group.join(own),
                None => all.push(own),
            }
        }
    }
    all
}

/// The findings of one level; those that are alike are one entry with all that was seen.
fn of_level<'a>(level: &'a LevelSummary, found: &'a [Diagnostic]) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    for said in found {
        let invalid = invalidates(said, level.verdict);
        match all.iter_mut().find(|group| group.has(said, invalid)) {
            Some(group) => {
                group.said.push((said, level));
                group.seen[0].0.push(&said.what);
            }
            None => all.push(Group {
                said: vec![(said, level)],
                invalid,
                seen: vec![(vec![&said.what], vec![level])],
            }),
        }
    }
    all
}

impl<'a> Group<'a> {
    fn has(&self, other: &Diagnostic, invalid: bool) -> bool {
        self.invalid == invalid && self.said.iter().any(|(said, _)| alike(said, other))
    }

    /// Adds the same finding of another level.
    fn join(&mut self, other: Self) {
        self.said.extend(other.said);
        for (what, levels) in other.seen {
            match self.seen.iter_mut().find(|(known, _)| *known == what) {
                Some((_, same)) => same.extend(levels),
                None => self.seen.push((what, levels)),
            }
        }
    }

    /// What to do about it. Where one level needs far more than another, that it is not for all of them.
    pub(super) fn advice(&self, language: Language) -> Option<String> {
        let most = advice(self.said.iter().map(|(said, _)| *said))?;
        let (_, level) = self.said.iter().find(|(said, _)| said.advice.as_deref() == Some(most))?;
        let one = |said: &Diagnostic| numbers(said.advice.as_deref().unwrap_or_default()).next();
        let needs = self.said.iter().filter_map(|(said, _)| one(said));
        let least = needs.reduce(f64::min);
        let far = least.zip(numbers(most).next()).is_some_and(|(least, most)| most > FAR * least);
        Some(match far && self.said.iter().any(|(_, other)| !std::ptr::eq(*other, *level)) {
            true => {
                let label = level_name(&escape(&level.label, LABEL), language).into_owned();
                most.to_owned() + &Say::OthersLess.with(language, &[label])
            }
            false => most.to_owned(),
        })
    }

    /// What was seen, with the names of the levels, of which there are `of`. Where it differs in its
    /// numbers in many of them, only the worst is said, and all of it for `every` reader.
    pub(super) fn texts(&self, of: usize, every: bool, language: Language) -> Vec<String> {
        let safe = |what: &[&str]| -> Vec<String> {
            what.iter().map(|what| escape(what, LONGEST_FINDING)).collect()
        };
        let named = |what: &[&str], levels: &[&LevelSummary]| {
            let what = safe(what).join(language.semicolon());
            [names(levels, of, language), what].join(language.colon())
        };
        match &self.seen[..] {
            // A single level needs no name.
            all if of == 1 => all.iter().flat_map(|(what, _)| safe(what)).collect(),
            all if !every && all.len() > LISTED => {
                let code = self.said.first().map_or("", |(said, _)| &said.code);
                let worst = worst(code, all.iter().map(|(what, _)| what.as_slice()));
                let (what, levels) = &all[worst];
                let others = (0..).zip(all).filter(|(at, _)| *at != worst);
                let others: Vec<&LevelSummary> =
                    others.flat_map(|(_, (_, levels))| levels.iter().copied()).collect();
                let others = names(&others, of, language);
                vec![named(what, levels) + &Say::Milder.with(language, &[others])]
            }
            all => all.iter().map(|(what, levels)| named(what, levels)).collect(),
        }
    }
}
