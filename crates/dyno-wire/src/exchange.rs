//! One request and its answer: takes what the socket gave, with the time at which that came, and turns
//! it into one record. No I/O and no clock of its own.

mod exactness;
mod outcome;

use crate::client::Arrival;
use crate::dialect::{self, Delta, Keep};
use crate::http::{Head, Piece, ResponseReader};
use crate::redact::Redactor;
use crate::sse::SseDecoder;
use dyno_model::Nanos;
use dyno_model::outcome::FailureClass;
use dyno_model::plan::Api;
use dyno_model::record::{RequestRecord, TokenCount, TokenSource};
use exactness::{Tail, is_line_end};
use outcome::shorten;

/// Largest event, and largest answer that is not streamed.
pub const MAX_EVENT: usize = 16 << 20;
/// Largest whole body that is collected.
pub(crate) const MAX_BODY: usize = 64 << 20;
const MAX_WORDS: usize = 4096;

/// What all exchanges of a run share.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The dialect.
    pub api: Api,
    /// Streams were asked for.
    pub stream: bool,
    /// What to keep of the answers.
    pub keep: Keep,
    /// Keeps secrets out of the server's words.
    pub redactor: Redactor,
}

/// How far an exchange is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More is to come.
    Running,
    /// The answer is over, but its HTTP body is not: see [`Exchange::take_rest`].
    Lingering,
    /// Over; whether the connection may carry another request.
    Over {
        /// The connection may be used again.
        reusable: bool,
    },
}

#[derive(Debug)]
enum Answer {
    /// Nothing is known yet.
    Awaited,
    /// The decoder is away while its events are being taken in.
    Stream(Option<Box<SseDecoder>>),
    /// Not streamed: collected, and read at its end.
    Whole(Vec<u8>),
    /// An HTTP error, of which the first words are kept.
    Refused(Vec<u8>),
    /// Side traffic: collected as it is.
    Raw(Vec<u8>),
}

/// One request and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// What is known so far.
    pub record: RequestRecord,
    reader: ResponseReader,
    answer: Answer,
    fixed_output: bool,
    keep_alive: bool,
    raw: bool,
    /// Largest body that is collected.
    largest: usize,
    /// Bytes of the answer have come.
    pub begun: bool,
    /// The outcome is settled.
    settled: bool,
    finished: bool,
    tokens_so_far: Option<u64>,
    /// Of these, the ones that belong to an output event.
    tokens_placed: u64,
    /// Output tokens, or events where tokens are not counted, that the client has been told of.
    reported: u64,
    /// The head of the answer, kept for side traffic and the preflight.
    pub head: Option<Box<Head>>,
    text: String,
    content: String,
    tail: Tail,
}

/// The end of an HTTP body that came after the end of its answer.
#[derive(Debug)]
pub struct Rest {
    reader: ResponseReader,
    keep_alive: bool,
}

impl Rest {
    /// Takes in what a read gave; once the body is over, whether the connection may be used again.
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
            answer: Answer::Awaited,
            fixed_output,
            keep_alive: false,
            raw: false,
            largest: MAX_BODY,
            begun: false,
            settled: false,
            finished: false,
            tokens_so_far: None,
            tokens_placed: 0,
            reported: 0,
            head: None,
            text: String::new(),
            content: String::new(),
            tail: Tail::default(),
        }
    }

    /// The content of the answer, exactly as the server gave it, if it was to be kept.
    pub fn take_content(&mut self, rules: &Rules) -> Option<String> {
        rules.keep.content.then(|| std::mem::take(&mut self.content))
    }

    /// Side traffic: the body is collected as it is, if it is no larger than this.
    pub fn raw(record: RequestRecord, largest: usize) -> Self {
        Self { raw: true, largest: largest.min(MAX_BODY), ..Self::new(record, false) }
    }

    /// The collected body of side traffic.
    pub fn take_raw(&mut self) -> Vec<u8> {
        match &mut self.answer {
            Answer::Raw(body) => std::mem::take(body),
            _ => Vec::new(),
        }
    }

    /// What is left to read of an answer that is over, so that the connection can be used again.
    pub fn take_rest(&mut self) -> Rest {
        Rest { reader: std::mem::take(&mut self.reader), keep_alive: self.keep_alive }
    }

    /// Output tokens received since the last call; events where the server has not counted tokens
    /// so far. Once per read and not per event, so that it costs a subtraction.
    pub fn newly_received(&mut self) -> u64 {
        let events = self.record.chunks.len() as u64;
        let total = self.tokens_so_far.unwrap_or(events).max(self.reported);
        total - std::mem::replace(&mut self.reported, total)
    }

    /// Output has come (for an answer that is not streamed: its body has begun).
    pub fn has_output(&self) -> bool {
        match &self.answer {
            Answer::Awaited => false,
            Answer::Stream(_) => self.record.first.is_some(),
            _ => true,
        }
    }

    /// Takes in what one socket read gave, with the time at which that came.
    pub fn on_data(&mut self, rules: &Rules, bytes: &[u8], arrival: Arrival) -> Progress {
        let before = self.before_read();
        let last = std::mem::take(&mut self.record.last);
        self.tail = Tail::default();
        let progress = self.take_in(rules, bytes, arrival.at);
        self.widen(before, arrival);
        self.record.last = self.record.last.or(last);
        progress
    }

    fn take_in(&mut self, rules: &Rules, bytes: &[u8], at: Nanos) -> Progress {
        self.begun |= !bytes.is_empty();
        let mut input = bytes;
        let mut output_in_this_read = false;
        loop {
            let left = input;
            let piece = match self.reader.next(&mut input) {
                Ok(piece) => piece,
                Err(error) => {
                    return self.fail(rules, FailureClass::StreamMalformed, &error.to_string(), at);
                }
            };
            match piece {
                None => {
                    // The last packet may have brought no more than the size of the next chunk.
                    if !is_line_end(left) {
                        self.tail = Tail::default();
                    }
                    break;
                }
                Some(Piece::Head(head)) => self.on_head(rules, head, at),
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
                    // The last event of a stream stands before the end of its body.
                    (self.tail.last, self.tail.end) = (ends && !self.record.streamed, ends);
                    // Bytes after the end belong to no request: such a connection is not kept.
                    return Progress::Over { reusable: self.keep_alive && input.is_empty() };
                }
            }
        }
        if self.settled { Progress::Lingering } else { Progress::Running }
    }

    /// The connection has ended or broken; `why` if it broke.
    pub fn on_close(&mut self, rules: &Rules, why: Option<&str>, arrival: Arrival) -> Progress {
        let at = arrival.at;
        if self.settled {
            return Progress::Over { reusable: false };
        }
        self.widen_at_close(arrival);
        if why.is_none() && self.reader.close() {
            self.conclude(rules, at);
            return Progress::Over { reusable: false };
        }
        let where_ = match (&self.answer, self.begun) {
            (_, false) => "before any byte of the answer",
            (Answer::Awaited, true) => "inside the head of the answer",
            _ => "in the middle of the answer",
        };
        let words = format!("{} {where_}", why.unwrap_or("the server closed the connection"));
        self.fail(rules, FailureClass::StreamReset, &words, at)
    }

    fn on_head(&mut self, rules: &Rules, head: Box<Head>, at: Nanos) {
        self.record.headers = Some(at);
        self.record.status = Some(head.status);
        self.keep_alive = head.keep_alive;
        let kind = head.header("content-type").unwrap_or("").to_ascii_lowercase();
        let json = kind.starts_with("application/json");
        self.answer = match head.status {
            _ if self.raw => Answer::Raw(Vec::new()),
            200 if rules.stream && !json => {
                self.record.streamed = true;
                Answer::Stream(Some(Box::new(SseDecoder::new(MAX_EVENT))))
            }
            200 => Answer::Whole(Vec::new()),
            _ => Answer::Refused(Vec::new()),
        };
        self.head = Some(head);
    }

    fn on_body(
        &mut self,
        rules: &Rules,
        data: &[u8],
        at: Nanos,
        output_in_this_read: &mut bool,
    ) -> Option<Progress> {
        if self.settled {
            return None;
        }
        let Answer::Stream(decoder) = &mut self.answer else {
            return self.collect(rules, data, at);
        };
        let mut decoder = decoder.take()?;
        let mut input = data;
        let over = loop {
            let tail_bytes = input;
            match decoder.next(&mut input) {
                Ok(None) => {
                    if !is_line_end(tail_bytes) {
                        self.tail = Tail::default();
                    }
                    break None;
                }
                Ok(Some(event)) => match dialect::event(rules.api, event.data, rules.keep) {
                    Ok(delta) => {
                        if let Some(over) = self.on_delta(rules, delta, at, output_in_this_read) {
                            break Some(over);
                        }
                    }
                    Err(bad) => {
                        break Some(self.fail(rules, FailureClass::StreamMalformed, &bad.0, at));
                    }
                },
                Err(large) => {
                    let words = large.to_string();
                    break Some(self.fail(rules, FailureClass::StreamMalformed, &words, at));
                }
            }
        };
        if let Answer::Stream(place) = &mut self.answer {
            *place = Some(decoder);
        }
        over
    }

    fn collect(&mut self, rules: &Rules, data: &[u8], at: Nanos) -> Option<Progress> {
        match &mut self.answer {
            Answer::Whole(body) | Answer::Raw(body) => {
                if body.len() + data.len() > self.largest {
                    let words = format!("the answer is larger than {} bytes", self.largest);
                    return Some(self.fail(rules, FailureClass::StreamMalformed, &words, at));
                }
                body.extend_from_slice(data);
            }
            Answer::Refused(body) => {
                let room = MAX_WORDS.saturating_sub(body.len()).min(data.len());
                body.extend_from_slice(&data[..room]);
            }
            Answer::Awaited | Answer::Stream(_) => {}
        }
        None
    }

    /// Takes in what an event says; something if the exchange is over because of it.
    fn on_delta(
        &mut self,
        rules: &Rules,
        delta: Delta,
        at: Nanos,
        output_in_this_read: &mut bool,
    ) -> Option<Progress> {
        self.tail = Tail::default();
        if let Some(words) = delta.error {
            return Some(self.fail(rules, FailureClass::StreamError, &words, at));
        }
        if let Some(tokens) = delta.input_tokens {
            self.record.input = Some(TokenCount { tokens, source: TokenSource::Usage });
        }
        self.record.cached = delta.cached_tokens.or(self.record.cached);
        if let Some(total) = delta.output_tokens {
            self.tokens_so_far = Some(total);
        }
        let counted = delta.output_tokens.filter(|_| delta.output || delta.finish.is_some());
        let counted = counted.map(|total| self.place(total));
        if let Some(text) = &delta.text {
            self.text.push_str(text);
        }
        if let Some(content) = &delta.content {
            self.content.push_str(content);
        }
        if self.text.len().max(self.content.len()) > MAX_BODY {
            let words = format!("the answer is larger than {MAX_BODY} bytes");
            return Some(self.fail(rules, FailureClass::StreamMalformed, &words, at));
        }
        if delta.output {
            // Usage with the first chunk that has output: the server counts per chunk.
            if self.record.chunks.is_empty() {
                self.record.chunk_tokens_known = counted.is_some();
            }
            self.record.chunk_tokens_known &= counted.is_some();
            let tokens = counted.filter(|_| self.record.chunk_tokens_known).unwrap_or(1);
            (self.tail.chunk, self.tail.last) = (true, true);
            self.tail.first = self.record.first.is_none();
            self.record.first.get_or_insert(at);
            self.record.last = Some(at);
            self.record.chunks.push(at, *output_in_this_read, tokens);
            *output_in_this_read = true;
        }
        if let Some(reason) = delta.finish {
            if !delta.output {
                self.record.finish_tokens = counted.filter(|_| self.record.chunk_tokens_known);
            }
            self.record.last = Some(at);
            self.tail.last = true;
            self.record.finish_reason = Some(shorten(&rules.redactor.clean(&reason)));
            self.finished = true;
        }
        if delta.terminal {
            self.record.terminal = true;
            self.verdict(rules, at);
            self.tail.end = true;
        }
        None
    }

    /// Tokens since the last output event. A token without text of its own (half a character, say)
    /// comes in an event without output, and belongs to the next one that has some.
    fn place(&mut self, total: u64) -> u32 {
        let before = std::mem::replace(&mut self.tokens_placed, total);
        total.saturating_sub(before).min(u64::from(u32::MAX)) as u32
    }
}
