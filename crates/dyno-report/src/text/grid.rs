//! Columns side by side within the width of the terminal: how wide each is, and which are hidden
//! where there is no room for all. What a column holds is up to its table.

use crate::messages::Say;
use dyno_model::Language;
use dyno_words::columns::{right, width, wrap};

/// A column of right-aligned cells under two lines of heads.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// The upper head; adjacent columns with the same one share it.
    pub(super) group: String,
    /// The lower head.
    pub(super) head: String,
    /// One cell for each row.
    pub(super) cells: Vec<String>,
    /// Columns with a lower rank are kept where there is no room for all.
    pub(super) rank: u8,
    /// The width by which it is chosen, so that equal tables have equal columns whatever their numbers;
    /// 0 where the content decides.
    pub(super) nominal: usize,
}

/// Spaces between the columns of small tables.
const SMALL_GAP: usize = 2;
/// Columns of this rank and above are shown only where there is room, and not missed elsewhere.
pub(super) const OPTIONAL: u8 = 100;

/// Columns that fit.
#[derive(Debug)]
pub(super) struct Grid {
    columns: Vec<Column>,
    widths: Vec<usize>,
    gaps: Vec<usize>,
    /// Which of the columns are shown.
    pub(super) shown: Vec<bool>,
    /// How many columns were hidden.
    pub(super) hidden: usize,
}

impl Grid {
    /// As many of these columns as fit into `room`, with `gap` spaces before each; of the optional
    /// ones, as many as fit into `generous`.
    pub(super) fn fit(columns: Vec<Column>, gap: usize, room: usize, generous: usize) -> Self {
        let mut ranked: Vec<usize> = (0..columns.len()).collect();
        ranked.sort_by_key(|at| columns[*at].rank);
        let mut shown = vec![false; columns.len()];
        let optional = |at: usize| columns[at].rank >= OPTIONAL;
        let taken = |shown: &[bool], nominal: bool| {
            let (widths, gaps) = spans(&columns, shown, gap, nominal);
            widths.iter().chain(&gaps).sum::<usize>()
        };
        for at in &ranked {
            shown[*at] = true;
            if taken(&shown, true) > if optional(*at) { generous } else { room } {
                shown[*at] = false;
                if optional(*at) {
                    break;
                }
            }
        }
        // Numbers that are wider than usual may still be too wide together.
        for at in ranked.iter().rev() {
            shown[*at] &= taken(&shown, false) <= room;
        }
        let hidden = ranked.iter().filter(|at| !shown[**at] && !optional(**at)).count();
        let (widths, gaps) = spans(&columns, &shown, gap, false);
        let kept = columns.into_iter().zip(&shown).filter(|(_, shown)| **shown);
        let columns = kept.map(|(column, _)| column).collect();
        Self { columns, widths, gaps, shown, hidden }
    }

    /// Columns that it takes, with the spaces before each.
    pub(super) fn width(&self) -> usize {
        self.widths.iter().chain(&self.gaps).sum()
    }

    /// The upper heads; nothing where no column has one.
    pub(super) fn groups(&self) -> Option<String> {
        let mut line = String::new();
        let mut at = 0;
        for group in self.columns.chunk_by(same_group) {
            let (widths, gaps) = (&self.widths[at..], &self.gaps[at..]);
            let within = widths.iter().take(group.len()).chain(gaps.iter().take(group.len()));
            let span = within.sum::<usize>() - gaps[0];
            let text = &group[0].group;
            // A head over several columns stands in their middle, one over a single column at the
            // end of its numbers.
            let behind = if group.len() > 1 { span.saturating_sub(width(text)) / 2 } else { 0 };
            let before = " ".repeat(gaps[0]);
            line.push_str(&format!("{before}{}{}", right(text, span - behind), " ".repeat(behind)));
            at += group.len();
        }
        (!line.trim().is_empty()).then_some(line)
    }

    /// The lower heads.
    pub(super) fn heads(&self) -> String {
        self.line(|column| &column.head)
    }

    /// One row.
    pub(super) fn row(&self, row: usize) -> String {
        self.line(|column| column.cells.get(row).map_or("", String::as_str))
    }

    fn line(&self, text: impl Fn(&Column) -> &str) -> String {
        let cells = self.columns.iter().zip(&self.widths).zip(&self.gaps);
        let cell = |((column, width), gap): ((&Column, &usize), &usize)| {
            " ".repeat(*gap) + &right(text(column), *width)
        };
        cells.map(cell).collect()
    }
}

fn same_group(a: &Column, b: &Column) -> bool {
    a.group == b.group && !a.group.is_empty()
}

/// The widths of the columns that are shown, and the spaces before each. A column is as wide as its
/// content, a group at least as its head; a group of several columns stands a little apart.
fn spans(
    columns: &[Column],
    shown: &[bool],
    gap: usize,
    nominal: bool,
) -> (Vec<usize>, Vec<usize>) {
    let shown = columns.iter().zip(shown).filter(|(_, shown)| **shown);
    let shown: Vec<&Column> = shown.map(|(column, _)| column).collect();
    let (mut widths, mut gaps) = (Vec::new(), Vec::new());
    for group in shown.chunk_by(|a, b| same_group(a, b)) {
        let from = widths.len();
        widths.extend(group.iter().map(|column| {
            let head = width(&column.head);
            if nominal && column.nominal > 0 {
                return head.max(column.nominal);
            }
            column.cells.iter().map(|cell| width(cell)).fold(head, usize::max)
        }));
        let span = widths[from..].iter().sum::<usize>() + (group.len() - 1) * gap;
        widths[from] += width(&group[0].group).saturating_sub(span);
        gaps.push(if group.len() > 1 { gap + 1 } else { gap });
        gaps.extend(std::iter::repeat_n(gap, group.len() - 1));
    }
    (widths, gaps)
}

/// A small table below a level: left-aligned names, then columns, indented, of which as many are
/// shown as there is room for.
pub(super) fn small(
    indent: usize,
    names: &[String],
    columns: Vec<Column>,
    room: usize,
    language: Language,
) -> String {
    let named = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let rest = room.saturating_sub(indent + named);
    let grid = Grid::fit(columns, SMALL_GAP, rest, rest);
    let margin = " ".repeat(indent);
    let line = |name: &str, rest: &str| {
        let line = format!("{margin}{}{rest}", dyno_words::columns::left(name, named));
        format!("{}\n", line.trim_end())
    };
    let mut out = grid.groups().map(|groups| line("", &groups)).unwrap_or_default();
    out.push_str(&line("", &grid.heads()));
    for (row, name) in names.iter().enumerate() {
        out.push_str(&line(name, &grid.row(row)));
    }
    if grid.hidden > 0 {
        let hidden = Say::ColumnsHidden.with(language, &[grid.hidden.to_string()]);
        out.push_str(&wrap(&margin, &hidden, room));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(group: &str, head: &str, cell: &str, rank: u8) -> Column {
        let [group, head] = [group, head].map(str::to_owned);
        Column { group, head, cells: vec![cell.to_owned()], rank, nominal: 0 }
    }

    #[test]
    fn what_does_not_fit_is_hidden_by_rank() {
        let columns = || {
            vec![
                column("", "first", "1", 3),
                column("时延 ms", "p50", "10.0", 1),
                column("时延 ms", "p99", "20.0", 2),
                column("", "more", "9", OPTIONAL),
            ]
        };
        let wide = Grid::fit(columns(), 1, 100, 100);
        assert_eq!((wide.hidden, wide.width()), (0, 6 + 6 + 5 + 5));
        assert_eq!(wide.groups().unwrap(), "         时延 ms      ");
        assert_eq!(wide.heads(), " first   p50  p99 more");
        assert_eq!(wide.row(0), "     1  10.0 20.0    9");
        let narrow = Grid::fit(columns(), 1, 11, 11);
        assert_eq!((narrow.hidden, narrow.width()), (1, 11));
        assert_eq!(narrow.heads(), "   p50  p99");
        let held_back = Grid::fit(columns(), 1, 100, 17);
        assert_eq!(held_back.hidden, 0, "an optional column is not missed");
        assert_eq!(held_back.heads(), " first   p50  p99");
    }

    #[test]
    fn columns_are_chosen_whatever_their_numbers_are() {
        let shown = |cell: &str| {
            let of = |rank| Column { nominal: 5, ..column("", "x", cell, rank) };
            Grid::fit(vec![of(1), of(2), of(3)], 1, 12, 12).shown
        };
        assert_eq!(shown("1"), [true, true, false]);
        assert_eq!(shown("12345"), shown("1"));
        assert_eq!(shown("1234567"), [true, false, false], "but never wider than there is room");
    }

    #[test]
    fn a_group_is_as_wide_as_its_head() {
        let grid = Grid::fit(vec![column("a long head", "p50", "1", 0)], 1, 80, 80);
        assert_eq!(grid.width(), 12);
        assert_eq!(grid.heads(), "         p50");
    }
}
