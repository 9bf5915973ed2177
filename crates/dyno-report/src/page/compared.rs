//! A comparison as one self-contained page: the conclusion, charts of the runs over each other, and
//! a table of every value.

use super::compared_data::data;
use super::markup::{Markup, class, tag};
use super::numbers::separated_in;
use super::policy::base64;
use super::tables::{self, Cell, Row};
use super::words::Word;
use super::{SCRIPT, brand, head, theme_button};
use crate::compared::{cells, remarks, title};
use dyno_analysis::compare::{Comparison, ComparisonNote};
use dyno_draw::banners::{Banner, banners_of_several};
use dyno_draw::{self as chart, Arrangement, ChartOptions};
use dyno_model::Language;
use dyno_model::summary::Summary;
use dyno_words::InLanguage;
use dyno_words::names::elided;

/// The longest name of a run, in characters.
const LONGEST_NAME: usize = 28;

/// The page; `sides` are the runs of the comparison under their names.
pub fn compared(comparison: &Comparison, sides: &[(&str, &Summary)], language: Language) -> String {
    let names: Vec<&str> = sides.iter().map(|(name, _)| *name).collect();
    let names = elided(&names, LONGEST_NAME);
    let mut named = comparison.clone();
    // A banner says it of each run.
    named.notes.retain(|note| *note != ComparisonNote::Simulated);
    for (side, name) in named.sides.iter_mut().zip(&names) {
        side.name.clone_from(name);
    }
    let worded: Vec<_> = sides.iter().map(|(_, side)| side.in_language(language)).collect();
    let sides: Vec<(&str, &Summary)> =
        names.iter().map(String::as_str).zip(worded.iter().map(|side| &**side)).collect();
    Page { comparison: &named, sides: &sides, language }.html()
}

struct Page<'a> {
    comparison: &'a Comparison,
    sides: &'a [(&'a str, &'a Summary)],
    language: Language,
}

impl Page<'_> {
    fn say(&self, word: Word) -> &'static str {
        word.text(self.language)
    }

    fn html(&self) -> String {
        let data = data(self.sides, self.language);
        let top = class("div", "top")
            .add(tag("div").add(brand()).add(tag("nav")).add(theme_button(self.language)));
        let charts = data.is_some().then(|| self.charts());
        let table = tag("section")
            .add(tag("h2").text(self.say(Word::ComparedTable)))
            .add(self.table())
            .into();
        let data = data.unwrap_or_else(|| super::compared_data::empty(self.language));
        let data =
            tag("script").attr("type", "application/json").attr("id", "data").verbatim(&data);
        let body = tag("body")
            .add(top)
            .add(self.header())
            .add(tag("main").adds(charts.into_iter().chain([table])))
            .add(data)
            .add(tag("script").verbatim(SCRIPT));
        let title = format!("{} – Dyno", title(self.comparison));
        let page = tag("html")
            .attr("lang", self.language.choose(["en", "zh-CN"]))
            .add(head(&title))
            .add(body);
        format!("<!doctype html>\n{}\n", Markup::from(page))
    }

    /// The runs, what must not be overlooked about each, and the conclusion.
    fn header(&self) -> Markup {
        let markup = |banner: Banner| -> Markup {
            let note = class("p", &format!("banner {}", banner.kind.style())).attr("role", "note");
            note.add(tag("strong").text(&banner.head)).text(" ").text(&banner.text).into()
        };
        let remarks = remarks(self.comparison, self.language);
        let remarks = remarks.iter().map(|line| tag("li").text(line).into());
        tag("header")
            .add(class("p", "kind").text(self.say(Word::KindCompared)))
            .add(class("h1", "sides").text(&title(self.comparison)))
            .adds(banners_of_several(self.sides, self.language).into_iter().map(markup))
            .add(class("ul", "conclusion").adds(remarks))
            .into()
    }

    /// Interactive charts; without JavaScript, an image of them.
    fn charts(&self) -> Markup {
        let options = ChartOptions { language: self.language };
        // Charts that nobody arranged always have room.
        let picture = chart::compared(self.sides, &options, &Arrangement::default());
        let picture = picture.unwrap_or_default();
        let picture = format!("data:image/svg+xml;base64,{}", base64(picture.as_bytes()));
        let picture = tag("img").attr("src", &picture).attr("alt", &title(self.comparison)).void();
        let about = tag("p").text(self.say(Word::ComparedAbout));
        let figure =
            class("figure", "chart").attr("id", "compare").add(tag("figcaption").add(about));
        tag("section")
            .add(tag("h2").text(self.say(Word::ComparedTitle)))
            .add(class("p", "help").attr("hidden", "").text(self.say(Word::Help)))
            .add(class("div", "charts").attr("hidden", "").add(figure))
            .add(class("p", "aloud").attr("id", "aloud").attr("aria-live", "polite"))
            .add(tag("noscript").add(tag("p").text(self.say(Word::NoScript))).add(picture))
            .into()
    }

    /// Every load and metric. Loads are headings over their metrics, so that a phone has room for
    /// values.
    fn table(&self) -> Markup {
        let cells = cells(self.comparison, self.language);
        let (heading, rows) = cells.split_first().map_or((&[][..], &[][..]), |(h, r)| (&h[..], r));
        let heading = heading.get(1..).unwrap_or_default();
        let mut all = Vec::new();
        for row in rows {
            let Some((load, row)) = row.split_first() else { continue };
            if !load.is_empty() {
                all.push(Row::heading(load, heading.len()));
            }
            let cell = |(column, text): (usize, &String)| match column {
                0 => Cell::head(text),
                _ => Cell::number(&separated_in(text)),
            };
            all.push(Row::plain(row.iter().enumerate().map(cell).collect()));
        }
        tables::table(&title(self.comparison), heading, all)
    }
}
