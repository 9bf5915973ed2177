//! Where the script draws: empty boxes with titles, and an image for readers without JavaScript.

use super::axes::is_grid;
use super::markup::{Markup, class, tag};
use super::policy::base64;
use super::words::Word;
use super::{Page, metrics};
use dyno_draw::{self as chart, ChartOptions, ends_of_sweep};
use dyno_model::summary::LevelSummary;

/// The image for readers without JavaScript is left out above this size.
const LARGEST: usize = 100_000;

/// The charts; nothing without levels.
pub(super) fn pictures(page: &Page) -> Option<Markup> {
    if page.summary.levels.is_empty() {
        return None;
    }
    let captioned = |id: &str, title: Word, about: &str| -> Markup {
        let head = tag("h3").attr("id", &format!("{id}-title")).text(page.say(title));
        class("figure", "chart")
            .attr("id", id)
            .attr("aria-labelledby", &format!("{id}-title"))
            .add(tag("figcaption").add(head).add(tag("p").text(about)))
            .into()
    };
    let figure = |id: &str, title: Word, about: Word| captioned(id, title, page.say(about));
    let levels = &page.summary.levels;
    let details = page.detail.map(|all| all.0.values()).into_iter().flatten();
    let curves = |detail: &dyno_analysis::detail::LevelDetail| {
        [&detail.ttft, &detail.itl, &detail.tpot, &detail.latency].iter().any(|one| one.is_some())
    };
    let sweep = if ends_of_sweep(page.summary) { page.say(Word::SweepAbout) } else { "" };
    let about = format!("{} {sweep}", page.say(Word::FiguresAbout));
    let metrics = captioned("curves", Word::FiguresTitle, about.trim_end());
    let embeds = levels.iter().any(LevelSummary::has_inputs);
    let heat = match embeds {
        true => figure("heat", Word::InputHeatTitle, Word::InputHeatAbout),
        false => figure("heat", Word::HeatTitle, Word::HeatAbout),
    };
    let requests_about = if embeds { Word::WholeRequestsAbout } else { Word::RequestsAbout };
    let over_time = figure("course", Word::CourseTitle, Word::CourseAbout);
    let has_metrics = !metrics::metrics(page.summary, page.language).is_empty();
    let has_course = details.clone().any(|detail| detail.course.buckets.len() > 1)
        || levels.iter().any(|level| level.slices.is_some());
    // A single level would be a lone dot over its load, so such a run opens on its course; a grid of
    // lengths opens on its heat map.
    let single = levels.len() == 1;
    let charts = [
        (is_grid(page.summary), heat),
        (single && has_course, over_time.clone()),
        (!single && has_metrics, metrics),
        (details.clone().any(curves), figure("spread", Word::SpreadTitle, Word::SpreadAbout)),
        (!single && has_course, over_time),
        (
            details.clone().any(|detail| !detail.bars.kept.is_empty()),
            figure("requests", Word::RequestsTitle, requests_about),
        ),
    ];
    let all: Vec<Markup> =
        charts.into_iter().filter(|(used, _)| *used).map(|(_, chart)| chart).collect();
    if all.is_empty() {
        return None;
    }
    let help = class("p", "help").attr("hidden", "").text(page.say(Word::Help));
    let live = class("p", "aloud").attr("id", "aloud").attr("aria-live", "polite");
    let boxes = class("div", "charts").attr("hidden", "").adds(all);
    Some([help.into(), boxes.into(), live.into(), still(page)].into_iter().collect())
}

/// For readers without JavaScript.
fn still(page: &Page) -> Markup {
    let svg = chart::svg(page.summary, None, &ChartOptions { language: page.language });
    let note = tag("p").text(page.say(Word::NoScript));
    let picture = (svg.len() <= LARGEST).then(|| {
        let source = format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()));
        tag("img").attr("src", &source).attr("alt", page.say(Word::StillAlt)).void()
    });
    tag("noscript").add(note).adds(picture).into()
}
