//! Selects the part of a trace that is replayed, by time, length and number; and counts the rest.

use super::options::{TraceLimits, TraceOptions};
use super::read::Read;
use super::rows::{Row, Rows};
use super::seen::Doubtful;
use super::words::{requests, spoken};
use crate::data::{DataError, limit_is_0};
use dyno_model::message::clauses;
use dyno_model::{Message, message};
use dyno_words::Note;

/// How the rows of a trace file were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceTally {
    /// Requests in the file that could be replayed.
    pub read: u64,
    /// Unusable rows that were skipped because of `skip_bad=true`.
    pub skipped: u64,
    /// Requests that failed when they were recorded, and are left out.
    pub failed_when_recorded: u64,
    /// Requests that came after a later one in the file; they are sent at their own time.
    pub reordered: u64,
    /// Requests before `from=` or not before `to=`.
    pub outside: u64,
    /// Requests with fewer input tokens than allowed.
    pub dropped_short: u64,
    /// Requests with more input tokens than allowed.
    pub dropped_long: u64,
    /// Requests that are cut to the most input tokens allowed.
    pub truncated: u64,
    /// Requests beyond the limit.
    pub beyond_limit: u64,
    /// Requests replayed whose hash ids are more or fewer than their input has blocks. Blocks
    /// without an id get text of their own, and surplus ids are ignored.
    pub mismatched: u64,
    /// Requests replayed that were recorded without output; one token is asked for.
    pub without_output: u64,
    /// Requests whose session is blank; each is a session of its own.
    pub without_session: u64,
    /// Requests whose date has no zone, while others have one; it is taken for UTC.
    pub without_zone: u64,
    /// Requests whose time is a date, although `unit=` names a unit of numbers.
    pub dates: u64,
    /// Requests whose time would be a date of our time in a larger unit.
    pub other_unit: u64,
}

/// Requests that were treated in some way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToldOfTrace {
    /// How many.
    pub count: u64,
    /// The note about them.
    pub note: Note,
}

impl TraceTally {
    /// Of times that were read one way and may be meant another.
    pub(super) fn of(doubtful: Doubtful) -> Self {
        let Doubtful { without_zone, dates, other_unit } = doubtful;
        Self { without_zone, dates, other_unit, ..Self::default() }
    }

    /// The notes whose count is not zero.
    pub fn told(&self) -> Vec<ToldOfTrace> {
        let told = |count, note| ToldOfTrace { count, note };
        let all = [
            told(self.skipped, Note::TraceSkipped),
            told(self.failed_when_recorded, Note::TraceFailed),
            told(self.outside, Note::TraceOutside),
            told(self.dropped_short, Note::TraceShort),
            told(self.dropped_long, Note::TraceLong),
            told(self.beyond_limit, Note::TraceBeyondLimit),
            told(self.truncated, Note::TraceCut),
            told(self.reordered, Note::TraceReordered),
            told(self.mismatched, Note::TraceMismatched),
            told(self.without_output, Note::TraceWithoutOutput),
            told(self.without_session, Note::TraceWithoutSession),
            told(self.without_zone, Note::TraceWithoutZone),
            told(self.dates, Note::TraceDates),
            told(self.other_unit, Note::TraceOtherUnit),
        ];
        all.into_iter().filter(|told| told.count > 0).collect()
    }
}

/// Takes the part that is asked for, with times from its start on, at the speed of the replay.
pub(super) fn select(
    name: &Message,
    read: Read,
    block: u32,
    options: &TraceOptions,
    limits: &TraceLimits,
) -> Result<(Rows, TraceTally), DataError> {
    let Read { rows, skipped, failed, reordered, doubtful, .. } = read;
    let (all, span) = (rows.len(), rows.span());
    let mut tally = TraceTally {
        read: all as u64,
        skipped,
        failed_when_recorded: failed,
        reordered,
        ..TraceTally::of(doubtful)
    };
    let start = rows.times().next().unwrap_or(0).saturating_add(options.from.unwrap_or(0));
    let length = options.to.map(|to| to - options.from.unwrap_or(0));
    let before = |time: u64| rows.times().take_while(|at| *at < time).count();
    let first = before(start);
    let end = length.map_or(all, |length| before(start.saturating_add(length)));
    tally.outside = (all - (end - first)) as u64;

    let mut taken = 0_u64;
    let rows = rows.kept(first..end, |request| {
        if limits.limit.is_some_and(|limit| taken >= limit) {
            tally.beyond_limit += 1;
            return None;
        }
        let mut input = request.input;
        if let Some(most) = limits.max_input.filter(|most| input > *most) {
            if !limits.truncate {
                tally.dropped_long += 1;
                return None;
            }
            input = most;
        }
        if limits.min_input.is_some_and(|least| input < least) {
            tally.dropped_short += 1;
            return None;
        }
        taken += 1;
        tally.truncated += u64::from(input < request.input);
        tally.without_output += u64::from(request.output == 0);
        let blocks = request.input.div_ceil(block) as usize;
        let ids = request.hashes.len();
        tally.mismatched += u64::from(ids > 0 && ids != blocks);
        let at = options.at_speed(request.at - start);
        Some(Row { at, input, output: request.output.max(1) })
    });
    match rows.len() {
        0 => {
            let why = nothing(&tally, span, options, limits);
            Err(DataError::NothingSelected { name: name.clone(), why })
        }
        _ => Ok((rows, tally)),
    }
}

/// Where the requests went, and what to change.
pub(super) fn nothing(
    tally: &TraceTally,
    span: u64,
    options: &TraceOptions,
    limits: &TraceLimits,
) -> Message {
    if tally.read == 0 {
        return match tally.failed_when_recorded {
            1 => message!(
                "1 request failed when recorded, and there are no others; name another file",
                "仅有的 1 个请求在录制时失败；请指定其他文件"
            ),
            failed => message!(
                "{} failed when recorded, and there are no others; name another file",
                "{}在录制时全部失败，没有其他请求；请指定其他文件",
                requests(failed)
            ),
        };
    }
    let mut why = Vec::new();
    if tally.outside > 0 {
        let asked = match (options.from, options.to) {
            (Some(from), Some(to)) => {
                message!("from {} to {}", "{} 到 {} 之间", spoken(from), spoken(to))
            }
            (Some(from), None) => message!("from {} on", "{} 之后", spoken(from)),
            (None, to) => message!("before {}", "{} 之前", spoken(to.unwrap_or(0))),
        };
        why.push(message!(
            "{some} of {all} are not within the time {asked}; the trace runs from 0 s to {end}",
            "{all}中有 {some} 个不在 {asked}；流量记录的时间为 0 s 到 {end}",
            some = tally.outside,
            all = requests(tally.read),
            end = spoken(span)
        ));
    }
    if let Some(most) = limits.max_input.filter(|_| tally.dropped_long > 0) {
        why.push(message!(
            "{} with more than {most} input tokens; raise the maximum or truncate",
            "{}超过 {most} 个输入 token；请提高上限或截断",
            requests(tally.dropped_long)
        ));
    }
    if let Some(least) = limits.min_input.filter(|_| tally.dropped_short > 0) {
        why.push(message!(
            "{} with fewer than {least} input tokens; lower the minimum",
            "{}少于 {least} 个输入 token；请降低下限",
            requests(tally.dropped_short)
        ));
    }
    if limits.limit == Some(0) {
        why.push(limit_is_0());
    }
    Message::of(clauses(why))
}
