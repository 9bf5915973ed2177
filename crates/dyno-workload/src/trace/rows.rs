//! Requests as they are kept: sixteen bytes each, and the hash ids of all in one array.

use dyno_model::Nanos;

use super::TraceRequest;

/// One request without its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// When: on the trace's own clock while it is read, from the start of the replay after.
    pub(super) at: Nanos,
    pub(super) input: u32,
    pub(super) output: u32,
}

/// Requests in a row.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    ids: Vec<u64>,
    /// Where the ids of each request end; empty until one has any.
    ends: Vec<u64>,
}

impl Rows {
    /// Adds a request.
    pub(super) fn push(&mut self, row: Row, ids: &[u64]) {
        if !ids.is_empty() && self.ends.is_empty() {
            self.ends.resize(self.rows.len(), 0);
        }
        self.rows.push(row);
        self.ids.extend_from_slice(ids);
        if !self.ends.is_empty() || !ids.is_empty() {
            self.ends.push(self.ids.len() as u64);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many ids there are.
    pub(super) fn ids(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn have_ids(&self) -> bool {
        !self.ids.is_empty()
    }

    /// From the earliest to the latest.
    pub(super) fn span(&self) -> Nanos {
        let times = || self.rows.iter().map(|row| row.at);
        times().max().unwrap_or(0) - times().min().unwrap_or(0)
    }

    pub(super) fn times(&self) -> impl DoubleEndedIterator<Item = Nanos> + '_ {
        self.rows.iter().map(|row| row.at)
    }

    pub(super) fn ids_of(&self, index: usize) -> &[u64] {
        let end = |index: usize| self.ends.get(index).map_or(0, |end| *end as usize);
        let start = if index == 0 { 0 } else { end(index - 1) };
        self.ids.get(start..end(index)).unwrap_or_default()
    }

    pub(super) fn get(&self, index: usize) -> Option<TraceRequest<'_>> {
        let Row { at, input, output } = *self.rows.get(index)?;
        Some(TraceRequest { at, input, output, hashes: self.ids_of(index) })
    }

    /// In the order of their times; those at the same time stay as they were.
    pub(super) fn sorted(mut self) -> Self {
        if self.rows.is_sorted_by_key(|row| row.at) {
            return self;
        }
        if self.ends.is_empty() {
            self.rows.sort_by_key(|row| row.at);
            return self;
        }
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_by_key(|index| self.rows[*index as usize].at);
        let mut sorted = Self::default();
        for index in order {
            sorted.push(self.rows[index as usize], self.ids_of(index as usize));
        }
        sorted
    }

    /// What `keep` makes of each request, in order, from the first to the last it is asked about.
    pub(super) fn kept(
        mut self,
        range: std::ops::Range<usize>,
        mut keep: impl FnMut(TraceRequest<'_>) -> Option<Row>,
    ) -> Self {
        if self.ends.is_empty() {
            let mut rows = std::mem::take(&mut self.rows);
            rows.truncate(range.end);
            rows.drain(..range.start);
            let kept =
                |Row { at, input, output }| keep(TraceRequest { at, input, output, hashes: &[] });
            // In place: a trace may be a good part of the memory there is.
            self.rows = rows.into_iter().filter_map(kept).collect();
            self.rows.shrink_to_fit();
            return self;
        }
        let mut kept = Self::default();
        for index in range {
            if let Some(request) = self.get(index)
                && let Some(row) = keep(request)
            {
                kept.push(row, request.hashes);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_takes_sixteen_bytes() {
        assert_eq!(size_of::<Row>(), 16);
    }

    #[test]
    fn ids_stay_with_their_request() {
        let row = |at| Row { at, input: 5, output: 1 };
        let mut rows = Rows::default();
        for (at, ids) in [(7, &[][..]), (3, &[30, 31]), (7, &[70]), (1, &[])] {
            rows.push(row(at), ids);
        }
        let rows = rows.sorted();
        let all = |rows: &Rows| -> Vec<(u64, Vec<u64>)> {
            (0..rows.len()).filter_map(|i| rows.get(i)).map(|r| (r.at, r.hashes.to_vec())).collect()
        };
        assert_eq!(all(&rows), [(1, vec![]), (3, vec![30, 31]), (7, vec![]), (7, vec![70])]);
        let rows = rows.kept(1..4, |request| (request.at < 7).then_some(row(0)));
        assert_eq!(all(&rows), [(0, vec![30, 31])]);
    }
}
