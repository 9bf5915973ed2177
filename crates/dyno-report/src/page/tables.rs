//! Tables that scroll within their box, and their cells.

use super::markup::{Markup, class, tag};

/// A cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: Option<String>,
    inside: Markup,
    name: &'static str,
    kind: String,
    title: Option<String>,
}

impl Cell {
    fn new(text: &str, name: &'static str, kind: &str) -> Self {
        let inside = Markup::default();
        let (text, kind) = (Some(text.to_owned()), kind.to_owned());
        Self { text, inside, name, kind, title: None }
    }

    /// The name of the row.
    pub(super) fn head(text: &str) -> Self {
        Self::new(text, "th", "")
    }

    /// Text.
    pub(super) fn words(text: &str) -> Self {
        Self::new(text, "td", "words")
    }

    /// A number.
    pub(super) fn number(text: &str) -> Self {
        Self::new(text, "td", if text == crate::text::ABSENT { "faint" } else { "" })
    }

    /// Any markup.
    pub(super) fn marked(inside: &Markup) -> Self {
        Self { text: None, inside: inside.clone(), ..Self::words("") }
    }

    /// With its own style, where one is given.
    pub(super) fn kind(mut self, kind: &str) -> Self {
        if !kind.is_empty() {
            self.kind = kind.to_owned();
        }
        self
    }

    /// With a tooltip.
    pub(super) fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned()).filter(|title| !title.is_empty());
        self
    }

    fn markup(self, struck: bool) -> Markup {
        let cell =
            tag(self.name).maybe("class", Some(self.kind.as_str()).filter(|k| !k.is_empty()));
        let cell = if self.name == "th" { cell.attr("scope", "row") } else { cell };
        let cell = cell.maybe("title", self.title.as_deref());
        match self.text {
            Some(text) if struck => cell.add(tag("s").text(&text)).into(),
            Some(text) => cell.text(&text).into(),
            None => cell.add(self.inside).into(),
        }
    }
}

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Row {
    cells: Vec<Cell>,
    struck: bool,
    /// A heading over this many columns, instead of cells.
    heading: Option<(String, usize)>,
}

impl Row {
    pub(super) fn plain(cells: Vec<Cell>) -> Self {
        Self::struck(cells, false)
    }

    /// Struck out, where `struck`.
    pub(super) fn struck(cells: Vec<Cell>, struck: bool) -> Self {
        Self { cells, struck, heading: None }
    }

    /// A heading for the rows below it, over this many columns.
    pub(super) fn heading(text: &str, columns: usize) -> Self {
        Self { cells: vec![], struck: false, heading: Some((text.to_owned(), columns)) }
    }

    /// Whether the cell of a column is absent.
    fn lacks(&self, column: usize) -> bool {
        let text = self.cells.get(column).and_then(|cell| cell.text.as_deref());
        text == Some(crate::text::ABSENT)
    }

    fn markup(self) -> Markup {
        if let Some((text, columns)) = self.heading {
            let cell = tag("th").attr("scope", "rowgroup").attr("colspan", &columns.to_string());
            return class("tr", "heading").add(cell.add(tag("span").text(&text))).into();
        }
        let row = tag("tr").maybe("class", self.struck.then_some("struck"));
        row.adds(self.cells.into_iter().map(|cell| cell.markup(self.struck))).into()
    }
}

/// A table under one row of headings. The box can be reached and scrolled by keyboard.
pub(super) fn table(name: &str, heads: &[String], rows: Vec<Row>) -> Markup {
    let is_words = |i: usize| {
        let row = rows.iter().find(|row| row.heading.is_none());
        row.and_then(|row| row.cells.get(i)).is_some_and(|cell| cell.kind == "words")
    };
    let heads = heads.iter().enumerate().map(|(i, head)| {
        let cell = tag("th").attr("scope", "col").maybe("class", is_words(i).then_some("words"));
        cell.text(head).into()
    });
    boxed(name, tag("tr").adds(heads).into(), rows)
}

/// The same without the columns in which every cell is absent; the first is the name of the row.
pub(super) fn known(name: &str, heads: &[String], rows: Vec<Row>) -> Markup {
    let keep: Vec<bool> =
        (0..heads.len()).map(|i| i == 0 || !rows.iter().all(|row| row.lacks(i))).collect();
    let kept = |i: usize| keep.get(i).is_none_or(|keep| *keep);
    let heads: Vec<String> =
        heads.iter().enumerate().filter(|(i, _)| kept(*i)).map(|(_, head)| head.clone()).collect();
    let rows = rows.into_iter().map(|row| Row {
        cells: row
            .cells
            .into_iter()
            .enumerate()
            .filter(|(i, _)| kept(*i))
            .map(|(_, c)| c)
            .collect(),
        ..row
    });
    table(name, &heads, rows.collect())
}

/// The same with custom headings.
pub(super) fn boxed(name: &str, heads: Markup, rows: Vec<Row>) -> Markup {
    let body = tag("tbody").adds(rows.into_iter().map(Row::markup));
    let table = tag("table").add(tag("thead").add(heads)).add(body);
    let scrolled = class("div", "scroll").attr("role", "region").attr("tabindex", "0");
    scrolled.attr("aria-label", name).add(table).into()
}

/// A word on a coloured background.
pub(super) fn pill(kind: &str, text: &str) -> Markup {
    class("span", &format!("pill {kind}")).text(text).into()
}

/// Names and values, of those that are known.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::ABSENT;

    #[test]
    fn columns_in_which_nothing_is_known_are_left_out() {
        let row = |name: &str, cells: [&str; 3]| {
            let numbers = cells.into_iter().map(Cell::number);
            Row::plain(std::iter::once(Cell::head(name)).chain(numbers).collect())
        };
        let heads = ["level", "never", "once", "always"].map(str::to_owned);
        let rows = vec![row("a", [ABSENT, ABSENT, "1"]), row("b", [ABSENT, "2", "3"])];
        let shown = known("numbers", &heads, rows).to_string();
        assert!(!shown.contains("never") && shown.contains("once"), "{shown}");
        assert_eq!(shown.matches(ABSENT).count(), 1, "{shown}");
        let names = vec![row(ABSENT, [ABSENT; 3])];
        assert!(known("numbers", &heads, names).to_string().contains("level"));
    }
}
