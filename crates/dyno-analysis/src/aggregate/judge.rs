//! The rules of run validity, applied to what was gathered of a level.

use super::gather::Gathered;
use crate::counts::Counts;
use crate::findings::{Finding, NoInterval, NoWindow, OverTime};
use dyno_model::Verdict;
use dyno_model::environment::Environment;
use dyno_model::frame::{Ending, LevelEnd};
use dyno_model::metric::{PerTime, Time};
use dyno_model::plan::Plan;
use dyno_model::summary::{Client, Integrity, Lag, Straggler};
use dyno_model::units::to_s;

/// Everything the rules look at.
pub(super) struct Case<'a> {
    pub(super) plan: &'a Plan,
    pub(super) env: Option<&'a Environment>,
    pub(super) level: &'a Gathered,
    pub(super) medians: PerTime<Option<f64>>,
    pub(super) client: &'a Client,
    pub(super) slip: Option<Lag>,
    pub(super) integrity: &'a Integrity,
    pub(super) no_window: Option<NoWindow>,
    pub(super) past_capacity: Option<Finding>,
    pub(super) no_interval: Option<NoInterval>,
    pub(super) stragglers: &'a [Straggler],
    pub(super) over_time: &'a [OverTime],
}

const COALESCED_LIMIT: f64 = 0.2;
const SCHEDULE_LIMIT: f64 = 0.02;
const CLOCK_STEP_MS: f64 = 50.0;
const LENGTH_LIMIT: f64 = 0.1;

/// Beyond this a lag spoils the level: `floor` or a tenth of the median, whichever is more, but
/// never above `ceiling`.
fn lag_limit(floor: f64, median_ns: Option<f64>, ceiling: f64) -> f64 {
    floor.max(median_ns.unwrap_or(0.0) / 1e6 / 10.0).min(ceiling)
}

/// Requests left late, against the median of TTFT, or of latency where there is no TTFT.
pub(super) fn too_much_send_lag(p99_ms: f64, median_ns: Option<f64>) -> Option<Finding> {
    let limit_ms = lag_limit(5.0, median_ns, 50.0);
    (p99_ms > limit_ms).then_some(Finding::SendLag { p99_ms, limit_ms })
}

/// More failures than allowed.
pub(super) fn too_many_failures(counts: &Counts, allowed: f64) -> Option<Finding> {
    counts.bar_missed(allowed).then(|| Finding::Failures {
        failed: counts.failed,
        ended: counts.completed + counts.failed,
        allowed,
    })
}

/// The verdict is that of the weightiest finding.
pub(super) fn verdict(findings: &[Finding]) -> Verdict {
    findings.iter().map(Finding::weight).max().unwrap_or(Verdict::Valid)
}

impl Case<'_> {
    /// All findings, the weightiest first.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.lags(&mut found);
        match &self.level.end {
            Some(end) => self.reconcile(end, &mut found),
            None => found.push(Finding::Partial),
        }
        self.caveats(&mut found);
        self.lengths(&mut found);
        self.streams(&mut found);
        self.asides(&mut found);
        found.sort_by_key(|finding| std::cmp::Reverse(finding.weight()));
        found
    }

    fn lags(&self, found: &mut Vec<Finding>) {
        let m = &self.medians;
        let send_lag = self.client.send_lag_ms;
        found.extend(
            send_lag.and_then(|lag| too_much_send_lag(lag.p99, m[Time::Ttft].or(m[Time::Latency]))),
        );
        let per_token = m[Time::Itl].or(m[Time::ChunkGap]).or(m[Time::Tpot]).or(m[Time::Latency]);
        let read_limit = lag_limit(2.0, per_token, 20.0);
        let p99 = |lag: Option<Lag>| lag.map_or(0.0, |lag| lag.p99);
        let (read, timer) = (p99(self.client.read_lag_ms), p99(self.client.timer_lag_ms));
        if read.max(timer) > read_limit {
            let (timer, p99_ms) = (timer > read, read.max(timer));
            found.push(Finding::ReadLag { timer, p99_ms, limit_ms: read_limit });
        }
        let slip_limit = lag_limit(2.0, m[Time::Itl], f64::INFINITY);
        if let Some(slip) = self.slip.filter(|slip| slip.p99 > slip_limit) {
            found.push(Finding::EngineSlip { p99_ms: slip.p99, limit_ms: slip_limit });
        }
    }

    fn reconcile(&self, end: &LevelEnd, found: &mut Vec<Finding>) {
        let client = &end.client;
        if client.out_of_files > 0 {
            found.push(Finding::OutOfFiles(client.out_of_files));
        }
        if client.out_of_ports > 0 {
            found.push(Finding::OutOfPorts(client.out_of_ports));
        }
        let records = records(self.level);
        if records != end.issued {
            found.push(Finding::RecordsMissing { records, issued: end.issued, warmup: false });
        }
        if self.level.warmup_records != end.warmup {
            let (records, issued) = (self.level.warmup_records, end.warmup);
            found.push(Finding::RecordsMissing { records, issued, warmup: true });
        }
        let short = end.planned.filter(|planned| *planned != end.issued);
        if let (Ending::Requests, Some(planned)) = (end.ending, short) {
            found.push(Finding::ShortOfPlan { issued: end.issued, planned });
        }
        let cut_short = end.ending != Ending::Requests;
        let scheduled = end.planned.filter(|_| !cut_short).unwrap_or(end.issued);
        let sent = end.issued.saturating_sub(self.level.unsent);
        if sent.abs_diff(scheduled) as f64 > SCHEDULE_LIMIT * scheduled as f64 {
            found.push(Finding::OffSchedule { sent, scheduled });
        }
        match end.ending {
            Ending::Requests | Ending::Duration | Ending::Stable => {}
            Ending::Interrupted => found.push(Finding::Interrupted),
            Ending::TargetLost => found.push(Finding::TargetLost),
            Ending::Aborted => found.push(Finding::Aborted),
        }
        let step_ms = client.clock_step_ns as f64 / 1e6;
        if step_ms.abs() > CLOCK_STEP_MS {
            found.push(Finding::ClockStepped(step_ms));
        }
    }

    fn caveats(&self, found: &mut Vec<Finding>) {
        let counts = &self.level.counts;
        if records(self.level) == 0 {
            found.push(Finding::NothingMeasured { warmup: self.level.warmup_records });
        } else if counts.completed == 0 {
            found.push(Finding::NothingCompleted);
        }
        found.extend(too_many_failures(counts, self.plan.allow_failures));
        if let Some(share) = self.integrity.coalesced_share.filter(|s| *s > COALESCED_LIMIT) {
            found.push(Finding::Coalesced(share));
        }
        let (input, output) = (self.level.input.mixed(), self.level.output.mixed());
        if input || output {
            found.push(Finding::MixedSources { input, output });
        }
        match &self.past_capacity {
            // The queue that grows is the same finding.
            Some(past) => found.push(past.clone()),
            None => found.extend(self.no_window.map(Finding::NoSteadyWindow)),
        }
    }

    fn lengths(&self, found: &mut Vec<Finding>) {
        let level = self.level;
        let prompts = &level.prompts;
        if prompts.requests > 0 {
            let [asked, mean] =
                [prompts.ours, prompts.servers].map(|n| n as f64 / prompts.requests as f64);
            if (mean - asked).abs() > LENGTH_LIMIT * asked {
                found.push(Finding::InputLength { asked, mean });
            }
        }
        let fixed = self
            .env
            .and_then(|env| env.preflight.as_ref())
            .is_some_and(|preflight| preflight.length_field.is_some());
        let lengths = &level.asked;
        if lengths.short > 0 && !fixed {
            found.push(Finding::OutputLength {
                short: lengths.short,
                of: lengths.requests,
                mean: lengths.got as f64 / lengths.requests as f64,
                asked: lengths.tokens as f64 / lengths.requests as f64,
            });
        }
        let (input, output) = (level.input.unknown, level.output.unknown);
        if input > 0 || output > 0 {
            found.push(Finding::TokensUnknown { input, output });
        }
    }

    fn streams(&self, found: &mut Vec<Finding>) {
        let s = &self.level.streams;
        let of = s.streams;
        if s.no_terminal > 0 {
            found.push(Finding::NoTerminal { streams: s.no_terminal, of });
        }
        if s.first_chunk_several > 0 {
            found.push(Finding::FirstChunk { streams: s.first_chunk_several, of });
        }
        if s.one_burst > 0 {
            found.push(Finding::OneBurst { streams: s.one_burst, of: s.could_burst });
        }
        if s.no_token_times > 0 {
            found.push(Finding::NoTokenTimes { streams: s.no_token_times, of });
        }
    }

    fn asides(&self, found: &mut Vec<Finding>) {
        let level = self.level;
        if level.timeouts > 0 && level.counts.completed > 0 {
            found.push(Finding::SurvivorsOnly(level.timeouts));
        }
        if level.counts.resent > 0 {
            found.push(Finding::Resent(level.counts.resent));
        }
        let broken = level.conversations.broken();
        if broken > 0 {
            let started = level.conversations.started();
            found.push(Finding::SessionsBroken { broken, started });
        }
        if let (Some(worst), Some(duration)) = (self.stragglers.first(), level.span.duration()) {
            found.push(Finding::Stragglers {
                requests: self.stragglers.len() as u64,
                stretched_s: worst.stretched_s,
                duration_s: to_s(duration),
            });
        }
        found.extend(self.over_time.iter().copied().map(Finding::OverTime));
        found.extend(self.no_interval.map(Finding::NoIntervals));
    }
}

/// Measured records of a level.
pub(super) fn records(level: &Gathered) -> u64 {
    let counts = &level.counts;
    counts.completed + counts.failed + counts.dropped + counts.censored
}
