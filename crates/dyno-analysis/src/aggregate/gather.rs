//! The first reading of a level's records: everything that can be summed or sampled record by record.

use super::cache::Cached;
use super::concurrency::Flight;
use super::failures::FailureWords;
use super::instrument::{Effective, Gaps, Spans, bounds};
use super::integrity::Streams;
use super::interactivity::Speeds;
use super::overload::Refusals;
use super::reasoning::Reasoned;
use super::request_times::{for_each_gap_sample, request_times};
use super::server_times::ServerSide;
use super::sessions::Conversations;
use super::slots::Slots;
use super::stragglers::LastToEnd;
use super::tokens::TokenSum;
use super::trees::Forest;
use super::waits::Waits;
use crate::counts::Counts;
use dyno_model::environment::Environment;
use dyno_model::finish::FinishKind;
use dyno_model::frame::LevelEnd;
use dyno_model::metric::{PerTime, Time};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{RequestRecord, TokenSource};
use dyno_model::summary::{OutputLengths, Ranges, round6};
use dyno_stats::{Counted, Tally};
use std::collections::BTreeMap;

/// The result of the first reading of a level.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) counts: Counts,
    pub(crate) warmup_records: u64,
    pub(crate) unsent: u64,
    pub(crate) timeouts: u64,
    pub(crate) samples: Samples,
    pub(crate) flight: Flight,
    pub(crate) waits: Waits,
    /// Requests from when they were due, where some waited in the client.
    pub(crate) queued: Option<Flight>,
    pub(crate) span: Span,
    pub(crate) slots: Slots,
    pub(crate) effective: Effective,
    /// Completed requests whose records do not state the accuracy of their times.
    pub(crate) unmeasured: u64,
    pub(crate) conversations: Conversations,
    pub(crate) trees: Forest,
    pub(crate) speeds: Speeds,
    pub(crate) send_lag: Vec<u64>,
    pub(crate) connect: Vec<u64>,
    pub(crate) input: TokenSum,
    pub(crate) output: TokenSum,
    pub(crate) asked: Asked,
    pub(crate) reasoned: Reasoned,
    /// Responses whose usage contradicts them.
    pub(crate) usage_ignored: u64,
    pub(crate) prompts: Prompts,
    /// Texts of completed requests, where nothing is generated.
    pub(crate) inputs: u64,
    /// Requests that carry texts and the texts in them, whatever became of the requests.
    pub(crate) carried: (u64, u64),
    /// Bytes of the bodies of their responses.
    pub(crate) body_bytes: u64,
    pub(crate) cached: Cached,
    pub(crate) server_side: ServerSide,
    pub(crate) streams: Streams,
    pub(crate) words: FailureWords,
    pub(crate) refusals: Refusals,
    pub(crate) last: LastToEnd,
    pub(crate) started: Option<u64>,
    /// When the first request of each of several agents was due.
    pub(crate) agents_started: BTreeMap<u32, u64>,
    pub(crate) end: Option<Box<LevelEnd>>,
}

/// Exact samples, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// Of times that a request has once.
    own: PerTime<Vec<u64>>,
    /// By how much these may be off.
    spans: PerTime<Spans>,
    /// Of times between events.
    gaps: PerTime<Tally>,
    /// By how much these may be off.
    loose: Gaps,
}

/// The samples of a time.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) counted: Counted,
    /// Their instrument ranges.
    pub(crate) ranges: Option<Ranges>,
}

impl Samples {
    fn add(&mut self, record: &RequestRecord) {
        let times = request_times(record);
        let bounds = bounds(record);
        for (time, samples) in self.own.iter_mut() {
            let Some(value) = times[time] else { continue };
            samples.push(value);
            if let Some(pair) = bounds.as_ref().and_then(|bounds| bounds[time]) {
                self.spans[time].push(value, pair);
            }
        }
        for_each_gap_sample(record, |gap| self.gaps[gap.time].add(gap.value, gap.times));
        self.loose.add(record);
    }

    /// Takes all samples of a time.
    pub(crate) fn take(&mut self, time: Time) -> Taken {
        let own = std::mem::take(&mut self.own[time]);
        if own.is_empty() {
            let counted = std::mem::take(&mut self.gaps[time]).freeze();
            let ranges = self.loose.ranges(time, &counted);
            return Taken { counted, ranges };
        }
        let ranges = std::mem::take(&mut self.spans[time]).ranges(&own);
        Taken { counted: Counted::from_samples(own), ranges }
    }
}

/// When measured requests were sent and when they ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    pub(crate) first_sent: Option<u64>,
    pub(crate) last_sent: Option<u64>,
    /// Last end of a completed or failed one.
    pub(crate) last_end: Option<u64>,
    /// Last end of a completed one.
    pub(crate) last_completed: Option<u64>,
    /// Last end of any that was sent.
    pub(crate) last_in_flight: Option<u64>,
    /// By how much earlier than recorded the first may have been sent and the last may have ended.
    pub(crate) widths: [u64; 2],
}

/// Input tokens by Dyno's count and by the server's, where both are known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prompts {
    pub(crate) requests: u64,
    pub(crate) ours: u64,
    pub(crate) servers: u64,
}

/// Output lengths compared with the requested ones.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub(crate) requests: u64,
    /// Ended early.
    pub(crate) short: u64,
    pub(crate) tokens: u64,
    pub(crate) got: u64,
    /// The largest difference.
    pub(crate) most: u64,
    pub(crate) capped: Capped,
}

/// Responses that ended at a length limit below the requested one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Capped {
    pub(crate) responses: u64,
    pub(crate) tokens: u64,
    pub(crate) got: u64,
}

/// Some servers keep this many tokens of the requested length for themselves.
const OFF_BY: u64 = 2;

impl Asked {
    fn add(&mut self, record: &RequestRecord) {
        // Events are no lengths: one may carry several tokens.
        let counted = record.output.filter(|count| count.source != TokenSource::Events);
        let (Some(asked), Some(got)) = (record.requested_output, counted) else { return };
        let (asked, got) = (u64::from(asked), got.tokens);
        self.requests += 1;
        self.tokens += asked;
        self.got += got;
        let reason = record.finish_reason.as_deref().map(FinishKind::of);
        match reason {
            _ if got >= asked => {}
            Some(FinishKind::Length) if got + OFF_BY < asked => {
                self.capped.responses += 1;
                self.capped.tokens += asked;
                self.capped.got += got;
            }
            _ => {
                self.short += 1;
                self.most = self.most.max(asked - got);
            }
        }
    }

    /// For the summary, where lengths may differ.
    pub(crate) fn summary(&self, env: Option<&Environment>) -> Option<OutputLengths> {
        let preflight = env.and_then(|env| env.preflight.as_ref());
        let fixed = preflight.is_some_and(|preflight| {
            preflight.length_field.is_some() && preflight.length_forced != Some(false)
        });
        let free = preflight.is_some() && !fixed;
        let missed = self.short + self.capped.responses;
        (self.requests > 0 && (free || missed > 0)).then(|| {
            let of = self.requests as f64;
            OutputLengths {
                requested_mean: round6(self.tokens as f64 / of),
                received_mean: round6(self.got as f64 / of),
                reached_share: round6((self.requests - missed) as f64 / of),
                fixed,
            }
        })
    }
}

impl Span {
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        if let Some(sent) = record.sent {
            if self.first_sent.is_none_or(|first| sent < first) {
                self.first_sent = Some(sent);
                self.widths[0] = record.widths.map_or(0, |widths| widths.sent);
            }
            later(&mut self.last_sent, sent);
            later(&mut self.last_in_flight, record.end);
        }
        if record.outcome == Outcome::Completed {
            later(&mut self.last_completed, record.end);
        }
        if record.outcome.is_ended() {
            if self.last_end.is_none_or(|last| record.end > last) {
                self.widths[1] = record.widths.map_or(0, |widths| widths.end);
            }
            later(&mut self.last_end, record.end);
        }
    }

    /// First `sent` to the later of the last end and the last failure.
    pub(crate) fn duration(&self) -> Option<u64> {
        self.last_end?.checked_sub(self.first_sent?).filter(|n| *n > 0)
    }

    /// The least and the most that the duration may have been.
    pub(crate) fn durations(&self) -> Option<[u64; 2]> {
        let duration = self.duration()?;
        Some([duration.saturating_sub(self.widths[1]), duration.saturating_add(self.widths[0])])
    }
}

fn later(so_far: &mut Option<u64>, time: u64) {
    *so_far = Some(so_far.map_or(time, |t| t.max(time)));
}

impl Gathered {
    /// Brings what was gathered into order. `capped`: arrivals may have waited in the client.
    pub(crate) fn sort(&mut self, capped: bool) {
        self.flight.sort();
        if !capped {
            self.waits = Waits::default();
        }
        self.queued = self.waits.queue(&self.flight);
        // By the user's wish, and not the client's fault.
        self.unsent = self.unsent.saturating_sub(self.waits.never_sent());
    }

    /// Requests that are in flight or wait in the client for a slot.
    pub(crate) fn queue(&self) -> &Flight {
        self.queued.as_ref().unwrap_or(&self.flight)
    }

    /// How long conversations took so far, or the trees that they belong to.
    pub(crate) fn talk_lengths(&self) -> Counted {
        if self.trees.any() { self.trees.lengths() } else { self.conversations.lengths() }
    }

    /// When the last conversation or tree began, or the last request that belongs to none was sent.
    pub(crate) fn talk_begun(&self) -> Option<u64> {
        if self.trees.any() { self.trees.last_begun() } else { self.conversations.last_begun }
    }

    /// When the last measured request arrived.
    pub(crate) fn last_arrival(&self) -> Option<u64> {
        self.waits.last_due().or(self.span.last_sent)
    }

    pub(crate) fn add(&mut self, record: &RequestRecord) {
        if let Some(agent) = record.agent {
            let first = self.agents_started.entry(agent).or_insert(record.intended);
            *first = record.intended.min(*first);
        }
        self.waits.add(record);
        self.trees.add(record);
        if let Some(sent) = record.sent {
            self.flight.add(sent, record.end);
        }
        if !record.phase.is_measured() {
            self.warmup_records += 1;
            if record.is_completed() {
                self.cached.add_warmup(record);
            }
            return;
        }
        self.count(record);
        self.time(record);
        self.conversations.add(record);
        if record.is_completed() {
            self.complete(record);
        }
    }

    fn count(&mut self, record: &RequestRecord) {
        self.counts.add(record);
        self.refusals.add(record);
        if let Some(inputs) = record.inputs {
            self.carried = (self.carried.0 + 1, self.carried.1 + u64::from(inputs));
        }
        if let Outcome::Failed(class) | Outcome::Shed(class) = &record.outcome {
            self.timeouts += u64::from(is_timeout(*class));
        }
        if let Some((class, detail)) = record.outcome.class().zip(record.detail.as_ref()) {
            self.words.add(&class, record.index, detail);
        }
        self.unsent += u64::from(match record.outcome {
            Outcome::Dropped(_) => !record.outcome.is_overflow(),
            Outcome::Censored => record.dispatched.is_none(),
            _ => false,
        });
    }

    /// Whether the slots of a closed loop had been at work before the measured part, or users pause anyway.
    pub(super) fn is_warm(&self, slots: u32) -> bool {
        self.warmup_records >= u64::from(slots) || self.conversations.any()
    }

    fn time(&mut self, record: &RequestRecord) {
        self.span.add(record);
        if let Some(sent) = record.sent {
            self.slots.add(record.slot, sent, record.end);
            self.effective.add(record, self.started.unwrap_or(0));
        }
        if record.outcome.is_ended() {
            let sent = record.sent.unwrap_or(record.intended);
            self.last.add(record.index, sent, record.end, || {
                record.outcome.class().unwrap_or_else(|| "completed".to_owned())
            });
        }
        if let Some(dispatched) = record.dispatched {
            self.send_lag.push(dispatched.saturating_sub(record.sendable()));
            if let Some(connected) = record.connected.filter(|_| !record.reused) {
                self.connect.push(connected.saturating_sub(dispatched));
            }
        }
    }

    fn complete(&mut self, record: &RequestRecord) {
        self.samples.add(record);
        self.unmeasured += u64::from(record.widths.is_none());
        self.input.add(record.input);
        if let Some(inputs) = record.inputs {
            self.inputs += u64::from(inputs);
            self.body_bytes += record.body_bytes.unwrap_or_default();
        } else {
            self.output.add(record.output);
            self.asked.add(record);
            self.speeds.add(record);
            self.reasoned.add(record);
        }
        self.usage_ignored += u64::from(record.usage_ignored);
        if let (Some(ours), Some(servers)) = (record.requested_input, record.input) {
            self.prompts.requests += 1;
            self.prompts.ours += u64::from(ours);
            self.prompts.servers += servers.tokens;
        }
        self.cached.add(record);
        self.server_side.add(record);
        self.streams.add(record);
    }
}

fn is_timeout(class: FailureClass) -> bool {
    use FailureClass::{TimeoutConnect, TimeoutFirstToken, TimeoutIdle, TimeoutTotal};
    matches!(class, TimeoutConnect | TimeoutFirstToken | TimeoutIdle | TimeoutTotal)
}
