//! The report as one self-contained HTML page: the findings first, then interactive charts, then
//! every value. All texts and tables are written here, so that the page can be read without its
//! script; the script draws from `data.rs`. The same run gives the same bytes.

mod agents;
mod answers;
mod axes;
mod cards;
mod compared;
mod compared_data;
mod data;
mod definitions;
mod failures;
mod findings;
mod further;
mod markup;
mod metrics;
mod numbers;
mod opening;
mod pictures;
mod policy;
mod predicted;
mod script_words;
mod setup;
mod table;
mod tables;
mod trees;
mod words;

pub use compared::compared;

use dyno_analysis::detail::Detail;
use dyno_model::Language;
use dyno_model::environment::Environment;
use dyno_model::plan::Plan;
use dyno_model::summary::Summary;
use dyno_words::InLanguage;
use markup::{Markup, Tag, class, tag};
use words::Word;

/// The style of the page.
const STYLE: &str = concat!(
    ":root {\n",
    include_str!("../../assets/page/light.css"),
    "}\n@media not print {\n@media (prefers-color-scheme: dark) {\n:root:not([data-theme=light]) {\n",
    include_str!("../../assets/page/dark.css"),
    "}\n}\n:root[data-theme=dark] {\n",
    include_str!("../../assets/page/dark.css"),
    "}\n}\n",
    include_str!("../../assets/page/page.css"),
    include_str!("../../assets/page/charts.css"),
    include_str!("../../assets/page/print.css"),
);

/// Its script: `start.js` is last and calls the functions of the other files.
const SCRIPT: &str = concat!(
    "(function () {\n'use strict';\n",
    include_str!("../../assets/page/tools.js"),
    include_str!("../../assets/page/scales.js"),
    include_str!("../../assets/page/controls.js"),
    include_str!("../../assets/page/plot.js"),
    include_str!("../../assets/page/gestures.js"),
    include_str!("../../assets/page/curves.js"),
    include_str!("../../assets/page/compare.js"),
    include_str!("../../assets/page/sort.js"),
    include_str!("../../assets/page/heat.js"),
    include_str!("../../assets/page/spread.js"),
    include_str!("../../assets/page/course.js"),
    include_str!("../../assets/page/requests.js"),
    include_str!("../../assets/page/start.js"),
    "}());\n",
);

/// The inputs of a page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The results.
    pub summary: &'a Summary,
    /// What charts of single requests are drawn from; absent: the page has none.
    pub detail: Option<&'a Detail>,
    /// The plan; absent for results of another tool.
    pub plan: Option<&'a Plan>,
    /// The machine and the server.
    pub environment: Option<&'a Environment>,
    /// Of all texts.
    pub language: Language,
}

impl Page<'_> {
    fn say(&self, word: Word) -> &'static str {
        word.text(self.language)
    }

    /// A text with its placeholders filled in.
    fn fill(&self, word: Word, values: &[&str]) -> String {
        word.with(self.language, values)
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let summary = &*self.summary.in_language(self.language);
        Page { summary, ..*self }.written()
    }

    fn written(&self) -> String {
        let parts = [
            ("summary", Word::Summary, opening::summary(self)),
            ("charts", Word::Charts, pictures::pictures(self)),
            ("levels", Word::Levels, table::table(self)),
            ("failures", failures::title(self), failures::failures(self)),
            ("further", Word::Further, further::further(self)),
            ("setup", Word::Setup, setup::setup(self)),
            ("definitions", Word::Definitions, Some(definitions::definitions(self))),
        ];
        let parts: Vec<(&str, Word, Markup)> =
            parts.into_iter().filter_map(|(id, name, part)| Some((id, name, part?))).collect();
        let links = parts.iter().map(|(id, name, _)| {
            tag("a").attr("href", &format!("#{id}")).text(self.say(*name)).into()
        });
        let nav = tag("nav").attr("aria-label", self.say(Word::Contents)).adds(links);
        let sections = parts.iter().map(|(id, name, part)| {
            let heading = tag("h2").attr("id", &format!("{id}-heading")).text(self.say(*name));
            let section = tag("section").attr("id", id);
            let section = section.attr("aria-labelledby", &format!("{id}-heading"));
            section.add(heading).add(part.clone()).into()
        });
        let skip = class("a", "skip").attr("href", "#summary").text(self.say(Word::Skip));
        let top = class("div", "top")
            .add(tag("div").add(brand()).add(nav).add(theme_button(self.language)));
        let body = tag("body")
            .add(skip)
            .add(top)
            .add(opening::header(self))
            .add(tag("main").adds(sections))
            .add(opening::footer(self))
            .add(self.embedded())
            .add(tag("script").verbatim(SCRIPT));
        let page = tag("html")
            .attr("lang", self.language.choose(["en", "zh-CN"]))
            .add(head(&opening::title(self)))
            .add(body);
        format!("<!doctype html>\n{}\n", Markup::from(page))
    }

    fn embedded(&self) -> Tag {
        let data = data::data(self.summary, self.detail, self.language);
        tag("script").attr("type", "application/json").attr("id", "data").verbatim(&data)
    }
}

/// The head of a page with the one script and the one style.
fn head(title: &str) -> Tag {
    let meta = |name: &'static str, value: &str, content: &str| {
        tag("meta").attr(name, value).attr("content", content).void()
    };
    tag("head")
        .add(tag("meta").attr("charset", "utf-8").void())
        .add(meta("http-equiv", "Content-Security-Policy", &policy::policy(SCRIPT, STYLE)))
        .add(meta("name", "viewport", "width=device-width, initial-scale=1"))
        .add(meta("name", "color-scheme", "light dark"))
        .add(meta("name", "referrer", "no-referrer"))
        .add(tag("title").text(title))
        .add(tag("style").verbatim(STYLE))
}

fn brand() -> Tag {
    class("span", "brand").text("Dyno")
}

/// Hidden until the script shows it: without the script it does nothing.
fn theme_button(language: Language) -> Tag {
    let button = class("button", "theme").attr("type", "button").attr("id", "theme");
    button.attr("hidden", "").attr("aria-pressed", "false").text(Word::Dark.text(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_do_not_end_themselves() {
        for (text, end) in [(STYLE, "</style"), (SCRIPT, "</script"), (SCRIPT, "<!--")] {
            assert!(!text.to_ascii_lowercase().contains(end), "{end}");
        }
    }

    #[test]
    fn the_script_makes_no_markup_of_text() {
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }
}
