//! The findings about a level: facts about the server and the records, which count for the verdict, and
//! notes. Findings from instrument ranges are in `trust`.

use super::gather::Gathered;
use super::overload::{nothing_completed, shed};
use super::tokens::TokenSum;
use crate::counts::Counts;
use dyno_model::environment::Environment;
use dyno_model::frame::{ClientHealth, Ending, LevelEnd};
use dyno_model::metric::{PerTime, Time};
use dyno_model::plan::{Plan, Task};
use dyno_model::summary::{ClientSummary, Integrity, Lag, Straggler};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, Severity, Verdict};
use dyno_words::number::{digits, percent};
use dyno_words::{Finding, OutputFinding, Overloaded, values};

/// Everything the rules look at.
pub(super) struct Case<'a> {
    pub(super) plan: &'a Plan,
    pub(super) env: Option<&'a Environment>,
    pub(super) level: &'a Gathered,
    pub(super) medians: PerTime<Option<f64>>,
    pub(super) client: &'a ClientSummary,
    pub(super) slip: Option<Lag>,
    pub(super) integrity: &'a Integrity,
    pub(super) no_window: Option<&'a Diagnostic>,
    pub(super) past_capacity: Option<Diagnostic>,
    pub(super) no_interval: Option<Box<Diagnostic>>,
    pub(super) stragglers: &'a [Straggler],
    pub(super) over_time: Vec<Diagnostic>,
}

const COALESCED_LIMIT: f64 = 0.2;
const SCHEDULE_LIMIT: f64 = 0.02;
const CLOCK_STEP_MS: f64 = 50.0;
const LENGTH_LIMIT: f64 = 0.1;

/// The delay above which it is reported: `floor` or a tenth of the median, whichever is more, but never
/// above `ceiling`.
fn lag_limit(floor: f64, median_ns: Option<f64>, ceiling: f64) -> f64 {
    floor.max(median_ns.unwrap_or(0.0) / 1e6 / 10.0).min(ceiling)
}

/// A delay in milliseconds, where it is reported.
fn late(what: Finding, p99_ms: f64) -> Diagnostic {
    what.with([digits(p99_ms, 1)])
}

/// How late a client was, where that is reported.
pub(super) fn delays(client: &ClientSummary, medians: &PerTime<Option<f64>>) -> Vec<Diagnostic> {
    let (m, mut found) = (medians, Vec::new());
    let p99 = |lag: Option<Lag>| lag.map_or(0.0, |lag| lag.p99);
    let sent = p99(client.send_lag_ms);
    if sent > lag_limit(5.0, m[Time::Ttft].or(m[Time::Latency]), 50.0) {
        found.push(late(Finding::SendLag, sent));
    }
    let per_token = m[Time::Itl].or(m[Time::ChunkGap]).or(m[Time::Tpot]).or(m[Time::Latency]);
    let read_limit = lag_limit(2.0, per_token, 20.0);
    // Versions without instrument ranges relied on these.
    let (read, timer) = (p99(client.read_lag_ms), p99(client.timer_lag_ms));
    if client.read_lag_ms.is_some() && read.max(timer) > read_limit {
        let what = if timer > read { Finding::TimerLag } else { Finding::ReadLag };
        found.push(late(what, read.max(timer)));
    }
    found
}

/// Arrivals that a client could not send because of its machine's limits, and responses that it had not
/// asked for.
pub(super) fn out_of_limits(client: &ClientHealth) -> Vec<Diagnostic> {
    let all = [
        (Finding::OutOfFiles, client.out_of_files),
        (Finding::OutOfPorts, client.out_of_ports),
        (Finding::Unasked, client.unasked),
    ];
    all.into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| what.with([count]))
        .collect()
}

/// The wall clock of a client moved during the level.
pub(super) fn clock_stepped(client: &ClientHealth) -> Option<Diagnostic> {
    let step_ms = client.clock_step_ns as f64 / 1e6;
    (step_ms.abs() > CLOCK_STEP_MS).then(|| Finding::ClockStepped.with([format!("{step_ms:+.0}")]))
}

/// What a client says it issued, and the records of it.
pub(super) struct Arrived {
    pub(super) ending: Ending,
    pub(super) planned: Option<u64>,
    pub(super) issued: u64,
    pub(super) warmup: u64,
    pub(super) records: u64,
    pub(super) warmup_records: u64,
    pub(super) unsent: u64,
    /// How late the client was when it gave up its schedule.
    pub(super) behind_ns: u64,
}

impl Arrived {
    fn at(level: &Gathered, end: &LevelEnd) -> Self {
        Self {
            ending: end.ending,
            planned: end.planned,
            issued: end.issued,
            warmup: end.warmup,
            records: records(level),
            warmup_records: level.warmup_records,
            unsent: level.unsent,
            behind_ns: end.client.behind_ns,
        }
    }

    /// Where records and plan do not match, or too much was not sent.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.records != self.issued {
            found.push(Finding::RecordsMissing.with([self.records, self.issued]));
        }
        if self.warmup_records != self.warmup {
            let counts = [self.warmup_records, self.warmup];
            found.push(Finding::WarmupRecordsMissing.with(counts));
        }
        let short = self.planned.filter(|planned| *planned != self.issued);
        if let (Ending::Requests, Some(planned)) = (self.ending, short) {
            found.push(Finding::ShortOfPlan.with([self.issued, planned]));
        }
        let behind = self.ending == Ending::BehindSchedule;
        let cut_short = self.ending != Ending::Requests && !behind;
        let scheduled = self.planned.filter(|_| !cut_short).unwrap_or(self.issued);
        let sent = self.issued.saturating_sub(self.unsent);
        let off = sent.abs_diff(scheduled) as f64;
        if behind {
            let late = digits(to_s(self.behind_ns), 2);
            found.push(Finding::BehindSchedule.with(values![late, sent, scheduled]));
        } else if off > SCHEDULE_LIMIT * scheduled as f64 {
            let share = percent(off / scheduled as f64);
            found.push(Finding::OffSchedule.with(values![sent, scheduled, share]));
        }
        found
    }
}

/// More failures than allowed. Where it is only with those that were shed that there are too many, the
/// server is overloaded, and that is all.
pub(super) fn too_many_failures(counts: &Counts, allowed: f64) -> Option<Diagnostic> {
    let ended = counts.completed + counts.refused();
    let failed = counts.failed_or_unconfirmed();
    let alone = failed as f64 > allowed * ended as f64;
    (counts.bar_missed(allowed) && (alone || counts.shed == 0)).then(|| {
        let share = percent(failed as f64 / ended as f64);
        Finding::Failures.with(values![failed, ended, share, percent(allowed)])
    })
}

/// Token counts of a level come from more than one source.
pub(super) fn mixed_sources(input: &TokenSum, output: &TokenSum) -> Option<Diagnostic> {
    let finding = match (input.mixed(), output.mixed()) {
        (true, true) => Finding::MixedSources,
        (true, false) => Finding::MixedInput,
        (false, true) => Finding::MixedOutput,
        (false, false) => return None,
    };
    Some(finding.into())
}

/// The verdict is that of the most severe finding.
pub(super) fn verdict(findings: &[Diagnostic]) -> Verdict {
    let weightiest = findings.iter().filter_map(|finding| finding.severity).max();
    weightiest.map_or(Verdict::Valid, Severity::verdict)
}

/// Findings and notes about what became of the requests.
const OUTCOMES: [&str; 6] =
    ["target_lost", "nothing_completed", "failures", "overloaded", "retried", "paused"];

/// The most severe first, so that what decided the verdict is read first; among equals, what the server
/// did with the requests before how exactly it was measured.
pub(super) fn put_in_order(findings: &mut [Diagnostic]) {
    findings.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.severity), !OUTCOMES.contains(&&*finding.code))
    });
}

impl Case<'_> {
    /// All findings, in the order of the rules.
    pub(super) fn findings(mut self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.lags(&mut found);
        match &self.level.end {
            Some(end) => self.reconcile(end, &mut found),
            None if self.plan.fleet.is_some() => found.push(Finding::CoordinatorLost.into()),
            None => found.push(Finding::Partial.into()),
        }
        self.caveats(&mut found);
        self.lengths(&mut found);
        self.streams(&mut found);
        self.asides(&mut found);
        found.append(&mut self.over_time);
        found.extend(self.no_interval.map(|why| *why));
        found
    }

    fn lags(&self, found: &mut Vec<Diagnostic>) {
        let m = &self.medians;
        if !self.is_fleet() {
            found.extend(delays(self.client, m));
        }
        if let Some(slip) = self.slip {
            found.push(late(Finding::EngineSlip, slip.p99));
        }
    }

    /// Several clients are judged one by one.
    fn is_fleet(&self) -> bool {
        self.level.end.as_ref().is_some_and(|end| !end.agents.is_empty())
    }

    fn reconcile(&self, end: &LevelEnd, found: &mut Vec<Diagnostic>) {
        let fleet = self.is_fleet();
        if !fleet {
            found.extend(out_of_limits(&end.client));
        }
        found.extend(Arrived::at(self.level, end).findings());
        match end.ending {
            Ending::Requests | Ending::Duration | Ending::Stable | Ending::BehindSchedule => {}
            // The finding about the agent says so.
            Ending::AgentLost if end.agents.iter().any(|agent| agent.lost.is_some()) => {}
            Ending::AgentLost => found.push(Finding::Aborted.into()),
            Ending::Interrupted => found.push(Finding::Interrupted.into()),
            Ending::TargetLost => found.push(Finding::TargetLost.into()),
            Ending::MaxFailures => {
                let most =
                    self.plan.max_failures.unwrap_or(self.level.counts.failed_or_unconfirmed());
                found.push(Overloaded::MaxFailures.with([most]));
            }
            Ending::Aborted => found.push(Finding::Aborted.into()),
        }
        if !fleet {
            found.extend(clock_stepped(&end.client));
        }
    }

    fn caveats(&self, found: &mut Vec<Diagnostic>) {
        let counts = &self.level.counts;
        if records(self.level) == 0 {
            found.push(match self.level.warmup_records {
                0 => Finding::NothingDue.into(),
                warmup => Finding::OnlyWarmup.with([warmup]),
            });
        } else if counts.completed == 0 {
            found.push(nothing_completed(counts));
        }
        found.extend(too_many_failures(counts, self.plan.allow_failures));
        found.extend(shed(counts, self.plan.allow_failures));
        if counts.unconfirmed > 0 {
            let ended = counts.completed + counts.refused();
            found.push(Finding::Unconfirmed.with([counts.unconfirmed, ended]));
        }
        if let Some(share) = self.integrity.coalesced_share.filter(|s| *s > COALESCED_LIMIT) {
            found.push(Finding::Coalesced.with([percent(share)]));
        }
        found.extend(mixed_sources(&self.level.input, &self.level.output));
        // Past capacity, a growing queue is the same finding.
        found.extend(self.past_capacity.as_ref().or(self.no_window).cloned());
    }

    fn lengths(&self, found: &mut Vec<Diagnostic>) {
        let level = self.level;
        let prompts = &level.prompts;
        if prompts.requests > 0 {
            let [asked, mean] =
                [prompts.ours, prompts.servers].map(|n| n as f64 / prompts.requests as f64);
            if (mean - asked).abs() > LENGTH_LIMIT * asked {
                let what = match self.plan.request.task {
                    Task::Rank => Finding::PairsCounted,
                    Task::Generate | Task::Embed => Finding::InputLength,
                };
                found.push(what.with([asked, mean].map(|n| digits(n, 1))));
            }
        }
        let asked = &level.asked;
        let of = asked.requests;
        if let Some(lengths) = asked.summary(self.env).filter(|_| asked.short > 0) {
            let short = asked.short;
            let means = [lengths.received_mean, lengths.requested_mean].map(|n| digits(n, 1));
            let [received, requested] = means;
            found.push(match (lengths.fixed, self.plan.request.stop.is_empty()) {
                (false, _) => Finding::OutputLength.with(values![short, of, received, requested]),
                // Stop strings end responses whatever the length field says.
                (true, false) => {
                    Finding::OutputStopped.with(values![short, of, received, requested])
                }
                (true, true) => Finding::OutputFewer.with(values![short, of, asked.most]),
            });
        }
        let capped = &asked.capped;
        if capped.responses > 0 {
            let [mean, asked] =
                [capped.got, capped.tokens].map(|n| digits(n as f64 / capped.responses as f64, 1));
            found.push(OutputFinding::Capped.with(values![capped.responses, of, mean, asked]));
        }
        if level.usage_ignored > 0 {
            let counts = [level.usage_ignored, level.counts.completed];
            found.push(OutputFinding::UsageIgnored.with(counts));
        }
        let (input, output) = (level.input.unknown, level.output.unknown);
        // What embeds or ranks reports no output, and the preflight says so if no input either.
        match (input, output) {
            _ if level.inputs > 0 => {}
            (0, 0) => {}
            (input, 0) => found.push(Finding::InputUnknown.with([input])),
            (0, output) => found.push(Finding::OutputUnknown.with([output])),
            (input, output) => found.push(Finding::TokensUnknown.with([input, output])),
        }
    }

    fn streams(&self, found: &mut Vec<Diagnostic>) {
        let s = &self.level.streams;
        let all = [
            (Finding::NoTerminal, s.no_terminal, s.streams),
            (Finding::FirstChunk, s.first_chunk_several, s.streams),
            (Finding::OneBurst, s.one_burst, s.could_burst),
            (Finding::NoTokenTimes, s.no_token_times, s.streams),
        ];
        let some = all.into_iter().filter(|(_, streams, _)| *streams > 0);
        found.extend(some.map(|(what, streams, of)| what.with([streams, of])));
        if s.no_text > 0 {
            found.push(OutputFinding::NoText.with([s.no_text, s.streams]));
        }
        if s.unstreamed > 0 {
            found.push(OutputFinding::Unstreamed.with([s.unstreamed, s.streams]));
        }
        if s.lost_frames > 0 {
            found.push(Finding::EventsLost.with([s.lost_frames, s.with_lost, s.streams]));
        }
    }

    fn asides(&self, found: &mut Vec<Diagnostic>) {
        let level = self.level;
        if level.timeouts > 0 && level.counts.completed > 0 {
            found.push(Finding::SurvivorsOnly.with([level.timeouts]));
        }
        if level.counts.resent > 0 {
            found.push(Finding::Resent.with([level.counts.resent]));
        }
        let broken = level.conversations.broken();
        if broken > 0 && !level.trees.any() {
            let started = level.conversations.started();
            let what = match level.counts.failed_or_unconfirmed() {
                0 if level.counts.shed > 0 => Finding::SessionsShed,
                _ => Finding::SessionsBroken,
            };
            found.push(what.with([broken, started]));
        }
        if let (Some(worst), Some(duration)) = (self.stragglers.first(), level.span.duration()) {
            let [stretched, whole] = [worst.stretched_s, to_s(duration)].map(|s| digits(s, 1));
            let count = self.stragglers.len();
            found.push(Finding::Stragglers.with(values![count, stretched, whole]));
        }
    }
}

/// Measured records of a level.
pub(super) fn records(level: &Gathered) -> u64 {
    level.counts.records()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_words::Measuring;

    #[test]
    fn what_decided_the_verdict_is_first_and_refusals_are_before_precision() {
        let shed = Overloaded::Shed.with(values![5, 10, "50 %", "1.0 %"]);
        let paused = Overloaded::Paused.with(values!["1.0", "5 %"]);
        let (fair, poor) = (Measuring::Fair.with(["TTFT"]), Measuring::Poor.with(["ITL"]));
        let slow = late(Finding::SendLag, 12.0);
        let mut found = vec![slow, fair, shed, paused, poor];
        put_in_order(&mut found);
        let codes: Vec<&str> = found.iter().map(|finding| &*finding.code).collect();
        let expected = ["instrument_range", "overloaded", "instrument_range", "paused", "send_lag"];
        assert_eq!(codes, expected);
        assert_eq!(verdict(&found[..1]), Verdict::Invalid);
    }
}
