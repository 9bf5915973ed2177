//! A comparison as one page that needs nothing else: what it comes to, the curves over each other,
//! and every figure. It has no script.

use super::STYLE;
use super::markup::{Markup, tag};
use super::policy::{base64, policy_of_style};
use super::tables::{self, Cell, Row};
use crate::chart::{self, ChartOptions};
use crate::compared::{cells, remarks, title};
use dyno_analysis::compare::Comparison;
use dyno_model::Language;
use dyno_model::summary::Summary;

/// The page; `sides` are the runs of the comparison under their names.
pub fn compared(comparison: &Comparison, sides: &[(&str, &Summary)], language: Language) -> String {
    let drawing = chart::compared(sides, &ChartOptions { language });
    let picture = format!("data:image/svg+xml;base64,{}", base64(drawing.as_bytes()));
    let picture = tag("img").attr("src", &picture).attr("alt", &title(comparison));
    let said = remarks(comparison, language);
    let said = said.iter().map(|line| tag("p").text(line).into());
    let body =
        tag("body").add(tag("header").add(tag("h1").text(&title(comparison))).adds(said)).add(
            tag("main")
                .add(tag("section").add(picture.void()))
                .add(tag("section").add(table(comparison, language))),
        );
    let meta = |name: &'static str, value: &str, content: &str| {
        tag("meta").attr(name, value).attr("content", content).void()
    };
    let head = tag("head")
        .add(tag("meta").attr("charset", "utf-8").void())
        .add(meta("http-equiv", "Content-Security-Policy", &policy_of_style(STYLE)))
        .add(meta("name", "viewport", "width=device-width, initial-scale=1"))
        .add(meta("name", "color-scheme", "light dark"))
        .add(meta("name", "referrer", "no-referrer"))
        .add(tag("title").text(&format!("{} – Dyno", title(comparison))))
        .add(tag("style").verbatim(STYLE));
    let page = tag("html").attr("lang", language.choose(["en", "zh-CN"])).add(head).add(body);
    format!("<!doctype html>\n{}\n", Markup::from(page))
}

/// Every load and figure.
fn table(comparison: &Comparison, language: Language) -> Markup {
    let cells = cells(comparison, language);
    let (heading, rows) = cells.split_first().map_or((&[][..], &[][..]), |(h, r)| (&h[..], r));
    let rows = rows.iter().map(|row| {
        let cell = |(column, words): (usize, &String)| match column {
            0 => Cell::head(words),
            1 => Cell::words(words),
            _ => Cell::figure(words),
        };
        Row::plain(row.iter().enumerate().map(cell).collect())
    });
    tables::table(&title(comparison), heading, rows.collect())
}
