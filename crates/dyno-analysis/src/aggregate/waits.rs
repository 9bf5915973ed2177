//! Arrivals that waited in the client because as many requests were in flight as may be. What
//! waits there is part of the queue, so that a cap does not hide an overload.

use super::concurrency::Flight;
use dyno_model::Diagnostic;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{ClientWait, round6};
use dyno_model::units::to_ms;
use dyno_words::number::millis;
use dyno_words::{LoadNote, values};

/// The arrivals of a level that waited.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// When each was due and when it was sent, warm-up included.
    sent: Vec<(u64, u64)>,
    /// When each was due that was never sent, and when it was given up.
    unsent: Vec<(u64, u64)>,
    /// The last time at which any measured arrival was due.
    last_due: Option<u64>,
    /// Of measured arrivals.
    count: u64,
    never_sent: u64,
    total_ns: u128,
    longest_ns: u64,
}

impl Waits {
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let measured = record.phase.is_measured();
        if measured {
            self.last_due = self.last_due.max(Some(record.intended));
        }
        let never_sent = record.outcome == Outcome::Censored && record.dispatched.is_none();
        let until = match (record.admitted, record.sent) {
            (Some(admitted), Some(sent)) => {
                self.sent.push((record.intended, sent));
                admitted
            }
            (Some(admitted), None) => admitted,
            (None, _) if never_sent => {
                self.unsent.push((record.intended, record.end));
                record.end
            }
            (None, _) => return,
        };
        if measured {
            let wait = until.saturating_sub(record.intended);
            self.count += 1;
            self.never_sent += u64::from(never_sent);
            self.total_ns += u128::from(wait);
            self.longest_ns = self.longest_ns.max(wait);
        }
    }

    pub(crate) fn never_sent(&self) -> u64 {
        self.never_sent
    }

    /// When the last arrival was due, where any waited: later ones were sent when there was room.
    pub(crate) fn last_due(&self) -> Option<u64> {
        self.last_due.filter(|_| self.any())
    }

    fn any(&self) -> bool {
        !self.sent.is_empty() || !self.unsent.is_empty()
    }

    /// Requests from when they were due; nothing where none waited. Needs [`Flight::sort`].
    pub(crate) fn queue(&self, flight: &Flight) -> Option<Flight> {
        self.any().then(|| flight.with_waits(&self.sent, &self.unsent))
    }

    pub(crate) fn summary(&self, max_concurrency: u32) -> ClientWait {
        let some = |value: f64| (self.count > 0).then(|| round6(value));
        ClientWait {
            max_concurrency,
            waited: self.count,
            never_sent: self.never_sent,
            mean_ms: some(self.total_ns as f64 / self.count.max(1) as f64 / 1e6),
            longest_ms: some(to_ms(self.longest_ns)),
        }
    }
}

/// What there is to say of arrivals that waited, of so many in all.
pub(super) fn notes(wait: &ClientWait, arrivals: u64) -> Vec<Diagnostic> {
    let ClientWait { max_concurrency, waited, never_sent, mean_ms, longest_ms } = *wait;
    let mut notes = Vec::new();
    if let (Some(mean), Some(longest)) = (mean_ms, longest_ms) {
        let [mean, longest] = [mean, longest].map(millis);
        let values = values![waited, arrivals, max_concurrency, mean, longest];
        notes.push(LoadNote::WaitedInClient.with(values));
    }
    if never_sent > 0 {
        notes.push(LoadNote::NeverSent.with([never_sent]));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;
    use dyno_model::record::Phase;

    fn record(due: u64, admitted: Option<u64>, sent: Option<u64>, end: u64) -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, due * MS);
        record.admitted = admitted.map(|at| at * MS);
        (record.dispatched, record.sent) = (sent.map(|at| at * MS), sent.map(|at| at * MS));
        record.end = end * MS;
        if sent.is_some() {
            record.outcome = Outcome::Completed;
        }
        record
    }

    #[test]
    fn what_waits_is_part_of_the_queue_from_when_it_is_due() {
        let records = [
            record(0, None, Some(0), 40),
            record(10, Some(40), Some(41), 80),
            record(20, None, None, 100),
        ];
        let (mut waits, mut flight) = (Waits::default(), Flight::default());
        for record in &records {
            waits.add(record);
            if let Some(sent) = record.sent {
                flight.add(sent, record.end);
            }
        }
        flight.sort();
        let queue = waits.queue(&flight).unwrap();
        assert_eq!([5, 15, 30, 60, 90].map(|ms| queue.at(ms * MS)), [1, 2, 3, 2, 1]);
        assert_eq!([5, 15, 30, 60, 90].map(|ms| flight.at(ms * MS)), [1, 1, 1, 1, 0]);
        assert_eq!(waits.last_due(), Some(20 * MS));
        let summary = waits.summary(1);
        assert_eq!((summary.waited, summary.never_sent), (2, 1));
        assert_eq!((summary.mean_ms, summary.longest_ms), (Some(55.0), Some(80.0)));
    }

    #[test]
    fn nothing_waits_where_there_is_room() {
        let mut waits = Waits::default();
        waits.add(&record(0, None, Some(3), 40));
        assert!(waits.queue(&Flight::default()).is_none() && waits.last_due().is_none());
        let summary = waits.summary(8);
        assert_eq!((summary.waited, summary.mean_ms, summary.longest_ms), (0, None, None));
    }
}
