//! The findings in words, with what to do about each.

use super::{Finding, NoInterval, NoWindow};
use crate::escape::escape;

pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value >= 10.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

pub(super) fn are(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

const CLIENT_IS_SLOW: &str = "these figures describe this client, not the server; run fewer \
    streams per client, give it a core of its own, and see `dyno doctor`";

impl Finding {
    /// What was seen, and what to do.
    pub(super) fn words(&self) -> (String, &'static str) {
        if let Some(words) = self.words_of_invalid() {
            return words;
        }
        if let Some(words) = self.words_of_suspect() {
            return words;
        }
        self.words_of_note()
    }

    fn words_of_invalid(&self) -> Option<(String, &'static str)> {
        Some(match self {
            Self::SendLag { p99_ms, limit_ms } => (
                format!("requests left late: send lag p99 {p99_ms:.1} ms, limit {limit_ms:.1} ms"),
                CLIENT_IS_SLOW,
            ),
            Self::ReadLag { timer, p99_ms, limit_ms } => {
                let which = if *timer { "timer lag" } else { "read lag" };
                (
                    format!(
                        "the client was busy: {which} p99 {p99_ms:.1} ms, limit {limit_ms:.1} ms"
                    ),
                    CLIENT_IS_SLOW,
                )
            }
            Self::OutOfFiles(n) => (
                format!(
                    "{} not sent for want of file descriptors",
                    are(*n, "arrival was", "arrivals were")
                ),
                "raise the limit of open files (`ulimit -n`)",
            ),
            Self::OutOfPorts(n) => (
                format!(
                    "{} not sent for want of local ports",
                    are(*n, "arrival was", "arrivals were")
                ),
                "widen net.ipv4.ip_local_port_range, or use more than one client address",
            ),
            Self::OffSchedule { sent, scheduled } => (
                format!(
                    "{sent} of {scheduled} scheduled arrivals were sent, {} off",
                    percent((*scheduled as f64 - *sent as f64).abs() / *scheduled as f64)
                ),
                "the offered load was not the one asked for; lower the rate or use more clients",
            ),
            Self::EngineSlip { p99_ms, limit_ms } => (
                format!(
                    "the embedded engine missed its own schedule: p99 {p99_ms:.1} ms late, limit \
                     {limit_ms:.1} ms"
                ),
                "this machine is too busy for client and engine at this load; lower it, or run \
                 `dyno engine` elsewhere",
            ),
            Self::RecordsMissing { records, issued, warmup } => {
                let kind = if *warmup { "warm-up " } else { "" };
                (
                    format!("{records} records for {issued} {kind}arrivals"),
                    "the records do not add up: do not use these figures; keep the run directory \
                     and report it as a bug",
                )
            }
            Self::ShortOfPlan { issued, planned } => (
                format!("{issued} arrivals issued where the plan asked for {planned}"),
                "the records do not add up to the plan: do not use these figures; report a bug",
            ),
            _ => return None,
        })
    }

    fn words_of_suspect(&self) -> Option<(String, &'static str)> {
        Some(match self {
            Self::Partial => (
                "the records end before the level does; only what had finished is counted".into(),
                "run it again for whole figures",
            ),
            Self::Interrupted => {
                ("interrupted before the level was over".into(), "run it again for whole figures")
            }
            Self::TargetLost => (
                "the target was given up after too many failures in a row".into(),
                "look at the failures below and at the server's log",
            ),
            Self::Aborted => (
                "this program could not go on before the level was over".into(),
                "see its error message, then run it again",
            ),
            Self::NothingCompleted => (
                "not one request completed".into(),
                "look at the failures below; if there are none, the answers took longer than the level: \
                 give it more time with --duration or --drain",
            ),
            Self::NothingMeasured { warmup: 0 } => (
                "nothing was measured: no request was due in the measured time".into(),
                "give the level more requests or time, or raise the rate",
            ),
            Self::NothingMeasured { warmup } => (
                format!(
                    "nothing was measured: all there was, {}, was warm-up",
                    are(*warmup, "request", "requests")
                ),
                "lower --warmup, or give the level more requests or time",
            ),
            Self::Failures { failed, ended, allowed } => (
                format!(
                    "{failed} of {ended} requests failed ({}; {} allowed)",
                    percent(*failed as f64 / *ended as f64),
                    percent(*allowed)
                ),
                "throughput and latency are of the survivors; look at the failures below",
            ),
            Self::Coalesced(share) => (
                format!(
                    "{} of the output events came with the same read as the one before",
                    percent(*share)
                ),
                "something buffers the stream (a proxy, compression, a slow link): do not trust \
                 ITL; turn buffering off or measure next to the server",
            ),
            Self::MixedSources { input, output } => {
                let which = match (input, output) {
                    (true, true) => "input and output token counts",
                    (true, false) => "input token counts",
                    _ => "output token counts",
                };
                (
                    format!("{which} come from more than one source"),
                    "token figures mix different ways of counting; make the server send usage \
                     with every answer",
                )
            }
            Self::NoSteadyWindow(why) => words_of_no_window(*why),
            Self::PastCapacity { rate, low, high } => (
                format!(
                    "{rate} requests per second are offered, and the twin carries {low:.3} to \
                     {high:.3}: past its knee a latency would only tell how long the run was, so \
                     there is none"
                ),
                "read the capacity, or predict a rate below it",
            ),
            Self::SloSamples(few) => {
                let each = few.iter().map(|few| {
                    format!("{} has {} of {} needed", few.figure, few.samples, few.needed)
                });
                let each: Vec<String> = each.collect();
                (
                    format!("too few samples for the SLO: {}", each.join(", ")),
                    "give the level more requests with --requests or --duration, or bound a lower \
                     percentile",
                )
            }
            Self::ClockStepped(ms) => (
                format!("the wall clock moved by {ms:+.0} ms against the monotonic one"),
                "latencies are not touched, but times of day in this run are; check time \
                 synchronisation",
            ),
            _ => return None,
        })
    }

    fn words_of_note(&self) -> (String, &'static str) {
        match self {
            Self::InputLength { asked, mean } => (
                format!("prompts had {asked:.1} tokens by our count; the server counted {mean:.1}"),
                "give the model's own tokenizer with --tokenizer, or read lengths by the \
                 server's count",
            ),
            Self::OutputLength { short, of, mean, asked } => (
                format!(
                    "{short} of {of} answers were shorter than asked: {mean:.1} tokens on \
                     average, {asked:.1} asked"
                ),
                "this server's output length cannot be fixed; compare runs by tokens, not \
                 by requests",
            ),
            Self::TokensUnknown { input, output } => (
                format!(
                    "no token count for the input of {input} and the output of {output} requests"
                ),
                "sums of tokens are left out; make the server send usage",
            ),
            Self::NoTerminal { streams, of } => (
                format!("{streams} of {of} streams ended without a terminal event"),
                "they count as completed because a finish reason came; the server is sloppy",
            ),
            Self::FirstChunk { streams, of } => (
                format!("the first chunk of {streams} of {of} streams carried several tokens"),
                "TTFT includes the time of those tokens, and TPOT divides by all of them",
            ),
            Self::OneBurst { streams, of } => (
                format!("{streams} of {of} streamed answers arrived in one burst"),
                "TTFT and ITL of these say little; look for buffering between server and client",
            ),
            Self::NoTokenTimes { streams, of } => (
                format!("{streams} of {of} streams do not tell how many tokens a chunk carried"),
                "they have no ITL; chunk gap and TPOT stand in",
            ),
            Self::SurvivorsOnly(n) => (
                format!(
                    "{} in no latency figure",
                    are(*n, "request timed out and is", "requests timed out and are")
                ),
                "percentiles are over survivors only and look better than the truth",
            ),
            Self::Resent(n) => (
                format!(
                    "{} sent again after a reused connection turned out closed",
                    are(*n, "request was", "requests were")
                ),
                "the server closes idle connections early; this is no failure",
            ),
            Self::SessionsBroken { broken, started } => (
                format!(
                    "{broken} of {} ended with a turn that failed; the turns they had left were \
                     never sent",
                    are(*started, "conversation", "conversations")
                ),
                "later turns are of the conversations that lasted; look at the failures below",
            ),
            Self::Stragglers { requests, stretched_s, duration_s } => (
                format!(
                    "{} the level last {stretched_s:.1} s longer, of {duration_s:.1} s",
                    are(*requests, "straggler made", "stragglers made")
                ),
                "read the steady figures; whole-run throughput is pulled down",
            ),
            Self::OverTime(found) => found.words(),
            Self::NoIntervals(NoInterval::Burst) => (
                "no 95 % intervals: all requests of a burst belong to one moment".into(),
                "repeat the burst to see how much it varies",
            ),
            Self::NoIntervals(NoInterval::FewBlocks { blocks }) => (
                format!(
                    "no 95 % intervals: {}, 8 needed",
                    are(*blocks, "block of time", "blocks of time")
                ),
                "run for at least 16 median latencies",
            ),
            Self::Server(finding) => finding.words(),
            Self::Damaged(how) => (
                format!("the record file is damaged: {}", escape(how, 200)),
                "only what stands before the damage is counted",
            ),
            Self::PlanDiffers => (
                "the records name a different plan than plan.json holds".into(),
                "do not mix files of different runs",
            ),
            Self::LevelsNotRun { ran, planned } => (
                format!("{ran} of {planned} planned levels were run"),
                "run the rest: --resume DIR",
            ),
            Self::BegunAgain { labels } => {
                let labels = escape(&labels.join(", "), 200);
                (
                    format!("begun again after the run was resumed: {labels}"),
                    "what was recorded of the first beginning does not count",
                )
            }
            Self::SloNotMet(slo) => (
                format!("no level passes the SLO: {slo}"),
                "offer less load, or see at each level which term does not hold",
            ),
            _ => (String::new(), ""),
        }
    }
}

fn words_of_no_window(why: NoWindow) -> (String, &'static str) {
    match why {
        NoWindow::SlotsMissing { seen, of } => (
            format!("no steady window: only {seen} of {of} slots had a request"),
            "send more requests than there are slots, several times over",
        ),
        NoWindow::TooShort { window_s, needed_s } => (
            format!(
                "no steady window: {window_s:.2} s under full load, two median latencies \
                 ({needed_s:.2} s) needed"
            ),
            "whole-run throughput includes filling and emptying; send more requests or run longer",
        ),
        NoWindow::FewTurns { window_s, needed_s } => (
            format!(
                "no steady window: {window_s:.2} s with every user at work, two turns of a user \
                 with their pauses ({needed_s:.2} s) needed"
            ),
            "whole-run throughput includes filling and emptying; send more requests or run longer",
        ),
        NoWindow::Idle { window_s } => (
            format!(
                "no steady window: nothing was in flight in the {window_s:.2} s between filling \
                 and emptying"
            ),
            "requests were too few or too far apart: send more, or run for several turns of each \
             user, pauses included",
        ),
        NoWindow::TraceTrend { growth, arrivals } => {
            let arrivals = arrivals.map_or_else(
                || "its arrivals have no trend".to_owned(),
                |growth| format!("its arrivals changed by {:+.0} %", growth * 100.0),
            );
            (
                format!(
                    "no steady window: the number in flight changed by {:+.0} % over the trace; \
                     {arrivals}",
                    growth * 100.0
                ),
                "the load of a trace varies, so this alone is no fault; but if the number in \
                 flight grows far more than the arrivals, requests get longer or the server \
                 falls behind: replay it slower, with a smaller speed=",
            )
        }
        NoWindow::Saturated { surplus } => (
            format!(
                "no steady window: the server could not carry about {:.0} % of what was offered",
                100.0 * surplus
            ),
            "its queue grows as long as the level lasts, so latencies depend on how long it was; \
             lower --rate",
        ),
        NoWindow::Trend { growth } => (
            format!("no steady window: the number in flight changed by {:+.0} %", growth * 100.0),
            if growth > 0.0 {
                "the server does not keep up with this rate, so latencies depend on how long the \
                 run was; lower --rate"
            } else {
                "the level was still settling; use a longer --warmup"
            },
        ),
    }
}
