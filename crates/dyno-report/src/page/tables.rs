//! Tables that scroll within a box of their own, and the cells in them.

use super::markup::{Markup, class, tag};

/// A cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    words: Option<String>,
    inside: Markup,
    name: &'static str,
    kind: String,
    title: Option<String>,
}

impl Cell {
    fn new(words: &str, name: &'static str, kind: &str) -> Self {
        let inside = Markup::default();
        let (words, kind) = (Some(words.to_owned()), kind.to_owned());
        Self { words, inside, name, kind, title: None }
    }

    /// What the row is about.
    pub(super) fn head(words: &str) -> Self {
        Self::new(words, "th", "")
    }

    /// Words.
    pub(super) fn words(words: &str) -> Self {
        Self::new(words, "td", "words")
    }

    /// A number.
    pub(super) fn figure(words: &str) -> Self {
        Self::new(words, "td", if words == crate::text::ABSENT { "faint" } else { "" })
    }

    /// Anything.
    pub(super) fn marked(inside: &Markup) -> Self {
        Self { words: None, inside: inside.clone(), ..Self::words("") }
    }

    /// With a look of its own, where that is said.
    pub(super) fn kind(mut self, kind: &str) -> Self {
        if !kind.is_empty() {
            self.kind = kind.to_owned();
        }
        self
    }

    /// With words that show when it is pointed at.
    pub(super) fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned()).filter(|title| !title.is_empty());
        self
    }

    fn markup(self, struck: bool) -> Markup {
        let cell =
            tag(self.name).maybe("class", Some(self.kind.as_str()).filter(|k| !k.is_empty()));
        let cell = if self.name == "th" { cell.attr("scope", "row") } else { cell };
        let cell = cell.maybe("title", self.title.as_deref());
        match self.words {
            Some(words) if struck => cell.add(tag("s").text(&words)).into(),
            Some(words) => cell.text(&words).into(),
            None => cell.add(self.inside).into(),
        }
    }
}

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Row {
    cells: Vec<Cell>,
    struck: bool,
}

impl Row {
    pub(super) fn plain(cells: Vec<Cell>) -> Self {
        Self { cells, struck: false }
    }

    /// Its words and figures are struck out.
    pub(super) fn struck(cells: Vec<Cell>, struck: bool) -> Self {
        Self { cells, struck }
    }

    fn markup(self) -> Markup {
        let row = tag("tr").maybe("class", self.struck.then_some("struck"));
        row.adds(self.cells.into_iter().map(|cell| cell.markup(self.struck))).into()
    }
}

/// A table under one row of headings. The box can be reached and scrolled by keyboard.
pub(super) fn table(name: &str, heads: &[String], rows: Vec<Row>) -> Markup {
    let is_words = |i: usize| {
        rows.first().and_then(|row| row.cells.get(i)).is_some_and(|cell| cell.kind == "words")
    };
    let heads = heads.iter().enumerate().map(|(i, head)| {
        let cell = tag("th").attr("scope", "col").maybe("class", is_words(i).then_some("words"));
        cell.text(head).into()
    });
    boxed(name, tag("tr").adds(heads).into(), rows)
}

/// The same under headings of one's own.
pub(super) fn boxed(name: &str, heads: Markup, rows: Vec<Row>) -> Markup {
    let body = tag("tbody").adds(rows.into_iter().map(Row::markup));
    let table = tag("table").add(tag("thead").add(heads)).add(body);
    let scrolled = class("div", "scroll").attr("role", "region").attr("tabindex", "0");
    scrolled.attr("aria-label", name).add(table).into()
}

/// A word on a coloured ground.
pub(super) fn pill(kind: &str, words: &str) -> Markup {
    class("span", &format!("pill {kind}")).text(words).into()
}

/// Names and what they stand for, of those that are known.
pub(super) fn pairs(rows: Vec<(String, Option<String>)>) -> Option<Markup> {
    let known: Vec<Markup> = rows
        .into_iter()
        .filter_map(|(name, value)| {
            let value = value.filter(|value| !value.is_empty())?;
            let name = tag("th").attr("scope", "row").text(&name);
            Some(tag("tr").add(name).add(class("td", "words").text(&value)).into())
        })
        .collect();
    let table = class("table", "pairs").add(tag("tbody").adds(known.iter().cloned()));
    (!known.is_empty()).then(|| table.into())
}
