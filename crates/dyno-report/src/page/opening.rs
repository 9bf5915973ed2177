//! The top of the page: what was measured, when and where, what must not be overlooked, and the
//! summary; and its last line.

use super::markup::{Markup, class, tag};
use super::words::Word;
use super::{Page, answers, cards, findings};
use crate::messages::Message;
use crate::text::ABSENT;
use dyno_model::Verdict;
use dyno_model::summary::RunSummary;

/// What the run is called: its label, or its model, or its id.
fn name(run: &RunSummary) -> &str {
    let said = [run.label.as_deref(), run.model.as_deref()];
    said.into_iter().flatten().find(|name| !name.trim().is_empty()).unwrap_or(&run.id)
}

/// The title of the window.
pub(super) fn title(page: &Page) -> String {
    format!("{} – Dyno", dyno_words::escape::escape(name(&page.summary.run), 80))
}

/// Who was measured, when and where, and what must not be overlooked.
pub(super) fn header(page: &Page) -> Markup {
    let run = &page.summary.run;
    let engine = Message::EmbeddedEngine.text(page.language);
    let target = match (&run.target, &run.engine, &run.origin) {
        (Some(url), Some(which), None) => format!("{url}, {engine} ({which})"),
        (Some(url), _, _) => url.clone(),
        (None, Some(which), _) => format!("{engine} ({which})"),
        (None, None, Some(origin)) => origin.described(),
        (None, None, None) => engine.to_owned(),
    };
    let sources = [&run.token_source.input, &run.token_source.output]
        .map(|source| source.as_deref().unwrap_or(ABSENT).to_owned());
    let facts: [(Word, Option<String>); 8] = [
        (Word::Model, run.model.clone()),
        (Word::Target, Some(target)),
        (Word::Api, run.api.clone()),
        (Word::Started, run.started.as_deref().map(moment)),
        (Word::RunId, Some(run.id.clone())),
        (Word::Client, page.environment.map(|environment| environment.host.name.clone())),
        (Word::TokenCounts, Some(page.fill(Word::CountedBy, &[&sources[0], &sources[1]]))),
        (Word::Note, run.note.clone()),
    ];
    let facts = facts.into_iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.trim().is_empty())?;
        let name = tag("dt").text(page.say(name));
        Some(tag("div").add(name).add(tag("dd").text(&value)).into())
    });
    tag("header")
        .add(class("p", "kind").text(page.say(Word::Kind)))
        .add(tag("h1").text(name(run)))
        .add(class("dl", "facts").adds(facts))
        .adds(banners(page))
        .into()
}

/// `2026-01-31T12:34:56Z` as `2026-01-31 12:34:56 UTC`; anything else as it is.
fn moment(iso: &str) -> String {
    match iso.strip_suffix('Z').and_then(|rest| rest.split_once('T')) {
        Some((day, time)) => format!("{day} {time} UTC"),
        None => iso.to_owned(),
    }
}

/// What no figure may go without.
fn banners(page: &Page) -> Vec<Markup> {
    let run = &page.summary.run;
    let levels = &page.summary.levels;
    let count = |verdict: Verdict| levels.iter().filter(|level| level.verdict == verdict).count();
    let banner = |kind: &str, words: String| {
        let (head, rest) = words.split_once([':', '：']).unwrap_or(("", &words));
        let banner = class("p", &format!("banner {kind}")).attr("role", "note");
        banner.add(tag("strong").text(head)).text(" ").text(rest.trim()).into()
    };
    let mut all: Vec<Markup> = Vec::new();
    if run.predicted {
        all.push(banner("simulated", Message::Predicted.text(page.language).to_owned()));
    } else if run.simulated {
        all.push(banner("simulated", Message::Simulated.text(page.language).to_owned()));
    }
    if let Some(origin) = &run.origin {
        all.push(banner("partial", page.fill(Word::ReadFrom, &[&origin.tool])));
    }
    if run.partial {
        all.push(banner("partial", Message::Partial.text(page.language).to_owned()));
    }
    let of = levels.len().to_string();
    let invalid = count(Verdict::Invalid);
    if invalid > 0 {
        all.push(banner("invalid", page.fill(Word::SomeInvalid, &[&invalid.to_string(), &of])));
    }
    let suspect = count(Verdict::Suspect);
    if suspect > 0 {
        all.push(banner("suspect", page.fill(Word::SomeSuspect, &[&suspect.to_string(), &of])));
    }
    all
}

/// The answer, the headline figures, the SLO, and what was found.
pub(super) fn summary(page: &Page) -> Option<Markup> {
    if page.summary.levels.is_empty() {
        let none = class("p", "none").text(Message::NoLevel.text(page.language));
        return Some(tag("div").add(none).add(findings::findings(page)).into());
    }
    let parts = [
        answers::search(page),
        Some(cards::cards(page)),
        answers::slo(page),
        Some(findings::findings(page)),
    ];
    Some(parts.into_iter().flatten().collect())
}

/// Where the page comes from.
pub(super) fn footer(page: &Page) -> Markup {
    let run = &page.summary.run;
    let words = page.fill(Word::Made, &[&run.version, &run.id]);
    tag("footer").add(tag("p").text(&words)).into()
}
