//! The stored form of one request: small fields, all its times in one, and its chunk track.

use crate::fields::{
    Bad, Fields, Value, put_bytes, put_number, put_plain, put_some, put_text, take_number,
    unzigzag, zigzag,
};
use dyno_model::chunks::{ChunkTrack, Loose, put_varint};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{
    Phase, RequestRecord, ServerTimes, TokenCount, TokenSource, TurnOfSession, Widths,
};
use dyno_model::tree::{Growth, Repeated, TurnOfTree};
use dyno_model::{Message, Nanos, message};

const LEVEL: u64 = 1;
const INDEX: u64 = 2;
const SLOT: u64 = 3;
const PHASE: u64 = 4;
const OUTCOME: u64 = 5;
const WHY: u64 = 6;
const TIMES: u64 = 7;
const CHUNKS: u64 = 8;
const CHUNK_COUNT: u64 = 9;
const ODD_TOKENS: u64 = 10;
const FLAGS: u64 = 11;
const FINISH_TOKENS: u64 = 12;
const INPUT: u64 = 13;
const INPUT_SOURCE: u64 = 14;
const OUTPUT: u64 = 15;
const OUTPUT_SOURCE: u64 = 16;
const REQUESTED_OUTPUT: u64 = 17;
const STATUS: u64 = 18;
const FINISH_REASON: u64 = 19;
const DETAIL: u64 = 20;
const TEXT: u64 = 21;
const REQUESTED_INPUT: u64 = 22;
const SESSION: u64 = 23;
const TURN: u64 = 24;
const LOOSE_CHUNKS: u64 = 25;
const WIDTHS: u64 = 26;
const CACHED: u64 = 27;
const ADMITTED_AFTER: u64 = 28;
const REASONING: u64 = 30;
const SERVER_TIMES: u64 = 31;
const INPUTS: u64 = 32;
const BODY_BYTES: u64 = 33;
const HEARTBEATS: u64 = 34;
const RETRY_AFTER: u64 = 35;
const RETRIES: u64 = 36;
const FIRST_REFUSED_AFTER: u64 = 37;
const UNSTREAMED: u64 = 38;
const LOST_FRAMES: u64 = 40;
const REFUSED_AS: u64 = 41;
const ADDRESS: u64 = 29;
const AGENT: u64 = 42;
const DETAIL_CHINESE: u64 = 43;
const TREE: u64 = 44;

const FAILED: u64 = 1;
const DROPPED: u64 = 2;
const CENSORED: u64 = 3;
const SHED: u64 = 4;

pub(crate) fn encode(record: &RequestRecord, out: &mut Vec<u8>) {
    put_plain(out, LEVEL, record.level.into());
    put_plain(out, INDEX, record.index);
    put_plain(out, SLOT, record.slot.into());
    put_plain(out, PHASE, phase_number(record.phase));
    encode_outcome(&record.outcome, out);
    let mut scratch = Vec::with_capacity(64);
    encode_times(record, &mut scratch);
    put_bytes(out, TIMES, &scratch);
    if !record.chunks.is_empty() {
        put_bytes(out, CHUNKS, record.chunks.bytes());
        put_number(out, CHUNK_COUNT, record.chunks.len() as u64);
    }
    if !record.chunks.odd().is_empty() {
        scratch.clear();
        encode_odd(record.chunks.odd(), &mut scratch);
        put_bytes(out, ODD_TOKENS, &scratch);
    }
    put_plain(out, FLAGS, flags(record));
    put_some(out, FINISH_TOKENS, record.finish_tokens);
    put_some(out, INPUT, record.input.map(|count| count.tokens));
    put_some(out, INPUT_SOURCE, record.input.map(|count| source_number(count.source)));
    put_some(out, OUTPUT, record.output.map(|count| count.tokens));
    put_some(out, OUTPUT_SOURCE, record.output.map(|count| source_number(count.source)));
    put_some(out, REQUESTED_OUTPUT, record.requested_output);
    put_some(out, STATUS, record.status);
    put_text(out, FINISH_REASON, record.finish_reason.as_deref());
    if let Some([english, chinese]) = record.detail.as_ref().map(Message::texts) {
        put_text(out, DETAIL, Some(english));
        // A server's own words are the same in every language.
        put_text(out, DETAIL_CHINESE, Some(chinese).filter(|chinese| *chinese != english));
    }
    put_text(out, TEXT, record.text.as_deref());
    put_some(out, REQUESTED_INPUT, record.requested_input);
    put_some(out, SESSION, record.turn.map(|turn| turn.session));
    put_some(out, TURN, record.turn.map(|turn| turn.number));
    if !record.chunks.loose().is_empty() {
        scratch.clear();
        encode_loose(record.chunks.loose(), &mut scratch);
        put_bytes(out, LOOSE_CHUNKS, &scratch);
    }
    if let Some(widths) = &record.widths {
        scratch.clear();
        encode_widths(widths, &mut scratch);
        put_bytes(out, WIDTHS, &scratch);
    }
    put_some(out, CACHED, record.cached);
    let waited = record.admitted.map(|admitted| admitted.saturating_sub(record.intended));
    put_some(out, ADMITTED_AFTER, waited);
    put_some(out, REASONING, record.reasoning);
    if let Some(times) = &record.server {
        scratch.clear();
        encode_server_times(times, &mut scratch);
        put_bytes(out, SERVER_TIMES, &scratch);
    }
    put_some(out, INPUTS, record.inputs);
    put_some(out, BODY_BYTES, record.body_bytes);
    put_plain(out, HEARTBEATS, record.heartbeats.into());
    put_plain(out, LOST_FRAMES, record.lost_frames.into());
    put_some(out, RETRY_AFTER, record.retry_after);
    put_plain(out, RETRIES, record.retries.into());
    let refused = record.first_refused.map(|at| at.saturating_sub(record.intended));
    put_some(out, FIRST_REFUSED_AFTER, refused);
    let class = record.refused_as.map(|class| class.to_string());
    put_text(out, REFUSED_AS, class.as_deref());
    put_some(out, UNSTREAMED, record.unstreamed);
    put_some(out, ADDRESS, record.address);
    put_some(out, AGENT, record.agent);
    if let Some(tree) = &record.tree {
        scratch.clear();
        encode_tree(tree, &mut scratch);
        put_bytes(out, TREE, &scratch);
    }
}

pub(crate) fn decode(payload: &[u8]) -> Result<RequestRecord, Bad> {
    let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
    let (mut outcome, mut why, mut unconfirmed) = (0, None, false);
    let mut times = None;
    let (mut chunks, mut count): (&[u8], u32) = (&[], 0);
    let (mut odd, mut loose): (&[u8], &[u8]) = (&[], &[]);
    let (mut input, mut output) = ((None, None), (None, None));
    let (mut session, mut turn) = (None, None);
    let (mut detail, mut detail_chinese) = (None, None);
    let (mut waited, mut refused): (Option<u64>, Option<u64>) = (None, None);
    for field in Fields(payload) {
        let (field, value) = field?;
        match field {
            LEVEL => record.level = value.narrow()?,
            INDEX => record.index = value.number()?,
            SLOT => record.slot = value.narrow()?,
            PHASE => record.phase = phase(value)?,
            OUTCOME => outcome = value.number()?,
            WHY => why = Some(value.text()?),
            TIMES => times = Some(value.bytes()?),
            CHUNKS => chunks = value.bytes()?,
            CHUNK_COUNT => count = value.narrow()?,
            ODD_TOKENS => odd = value.bytes()?,
            FLAGS => unconfirmed = set_flags(&mut record, value.number()?),
            FINISH_TOKENS => record.finish_tokens = Some(value.narrow()?),
            INPUT => input.0 = Some(value.number()?),
            INPUT_SOURCE => input.1 = Some(source(value)?),
            OUTPUT => output.0 = Some(value.number()?),
            OUTPUT_SOURCE => output.1 = Some(source(value)?),
            REQUESTED_OUTPUT => record.requested_output = Some(value.narrow()?),
            STATUS => record.status = Some(value.narrow()?),
            FINISH_REASON => record.finish_reason = Some(value.text()?),
            DETAIL => detail = Some(value.text()?),
            DETAIL_CHINESE => detail_chinese = Some(value.text()?),
            TEXT => record.text = Some(value.text()?),
            REQUESTED_INPUT => record.requested_input = Some(value.narrow()?),
            SESSION => session = Some(value.number()?),
            TURN => turn = Some(value.narrow()?),
            LOOSE_CHUNKS => loose = value.bytes()?,
            WIDTHS => record.widths = Some(decode_widths(value.bytes()?)?),
            CACHED => record.cached = Some(value.number()?),
            ADMITTED_AFTER => waited = Some(value.number()?),
            REASONING => record.reasoning = Some(value.number()?),
            SERVER_TIMES => record.server = Some(decode_server_times(value.bytes()?)?),
            INPUTS => record.inputs = Some(value.narrow()?),
            BODY_BYTES => record.body_bytes = Some(value.number()?),
            HEARTBEATS => record.heartbeats = value.narrow()?,
            LOST_FRAMES => record.lost_frames = value.narrow()?,
            RETRY_AFTER => record.retry_after = Some(value.number()?),
            RETRIES => record.retries = value.narrow()?,
            FIRST_REFUSED_AFTER => refused = Some(value.number()?),
            REFUSED_AS => record.refused_as = value.text()?.parse().ok(),
            UNSTREAMED => record.unstreamed = Some(value.number()?),
            ADDRESS => record.address = Some(value.narrow()?),
            AGENT => record.agent = Some(value.narrow()?),
            TREE => record.tree = Some(Box::new(decode_tree(value.bytes()?)?)),
            _ => {}
        }
    }
    record.detail = detail.map(|english: String| {
        let chinese = detail_chinese.unwrap_or_else(|| english.clone());
        Message::new([english, chinese])
    });
    record.outcome = match decode_outcome(outcome, why)? {
        Outcome::Completed if unconfirmed => Outcome::Unconfirmed,
        outcome => outcome,
    };
    decode_times(
        times.ok_or_else(|| Bad(message!("a request without times", "请求没有时间")))?,
        &mut record,
    )?;
    record.admitted = waited.map(|waited| record.intended.saturating_add(waited));
    record.first_refused = refused.map(|after| record.intended.saturating_add(after));
    let (odd, loose) = (decode_odd(odd)?, decode_loose(loose)?);
    record.chunks = ChunkTrack::from_stored(chunks.to_vec(), count, odd, loose)
        .map_err(|damaged| Bad(Message::of(damaged)))?;
    record.input = token_count(input)?;
    record.output = token_count(output)?;
    record.turn = session.zip(turn).map(|(session, number)| TurnOfSession { session, number });
    Ok(record)
}

fn phase_number(phase: Phase) -> u64 {
    match phase {
        Phase::Measured => 0,
        Phase::Warmup => 1,
        Phase::Drain => 2,
    }
}

fn phase(value: Value) -> Result<Phase, Bad> {
    match value.number()? {
        0 => Ok(Phase::Measured),
        1 => Ok(Phase::Warmup),
        2 => Ok(Phase::Drain),
        other => Err(Bad(message!("unknown phase {other}", "未知的阶段 {other}"))),
    }
}

fn source_number(source: TokenSource) -> u64 {
    match source {
        TokenSource::Usage => 0,
        TokenSource::Chunks => 1,
        TokenSource::Tokenizer => 2,
        TokenSource::Events => 3,
    }
}

fn source(value: Value) -> Result<TokenSource, Bad> {
    match value.number()? {
        0 => Ok(TokenSource::Usage),
        1 => Ok(TokenSource::Chunks),
        2 => Ok(TokenSource::Tokenizer),
        3 => Ok(TokenSource::Events),
        other => Err(Bad(message!("unknown token source {other}", "未知的 token 来源 {other}"))),
    }
}

fn token_count(
    (tokens, source): (Option<u64>, Option<TokenSource>),
) -> Result<Option<TokenCount>, Bad> {
    match (tokens, source) {
        (Some(tokens), Some(source)) => Ok(Some(TokenCount { tokens, source })),
        (None, None) => Ok(None),
        _ => Err(Bad(message!(
            "a token count without source, or a source without count",
            "token 数没有来源，或来源没有 token 数"
        ))),
    }
}

fn encode_outcome(outcome: &Outcome, out: &mut Vec<u8>) {
    match outcome {
        // A flag says which of the two, so that older versions read a response that they know.
        Outcome::Completed | Outcome::Unconfirmed => {}
        Outcome::Failed(class) => {
            put_number(out, OUTCOME, FAILED);
            put_text(out, WHY, Some(&class.to_string()));
        }
        Outcome::Shed(class) => {
            put_number(out, OUTCOME, SHED);
            put_text(out, WHY, Some(&class.to_string()));
        }
        Outcome::Dropped(why) => {
            put_number(out, OUTCOME, DROPPED);
            put_text(out, WHY, Some(why));
        }
        Outcome::Censored => put_number(out, OUTCOME, CENSORED),
    }
}

fn decode_outcome(outcome: u64, why: Option<String>) -> Result<Outcome, Bad> {
    match (outcome, why) {
        (0, _) => Ok(Outcome::Completed),
        (FAILED, Some(class)) => class.parse::<FailureClass>().map(Outcome::Failed).map_err(Bad),
        (SHED, Some(class)) => class.parse::<FailureClass>().map(Outcome::Shed).map_err(Bad),
        (DROPPED, Some(why)) => Ok(Outcome::Dropped(why)),
        (CENSORED, _) => Ok(Outcome::Censored),
        (FAILED | SHED | DROPPED, None) => {
            Err(Bad(message!("a failure without its class", "失败没有类别")))
        }
        (other, _) => Err(Bad(message!("unknown outcome {other}", "未知的结果 {other}"))),
    }
}

/// The times that may be absent, in the order in which a request usually passes them.
fn optional_times(record: &mut RequestRecord) -> [&mut Option<Nanos>; 6] {
    [
        &mut record.dispatched,
        &mut record.connected,
        &mut record.sent,
        &mut record.headers,
        &mut record.first,
        &mut record.last,
    ]
}

/// `intended`, a bit for each time that is present, then each as its difference from the one before,
/// and finally `end`.
fn encode_times(record: &RequestRecord, out: &mut Vec<u8>) {
    let times = [
        record.dispatched,
        record.connected,
        record.sent,
        record.headers,
        record.first,
        record.last,
    ];
    put_varint(out, record.intended);
    let present = times.iter().enumerate().map(|(i, time)| u64::from(time.is_some()) << i);
    put_varint(out, present.sum());
    let mut before = record.intended;
    for time in times.into_iter().flatten().chain([record.end]) {
        put_varint(out, zigzag(time.wrapping_sub(before) as i64));
        before = time;
    }
}

fn decode_times(mut input: &[u8], record: &mut RequestRecord) -> Result<(), Bad> {
    record.intended = take_number(&mut input)?;
    let present = take_number(&mut input)?;
    let mut before = record.intended;
    let mut next = || -> Result<Nanos, Bad> {
        before = before.wrapping_add(unzigzag(take_number(&mut input)?) as u64);
        Ok(before)
    };
    for (i, time) in optional_times(record).into_iter().enumerate() {
        if present >> i & 1 == 1 {
            *time = Some(next()?);
        }
    }
    record.end = next()?;
    Ok(())
}

fn encode_odd(odd: &[(u32, u32)], out: &mut Vec<u8>) {
    let mut before = 0;
    for (index, tokens) in odd {
        put_varint(out, u64::from(index.wrapping_sub(before)));
        put_varint(out, u64::from(*tokens));
        before = *index;
    }
}

fn decode_odd(mut input: &[u8]) -> Result<Vec<(u32, u32)>, Bad> {
    let out_of_range =
        |_| Bad(message!("a chunk's token count is out of range", "数据块的 token 数超出范围"));
    let mut odd = Vec::new();
    let mut before = 0_u32;
    while !input.is_empty() {
        let step = u32::try_from(take_number(&mut input)?).map_err(out_of_range)?;
        let tokens = u32::try_from(take_number(&mut input)?).map_err(out_of_range)?;
        before = before.wrapping_add(step);
        odd.push((before, tokens));
    }
    Ok(odd)
}

/// Each as its distance from the end of the one before, its number less one, and its width.
fn encode_loose(loose: &[Loose], out: &mut Vec<u8>) {
    let mut before = 0;
    for Loose { first, count, us } in loose {
        put_varint(out, u64::from(first.wrapping_sub(before)));
        put_varint(out, u64::from(count.saturating_sub(1)));
        put_varint(out, *us);
        before = first.wrapping_add(*count);
    }
}

fn decode_loose(mut input: &[u8]) -> Result<Vec<Loose>, Bad> {
    let out_of_range = || Bad(message!("a loose chunk is out of range", "数据块的位置超出范围"));
    let mut loose = Vec::new();
    let mut before = 0_u32;
    while !input.is_empty() {
        let mut next = || u32::try_from(take_number(&mut input)?).map_err(|_| out_of_range());
        let first = next()?.checked_add(before).ok_or_else(out_of_range)?;
        let count = next()?.checked_add(1).ok_or_else(out_of_range)?;
        let us = take_number(&mut input)?;
        before = first.checked_add(count).ok_or_else(out_of_range)?;
        loose.push(Loose { first, count, us });
    }
    Ok(loose)
}

/// All five; nothing if all are exact.
fn encode_widths(widths: &Widths, out: &mut Vec<u8>) {
    let Widths { intended, sent, first, last, end } = *widths;
    if *widths != Widths::default() {
        [intended, sent, first, last, end].into_iter().for_each(|width| put_varint(out, width));
    }
}

fn decode_widths(mut input: &[u8]) -> Result<Widths, Bad> {
    if input.is_empty() {
        return Ok(Widths::default());
    }
    let mut next = || take_number(&mut input);
    let [intended, sent, first, last, end] = [next()?, next()?, next()?, next()?, next()?];
    Ok(Widths { intended, sent, first, last, end })
}

/// A bit for each time that is known, then these.
fn encode_server_times(times: &ServerTimes, out: &mut Vec<u8>) {
    let all = [times.queue, times.prefill, times.decode, times.load, times.total];
    let known = all.iter().enumerate().map(|(i, time)| u64::from(time.is_some()) << i);
    put_varint(out, known.sum());
    all.into_iter().flatten().for_each(|time| put_varint(out, time));
}

fn decode_server_times(mut input: &[u8]) -> Result<ServerTimes, Bad> {
    let known = take_number(&mut input)?;
    let mut times = ServerTimes::default();
    let ServerTimes { queue, prefill, decode, load, total } = &mut times;
    for (i, time) in [queue, prefill, decode, load, total].into_iter().enumerate() {
        if known >> i & 1 == 1 {
            *time = Some(take_number(&mut input)?);
        }
    }
    Ok(times)
}

/// What is always there, a bit for each value that is known, then these. Bits that are not known here are followed by
/// values that are not read.
fn encode_tree(tree: &TurnOfTree, out: &mut Vec<u8>) {
    for number in [tree.tree, tree.turns.into(), tree.gap, tree.skipped] {
        put_varint(out, number);
    }
    let growth = tree.growth.map_or(0, |growth| match growth {
        Growth::Whole => 1,
        Growth::Trimmed => 2,
        Growth::Cut => 3,
    });
    let present = u64::from(tree.warms)
        | growth << 1
        | u64::from(tree.join_wait.is_some()) << 3
        | u64::from(tree.recorded.is_some()) << 4
        | u64::from(tree.repeated.is_some()) << 5;
    put_varint(out, present);
    let recorded = tree.recorded.map(|(sent, ended)| [sent, ended.saturating_sub(sent)]);
    let repeated = tree.repeated.map(|of| [of.of_prompts.into(), of.with_responses.into()]);
    let known = [recorded, repeated].into_iter().flatten().flatten();
    tree.join_wait.into_iter().chain(known).for_each(|number| put_varint(out, number));
}

fn decode_tree(mut input: &[u8]) -> Result<TurnOfTree, Bad> {
    let narrow = |number: u64| {
        u32::try_from(number).map_err(|_| {
            Bad(message!("a number of a tree is out of range", "任务树的数值超出范围"))
        })
    };
    let mut next = || take_number(&mut input);
    let (tree, turns, gap, skipped) = (next()?, narrow(next()?)?, next()?, next()?);
    let present = next()?;
    let growth = match present >> 1 & 3 {
        1 => Some(Growth::Whole),
        2 => Some(Growth::Trimmed),
        3 => Some(Growth::Cut),
        _ => None,
    };
    let mut turn = TurnOfTree {
        tree,
        turns,
        gap,
        skipped,
        growth,
        warms: present & 1 == 1,
        join_wait: None,
        recorded: None,
        repeated: None,
    };
    if present >> 3 & 1 == 1 {
        turn.join_wait = Some(next()?);
    }
    if present >> 4 & 1 == 1 {
        let (sent, lasted) = (next()?, next()?);
        turn.recorded = Some((sent, sent.saturating_add(lasted)));
    }
    if present >> 5 & 1 == 1 {
        let (of_prompts, with_responses) = (narrow(next()?)?, narrow(next()?)?);
        turn.repeated = Some(Repeated { of_prompts, with_responses });
    }
    Ok(turn)
}

fn flags(record: &RequestRecord) -> u64 {
    let flags = [
        record.streamed,
        record.terminal,
        record.reused,
        record.resent,
        record.chunk_tokens_known,
        record.outcome == Outcome::Unconfirmed,
        record.usage_ignored,
    ];
    flags.iter().enumerate().map(|(i, flag)| u64::from(*flag) << i).sum()
}

/// Sets all of them but one, and returns that: whether the response is unconfirmed.
fn set_flags(record: &mut RequestRecord, bits: u64) -> bool {
    let mut unconfirmed = false;
    let places = [
        &mut record.streamed,
        &mut record.terminal,
        &mut record.reused,
        &mut record.resent,
        &mut record.chunk_tokens_known,
        &mut unconfirmed,
        &mut record.usage_ignored,
    ];
    for (i, flag) in places.into_iter().enumerate() {
        *flag = bits >> i & 1 == 1;
    }
    unconfirmed
}
