//! Whether the target still serves. A server that sheds load answers within milliseconds, so a number
//! of failures alone does not mean that it is lost: it must also not have served anything for a while.
//! Tokens that arrive are served, long before the response that they belong to is complete; those of a
//! response that fails are not.

use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::RequestRecord;
use dyno_model::{Nanos, SEC};

/// A target is lost after this many failures without a success,
const FAILURES: u64 = 50;
/// if they have gone on for this long.
const UNSERVED: Nanos = 30 * SEC;
/// It is gone after this many failed connections in a row,
const UNREACHED: u64 = 10;
/// if they have gone on for this long.
const UNREACHED_FOR: Nanos = 3 * SEC;

/// Why a target counts as lost.
#[derive(Debug, Clone, PartialEq)]
pub struct LostTarget {
    /// No connection could be opened; else it refused or failed every request.
    pub unreachable: bool,
    /// How many requests have failed since it last served one.
    pub failures: u64,
    /// For how long that has been so.
    pub time: Nanos,
    /// The last of them.
    pub last: RequestRecord,
}

/// Failures in a row, and since when.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    count: u64,
    since: Option<Nanos>,
}

impl Row {
    fn add(&mut self, at: Nanos) -> Nanos {
        self.count += 1;
        at.saturating_sub(*self.since.get_or_insert(at))
    }
}

/// The successes and failures of a level.
#[derive(Debug, Default)]
pub(crate) struct Vitals {
    /// Without a success; counts from the last one, or from the start of the level.
    unserved: Row,
    /// Failed connections.
    unreached: Row,
    /// Output tokens of responses that failed.
    wasted: u64,
    /// The most tokens so far that belong to no failed response.
    most: u64,
    /// Failures in all; requests that were shed are none.
    pub(crate) failed: u64,
    pub(crate) lost: Option<LostTarget>,
}

impl Vitals {
    /// A level starts, when the transport has received so many tokens.
    pub(crate) fn new(started: Nanos, received: u64) -> Self {
        let mut vitals = Self { most: received, ..Self::default() };
        vitals.served(started);
        vitals
    }

    fn served(&mut self, at: Nanos) {
        self.unserved = Row { count: 0, since: Some(at) };
        self.unreached = Row::default();
    }

    /// The transport has received so many tokens in all. Only more than ever before show that the target
    /// serves: one that breaks off every response sends tokens as well, but never has more under way.
    pub(crate) fn received(&mut self, total: u64, at: Nanos) {
        let of_use = total.saturating_sub(self.wasted);
        if of_use > self.most {
            self.most = of_use;
            self.served(at);
        }
    }

    /// An attempt has ended.
    pub(crate) fn ended(&mut self, record: &RequestRecord) {
        let unreachable = match record.outcome {
            Outcome::Completed => return self.served(record.end),
            // Not the server's fault.
            Outcome::Dropped(_) | Outcome::Censored => return,
            Outcome::Failed(class) => {
                self.failed += 1;
                class == FailureClass::Connect
            }
            Outcome::Unconfirmed => {
                self.failed += 1;
                false
            }
            Outcome::Shed(_) => false,
        };
        self.wasted = self.wasted.saturating_add(record.tokens_received());
        let unserved = self.unserved.add(record.end);
        let unreached = match unreachable {
            true => self.unreached.add(record.end),
            false => {
                self.unreached = Row::default();
                0
            }
        };
        let gone = self.unreached.count >= UNREACHED && unreached >= UNREACHED_FOR;
        // One that refuses everything may be gone later.
        let known = self.lost.as_ref().is_some_and(|lost| lost.unreachable || !gone);
        if !known && (gone || self.unserved.count >= FAILURES && unserved >= UNSERVED) {
            let (row, time) =
                if gone { (self.unreached, unreached) } else { (self.unserved, unserved) };
            let last = record.clone();
            self.lost = Some(LostTarget { unreachable: gone, failures: row.count, time, last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;
    use dyno_model::record::Phase;

    /// The number of requests after which the target is lost, if they end every `every` from 0.
    fn lost_after(every: Nanos, outcome: impl Fn(u64) -> Outcome) -> Option<u64> {
        let mut vitals = Vitals::new(0, 0);
        (1..=10_000).find(|n| {
            let mut record = RequestRecord::new(0, *n, 0, Phase::Measured, 0);
            (record.end, record.outcome) = (n * every, outcome(*n));
            vitals.ended(&record);
            vitals.lost.is_some()
        })
    }

    #[test]
    fn both_many_failures_and_a_long_time_without_success_are_needed() {
        let shed = |_| Outcome::Shed(FailureClass::Http(503));
        let failed = |_| Outcome::Failed(FailureClass::Http(500));
        assert_eq!(lost_after(MS, shed), None, "10 s of refusals are overload");
        assert_eq!(lost_after(10 * MS, shed), Some(3000), "30 s of nothing else are not");
        assert_eq!(lost_after(5 * SEC, failed), Some(50));
        // One success in a hundred is enough.
        let some = |n: u64| if n.is_multiple_of(100) { Outcome::Completed } else { shed(n) };
        assert_eq!(lost_after(100 * MS, some), None);
        assert_eq!(lost_after(SEC, some), Some(50));
    }

    #[test]
    fn refused_connections_show_earlier_that_it_is_gone() {
        let refused = |_| Outcome::Failed(FailureClass::Connect);
        assert_eq!(lost_after(MS, refused), Some(3001));
        assert_eq!(lost_after(SEC, refused), Some(10));
        // It answers in between.
        let mixed = |n: u64| match n % 5 {
            0 => Outcome::Failed(FailureClass::Http(500)),
            _ => refused(n),
        };
        assert_eq!(lost_after(MS, mixed), None);
        // It refused everything before, which others may not have seen.
        let mut vitals = Vitals::new(0, 0);
        let mut ended = |n: u64, outcome| {
            let mut record = RequestRecord::new(0, n, 0, Phase::Measured, 0);
            (record.end, record.outcome) = (n * SEC, outcome);
            vitals.ended(&record);
            vitals.lost.as_ref().map(|lost| lost.unreachable)
        };
        let shed = Outcome::Shed(FailureClass::Http(503));
        assert_eq!((0..60).map(|n| ended(n, shed.clone())).last(), Some(Some(false)));
        assert_eq!((60..75).map(|n| ended(n, refused(n))).last(), Some(Some(true)));
        assert_eq!(lost_after(MS, |_| Outcome::Dropped("no port".to_owned())), None);
    }
}
