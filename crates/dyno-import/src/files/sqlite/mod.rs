//! A reader of SQLite databases, as much as one table needs: its columns and its rows, in the order in
//! which they were put in. No indexes, no journal, nothing is written; damaged bytes are errors.

mod record;
mod schema;
#[cfg(test)]
mod tests;

pub(super) use record::Cell;

use record::{cells, take_varint};
use std::collections::BTreeSet;
use thiserror::Error;

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
const UTF_8: u32 = 1;
/// A file may not make more work than so many times its own size.
const MOST_WORK: usize = 8;

/// Why a database cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Damaged {
    /// The header is not one.
    #[error("its header is damaged: {0}")]
    Header(&'static str),
    /// Texts are in UTF-16.
    #[error("its texts are in UTF-16, which is not read")]
    Encoding,
    /// A page is not what it should be.
    #[error("page {page} is damaged: {why}")]
    Page {
        /// From 1.
        page: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such table.
    #[error("it has no table `{0}`")]
    NoTable(String),
}

/// An open database.
#[derive(Debug)]
pub(super) struct Database<'a> {
    bytes: &'a [u8],
    page_size: usize,
    /// Bytes of a page that cells may use.
    usable: usize,
}

/// A table: its columns, and where its rows begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    root: u32,
}

/// Whether it is a database.
pub(super) fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl<'a> Database<'a> {
    /// Reads the header.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        if bytes.len() < HEADER || !is_database(bytes) {
            return Err(Damaged::Header("too short, or not the header of SQLite 3"));
        }
        let page_size = match u16_at(bytes, 16) {
            Some(1) => 65_536,
            Some(size) if size.is_power_of_two() && size >= 512 => usize::from(size),
            _ => return Err(Damaged::Header("the page size is none")),
        };
        let usable = page_size.saturating_sub(usize::from(bytes[20]));
        if usable < 480 {
            return Err(Damaged::Header("pages have no room"));
        }
        match u32_at(bytes, 56) {
            Some(0 | UTF_8) => Ok(Self { bytes, page_size, usable }),
            _ => Err(Damaged::Encoding),
        }
    }

    /// Part of what was written last may stand in a journal beside the file.
    pub(super) fn has_journal_mode(&self) -> bool {
        self.bytes.get(18) == Some(&2) || self.bytes.get(19) == Some(&2)
    }

    /// The table of that name.
    pub(super) fn table(&self, name: &str) -> Result<Table, Damaged> {
        let mut found = None;
        self.scan(1, &mut |cells| {
            let text = |i: usize| cells.get(i).and_then(Cell::text);
            let this = text(0) == Some("table") && text(1) == Some(name);
            if let (true, Some(root), Some(sql)) =
                (this, cells.get(3).and_then(Cell::integer), text(4))
            {
                found = u32::try_from(root)
                    .ok()
                    .map(|root| Table { columns: schema::columns(sql), root });
            }
        })?;
        found.ok_or_else(|| Damaged::NoTable(name.to_owned()))
    }

    /// Calls `each` with the cells of every row. What was read before damage was found is good.
    pub(super) fn rows(
        &self,
        table: &Table,
        mut each: impl FnMut(&[Cell<'_>]),
    ) -> Result<(), Damaged> {
        self.scan(table.root, &mut each)
    }

    /// The bytes of a page, from 1.
    fn page(&self, number: u32) -> Result<&'a [u8], Damaged> {
        let missing = Damaged::Page { page: number, why: "it is not in the file" };
        let Some(index) = (number as usize).checked_sub(1) else { return Err(missing) };
        let from = index.saturating_mul(self.page_size);
        self.bytes.get(from..from.saturating_add(self.page_size)).ok_or(missing)
    }

    /// Walks a table's tree from its root, each page at most once.
    fn scan(&self, root: u32, each: &mut dyn FnMut(&[Cell<'_>])) -> Result<(), Damaged> {
        let mut seen = BTreeSet::new();
        let mut work = self.bytes.len().saturating_mul(MOST_WORK);
        let mut open = vec![root];
        while let Some(number) = open.pop() {
            let damaged = |why| Damaged::Page { page: number, why };
            if !seen.insert(number) {
                return Err(damaged("it stands in the tree twice"));
            }
            let page = self.page(number)?;
            let head = if number == 1 { HEADER } else { 0 };
            let cells_at = u16_at(page, head + 3).ok_or(damaged("it has no head"))?;
            let (kind, pointers) = match page.get(head) {
                Some(5) => (5, head + 12),
                Some(13) => (13, head + 8),
                _ => return Err(damaged("it is no page of a table")),
            };
            let mut children = Vec::new();
            for i in 0..usize::from(cells_at) {
                let at = u16_at(page, pointers + 2 * i).ok_or(damaged("a cell is not in it"))?;
                let cell = page.get(usize::from(at)..).ok_or(damaged("a cell is not in it"))?;
                if kind == 5 {
                    children.push(u32_at(cell, 0).ok_or(damaged("a cell is cut off"))?);
                    continue;
                }
                let payload = self.payload(number, cell)?;
                let cost = payload.len() + 64;
                work = work.checked_sub(cost).ok_or(damaged("rows are larger than the file"))?;
                each(&cells(&payload).ok_or(damaged("a row is damaged"))?);
            }
            if kind == 5 {
                children.push(u32_at(page, head + 8).ok_or(damaged("it has no head"))?);
                open.extend(children.into_iter().rev());
            }
        }
        Ok(())
    }

    /// The payload of a leaf's cell, with what did not fit on the page.
    fn payload(&self, page: u32, mut cell: &[u8]) -> Result<Vec<u8>, Damaged> {
        let damaged = |why| Damaged::Page { page, why };
        let length = take_varint(&mut cell).ok_or(damaged("a cell is cut off"))?;
        take_varint(&mut cell).ok_or(damaged("a cell is cut off"))?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > self.bytes.len() {
            return Err(damaged("a row is larger than the file"));
        }
        let here = self.local(length);
        let local = cell.get(..here).ok_or(damaged("a row is cut off"))?;
        let mut payload = local.to_vec();
        let mut next = if length > here { u32_at(cell, here) } else { Some(0) };
        while payload.len() < length {
            let number = next.filter(|n| *n > 0).ok_or(damaged("the rest of a row is missing"))?;
            let more = self.page(number)?;
            let part = (length - payload.len()).min(self.usable - 4);
            payload.extend(more.get(4..4 + part).ok_or(damaged("the rest of a row is cut off"))?);
            next = u32_at(more, 0);
        }
        Ok(payload)
    }

    /// How much of a payload stands on the page of its cell.
    fn local(&self, length: usize) -> usize {
        let most = self.usable - 35;
        if length <= most {
            return length;
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let rest = least + (length - least) % (self.usable - 4);
        if rest <= most { rest } else { least }
    }
}
