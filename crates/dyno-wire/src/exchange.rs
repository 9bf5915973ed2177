//! One request and its response: takes the bytes of each read with their arrival time and turns them
//! into one record. It does no I/O and has no clock.

mod closed;
mod counts;
mod exactness;
mod memory;
mod odd;
mod outcome;

use crate::client::ArrivalTime;
use crate::dialect::{Delta, Dialect, FinishKind, Keep, LastToken, Reader};
use crate::framing::{Framer, Framing};
use crate::http::{Piece, ResponseHead, ResponseReader};
use crate::redact::Redactor;
use crate::tls::TlsFault;
use counts::Counts;
pub use counts::is_impossible;
use dyno_model::budget::{Budget, HeldBytes};
use dyno_model::outcome::FailureClass;
use dyno_model::record::{RequestRecord, TokenCount, TokenSource};
use dyno_model::{Nanos, message};
use exactness::{Tail, is_line_end};
use outcome::{shorten, text_too_large};

/// Largest event, and largest response that is not streamed.
pub const MAX_EVENT: usize = 16 << 20;
/// Largest whole body that is collected.
pub(crate) const MAX_BODY: usize = 64 << 20;
/// Largest text of a response, so that its record fits into a frame of the record file.
const MAX_TEXT: usize = 16 << 20;
/// The most output events of a response, for the same reason.
pub const MAX_EVENTS: usize = 1_000_000;
/// How much of an error message is kept.
const MAX_DETAIL: usize = 4096;

/// What all exchanges of a run share.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The API.
    pub dialect: &'static dyn Dialect,
    /// Requests ask for streams.
    pub stream: bool,
    /// What to keep of the responses.
    pub keep: Keep,
    /// Keeps secrets out of the server's messages.
    pub redactor: Redactor,
    /// The memory that all responses in flight may hold.
    pub budget: Budget,
}

/// How far an exchange is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeProgress {
    /// More will follow.
    Running,
    /// The response is complete, but its HTTP body has not ended: see [`Exchange::take_rest`].
    Lingering,
    /// The body has ended; whether the connection may carry another request.
    Over {
        /// The connection may be used again.
        reusable: bool,
    },
}

/// The body of the response, by what its headers say.
#[derive(Debug)]
enum Body {
    /// The headers have not arrived.
    Awaited,
    /// A stream. What cuts it into frames is taken out while these are processed.
    Stream(Option<Box<Framer>>),
    /// Not streamed: collected, and parsed at its end.
    Whole(Vec<u8>),
    /// An HTTP error, of which the beginning is kept.
    Refused(Vec<u8>),
    /// The response to a control request: collected as it is.
    Raw(Vec<u8>),
}

/// One request and its response.
#[derive(Debug)]
pub struct Exchange {
    /// The record so far.
    pub record: RequestRecord,
    reader: ResponseReader,
    body: Body,
    /// Reads what the body means.
    meaning: Option<Box<dyn Reader>>,
    fixed_output: bool,
    /// Characters of the prompt, where these are known.
    pub characters: Option<u64>,
    keep_alive: bool,
    raw: bool,
    /// Largest body that is collected.
    largest: usize,
    /// Bytes of the response have arrived.
    pub begun: bool,
    /// The outcome is known.
    settled: bool,
    finished: Option<FinishKind>,
    /// A frame of the stream could be read.
    understood: bool,
    counts: Counts,
    /// There was output.
    has_text: bool,
    /// Output tokens, or events where tokens are not counted, already reported to the client.
    reported: u64,
    /// Numbers in a vector of the response.
    pub dimensions: Option<u32>,
    /// The headers of the response, kept for control requests and the preflight.
    pub head: Option<Box<ResponseHead>>,
    /// Why there is no connection, where that is for reasons of TLS.
    pub tls: Option<Box<TlsFault>>,
    text: String,
    content: String,
    tail: Tail,
    /// Its share of the memory for responses.
    held: Option<HeldBytes>,
}

/// What remains of an HTTP body after the terminal event of its stream.
#[derive(Debug)]
pub struct Rest {
    reader: ResponseReader,
    keep_alive: bool,
}

impl Rest {
    /// Takes the bytes of a read; once the body has ended, whether the connection can be reused.
    pub fn on_data(&mut self, bytes: &[u8]) -> Option<bool> {
        let mut input = bytes;
        loop {
            match self.reader.next(&mut input) {
                Ok(None) => return None,
                Ok(Some(Piece::End)) => return Some(self.keep_alive && input.is_empty()),
                Ok(Some(_)) => {}
                Err(_) => return Some(false),
            }
        }
    }
}

impl Exchange {
    /// A request that is about to be sent.
    pub fn new(record: RequestRecord, fixed_output: bool) -> Self {
        Self {
            record,
            reader: ResponseReader::default(),
            body: Body::Awaited,
            meaning: None,
            fixed_output,
            characters: None,
            keep_alive: false,
            raw: false,
            largest: MAX_BODY,
            begun: false,
            settled: false,
            finished: None,
            understood: false,
            counts: Counts::default(),
            has_text: false,
            reported: 0,
            dimensions: None,
            head: None,
            tls: None,
            text: String::new(),
            content: String::new(),
            tail: Tail::default(),
            held: None,
        }
    }

    /// The content of the response, exactly as received, if it is kept.
    pub fn take_content(&mut self, rules: &Rules) -> Option<String> {
        rules.keep.content.then(|| std::mem::take(&mut self.content))
    }

    /// A control request: its response body is collected as it is, up to this size.
    pub fn raw(record: RequestRecord, largest: usize) -> Self {
        Self { raw: true, largest: largest.min(MAX_BODY), ..Self::new(record, false) }
    }

    /// The collected body of a control request's response.
    pub fn take_raw(&mut self) -> Vec<u8> {
        match &mut self.body {
            Body::Raw(body) => std::mem::take(body),
            _ => Vec::new(),
        }
    }

    /// What remains to be read after the terminal event, so that the connection can be reused.
    pub fn take_rest(&mut self) -> Rest {
        Rest { reader: std::mem::take(&mut self.reader), keep_alive: self.keep_alive }
    }

    /// Output tokens received since the last call; events where the server has not counted tokens
    /// so far. Once per read and not per event, so that it costs a subtraction.
    pub fn newly_received(&mut self) -> u64 {
        let events = self.record.chunks.len() as u64;
        let total = self.counts.so_far().unwrap_or(events).max(self.reported);
        total - std::mem::replace(&mut self.reported, total)
    }

    /// Output has arrived; for a response that is not streamed, its body has begun.
    pub fn has_output(&self) -> bool {
        match &self.body {
            Body::Awaited => false,
            Body::Stream(_) => self.record.first.is_some(),
            _ => true,
        }
    }

    /// Takes the bytes of one socket read with their arrival time.
    pub fn on_data(
        &mut self,
        rules: &Rules,
        bytes: &[u8],
        arrival: ArrivalTime,
    ) -> ExchangeProgress {
        let before = self.before_read();
        let last = std::mem::take(&mut self.record.last);
        self.tail = Tail::default();
        let progress = self.take_in(rules, bytes, arrival.at);
        let progress = self.within_budget(rules, arrival.at).unwrap_or(progress);
        self.widen(before, arrival);
        self.record.last = self.record.last.or(last);
        progress
    }

    fn take_in(&mut self, rules: &Rules, bytes: &[u8], at: Nanos) -> ExchangeProgress {
        self.begun |= !bytes.is_empty();
        let mut input = bytes;
        let mut output_in_this_read = false;
        loop {
            let left = input;
            let piece = match self.reader.next(&mut input) {
                Ok(piece) => piece,
                Err(error) => {
                    return self.fail(rules, FailureClass::StreamMalformed, &error, at);
                }
            };
            match piece {
                None => {
                    // The last packet may have carried only the size of the next chunk.
                    if !is_line_end(left) {
                        self.tail = Tail::default();
                    }
                    break;
                }
                Some(Piece::Head(head)) => {
                    self.on_head(rules, head, at);
                    if let Some(over) = self.refuse_compressed(rules, at) {
                        return over;
                    }
                }
                Some(Piece::Data(data)) => {
                    self.tail = Tail::default();
                    if let Some(over) = self.on_body(rules, data, at, &mut output_in_this_read) {
                        return over;
                    }
                }
                Some(Piece::End) => {
                    let settled = self.settled;
                    self.tail = Tail::default();
                    self.conclude(rules, at);
                    let ends = self.settled && !settled && input.is_empty();
                    // The last event of a stream comes before the end of its body.
                    (self.tail.last, self.tail.end) = (ends && !self.record.streamed, ends);
                    // Bytes after the end belong to no request, so such a connection is not reused.
                    return ExchangeProgress::Over {
                        reusable: self.keep_alive && input.is_empty(),
                    };
                }
            }
        }
        if self.settled { ExchangeProgress::Lingering } else { ExchangeProgress::Running }
    }

    fn on_head(&mut self, rules: &Rules, head: Box<ResponseHead>, at: Nanos) {
        self.record.headers = Some(at);
        self.record.status = Some(head.status);
        self.keep_alive = head.keep_alive;
        let kind = head.header("content-type").unwrap_or("").to_ascii_lowercase();
        let json = kind.starts_with("application/json");
        let framing = rules.dialect.about().framing;
        let streams = rules.stream && framing != Framing::Whole;
        self.body = match head.status {
            _ if self.raw => Body::Raw(Vec::new()),
            200 if streams && !json => {
                self.record.streamed = true;
                Body::Stream(Some(Box::new(Framer::new(framing, MAX_EVENT))))
            }
            200 => Body::Whole(Vec::new()),
            _ => Body::Refused(Vec::new()),
        };
        if let Body::Stream(_) | Body::Whole(_) = self.body {
            let mut meaning = rules.dialect.reader();
            meaning.headers(&|name| head.header(name).map(str::to_owned));
            self.meaning = Some(meaning);
        }
        self.head = Some(head);
    }

    fn on_body(
        &mut self,
        rules: &Rules,
        data: &[u8],
        at: Nanos,
        output_in_this_read: &mut bool,
    ) -> Option<ExchangeProgress> {
        if self.settled {
            return None;
        }
        let Body::Stream(framer) = &mut self.body else {
            return self.collect(rules, data, at);
        };
        let (mut framer, mut meaning) = (framer.take()?, self.meaning.take()?);
        let mut input = data;
        let over = loop {
            let tail_bytes = input;
            match framer.next(&mut input) {
                Ok(None) => {
                    if !is_line_end(tail_bytes) {
                        self.tail = Tail::default();
                    }
                    break None;
                }
                Ok(Some(frame)) if frame.data.trim_ascii().is_empty() => {
                    self.record.heartbeats += 1
                }
                Ok(Some(frame)) => match meaning.frame(frame, rules.keep) {
                    Ok(delta) => {
                        self.understood = true;
                        if let Some(over) = self.on_delta(rules, delta, at, output_in_this_read) {
                            break Some(over);
                        }
                        // What follows the end in the same read is not looked at, as in a later one.
                        if self.settled {
                            if !is_line_end(input) {
                                self.tail = Tail::default();
                            }
                            break None;
                        }
                    }
                    Err(bad) => break Some(self.unreadable(rules, &bad, frame.data, at)),
                },
                Err(large) => {
                    break Some(self.fail(rules, FailureClass::StreamMalformed, &large, at));
                }
            }
        };
        if let Body::Stream(place) = &mut self.body {
            (*place, self.meaning) = (Some(framer), Some(meaning));
        }
        over
    }

    fn collect(&mut self, rules: &Rules, data: &[u8], at: Nanos) -> Option<ExchangeProgress> {
        match &mut self.body {
            Body::Whole(body) | Body::Raw(body) => {
                if body.len() + data.len() > self.largest {
                    let most = self.largest;
                    let detail = message!(
                        "the response is larger than {most} bytes",
                        "响应超过 {most} 字节"
                    );
                    return Some(self.fail(rules, FailureClass::StreamMalformed, &detail, at));
                }
                body.extend_from_slice(data);
            }
            Body::Refused(body) => {
                let room = MAX_DETAIL.saturating_sub(body.len()).min(data.len());
                body.extend_from_slice(&data[..room]);
            }
            Body::Awaited | Body::Stream(_) => {}
        }
        None
    }

    /// Applies an event to the record; its progress if the event ends the exchange.
    fn on_delta(
        &mut self,
        rules: &Rules,
        delta: Delta,
        at: Nanos,
        output_in_this_read: &mut bool,
    ) -> Option<ExchangeProgress> {
        self.tail = Tail::default();
        if let Some(error) = &delta.error {
            return Some(self.refuse(rules, error, at));
        }
        self.note(&delta);
        let counted = match delta.output || delta.finish.is_some() {
            true => self.counts.placed_with(&delta),
            false => None,
        };
        self.record.lost_frames = self.record.lost_frames.saturating_add(delta.lost);
        if let Some(text) = &delta.text {
            self.text.push_str(text);
        }
        if let Some(content) = &delta.content {
            self.content.push_str(content);
        }
        if self.text.len().max(self.content.len()) > MAX_TEXT {
            return Some(self.fail(rules, FailureClass::StreamMalformed, &text_too_large(), at));
        }
        if delta.output && self.record.chunks.len() == MAX_EVENTS {
            let detail = message!(
                "the response has more than {MAX_EVENTS} output events",
                "响应的输出事件超过 {MAX_EVENTS} 个"
            );
            return Some(self.fail(rules, FailureClass::StreamMalformed, &detail, at));
        }
        if delta.output {
            self.has_text = true;
            // Usage in the first chunk with output: the server counts tokens per chunk.
            if self.record.chunks.is_empty() {
                self.record.chunk_tokens_known = counted.is_some();
            }
            self.record.chunk_tokens_known &= counted.is_some();
            let assumed = self.counts.assumed();
            let tokens = counted.filter(|_| self.record.chunk_tokens_known).unwrap_or(assumed);
            (self.tail.chunk, self.tail.last) = (true, true);
            self.tail.first = self.record.first.is_none();
            self.record.first.get_or_insert(at);
            self.record.last = Some(at);
            self.record.chunks.push(at, *output_in_this_read, tokens);
            *output_in_this_read = true;
        }
        let is_last = match delta.last {
            LastToken::WithFinish => delta.finish.is_some(),
            LastToken::Now => true,
            LastToken::Before => false,
        };
        if is_last {
            self.record.last = Some(at);
            self.tail.last = true;
        }
        if let Some(finish) = delta.finish {
            if !delta.output {
                self.record.finish_tokens = counted.filter(|_| self.record.chunk_tokens_known);
            }
            self.record.finish_reason = Some(shorten(&rules.redactor.clean(&finish.reason)));
            self.finished = Some(finish.kind);
        }
        if delta.terminal {
            self.record.terminal = true;
            self.conclude_stream(rules, at);
            self.tail.end = true;
        }
        None
    }

    /// Takes over the counts and the server's times of a frame or a body.
    fn note(&mut self, delta: &Delta) {
        // Every request has a prompt, so a count of 0 is none.
        if let Some(tokens) = delta.input_tokens.filter(|tokens| *tokens > 0) {
            self.record.input = Some(TokenCount { tokens, source: TokenSource::Usage });
        }
        self.record.cached = delta.cached_tokens.or(self.record.cached);
        self.record.reasoning = delta.reasoning_tokens.or(self.record.reasoning);
        if let Some(times) = delta.times {
            self.record.server = Some(times.or(self.record.server.unwrap_or_default()));
        }
        self.counts.note(delta);
    }
}
