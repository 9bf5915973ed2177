//! The trees of a level: lines and two small tables.

use super::TextOptions;
use super::grid::{Column, small};
use crate::marks::Marks;
use crate::trees::{TreeTable, groups, whole};
use dyno_model::summary::LevelSummary;
use dyno_words::columns::wrap;

/// The tables, with their marks noted in `marks`; nothing for a level without trees. Lines come with the others of a level.
pub(super) fn trees(level: &LevelSummary, marks: &mut Marks, options: &TextOptions) -> String {
    let language = options.language;
    let tables = [whole(level, marks, language), groups(level, marks, language)];
    tables.into_iter().flatten().map(|table| of(table, options)).collect()
}

fn of(table: TreeTable, options: &TextOptions) -> String {
    let (names, rows): (Vec<String>, Vec<Vec<String>>) = table.rows.into_iter().unzip();
    let column = |(at, (group, head, rank)): (usize, (String, String, u8))| Column {
        group,
        head,
        cells: rows.iter().filter_map(|cells| cells.get(at).cloned()).collect(),
        rank,
        nominal: 0,
    };
    let columns = table.heads.into_iter().enumerate().map(column).collect();
    wrap("  ", &table.title, options.prose())
        + &small(4, &names, columns, options.prose(), options.language)
}
