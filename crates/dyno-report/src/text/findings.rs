//! What was found in a run and its levels, gravest first, with what to do: below the table.

use super::TextOptions;
use super::grouped::{Group, groups};
use super::level::{LONGEST_TEXT, quoted};
use crate::messages::{Label, Say};
use dyno_model::summary::{LevelSummary, Summary};
use dyno_words::columns::wrap;
use dyno_words::escape::escape;
use std::collections::BTreeMap;

/// The longest advice: Dyno's own has several sentences at times, and is never cut.
const LONGEST_ADVICE: usize = 1000;
/// Notes of several levels that are shown to every reader; what makes levels suspect or invalid always
/// is.
const NOTES: usize = 4;

/// The findings, one paragraph each; nothing where there are none.
pub(super) fn findings(summary: &Summary, options: &TextOptions) -> String {
    let (language, levels) = (options.language, &summary.levels[..]);
    let said = |mark: &'static str, group: &Group| {
        let texts = group.texts(levels.len(), options.details, language);
        paragraph(mark, &texts, group.advice(language).as_deref(), options)
    };
    let reasons = groups(levels, |level| &level.reasons);
    let (grave, doubts): (Vec<_>, Vec<_>) = reasons.iter().partition(|group| group.invalid);
    let mut all: Vec<String> = grave.into_iter().map(|group| said("✗", group)).collect();
    all.extend(doubts.into_iter().map(|group| said("!", group)));
    all.extend(failures(levels, options));
    let of_run = summary.notes.iter().map(|note| {
        let what = escape(&note.what, LONGEST_TEXT);
        paragraph("·", &[what], note.advice.as_deref(), options)
    });
    let of_levels = groups(levels, |level| &level.notes);
    let mut notes: Vec<String> = of_run.collect();
    notes.extend(of_levels.iter().map(|group| said("·", group)));
    let most = if options.details || levels.len() < 2 { usize::MAX } else { NOTES };
    // A line that only says that there is one more could as well be that one.
    let hidden = notes.len().saturating_sub(most);
    if hidden > 1 {
        notes.truncate(most);
        let more = Say::MoreNotes.with(language, &[hidden.to_string()]);
        notes.push(wrap("  · ", &more, options.prose()));
    }
    all.append(&mut notes);
    if all.is_empty() {
        return String::new();
    }
    format!("\n{}\n{}", Label::Notes.text(language), all.concat())
}

/// The failures of several levels by class, with what a server said. One level has them in its block,
/// as all have with details.
fn failures(levels: &[LevelSummary], options: &TextOptions) -> Vec<String> {
    if levels.len() < 2 || options.details {
        return Vec::new();
    }
    let mut classes: BTreeMap<&str, (u64, Option<String>)> = BTreeMap::new();
    for (level, (class, count)) in
        levels.iter().flat_map(|level| level.requests.failures.iter().map(move |of| (level, of)))
    {
        let (all, said) = classes.entry(class).or_default();
        *all += count;
        if said.is_none() {
            *said = quoted(level, class, options.language).into_iter().next();
        }
    }
    let line = |(class, (count, said)): (&str, (u64, Option<String>))| {
        let failed = Say::Failed.with(options.language, &[&count.to_string(), class]);
        let said = said.map(|said| format!(" {said}")).unwrap_or_default();
        wrap("    ", &(failed + &said), options.prose())
    };
    classes.into_iter().map(line).collect()
}

/// What was seen, then what to do.
fn paragraph(mark: &str, texts: &[String], advice: Option<&str>, options: &TextOptions) -> String {
    let mut out = String::new();
    for (at, text) in texts.iter().enumerate() {
        let start = if at == 0 { format!("  {mark} ") } else { "    ".to_owned() };
        let advice = advice.filter(|_| at + 1 == texts.len());
        let advice = advice.map(|advice| format!(" → {}", escape(advice, LONGEST_ADVICE)));
        let text = text.clone() + &advice.unwrap_or_default();
        out.push_str(&wrap(&start, &text, options.prose()));
    }
    out
}
