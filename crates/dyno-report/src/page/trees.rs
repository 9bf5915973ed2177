//! The trees of each level: what became of them, how long they took, and their requests in groups. Where there is room
//! for it in the page, a picture of the first of them.

use super::Page;
use super::markup::{Markup, class, tag};
use super::policy::base64;
use super::tables::{self, Cell, Row};
use super::words::Word;
use crate::marks::Marks;
use crate::trees::{TreeTable, groups, lines, whole};
use dyno_draw::{ChartOptions, swim_lanes};
use dyno_model::summary::LevelSummary;

/// A larger picture is left out.
const LARGEST: usize = 1_500_000;

/// The trees; nothing where there are none.
pub(super) fn trees(page: &Page) -> Option<Markup> {
    if !page.summary.has_trees() {
        return None;
    }
    let head = tag("h3").text(page.say(Word::Trees));
    let about = tag("p").text(page.say(Word::TreesAbout));
    let levels = page.summary.levels.iter().filter(|level| level.trees.is_some());
    let levels = levels.map(|level| of_level(page, level));
    let all = [Some(about.into()), picture(page)].into_iter().flatten().chain(levels);
    Some(tag("div").add(head).adds(all).into())
}

fn of_level(page: &Page, level: &LevelSummary) -> Markup {
    let line = |(name, text): (&str, String)| -> Markup {
        tag("li").text(&format!("{name}{}{text}", page.language.colon())).into()
    };
    let head = tag("h4").text(&level.label);
    let list = tag("ul").adds(lines(level, page.language).into_iter().map(line));
    let marks = &mut Marks::default();
    let both = [whole(level, marks, page.language), groups(level, marks, page.language)];
    let both = both.into_iter().flatten().map(|table| shown(&level.label, table));
    tag("div").add(head).add(list).adds(both).into()
}

fn shown(level: &str, table: TreeTable) -> Markup {
    let TreeTable { title, heads, rows } = table;
    let head = |(group, head, _): (String, String, u8)| format!("{group} {head}").trim().to_owned();
    let heads: Vec<String> =
        std::iter::once(String::new()).chain(heads.into_iter().map(head)).collect();
    let row = |(name, cells): (String, Vec<String>)| {
        let numbers = cells.iter().map(|cell| Cell::number(cell));
        Row::plain(std::iter::once(Cell::head(&name)).chain(numbers).collect())
    };
    let rows = rows.into_iter().map(row).collect();
    let title_of = tag("p").text(&title);
    tag("div").add(title_of).add(tables::known(&format!("{level}: {title}"), &heads, rows)).into()
}

/// The first trees of some levels as swim lanes.
fn picture(page: &Page) -> Option<Markup> {
    let detail = page.detail?;
    let svg = swim_lanes(page.summary, detail, &ChartOptions { language: page.language })?;
    if svg.len() > LARGEST {
        return Some(tag("p").text(page.say(Word::TreesTooLarge)).into());
    }
    let source = format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()));
    let picture = tag("img").attr("src", &source).attr("alt", page.say(Word::TreesAlt)).void();
    Some(class("div", "still").add(picture).into())
}
