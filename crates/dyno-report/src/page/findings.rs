//! The findings, the gravest first: what was seen, in which levels, and what to do.

use super::Page;
use super::markup::{Markup, class, tag};
use super::tables::{pairs, pill};
use super::words::Word;
use crate::alike;
use crate::text::exactness;
use crate::text::overload::{refused, with_failures};
use dyno_model::{Diagnostic, Verdict};

/// Levels that are named before the rest is folded away.
const SHOWN: usize = 4;

/// The code of notes on predictions beyond what their twin was fitted to.
const EXTRAPOLATED: &str = "beyond_range";

/// The same finding in one or more levels.
struct Found<'a> {
    code: &'a str,
    /// One for each level that has it.
    said: Vec<&'a Diagnostic>,
    /// Its effect on a level; a note has none.
    verdict: Option<Verdict>,
    /// What was seen, and in which levels; no levels where it concerns the whole run.
    seen: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Found<'a> {
    /// What to do: that of the first, or of a like one that asks for more.
    fn advice(&self) -> Option<&'a str> {
        let first = *self.said.first()?;
        alike::advice(self.said.iter().copied().filter(|said| alike::alike(first, said)))
    }
}

fn gather<'a>(page: &Page<'a>) -> Vec<Found<'a>> {
    let mut all: Vec<Found<'a>> = Vec::new();
    let mut add = |reason: &'a Diagnostic, verdict: Option<Verdict>, level: Option<&'a str>| {
        let what = reason.what.as_str();
        // By weight, too: what made levels invalid stands apart.
        let same = |found: &&mut Found| found.code == reason.code && found.verdict == verdict;
        match all.iter_mut().find(same) {
            Some(found) => {
                found.said.push(reason);
                match found.seen.iter_mut().find(|(known, _)| *known == what) {
                    Some((_, levels)) => levels.extend(level),
                    None => found.seen.push((what, level.into_iter().collect())),
                }
            }
            None => all.push({
                let seen = vec![(what, level.into_iter().collect())];
                Found { code: &reason.code, said: vec![reason], verdict, seen }
            }),
        }
    };
    for level in &page.summary.levels {
        let reasons = level.reasons.iter();
        // The same code may be graver in another level.
        let most = level.verdict.max(Verdict::Suspect);
        reasons.for_each(|reason| {
            add(reason, Some(alike::weight(reason).min(most)), Some(&level.label))
        });
    }
    page.summary.notes.iter().for_each(|note| add(note, None, None));
    for level in &page.summary.levels {
        level.notes.iter().for_each(|note| add(note, None, Some(&level.label)));
    }
    // Stable: within a weight they stay in the order of the levels.
    all.sort_by_key(|found| std::cmp::Reverse(found.verdict));
    all
}

/// All findings, or a paragraph that says why there are none.
pub(super) fn findings(page: &Page) -> Markup {
    let all = gather(page);
    let (grave, notes): (Vec<&Found>, Vec<&Found>) =
        all.iter().partition(|found| found.verdict.is_some());
    let list = |found: &[&Found]| {
        class("ul", "findings").adds(found.iter().map(|found| item(page, found)))
    };
    let mut parts: Vec<Markup> = vec![tag("h3").text(page.say(Word::Findings)).into()];
    if grave.is_empty() && !page.summary.levels.is_empty() {
        let (kind, text) = no_findings(page, &notes);
        parts.push(class("p", kind).text(page.say(text)).into());
    }
    if !grave.is_empty() {
        parts.push(list(&grave).into());
    }
    if !notes.is_empty() {
        let count = notes.len().to_string();
        let head = tag("summary").text(&page.fill(Word::Notes, &[&count]));
        let folded = tag("details").maybe("open", (notes.len() <= 3).then_some(""));
        parts.push(folded.add(head).add(list(&notes)).into());
    }
    let levels = page.summary.levels.iter();
    let lines = levels.map(|level| (level.label.clone(), refused(level, page.language)));
    let head = tag("summary").text(page.say(Word::OnShed));
    let open = || tag("details").maybe("open", Some(""));
    parts.extend(pairs(lines.collect()).map(|list| open().add(head).add(list).into()));
    let levels = page.summary.levels.iter();
    let late = levels.map(|level| (level.label.clone(), with_failures(level, page.language)));
    let head = tag("summary").text(page.say(Word::WithFailures));
    let late = pairs(late.collect());
    parts.extend(late.map(|list| open().add(head).add(list).into()));
    let levels = page.summary.levels.iter();
    let lines = levels.map(|level| (level.label.clone(), exactness(level, page.language)));
    let head = tag("summary").text(page.say(Word::Exactness));
    parts.extend(pairs(lines.collect()).map(|list| tag("details").add(head).add(list).into()));
    parts.into_iter().collect()
}

/// The paragraph where there is nothing but notes. An extrapolation is not a clean bill of health.
fn no_findings(page: &Page, notes: &[&Found]) -> (&'static str, Word) {
    let run = &page.summary.run;
    let valid = page.summary.levels.iter().all(|level| level.verdict == Verdict::Valid);
    match notes.iter().any(|note| note.code == EXTRAPOLATED) {
        true => ("caution", Word::Extrapolated),
        false if run.predicted => ("plain", Word::NothingPredicted),
        false if valid => ("fine", Word::NothingFound),
        false => ("plain", Word::NothingImported),
    }
}

fn item(page: &Page, found: &Found) -> Markup {
    let (kind, word) = match found.verdict {
        Some(Verdict::Invalid) => ("bad", Verdict::Invalid.name(page.language)),
        Some(_) => ("unsure", Verdict::Suspect.name(page.language)),
        None => ("plain", page.say(Word::NotePill)),
    };
    let line = |(what, levels): &(&str, Vec<&str>)| -> Markup {
        let all = levels.len() > 2 && levels.len() == page.summary.levels.len();
        let names = match all {
            true => page.say(Word::AllLevels).to_owned(),
            false => levels.join(page.language.comma()),
        };
        let levels = (!levels.is_empty()).then(|| class("b", "level").text(&names).into());
        tag("li").adds(levels).add(tag("span").text(what)).into()
    };
    let (first, rest) = found.seen.split_at(found.seen.len().min(SHOWN));
    let mut body = tag("div").add(class("ul", "seen").adds(first.iter().map(line)));
    if !rest.is_empty() {
        let more = tag("summary").text(&page.fill(Word::MoreLevels, &[&rest.len().to_string()]));
        let list = class("ul", "seen").adds(rest.iter().map(line));
        body = body.add(tag("details").add(more).add(list));
    }
    if let Some(advice) = found.advice() {
        let to_do = class("p", "advice").add(tag("b").text(page.say(Word::ToDo)));
        body = body.add(to_do.text(" ").text(advice));
    }
    let id = match found.verdict {
        Some(Verdict::Invalid) => format!("finding-{}-invalid", found.code),
        _ => format!("finding-{}", found.code),
    };
    tag("li").attr("id", &id).add(pill(kind, word)).add(body).into()
}
