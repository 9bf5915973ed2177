//! The headline metrics: the best values among the levels that count, and how many levels there are.

use super::Page;
use super::markup::{Markup, class, tag};
use super::numbers::{counted, grouped};
use super::words::Word;
use crate::messages::Label;
use crate::text::ABSENT;
use dyno_model::Verdict;
use dyno_model::metric::{Time, Unit};
use dyno_model::summary::{Basis, LevelSummary};

/// The best value, and the level that reached it.
struct Best<'a> {
    value: f64,
    level: &'a LevelSummary,
}

/// The levels that count: the results of invalid ones describe the client.
fn counted_levels<'a>(page: &Page<'a>) -> impl Iterator<Item = &'a LevelSummary> {
    page.summary.levels.iter().filter(|level| level.verdict != Verdict::Invalid)
}

fn largest<'a>(page: &Page<'a>, metric: impl Fn(&LevelSummary) -> Option<f64>) -> Option<Best<'a>> {
    let known =
        counted_levels(page).filter_map(|level| Some(Best { value: metric(level)?, level }));
    // Of equal values the first, which had the least load.
    known.reduce(|best, other| if other.value > best.value { other } else { best })
}

fn card(name: &str, value: &str, unit: &str, about: &str) -> Markup {
    let unit = if unit.is_empty() { tag("small") } else { tag("small").text(" ").text(unit) };
    class("div", "card")
        .add(class("span", "name").text(name))
        .add(class("span", "value").text(value).add(unit))
        .add(class("span", "about").text(about))
        .into()
}

/// The cards, in a row that wraps.
pub(super) fn cards(page: &Page) -> Markup {
    let at = |level: &LevelSummary| page.fill(Word::At, &[&level.label]);
    let best = |name: Word, unit: &str, best: Option<Best>| match best {
        Some(best) => card(page.say(name), &grouped(best.value), unit, &at(best.level)),
        None => card(page.say(name), ABSENT, "", Label::NoFigure.text(page.language)),
    };
    let unit = |unit: Unit| page.language.choose(unit.names());
    let basis = Basis::of(&page.summary.levels);
    let tokens = |level: &LevelSummary| basis.throughput(level).output_tokens_per_s;
    let inputs = |level: &LevelSummary| basis.throughput(level).inputs_per_s;
    let requests = |level: &LevelSummary| basis.throughput(level).requests_per_s;
    let lowest = |metric: fn(&LevelSummary) -> Option<f64>| {
        let found = largest(page, move |level| metric(level).map(|value| -value))?;
        Some(Best { value: -found.value, ..found })
    };
    let embeds = page.summary.levels.iter().any(LevelSummary::has_inputs);
    let most = match embeds {
        true => best(Word::MostInputs, unit(Unit::InputsPerSecond), largest(page, inputs)),
        false => best(Word::MostTokens, "tok/s", largest(page, tokens)),
    };
    let mut all = vec![
        most,
        best(Word::MostRequests, unit(Unit::RequestsPerSecond), largest(page, requests)),
    ];
    if let Some(least) = lowest(|level| level.times[Time::Latency].as_ref()?.p50).filter(|_| embeds)
    {
        all.push(best(Word::LeastLatency, "ms", Some(least)));
    }
    if let Some(least) = lowest(|level| level.times[Time::Ttft].as_ref()?.p50) {
        all.push(best(Word::LeastTtft, "ms", Some(least)));
    }
    if let Some(least) =
        lowest(|level| level.times[Time::Itl].as_ref().or(level.times[Time::Tpot].as_ref())?.p50)
    {
        let by_token = least.level.times[Time::Itl].is_some();
        let name = if by_token { Word::LeastItl } else { Word::LeastTpot };
        all.push(best(name, "ms", Some(least)));
    }
    all.push(requests_card(page));
    all.push(levels_card(page));
    class("div", "cards").adds(all).into()
}

fn requests_card(page: &Page) -> Markup {
    let sum = |which: fn(&LevelSummary) -> Option<u64>| -> Option<u64> {
        page.summary.levels.iter().map(which).sum()
    };
    let name = page.say(Word::RequestsCompleted);
    let Some(completed) = sum(|level| level.requests.completed) else {
        return card(name, ABSENT, "", Label::NoFigure.text(page.language));
    };
    let shed = sum(|level| level.requests.shed).filter(|shed| *shed > 0);
    let failed = sum(|level| level.requests.bad()).map(|bad| bad - shed.unwrap_or(0));
    let failed = failed.map(|failed| match failed {
        0 => page.say(Word::NoneFailed).to_owned(),
        failed => page.fill(Word::SoManyFailed, &[&counted(failed)]),
    });
    let shed = shed.map(|shed| page.fill(Word::SoManyShed, &[&counted(shed)]));
    let about: Vec<String> = failed.into_iter().chain(shed).collect();
    card(name, &counted(completed), "", &about.join(page.language.comma()))
}

fn levels_card(page: &Page) -> Markup {
    let levels = &page.summary.levels;
    let count = |verdict: Verdict| levels.iter().filter(|level| level.verdict == verdict).count();
    let verdicts = [Verdict::Valid, Verdict::Unjudged, Verdict::Suspect, Verdict::Invalid];
    let parts = verdicts.map(|verdict| (count(verdict), verdict.name(page.language)));
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    card(page.say(Word::LevelsRun), &counted(levels.len() as u64), "", &parts.join(" · "))
}
