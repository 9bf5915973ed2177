//! Whether the server worked on the requests of this client and on no others, by its own metrics.

use super::refusal::Refusal;
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use dyno_model::{MS, Nanos};
use dyno_stats::by_rank;

/// How long a response of `/metrics` may take, and the front end for what the engine has finished.
const ON_THE_WAY: Nanos = 50 * MS;
/// Steps that the server's counts may be behind: they are renewed once a step, with those of the last.
const STEPS: u64 = 2;
/// Share of the samples that may be off: counts of running and waiting requests are not taken at the
/// same moment.
const ODD_SAMPLES: f64 = 0.1;
/// Share of the requests that may be missing: each of two engines would have half of them.
const MISSING: f64 = 0.25;

/// Whether the server counted its requests during a level, so that those of others would have been seen.
pub fn is_checked(requests: &[RequestRecord], samples: &[ServerSample]) -> bool {
    counted(requests, samples).next().is_some()
}

/// The requests that the server reported while some were in flight, by the time of the report.
fn counted<'a>(
    requests: &[RequestRecord],
    samples: &'a [ServerSample],
) -> impl Iterator<Item = (Nanos, u64)> + use<'a> {
    let sent = requests.iter().filter_map(|request| Some((request.sent?, request.end)));
    let [start, end] =
        sent.fold([Nanos::MAX, 0], |[start, end], (sent, ended)| [start.min(sent), end.max(ended)]);
    let during = samples.iter().filter(move |sample| (start..=end).contains(&sample.at));
    during.filter_map(|sample| {
        Some((sample.at, sample.running?.saturating_add(sample.waiting.unwrap_or(0))))
    })
}

/// The most requests that were in flight at once.
pub(super) fn most_in_flight(requests: &[RequestRecord]) -> u32 {
    let sent = requests.iter().filter_map(|request| Some((request.sent?, request.end)));
    let mut changes: Vec<(Nanos, i32)> = sent.flat_map(|(at, end)| [(at, 1), (end, -1)]).collect();
    // Where one ends and the next is sent at the same time, the end comes first.
    changes.sort_unstable();
    let now = changes.iter().scan(0, |now, (_, change)| {
        *now += change;
        Some(*now)
    });
    now.max().unwrap_or(0).unsigned_abs()
}

/// The refusals that follow from the samples taken while requests were in flight.
pub(super) fn refusals(requests: &[RequestRecord], samples: &[ServerSample]) -> Vec<Refusal> {
    let sent: Vec<(Nanos, &RequestRecord)> =
        requests.iter().filter_map(|request| Some((request.sent?, request))).collect();
    let stale = ON_THE_WAY + STEPS * 1_000 * long_gap_us(requests);
    let (mut all, mut more, mut fewer) = (0, Off::default(), Off::default());
    for (at, reported) in counted(requests, samples) {
        all += 1;
        let at_most = sent.iter().filter(|(sent, of)| *sent <= at && at <= of.end + stale).count();
        let at_least = sent.iter().filter(|(_, of)| is_decoding(of, at, stale)).count();
        more.add(reported.saturating_sub(at_most as u64));
        let missing = (at_least as u64).saturating_sub(reported);
        fewer.add(if missing as f64 > MISSING * at_least as f64 { missing } else { 0 });
    }
    let mut refusals = Vec::new();
    if more.beyond(all) {
        let Off { samples, most } = more;
        refusals.push(Refusal::ForeignTraffic { samples, of: all, most });
    }
    if fewer.beyond(all) {
        let Off { samples, most } = fewer;
        refusals.push(Refusal::MissingTraffic { samples, of: all, most });
    }
    refusals
}

/// How long the longest steps take: the gap between tokens that only one in a hundred exceeds.
fn long_gap_us(requests: &[RequestRecord]) -> u64 {
    let mut gaps: Vec<f64> = Vec::new();
    for request in requests {
        let mut before = None;
        for chunk in request.chunks.iter() {
            gaps.extend(before.map(|before: u64| chunk.at_us.saturating_sub(before) as f64));
            before = Some(chunk.at_us);
        }
    }
    by_rank(&mut gaps, 0.99).map_or(0, |gap| gap as u64)
}

/// Whether the engine was certainly still decoding it: it got tokens well before and well after.
fn is_decoding(request: &RequestRecord, at: Nanos, stale: Nanos) -> bool {
    let (Some(first), Some(last)) = (request.first, request.last) else { return false };
    first + stale <= at && at + stale <= last
}

/// Samples that are off, and by how much at most.
#[derive(Default)]
struct Off {
    samples: usize,
    most: u64,
}

impl Off {
    fn add(&mut self, by: u64) {
        self.samples += usize::from(by > 0);
        self.most = self.most.max(by);
    }

    fn beyond(&self, all: usize) -> bool {
        self.samples as f64 > ODD_SAMPLES * all as f64
    }
}
