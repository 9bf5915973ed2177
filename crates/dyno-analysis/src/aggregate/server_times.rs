//! The server's own times, where responses carry them, and how much of TTFT they leave to the network
//! and the server's front end.

use super::distributions::describe;
use super::request_times::request_times;
use dyno_model::metric::Time;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Distribution, ServerTimesSummary};
use dyno_model::{Diagnostic, MS, Nanos};
use dyno_stats::Counted;
use dyno_words::number::digits;
use dyno_words::{ServerTimesFinding, values};

/// Servers round their times. An excess up to this, and up to what the time of sending may be off,
/// counts as none.
const NEGLIGIBLE: Nanos = MS;
/// A server that has the model finds it in a fraction of this; loading one takes longer.
const LOADED: Nanos = 500 * MS;

/// What the server's times leave of TTFT, and what it is if they exceed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideServer {
    /// TTFT without queue, prefill and load.
    Left(Nanos),
    /// These exceed TTFT by so much: the server's clock or its definitions differ.
    Exceeded(Nanos),
}

/// Compares the server's times up to the first token with TTFT; absent where one of the two is not
/// known. The TTFT of a request that was sent again includes refusals and waits, which are neither the
/// server's work nor the network's, so the two cannot be compared.
pub fn outside_server(record: &RequestRecord) -> Option<OutsideServer> {
    if record.retries > 0 {
        return None;
    }
    let ttft = request_times(record)[Time::Ttft]?;
    let times = record.server?;
    let others = times.queue.unwrap_or(0).saturating_add(times.load.unwrap_or(0));
    let inside = times.prefill?.saturating_add(others);
    let sent_before = record.widths.map_or(0, |widths| widths.sent);
    Some(match inside.checked_sub(ttft) {
        Some(excess) if excess > NEGLIGIBLE.saturating_add(sent_before) => {
            OutsideServer::Exceeded(excess)
        }
        _ => OutsideServer::Left(ttft.saturating_sub(inside)),
    })
}

/// The times that completed requests carry, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct ServerSide {
    reported: u64,
    queue: Vec<Nanos>,
    prefill: Vec<Nanos>,
    decode: Vec<Nanos>,
    load: Vec<Nanos>,
    total: Vec<Nanos>,
    outside: Vec<Nanos>,
    exceeded: Vec<Nanos>,
}

impl ServerSide {
    /// First reading: a completed request.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let Some(times) = record.server else { return };
        self.reported += 1;
        self.queue.extend(times.queue);
        self.prefill.extend(times.prefill);
        self.decode.extend(times.decode);
        self.load.extend(times.load);
        self.total.extend(times.total);
        match outside_server(record) {
            Some(OutsideServer::Left(time)) => self.outside.push(time),
            Some(OutsideServer::Exceeded(by)) => self.exceeded.push(by),
            None => {}
        }
    }

    /// The summary; nothing where no response carries times.
    pub(crate) fn summary(&self) -> Option<ServerTimesSummary> {
        (self.reported > 0).then(|| ServerTimesSummary {
            reported: self.reported,
            queue: described(&self.queue),
            prefill: described(&self.prefill),
            decode: described(&self.decode),
            load: described(&self.load),
            total: described(&self.total),
            outside: described(&self.outside),
            beyond_ttft: self.exceeded.len() as u64,
        })
    }

    /// What these times say about the level.
    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        let longest = |times: &mut dyn Iterator<Item = &Nanos>| {
            let (count, longest) = times.fold((0_u64, 0), |(n, most), t| (n + 1, most.max(*t)));
            (count > 0).then(|| (count, digits(longest as f64 / MS as f64, 3)))
        };
        let beyond = longest(&mut self.exceeded.iter())
            .map(|(count, by)| ServerTimesFinding::BeyondTtft.with(values![count, by]));
        let loaded = longest(&mut self.load.iter().filter(|time| **time >= LOADED))
            .map(|(count, most)| ServerTimesFinding::ModelLoaded.with(values![count, most]));
        beyond.into_iter().chain(loaded).collect()
    }
}

fn described(samples: &[Nanos]) -> Option<Distribution> {
    describe(&Counted::from_samples(samples.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::outcome::Outcome;
    use dyno_model::record::{Phase, ServerTimes, Widths};

    /// A completed request with a TTFT of 100 ms, and the server's queue, prefill and load in ms.
    fn record(queue: Option<u64>, prefill: Option<u64>, load: Option<u64>) -> RequestRecord {
        let ms = |time: Option<u64>| time.map(|time| time * MS);
        let times = ServerTimes {
            queue: ms(queue),
            prefill: ms(prefill),
            load: ms(load),
            ..ServerTimes::default()
        };
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        record.outcome = Outcome::Completed;
        record.streamed = true;
        record.sent = Some(10 * MS);
        record.first = Some(110 * MS);
        record.last = Some(200 * MS);
        record.end = 200 * MS;
        record.server = Some(times);
        record
    }

    fn side(records: &[RequestRecord]) -> ServerSide {
        let mut side = ServerSide::default();
        records.iter().for_each(|record| side.add(record));
        side
    }

    #[test]
    fn what_the_server_does_not_account_for_is_the_rest_of_ttft() {
        let left = |time: u64| Some(OutsideServer::Left(time * MS));
        assert_eq!(outside_server(&record(Some(20), Some(70), None)), left(10));
        assert_eq!(outside_server(&record(None, Some(70), Some(5))), left(25));
        assert_eq!(outside_server(&record(Some(20), None, None)), None);
        // A difference within the accuracy of both is nothing, and a larger one is told.
        assert_eq!(outside_server(&record(Some(1), Some(100), None)), left(0));
        let beyond = outside_server(&record(Some(40), Some(100), None));
        assert_eq!(beyond, Some(OutsideServer::Exceeded(40 * MS)));
        let mut sent_earlier = record(Some(40), Some(100), None);
        sent_earlier.widths = Some(Widths { sent: 45 * MS, ..Widths::default() });
        assert_eq!(outside_server(&sent_earlier), left(0));
        let mut whole = record(Some(1), Some(2), None);
        whole.streamed = false;
        assert_eq!(outside_server(&whole), None);
    }

    #[test]
    fn waits_between_refusals_are_nobodys() {
        let mut again = record(Some(20), Some(30), None);
        assert_eq!(outside_server(&again), Some(OutsideServer::Left(50 * MS)));
        again.retries = 1;
        assert_eq!(outside_server(&again), None);
        let summary = side(&[again, record(None, Some(70), None)]).summary().unwrap();
        assert_eq!((summary.reported, summary.beyond_ttft), (2, 0));
        assert_eq!(summary.outside.and_then(|time| time.mean), Some(30.0));
    }

    #[test]
    fn requests_that_carry_no_times_are_not_counted() {
        let mut bare = record(None, None, None);
        bare.server = None;
        assert_eq!(side(&[bare.clone()]).summary(), None);
        let summary = side(&[bare, record(None, Some(70), None)]).summary().unwrap();
        assert_eq!((summary.reported, summary.queue.is_none()), (1, true));
        assert_eq!(summary.prefill.and_then(|time| time.mean), Some(70.0));
        assert_eq!(summary.outside.and_then(|time| time.mean), Some(30.0));
    }

    #[test]
    fn an_excess_and_a_load_are_told_and_never_negative() {
        let side = side(&[
            record(Some(40), Some(100), None),
            record(None, Some(10), Some(30)),
            record(None, Some(10), Some(700)),
        ]);
        let codes: Vec<String> = side.findings().iter().map(|found| found.code.clone()).collect();
        assert_eq!(codes, ["server_times_beyond_ttft", "model_loaded"]);
        let summary = side.summary().unwrap();
        assert_eq!(summary.beyond_ttft, 2);
        assert_eq!(summary.outside.and_then(|time| time.count), Some(1));
        assert_eq!(self::side(&[record(None, Some(10), Some(30))]).findings(), []);
    }
}
