//! Where the script draws: empty boxes with names, and for those without a script a picture that
//! needs none.

use super::markup::{Markup, class, tag};
use super::policy::base64;
use super::words::Word;
use super::{Page, metrics};
use crate::chart::{self, ChartOptions};

/// A picture for those without a script is left out above this size.
const LARGEST: usize = 100_000;

/// The charts; nothing without levels.
pub(super) fn pictures(page: &Page) -> Option<Markup> {
    if page.summary.levels.is_empty() {
        return None;
    }
    let figure = |id: &str, title: Word, about: Word| -> Markup {
        let head = tag("h3").attr("id", &format!("{id}-title")).text(page.say(title));
        class("figure", "chart")
            .attr("id", id)
            .attr("aria-labelledby", &format!("{id}-title"))
            .add(tag("figcaption").add(head).add(tag("p").text(page.say(about))))
            .into()
    };
    let mut all: Vec<Markup> = Vec::new();
    if !metrics::metrics(page.summary, page.language).is_empty() {
        all.push(figure("figures", Word::FiguresTitle, Word::FiguresAbout));
    }
    if grid(page) {
        all.push(figure("heat", Word::HeatTitle, Word::HeatAbout));
    }
    let details = page.detail.map(|all| all.0.values()).into_iter().flatten();
    let curves = |detail: &dyno_analysis::detail::LevelDetail| {
        [&detail.ttft, &detail.itl, &detail.tpot, &detail.latency].iter().any(|one| one.is_some())
    };
    if details.clone().any(curves) {
        all.push(figure("spread", Word::SpreadTitle, Word::SpreadAbout));
    }
    if details.clone().any(|detail| detail.course.buckets.len() > 1) {
        all.push(figure("course", Word::CourseTitle, Word::CourseAbout));
    }
    if details.clone().any(|detail| !detail.bars.kept.is_empty()) {
        all.push(figure("requests", Word::RequestsTitle, Word::RequestsAbout));
    }
    let help = class("p", "help").attr("hidden", "").text(page.say(Word::Help));
    let live = class("p", "aloud").attr("id", "aloud").attr("aria-live", "polite");
    let boxes = class("div", "charts").attr("hidden", "").adds(all);
    Some([help.into(), boxes.into(), live.into(), still(page)].into_iter().collect())
}

/// Levels differ in their lengths.
fn grid(page: &Page) -> bool {
    let mut pairs = page.summary.levels.iter().map(|one| (one.input_length, one.output_length));
    let Some(first) = pairs.next() else { return false };
    let known = |(input, output): (Option<u32>, Option<u32>)| input.is_some() && output.is_some();
    let mut different = false;
    for pair in pairs {
        if !known(pair) {
            return false;
        }
        different |= pair != first;
    }
    different && known(first)
}

/// For those without a script.
fn still(page: &Page) -> Markup {
    let svg = chart::svg(page.summary, None, &ChartOptions { language: page.language });
    let note = tag("p").text(page.say(Word::NoScript));
    let picture = (svg.len() <= LARGEST).then(|| {
        let source = format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()));
        tag("img").attr("src", &source).attr("alt", page.say(Word::StillAlt)).void()
    });
    tag("noscript").add(note).adds(picture).into()
}
