//! What shows only over all rows of a file: a field that the user named and no row has, and times that
//! are written in more than one way, or as if in another unit.

use dyno_model::Message;
use serde_json::{Map, Value};

use super::fields::{Field, no_such_field};
use super::format::Fields;
use super::row::name_one_of_them;
use super::time::{Unit, is_date, is_present_day, names_zone};
use crate::data::{At, DataError, listed};

/// Times of a trace that may have been read otherwise than they were meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Doubtful {
    /// Dates without a zone, where others have one.
    pub(super) without_zone: u64,
    /// Dates, where the user named the unit of numbers.
    pub(super) dates: u64,
    /// Numbers that would be dates of our time in a larger unit.
    pub(super) other_unit: u64,
}

/// What has been seen of the rows so far.
#[derive(Debug)]
pub(super) struct Seen {
    /// Fields that the user named, that a row need not have, and that none has had yet.
    unfound: Vec<Field>,
    /// The first row, and the fields that it has.
    first: Option<(At, Message)>,
    /// The field of times that may be written in several ways.
    time: Option<Field>,
    unit: Unit,
    with_zone: u64,
    without_zone: u64,
    /// Numbers among the times: how many, the earliest and the latest.
    numbers: Option<(u64, u64, u64)>,
}

impl Seen {
    /// Nothing yet of a file with these fields.
    pub(super) fn nothing(fields: &Fields) -> Self {
        let Fields { time, gap, end, session, ids, unit, .. } = fields;
        let is_mapped = |field: &&Field| matches!(field, Field::Mapped { .. });
        let optional = [session, gap, end, ids].into_iter().flatten();
        let by_date = matches!(unit, Unit::Date | Unit::DateOrMilliseconds | Unit::Unsaid);
        Self {
            unfound: optional.filter(is_mapped).cloned().collect(),
            first: None,
            time: time.clone().filter(|time| by_date || is_mapped(&time)),
            unit: *unit,
            with_zone: 0,
            without_zone: 0,
            numbers: None,
        }
    }

    /// Looks at a row that could be read.
    pub(super) fn look(&mut self, at: &At, object: &Map<String, Value>) {
        if !self.unfound.is_empty() {
            self.unfound.retain(|field| field.find(object).is_none());
            self.first.get_or_insert_with(|| (at.clone(), listed(object)));
        }
        let Some(value) = self.time.as_ref().and_then(|time| time.find(object)) else { return };
        match value {
            Value::String(text) if is_date(text) => match names_zone(text) {
                true => self.with_zone += 1,
                false => self.without_zone += 1,
            },
            _ => {
                let Some(time) = self.unit.read(value) else { return };
                let (count, earliest, latest) = self.numbers.unwrap_or((0, time, time));
                self.numbers = Some((count + 1, earliest.min(time), latest.max(time)));
            }
        }
    }

    /// What is doubtful about all of them; or which field none of them has.
    pub(super) fn all(self) -> Result<Doubtful, DataError> {
        if let (Some(Field::Mapped { key, path }), Some((at, there))) =
            (self.unfound.first(), self.first)
        {
            let what = no_such_field(path.as_str(), key, &there);
            return Err(DataError::Broken { at, what, fix: name_one_of_them() });
        }
        let named = matches!(self.time, Some(Field::Mapped { .. }));
        let of_numbers = !matches!(self.unit, Unit::Date | Unit::DateOrMilliseconds | Unit::Unsaid);
        let as_dates = |(_, earliest, latest): &(u64, u64, u64)| {
            [1_000, 1_000_000, 1_000_000_000].iter().any(|factor| {
                [earliest, latest]
                    .iter()
                    .all(|time| time.checked_mul(*factor).is_some_and(is_present_day))
            })
        };
        let dates = self.with_zone + self.without_zone;
        Ok(Doubtful {
            without_zone: if self.with_zone > 0 { self.without_zone } else { 0 },
            dates: if named && of_numbers { dates } else { 0 },
            other_unit: self.numbers.filter(as_dates).map_or(0, |(count, ..)| count),
        })
    }
}
