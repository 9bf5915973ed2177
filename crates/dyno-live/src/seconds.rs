//! The run second by second: which requests ended and which tokens arrived in each.

use super::agents::middle;
use dyno_analysis::running_level::{LatencySpread, for_each_itl, latency, rough, ttft};
use dyno_model::lag::DelayHistogram;
use dyno_model::metric::{PerTime, Time};
use dyno_model::record::RequestRecord;
use dyno_model::{Nanos, SEC};
use std::collections::VecDeque;

/// More seconds than any terminal has columns.
const KEPT: usize = 600;
/// Requests arrive a little out of order; a second is closed after so many.
const OPEN: usize = 3;

/// The last seconds, oldest first.
#[derive(Debug, Default)]
pub(super) struct Seconds {
    /// Tokens are counted as they arrive, so those of ended requests are not counted again.
    counts_received: bool,
    /// The second that the newest entry stands for.
    newest: u64,
    entries: VecDeque<Second>,
}

/// What happened in one second, by the clock of the records.
#[derive(Debug, Clone, Default)]
pub(crate) struct Second {
    /// Requests that completed.
    pub(crate) done: u64,
    pub(crate) tokens: u64,
    /// Texts of these requests, where nothing is generated.
    pub(crate) inputs: u64,
    /// TTFT, ITL and latency.
    pub(crate) times: PerTime<LatencySpread>,
    open: Option<Box<PerTime<DelayHistogram>>>,
    /// Medians that several load generators reported.
    reported: Vec<(Time, Nanos)>,
}

impl Second {
    fn add(&mut self, record: &RequestRecord, with_tokens: bool) {
        let completed = record.is_completed();
        self.done += u64::from(completed);
        self.inputs += record.inputs.filter(|_| completed).map_or(0, u64::from);
        if with_tokens {
            self.tokens += record.output.map_or(0, |output| output.tokens);
        }
        if let Some(open) = &mut self.open {
            ttft(record).into_iter().for_each(|time| open[Time::Ttft].record(time));
            latency(record).into_iter().for_each(|time| open[Time::Latency].record(time));
            let itl = &mut open[Time::Itl];
            for_each_itl(record, |time, tokens| (0..tokens).for_each(|_| itl.record(time)));
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.times = open.map(|_, times| rough(&times));
        }
        for (time, spread) in self.times.iter_mut().filter(|_| !self.reported.is_empty()) {
            let of = self.reported.iter().filter(|(of, _)| *of == time);
            spread.p50 = middle(of.map(|(_, ns)| *ns).collect());
        }
    }
}

impl Seconds {
    /// A request ended, warm-up or not.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        let second = record.end / SEC;
        let with_tokens = !self.counts_received;
        self.advance(second);
        if let Some(entry) = self.entry(second) {
            entry.add(record, with_tokens);
        }
    }

    fn entry(&mut self, second: u64) -> Option<&mut Second> {
        let back = self.newest.checked_sub(second)? as usize;
        let place = self.entries.len().checked_sub(back + 1)?;
        self.entries.get_mut(place)
    }

    /// Requests that completed and tokens that arrived between two times, evenly: an agent reports once
    /// a second, and not at the end of one.
    pub(super) fn spread(&mut self, [from, to]: [Nanos; 2], done: u64, tokens: u64) {
        self.advance(from / SEC);
        self.advance(to / SEC);
        let time = to.saturating_sub(from);
        let until = |total: u64, at: Nanos| {
            let part = u128::from(total) * u128::from(at.clamp(from, to) - from);
            part.checked_div(u128::from(time)).unwrap_or(0) as u64
        };
        let oldest = (to / SEC).saturating_sub(KEPT as u64);
        for second in (from / SEC).max(oldest)..=to / SEC {
            let of = |total| until(total, (second + 1) * SEC) - until(total, second * SEC);
            if let Some(entry) = self.entry(second) {
                entry.done += of(done);
                entry.tokens += of(tokens);
            }
        }
    }

    /// Medians that an agent reported.
    pub(super) fn reported(&mut self, at: Nanos, medians: [(Time, Option<Nanos>); 2]) {
        if let Some(entry) = self.entry(at / SEC) {
            let known = medians.into_iter().filter_map(|(time, median)| Some((time, median?)));
            entry.reported.extend(known);
        }
    }

    /// So many output tokens arrived in the present second.
    pub(super) fn received(&mut self, tokens: u64) {
        self.counts_received = true;
        if let Some(now) = self.entries.back_mut() {
            now.tokens += tokens;
        }
    }

    /// It is now this second; nothing ended in those between.
    pub(super) fn advance(&mut self, second: Nanos) {
        if self.entries.is_empty() {
            self.newest = second;
            self.push();
        }
        let missing = second.saturating_sub(self.newest).min(KEPT as u64);
        (0..missing).for_each(|_| self.push());
        self.newest = self.newest.max(second);
    }

    fn push(&mut self) {
        self.entries.push_back(Second { open: Some(Box::default()), ..Second::default() });
        if self.entries.len() > KEPT {
            self.entries.pop_front();
        }
        if let Some(oldest_open) = self.entries.len().checked_sub(OPEN + 1) {
            self.entries[oldest_open].close();
        }
    }

    /// The last `most` seconds that are over, oldest first.
    pub(super) fn over(&self, most: usize) -> Vec<Second> {
        let over = self.entries.len().saturating_sub(1);
        let entries = self.entries.iter().take(over).skip(over.saturating_sub(most)).cloned();
        entries
            .map(|mut second| {
                second.close();
                second
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::outcome::Outcome;
    use dyno_model::record::{Phase, TokenCount, TokenSource};

    fn ended(at: Nanos, ttft: Nanos) -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, at - 2 * ttft);
        record.outcome = Outcome::Completed;
        (record.sent, record.first) = (Some(record.intended), Some(record.intended + ttft));
        (record.streamed, record.end, record.last) = (true, at, Some(at));
        record.output = Some(TokenCount { tokens: 10, source: TokenSource::Usage });
        record
    }

    #[test]
    fn requests_count_in_the_second_in_which_they_ended() {
        let mut seconds = Seconds::default();
        let ms = SEC / 1000;
        for (at, ttft) in [(5_100, 100), (5_900, 300), (7_000, 50), (6_999, 70), (5_950, 200)] {
            seconds.add(&ended(at * ms, ttft * ms));
        }
        seconds.advance(9);
        let over = seconds.over(100);
        assert_eq!(over.iter().map(|s| s.done).collect::<Vec<_>>(), [3, 1, 1, 0]);
        assert_eq!(over.iter().map(|s| s.tokens).collect::<Vec<_>>(), [30, 10, 10, 0]);
        let median = over[0].times[Time::Ttft].p50.unwrap();
        assert!((200.0..213.0).contains(&median), "{median}");
        assert_eq!(over[3].times[Time::Ttft], LatencySpread::default());
        assert_eq!(seconds.over(2).len(), 2);
    }

    #[test]
    fn tokens_count_in_the_second_in_which_they_arrive() {
        let mut seconds = Seconds::default();
        for second in 0..3 {
            seconds.advance(second);
            seconds.received(32);
            seconds.received(4);
        }
        // It ends only now; its tokens have been counted.
        seconds.add(&ended(3 * SEC, 10));
        seconds.advance(4);
        let tokens: Vec<u64> = seconds.over(10).iter().map(|second| second.tokens).collect();
        assert_eq!(tokens, [36, 36, 36, 0]);
    }

    #[test]
    fn a_jump_in_time_keeps_it_bounded() {
        let mut seconds = Seconds::default();
        seconds.add(&ended(SEC, 10));
        seconds.add(&ended(1_000_000 * SEC, 10));
        seconds.add(&ended(2 * SEC, 10));
        assert_eq!(seconds.entries.len(), KEPT);
        seconds.advance(1_000_001);
        assert_eq!(seconds.over(1)[0].done, 1);
    }
}
