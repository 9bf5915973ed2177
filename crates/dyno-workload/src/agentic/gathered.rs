//! Rows of a file by the session they belong to, in the order in which sessions appear. A row that cannot be read spoils
//! the sessions beside it: nobody knows to which of them it belongs.

use std::collections::HashMap;

use dyno_model::{Message, message};

use super::reader::left_out;
use crate::data::{At, DataError};

/// How many rows are held of one file.
const MOST_ROWS: usize = 50_000_000;

/// The rows of one session.
pub(super) struct GatheredSession<T> {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) rows: Vec<T>,
    /// Why the session cannot be used.
    pub(super) wrong: Option<DataError>,
}

/// Rows by session.
pub(super) struct GatheredSessions<T> {
    places: HashMap<String, usize>,
    all: Vec<GatheredSession<T>>,
    last: Option<usize>,
    rows: usize,
    /// What spoils the session of the next row.
    spoiled: Option<Message>,
    /// Whether any row of the file could not be read.
    broken: bool,
}

impl<T> Default for GatheredSessions<T> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            all: Vec::new(),
            last: None,
            rows: 0,
            spoiled: None,
            broken: false,
        }
    }
}

impl<T> GatheredSessions<T> {
    /// Adds a row to a session, or the reason why the session cannot be used.
    pub(super) fn add(&mut self, session: &str, at: &At, row: Result<T, DataError>) {
        let place = self.place(session, at);
        if let Some(why) = self.spoiled.take() {
            self.spoil_one(place, &why);
        }
        let of = &mut self.all[place];
        match row {
            Ok(row) if self.rows < MOST_ROWS => {
                of.rows.push(row);
                self.rows += 1;
            }
            Ok(_) => {
                let what =
                    message!("the file has more than {MOST_ROWS} rows", "文件超过 {MOST_ROWS} 行");
                of.wrong.get_or_insert_with(|| DataError::bad(at, what, left_out()));
            }
            Err(error) => {
                of.wrong.get_or_insert(error);
            }
        }
    }

    /// The session of that name.
    fn place(&mut self, session: &str, at: &At) -> usize {
        let place = match self.places.get(session) {
            Some(place) => *place,
            None => {
                let (name, rows) = (session.to_owned(), Vec::new());
                self.places.insert(name.clone(), self.all.len());
                self.all.push(GatheredSession { name, at: at.clone(), rows, wrong: None });
                self.all.len() - 1
            }
        };
        self.last = Some(place);
        place
    }

    /// Forgets which session the last row belongs to, since another file begins.
    pub(super) fn file_ended(&mut self) {
        self.last = None;
        self.spoiled = None;
    }

    /// A row could not be read.
    pub(super) fn spoil(&mut self, why: &DataError) {
        let why = why.plain();
        self.broken = true;
        if let Some(place) = self.last {
            self.spoil_one(place, &why);
        }
        self.spoiled = Some(why);
    }

    fn spoil_one(&mut self, place: usize, why: &Message) {
        let of = &mut self.all[place];
        let (at, wrong) = (&of.at, &mut of.wrong);
        wrong.get_or_insert_with(|| {
            let name = &of.name;
            let what = message!(
                "session {name:?} may lack a record ({why})",
                "会话 {name:?} 可能缺少记录（{why}）"
            );
            DataError::bad(at, what, left_out())
        });
    }

    /// If a row of the file could not be read: spoils the sessions whose numbers show that one is missing, counting from
    /// `first`.
    pub(super) fn spoil_those_with_holes(
        &mut self,
        first: u64,
        number: impl Fn(&T) -> Option<u64>,
    ) {
        let why = message!(
            "a number is missing, and a line could not be read",
            "缺少一个编号，且有一行无法读取"
        );
        for place in 0..if self.broken { self.all.len() } else { 0 } {
            let mut numbers: Vec<u64> = self.all[place].rows.iter().filter_map(&number).collect();
            numbers.sort_unstable();
            let whole = |(place, number): (usize, &u64)| *number == first + place as u64;
            if !numbers.iter().enumerate().all(whole) {
                self.spoil_one(place, &why);
            }
        }
    }

    /// All sessions.
    pub(super) fn take(&mut self) -> Vec<GatheredSession<T>> {
        std::mem::take(self).all
    }
}
