//! The result of a search (the capacity or the knee), and which levels meet the SLO.

use super::Page;
use super::markup::{Markup, class, tag};
use super::numbers::{counted, grouped, percent, shown};
use super::tables::{self, Cell};
use super::words::Word;
use crate::text::{ABSENT, highest_met, middle, number, tried};
use dyno_model::Decision;
use dyno_model::summary::{LevelSummary, SearchSummary, SloSummary};

/// Three digits, and whole numbers as they are.
fn load(value: f64) -> String {
    if value.fract() == 0.0 && value >= 1.0 { counted(value as u64) } else { grouped(value) }
}

/// The result of a search.
pub(super) fn search(page: &Page) -> Option<Markup> {
    let slo = page.summary.run.slo.as_deref().unwrap_or_default();
    let (head, text, doubt) = match page.summary.search.as_ref()? {
        found @ SearchSummary::Capacity {
            unit, holds, does_not_hold, confidence, doubt, ..
        } => {
            let open = found.outcome() == Some(Decision::Inconclusive);
            let sure = confidence.map(|chance| {
                page.fill(Word::Sure, &[&format!("{:.0}", (100.0 * chance).floor())])
            });
            let sure = sure.unwrap_or_default();
            let highest = highest_met(page.summary, unit)
                .map(|highest| page.fill(Word::HighestMet, &[&load(highest)]))
                .unwrap_or_default();
            let about = |low, high| load(middle(low, high, unit));
            let found_unit = unit;
            let unit = match found_unit.as_str() {
                "req/s" => page.say(Word::PerSecond),
                _ => page.say(Word::InFlightUnit),
            };
            let text = match (holds, does_not_hold) {
                (Some(low), Some(high)) => {
                    let about = about(*low, *high);
                    let (low, high) = (load(*low), load(*high));
                    page.fill(Word::HoldsBetween, &[&about, unit, &low, &high, &sure, slo])
                        + &highest
                }
                (Some(low), None) => {
                    let tried = tried(page.summary, found_unit, *low, page.language);
                    page.fill(Word::HoldsAll, &[&load(*low), unit, slo, &tried])
                }
                (None, Some(high)) if open => {
                    page.fill(Word::HoldsOpen, &[&load(*high), unit, slo])
                }
                (None, Some(high)) => page.fill(Word::HoldsNone, &[&load(*high), unit, slo]),
                (None, None) => page.fill(Word::HoldsUnknown, &[slo]),
            };
            (Word::Capacity, text, doubt.as_ref().map(|doubt| doubt.what.as_str()))
        }
        SearchSummary::Knee { concurrency, requests_per_s, highest_per_s } => {
            let values = [load(*concurrency), grouped(*requests_per_s), grouped(*highest_per_s)];
            let values = values.each_ref().map(String::as_str);
            (Word::Knee, page.fill(Word::KneeAt, &values), None)
        }
    };
    let answer = class("div", "answer")
        .add(class("span", "name").text(page.say(head)))
        .add(class("p", "words").text(&text));
    let doubt = doubt.map(|doubt| tag("p").text(&page.fill(Word::WithCare, &[doubt])).into());
    Some(answer.adds(doubt).into())
}

/// Which levels meet the SLO.
pub(super) fn slo(page: &Page) -> Option<Markup> {
    let slo = page.summary.run.slo.as_deref()?;
    let judged: Vec<(&LevelSummary, &SloSummary)> =
        page.summary.levels.iter().filter_map(|level| Some((level, level.slo.as_ref()?))).collect();
    let passed = judged.iter().filter(|(level, _)| level.passes()).count();
    let open = page.summary.slo_outcome() == Some(Decision::Inconclusive);
    let headline = match passed {
        0 if open => page.say(Word::SloOpen).to_owned(),
        0 => page.say(Word::SloNone).to_owned(),
        n => page.fill(Word::SloSome, &[&n.to_string(), &judged.len().to_string()]),
    };
    let terms: Vec<&str> = judged
        .first()
        .map(|(_, slo)| slo.verdict.terms.iter().map(|term| term.term.as_str()).collect())
        .unwrap_or_default();
    let mut heads = vec![page.say(Word::Level).to_owned(), page.say(Word::SloKept).to_owned()];
    heads.extend(terms.iter().map(|term| (*term).to_owned()));
    heads.extend([page.say(Word::GoodputUnit).to_owned(), page.say(Word::MetShare).to_owned()]);
    let rows = judged.iter().map(|(level, slo)| row(page, level, slo)).collect();
    let table = tables::table(page.say(Word::Slo), &heads, rows);
    let title = tag("h3").text(page.say(Word::Slo)).text(" ").add(tag("code").text(slo));
    let why: Vec<Markup> = judged.iter().filter_map(|(level, slo)| why(page, level, slo)).collect();
    let why = (!why.is_empty()).then(|| tag("ul").adds(why).into());
    Some(tag("div").add(title).add(tag("p").text(&headline)).add(table).adds(why).into())
}

/// Why a level is inconclusive, and what would decide it.
fn why(page: &Page, level: &LevelSummary, slo: &SloSummary) -> Option<Markup> {
    if slo.verdict.outcome != Decision::Inconclusive {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    let whys = slo.verdict.terms.iter().filter_map(|term| term.why.as_deref());
    for text in whys.flat_map(|why| [Some(&why.what), why.advice.as_ref()]).flatten() {
        if !parts.contains(&text.as_str()) {
            parts.push(text);
        }
    }
    let language = page.language;
    let text = format!("{}{}{}", level.label, language.colon(), parts.join(language.semicolon()));
    (!parts.is_empty()).then(|| tag("li").text(&text).into())
}

fn row(page: &Page, level: &LevelSummary, slo: &SloSummary) -> tables::Row {
    let (word, kind) = match slo.verdict.outcome {
        Decision::Met => (Word::Pass, "good"),
        Decision::Missed => (Word::Fail, "bad"),
        Decision::Inconclusive => (Word::Inconclusive, "unsure"),
    };
    let mut cells =
        vec![Cell::head(&level.label), Cell::marked(&tables::pill(kind, page.say(word)))];
    for term in &slo.verdict.terms {
        let value = term.value.map_or_else(|| ABSENT.to_owned(), |value| apart(value, term.bound));
        let unit = if term.value.is_some() { format!(" {}", term.unit) } else { String::new() };
        let few = if term.few_samples { "?" } else { "" };
        let rough = if term.uncertain && term.value.is_some() { "~" } else { "" };
        let kind = match term.outcome {
            Decision::Met => "",
            Decision::Missed => "bad",
            Decision::Inconclusive => "faint",
        };
        cells.push(Cell::number(&format!("{rough}{value}{few}{unit}")).kind(kind));
    }
    cells.push(Cell::number(&shown(slo.goodput_per_s)));
    cells.push(Cell::number(&percent(slo.met_share)));
    tables::Row::plain(cells)
}

/// With as many digits as it takes to differ from the bound.
fn apart(value: f64, bound: f64) -> String {
    if number(value) == number(bound) { value.to_string() } else { grouped(value) }
}
