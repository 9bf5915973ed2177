//! Requests as they are kept: sixteen bytes each, eight more where some have hash ids, and eight for
//! each id. Nothing is copied when they are sorted or selected: a trace may be a good part of the
//! memory there is.

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

/// Where the ids of a request are in the array of all: the first, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u32,
}

/// Requests in a row.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    ids: Vec<u64>,
    /// As many as there are rows, or none until a request has ids.
    spans: Vec<Span>,
}

/// Ids are numbered with 32 bits.
pub(super) const MOST_IDS: usize = u32::MAX as usize;

impl Rows {
    /// Adds a request. There are at most [`MOST_IDS`] in all.
    pub(super) fn push(&mut self, row: Row, ids: &[u64]) {
        if !ids.is_empty() && self.spans.is_empty() {
            self.spans.resize(self.rows.len(), Span { start: 0, length: 0 });
        }
        self.rows.push(row);
        if !self.spans.is_empty() || !ids.is_empty() {
            self.spans.push(Span { start: self.ids.len() as u32, length: ids.len() as u32 });
        }
        self.ids.extend_from_slice(ids);
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
        let Some(Span { start, length }) = self.spans.get(index).copied() else { return &[] };
        let start = start as usize;
        self.ids.get(start..start + length as usize).unwrap_or_default()
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
        if self.spans.is_empty() {
            self.rows.sort_by_key(|row| row.at);
            return self;
        }
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_by_key(|index| self.rows[*index as usize].at);
        self.rows = order.iter().map(|index| self.rows[*index as usize]).collect();
        self.spans = order.iter().map(|index| self.spans[*index as usize]).collect();
        self
    }

    /// What `keep` makes of each request, in order, from the first to the last it is asked about.
    pub(super) fn kept(
        mut self,
        range: std::ops::Range<usize>,
        mut keep: impl FnMut(TraceRequest<'_>) -> Option<Row>,
    ) -> Self {
        let (mut kept, mut held) = (0, 0);
        for index in range {
            if let Some(request) = self.get(index)
                && let Some(row) = keep(request)
            {
                held += request.hashes.len();
                self.rows[kept] = row;
                if !self.spans.is_empty() {
                    self.spans[kept] = self.spans[index];
                }
                kept += 1;
            }
        }
        self.rows.truncate(kept);
        self.spans.truncate(kept);
        self.let_go(held);
        self
    }

    /// Frees what is not needed any more; `held` ids are. Where most are, the rest stays.
    fn let_go(&mut self, held: usize) {
        self.rows.shrink_to_fit();
        self.spans.shrink_to_fit();
        if held < self.ids.len() / 2 {
            let mut ids = Vec::with_capacity(held);
            for span in &mut self.spans {
                let start = span.start as usize;
                let of_it = self.ids.get(start..start + span.length as usize).unwrap_or_default();
                span.start = ids.len() as u32;
                ids.extend_from_slice(of_it);
            }
            self.ids = ids;
        }
        if held == 0 {
            self.spans = Vec::new();
        }
        self.ids.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_takes_sixteen_bytes_and_eight_for_its_ids() {
        assert_eq!(size_of::<Row>(), 16);
        assert_eq!(size_of::<Span>(), 8);
    }

    fn all(rows: &Rows) -> Vec<(u64, Vec<u64>)> {
        (0..rows.len()).filter_map(|i| rows.get(i)).map(|r| (r.at, r.hashes.to_vec())).collect()
    }

    fn row(at: u64) -> Row {
        Row { at, input: 5, output: 1 }
    }

    #[test]
    fn ids_stay_with_their_request() {
        let mut rows = Rows::default();
        for (at, ids) in [(7, &[][..]), (3, &[30, 31]), (7, &[70]), (1, &[])] {
            rows.push(row(at), ids);
        }
        let rows = rows.sorted();
        assert_eq!(all(&rows), [(1, vec![]), (3, vec![30, 31]), (7, vec![]), (7, vec![70])]);
        let rows = rows.kept(1..4, |request| (request.at < 7).then_some(row(0)));
        assert_eq!(all(&rows), [(0, vec![30, 31])]);
    }

    #[test]
    fn a_small_part_does_not_hold_the_ids_of_the_whole() {
        let mut rows = Rows::default();
        for at in 0..100 {
            rows.push(row(at), &[at, at + 1_000, at + 2_000]);
        }
        let part = rows.kept(90..95, |request| (request.at != 92).then_some(row(request.at)));
        let expected = |at: u64| (at, vec![at, at + 1_000, at + 2_000]);
        assert_eq!(all(&part), [90, 91, 93, 94].map(expected));
        assert_eq!((part.ids(), part.ids.capacity()), (12, 12));
        assert!(part.have_ids());
    }
}
