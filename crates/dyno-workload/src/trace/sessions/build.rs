//! Sessions of requests: which belong together and in which order, what each adds to the conversation,
//! and the pause before it. A request that does not continue its session is refused.

use std::collections::HashMap;

use super::event::{Event, Refused};
use super::form::SessionForm;
use crate::data::{At, DataError};
use crate::trace::read::{Records, replay_its_parts};
use crate::trace::seen::{Doubtful, Seen};
use crate::trace::words::grouped;
use dyno_model::message;
use dyno_model::prompt::ChatMessage;

/// The most requests, and bytes of text, that are held in memory.
const MOST_REQUESTS: u64 = 10_000_000;
const MOST_TEXT: u64 = 1 << 30;
/// A request that is sent this much before the response before it is complete was sent beside it.
/// Clocks of milliseconds, and a last event that is recorded late, are off by less.
const OVERLAP: u64 = 10_000_000;

/// A request of a session as it is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// Time from the response before it.
    pub(super) pause: u64,
    /// Tokens that it adds to the conversation; of the first request all.
    pub(super) added: u32,
    /// Tokens of its response; 0 where the recording does not say.
    pub(super) output: u32,
}

/// A session, as it is replayed.
#[derive(Debug, Clone, Default)]
pub(super) struct Built {
    /// When it starts, on the clock of the file.
    pub(super) start: Option<u64>,
    pub(super) turns: Vec<Turn>,
    /// Ids of the first prompt, where other sessions may have the same.
    pub(super) ids: Vec<u64>,
    /// What the user says in each turn, where the file has text.
    pub(super) said: Vec<Vec<ChatMessage>>,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) sessions: Vec<Built>,
    /// Requests that could not be used.
    pub(super) skipped: u64,
    /// Pauses that include the time of the recorded response before.
    pub(super) with_response: u64,
    /// Input of later requests, of which so much was shared with the request before it.
    pub(super) kept: Option<Kept>,
    /// A session that does not say when it started.
    pub(super) without_start: Option<At>,
    /// Requests whose session is blank.
    pub(super) without_session: u64,
    /// Times that may have been read otherwise than they were meant.
    pub(super) doubtful: Doubtful,
}

/// Input tokens of requests after the first of their session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// All of them, of the requests for which the recording says how many they shared.
    pub input: u64,
    /// Those that the recorded prompt before began with, too.
    pub recorded: u64,
    /// Those that are the conversation so far in the replay.
    pub replayed: u64,
}

/// Sessions while they are read.
#[derive(Default)]
struct Draft {
    turns: Vec<Event>,
    first_ids: Vec<u64>,
    last_ids: Vec<u64>,
    spoiled: bool,
}

/// Reads all sessions of a file.
pub(super) fn read(
    records: &mut Records,
    form: &SessionForm,
    block: u32,
) -> Result<Read, DataError> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let (mut requests, mut text, mut without_session) = (0_u64, 0_u64, 0_u64);
    let rows = match form {
        SessionForm::Rows(fields) => Some(fields),
        _ => None,
    };
    let mut seen = rows.map(|fields| Seen::nothing(fields));
    while let Some((at, value)) = records.next()? {
        let mut take = |event: Result<Event, Refused>| {
            let session = event.as_ref().map_or_else(|r| r.session.clone(), |e| e.session.clone());
            let mut draft = |session: Option<String>| {
                let next = drafts.len();
                let place = session.map_or(next, |name| *places.entry(name).or_insert(next));
                if place == next {
                    drafts.push(Draft::default());
                }
                place
            };
            let mut event = match event {
                Ok(event) => event,
                Err(Refused { error, session }) => {
                    if session.is_some() {
                        let place = draft(session);
                        drafts[place].spoiled = true;
                    }
                    return records.bad(error);
                }
            };
            requests += 1;
            without_session += u64::from(rows.is_some() && session.is_none());
            let said = event.said.iter().flatten().map(|message| message.content.len() as u64);
            text += said.sum::<u64>();
            check_size(&event.at, requests, text)?;
            let place = draft(session);
            event.session = None;
            drafts[place].add(event, form, block);
            Ok(())
        };
        match (form.read(&at, &value, &mut take), &mut seen, value.as_object()) {
            (Err(error), ..) => records.bad(error)?,
            (Ok(()), Some(seen), Some(object)) => seen.look(&at, object),
            (Ok(()), ..) => {}
        }
    }
    let doubtful = seen.map_or(Ok(Doubtful::default()), Seen::all)?;
    let mut read = Read { without_session, doubtful, ..Read::default() };
    for draft in drafts {
        if draft.spoiled {
            records.skipped += draft.turns.len() as u64;
            continue;
        }
        let built = read.build(draft, form, &mut |error| records.bad(error))?;
        read.sessions.extend(Some(built).filter(|built| !built.turns.is_empty()));
    }
    if read.sessions.is_empty() {
        return Err(records.nothing());
    }
    read.skipped = records.skipped;
    Ok(read)
}

fn check_size(at: &At, requests: u64, text: u64) -> Result<(), DataError> {
    let what = if requests > MOST_REQUESTS {
        message!(
            "the trace has more than {} requests in sessions",
            "流量记录的会话中超过 {} 个请求",
            grouped(MOST_REQUESTS)
        )
    } else if text > MOST_TEXT {
        message!(
            "the trace has more than {} MiB of text",
            "流量记录的文本超过 {} MiB",
            MOST_TEXT >> 20
        )
    } else {
        return Ok(());
    };
    Err(DataError::Broken { at: at.clone(), what, fix: replay_its_parts() })
}

impl Draft {
    fn add(&mut self, mut event: Event, form: &SessionForm, block: u32) {
        let ids = std::mem::take(&mut event.ids);
        if !ids.is_empty() {
            let same = self.last_ids.iter().zip(&ids).take_while(|(a, b)| a == b).count() as u64;
            match self.turns.last() {
                Some(before) => {
                    // The last block of a prompt need not be full.
                    let most = u64::from(event.input.min(before.input));
                    let kept = (same * u64::from(block)).min(most) as u32;
                    event.kept = event.kept.or(Some(kept));
                }
                None if form.shares_ids() => self.first_ids.clone_from(&ids),
                None => {}
            }
            self.last_ids = ids;
        }
        self.turns.push(event);
    }

    /// In the order in which they were sent.
    fn in_order(mut self) -> Self {
        if self.turns.iter().all(|turn| turn.start.is_some()) {
            self.turns.sort_by_key(|turn| turn.start);
        }
        self
    }
}

/// The request before, as far as the next one depends on it.
struct Before {
    start: Option<u64>,
    end: Option<u64>,
    /// Tokens of the conversation so far.
    history: u64,
}

impl Read {
    /// What a session is replayed as. `bad` is told of each request that does not continue it.
    fn build(
        &mut self,
        draft: Draft,
        form: &SessionForm,
        bad: &mut dyn FnMut(DataError) -> Result<(), DataError>,
    ) -> Result<Built, DataError> {
        let Draft { turns, first_ids, .. } = draft.in_order();
        let mut built = Built { ids: first_ids, ..Built::default() };
        let (mut before, mut waited) = (None::<Before>, 0_u64);
        for event in turns {
            if let Some(error) = before.as_ref().and_then(|before| refusal(&event, before, form)) {
                bad(error)?;
                waited = waited.saturating_add(event.gap.unwrap_or(0));
                continue;
            }
            let pause = match &before {
                None => 0,
                Some(before) => self.pause(&event, before, waited),
            };
            let history = before.as_ref().map_or(0, |before| before.history);
            let added = u64::from(event.input).saturating_sub(history) as u32;
            if let (Some(_), Some(kept)) = (&before, event.kept) {
                let all = self.kept.get_or_insert_default();
                all.input += u64::from(event.input);
                all.recorded += u64::from(kept.min(event.input));
                all.replayed += history.min(event.input.into());
            }
            if before.is_none() {
                built.start = event.start.filter(|_| event.common_clock);
                if built.start.is_none() {
                    self.without_start.get_or_insert_with(|| event.at.clone());
                }
            }
            built.turns.push(Turn { pause, added, output: event.output });
            built.said.extend(event.said);
            let history = u64::from(event.input) + u64::from(event.output.max(1));
            before = Some(Before { start: event.start, end: event.end, history });
            waited = 0;
        }
        Ok(built)
    }

    /// The pause before a request: as recorded, or from the end of the response before it, or from the
    /// request before it.
    fn pause(&mut self, event: &Event, before: &Before, waited: u64) -> u64 {
        if let Some(gap) = event.gap {
            return gap.saturating_add(waited);
        }
        match (event.start, before.end, before.start) {
            (Some(start), Some(end), _) => start.saturating_sub(end),
            (Some(start), None, Some(sent)) => {
                self.with_response += 1;
                start.saturating_sub(sent)
            }
            _ => waited,
        }
    }
}

fn another_session() -> message::Message {
    message!("remove it, or give it another session", "请去掉它，或归入另一个会话")
}

/// Why a request does not continue its session.
fn refusal(event: &Event, before: &Before, form: &SessionForm) -> Option<DataError> {
    if event.said.is_some() {
        return None;
    }
    if let (Some(start), Some(end)) = (event.start, before.end)
        && start.saturating_add(OVERLAP) < end
    {
        let early = (end - start) / 1_000_000;
        let what = message!(
            "the request was sent {early} ms before the response to the one before it in its session \
             was complete, and a session has no parallel requests",
            "该请求在会话中前一个请求的响应完成前 {early} ms 就已发送，而会话中没有并行请求"
        );
        return Some(DataError::bad(&event.at, what, another_session()));
    }
    if u64::from(event.input) <= before.history {
        let (name, input, history) = (form.input(), event.input, before.history);
        let what = message!(
            "the field {name:?} is {input}, and its session has {history} tokens by then: the history \
             was cut, or the request is of another branch, and a session only grows",
            "字段 {name:?} 为 {input}，而会话此时已有 {history} 个 token：历史被截断，或该请求属于另一分支，而会话只会增长"
        );
        return Some(DataError::bad(&event.at, what, another_session()));
    }
    None
}
