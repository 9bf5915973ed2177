//! The top of the page: what was measured, when and where, and the summary; and the footer.

use super::markup::{Markup, class, tag};
use super::words::Word;
use super::{Page, answers, cards, findings};
use crate::messages::Label;
use crate::text::ABSENT;
use dyno_draw::banners;
use dyno_model::summary::{LevelSummary, RunSummary};

/// What the run is called: its label, or its model, or its id.
fn name(run: &RunSummary) -> &str {
    let names = [run.label.as_deref(), run.model.as_deref()];
    names.into_iter().flatten().find(|name| !name.trim().is_empty()).unwrap_or(&run.id)
}

/// The heading: a prediction says that it is one.
fn heading(page: &Page) -> String {
    let name = name(&page.summary.run);
    match page.summary.run.predicted {
        true => page.fill(Word::PredictionOf, &[name]),
        false => name.to_owned(),
    }
}

/// The title of the window, with what must not be overlooked: tabs and bookmarks show nothing else.
pub(super) fn title(page: &Page) -> String {
    let banners = banners::banners(page.summary, page.language);
    let marks: String = banners::heads(&banners).iter().map(|head| format!("{head} · ")).collect();
    format!("{marks}{} – Dyno", dyno_words::escape::escape(&heading(page), 80))
}

/// What was measured, when and where, and what must not be overlooked.
pub(super) fn header(page: &Page) -> Markup {
    let run = &page.summary.run;
    let engine = Label::EmbeddedEngine.text(page.language);
    let target = match (&run.target, &run.engine, &run.origin) {
        (Some(url), Some(which), None) => format!("{url}, {engine} ({which})"),
        (Some(url), _, _) => url.clone(),
        (None, Some(which), _) => format!("{engine} ({which})"),
        (None, None, Some(origin)) => origin.described(),
        (None, None, None) => engine.to_owned(),
    };
    let sources = [&run.token_source.input, &run.token_source.output]
        .map(|source| source.as_deref().unwrap_or(ABSENT).to_owned());
    let counted = match page.summary.levels.iter().any(LevelSummary::has_inputs) {
        true => page.fill(Word::InputCountedBy, &[&sources[0]]),
        false => page.fill(Word::CountedBy, &[&sources[0], &sources[1]]),
    };
    let facts: [(Word, Option<String>); 8] = [
        (Word::Model, run.model.clone().filter(|model| run.engine.as_ref() != Some(model))),
        (Word::Target, Some(target)),
        (Word::Api, run.api.clone()),
        (Word::Started, run.started.as_deref().map(moment)),
        (Word::RunId, Some(run.id.clone())),
        (Word::Client, page.environment.map(|environment| environment.host.name.clone())),
        (Word::TokenCounts, Some(counted)),
        (Word::Note, run.note.clone()),
    ];
    let facts = facts.into_iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.trim().is_empty())?;
        let name = tag("dt").text(page.say(name));
        Some(tag("div").add(name).add(tag("dd").text(&value)).into())
    });
    let kind = if run.predicted { Word::KindPredicted } else { Word::Kind };
    tag("header")
        .add(class("p", "kind").text(page.say(kind)))
        .add(tag("h1").text(&heading(page)))
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

/// What must not be overlooked, below the title.
fn banners(page: &Page) -> Vec<Markup> {
    let all = banners::banners(page.summary, page.language).into_iter();
    all.map(|banner| {
        let note = class("p", &format!("banner {}", banner.kind.style())).attr("role", "note");
        note.add(tag("strong").text(&banner.head)).text(" ").text(&banner.text).into()
    })
    .collect()
}

/// The result of a search, the headline metrics, the SLO, and the findings.
pub(super) fn summary(page: &Page) -> Option<Markup> {
    if page.summary.levels.is_empty() {
        let none = class("p", "none").text(Label::NoLevel.text(page.language));
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

/// The version and the run that the page was made from.
pub(super) fn footer(page: &Page) -> Markup {
    let run = &page.summary.run;
    let made = page.fill(Word::Made, &[&run.version, &run.id]);
    tag("footer").add(tag("p").text(&made)).into()
}
