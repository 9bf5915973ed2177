//! One request and its answer: takes what the socket gave, with the time at which that came, and turns
//! it into one record. No I/O and no clock of its own.

use crate::client::Arrival;
use crate::dialect::{self, Delta, Keep};
use crate::http::{Head, Piece, ResponseReader};
use crate::redact::Redactor;
use crate::sse::SseDecoder;
use dyno_model::Nanos;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::Api;
use dyno_model::record::{RequestRecord, TokenCount, TokenSource, Widths};

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
    /// The head of the answer, kept for side traffic and the preflight.
    pub head: Option<Box<Head>>,
    text: String,
    content: String,
    tail: Tail,
}

/// Which times of the record were set by the last thing in a read. That came with the read's last
/// packet, the time of which is known; all that stands before it may have come earlier.
#[derive(Debug, Clone, Copy, Default)]
struct Tail {
    chunk: bool,
    first: bool,
    last: bool,
    end: bool,
}

/// How far a record was before a read.
#[derive(Debug, Clone, Copy)]
struct Before {
    chunks: usize,
    first: bool,
    settled: bool,
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
            head: None,
            text: String::new(),
            content: String::new(),
            tail: Tail::default(),
        }
    }

    /// The last byte of the request was handed over by a write between these times.
    pub fn on_sent(&mut self, before: Nanos, after: Nanos) {
        self.record.sent = Some(after);
        self.widths().sent = after.saturating_sub(before);
    }

    /// The request will be sent once more.
    pub fn not_sent(&mut self) {
        self.record.sent = None;
        self.widths().sent = 0;
    }

    fn widths(&mut self) -> &mut Widths {
        self.record.widths.get_or_insert_default()
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
        let record = &self.record;
        let (chunks, first) = (record.chunks.len(), record.first.is_some());
        let before = Before { chunks, first, settled: self.settled };
        let last = std::mem::take(&mut self.record.last);
        self.tail = Tail::default();
        let progress = self.take_in(rules, bytes, arrival.at);
        self.widen(before, arrival);
        self.record.last = self.record.last.or(last);
        progress
    }

    /// Says how exactly the times are known that a read has set.
    fn widen(&mut self, before: Before, arrival: Arrival) {
        let tail = self.tail;
        let width = |ends_the_read| if ends_the_read { arrival.loose } else { arrival.spread() };
        let us = |width: Nanos| width / 1_000;
        let new = self.record.chunks.len() - before.chunks;
        self.record.chunks.loosen(new, usize::from(tail.chunk), us(arrival.spread()));
        self.record.chunks.loosen(usize::from(tail.chunk), 0, us(arrival.loose));
        let first = self.record.first.is_some() && !before.first;
        let last = self.record.last.is_some();
        let end = self.settled && !before.settled;
        let widths = self.widths();
        if first {
            widths.first = width(tail.first);
        }
        if last {
            widths.last = width(tail.last);
        }
        if end {
            widths.end = width(tail.end);
        }
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
        self.widths().end = arrival.loose;
        if !self.record.streamed {
            self.widths().last = arrival.loose;
        }
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

    /// Ends the exchange as failed.
    pub fn fail(&mut self, rules: &Rules, class: FailureClass, words: &str, at: Nanos) -> Progress {
        if !self.settled {
            self.settle(rules, Outcome::Failed(class), at);
            self.record.detail = Some(shorten(&rules.redactor.clean(words)));
        }
        Progress::Over { reusable: false }
    }

    /// Ends the exchange because the run has to stop; its times so far are kept.
    pub fn censor(&mut self, rules: &Rules, at: Nanos) {
        if !self.settled {
            self.settle(rules, Outcome::Censored, at);
        }
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

    /// The HTTP body is over.
    fn conclude(&mut self, rules: &Rules, at: Nanos) {
        if self.settled {
            return;
        }
        match std::mem::replace(&mut self.answer, Answer::Awaited) {
            Answer::Refused(body) => {
                let words = String::from_utf8_lossy(&body).into_owned();
                let status = self.record.status.unwrap_or(0);
                self.fail(rules, FailureClass::Http(status), &words, at);
            }
            Answer::Whole(body) => self.conclude_whole(rules, &body, at),
            Answer::Stream(decoder) => {
                let pending = decoder.map(|decoder| decoder.pending()).unwrap_or_default();
                if pending.trim_ascii() == b"[DONE]" {
                    self.record.terminal = true;
                } else if !pending.is_empty() {
                    let words = format!(
                        "the body ended in the middle of an event: {}",
                        dialect::excerpt(&pending)
                    );
                    self.fail(rules, FailureClass::StreamTruncated, &words, at);
                    return;
                }
                self.verdict(rules, at);
            }
            answer @ (Answer::Raw(_) | Answer::Awaited) => {
                self.answer = answer;
                self.settle(rules, Outcome::Completed, at);
            }
        }
    }

    fn conclude_whole(&mut self, rules: &Rules, body: &[u8], at: Nanos) {
        match dialect::whole(rules.api, body, rules.keep) {
            Err(bad) => {
                self.fail(rules, FailureClass::StreamMalformed, &bad.0, at);
            }
            Ok(Delta { error: Some(words), .. }) => {
                self.fail(rules, FailureClass::StreamError, &words, at);
            }
            Ok(delta) => {
                let usage = |tokens| TokenCount { tokens, source: TokenSource::Usage };
                self.record.input = delta.input_tokens.map(usage);
                self.record.cached = delta.cached_tokens;
                self.tokens_so_far = delta.output_tokens;
                self.record.last = Some(at);
                self.record.terminal = true;
                self.record.finish_reason =
                    delta.finish.map(|reason| shorten(&rules.redactor.clean(&reason)));
                self.text = delta.text.unwrap_or_default();
                self.content = delta.content.unwrap_or_default();
                self.judge(rules, delta.output, at);
            }
        }
    }

    /// The stream is over: with its terminal event, or with the end of its body.
    fn verdict(&mut self, rules: &Rules, at: Nanos) {
        if !self.record.terminal && !self.finished {
            let words = "the body ended in the middle of the answer: no terminal event, \
                         no finish reason";
            self.fail(rules, FailureClass::StreamTruncated, words, at);
        } else {
            self.judge(rules, self.record.first.is_some(), at);
        }
    }

    fn judge(&mut self, rules: &Rules, has_output: bool, at: Nanos) {
        let wanted = self.record.requested_output.map(u64::from).filter(|_| self.fixed_output);
        let got = self.tokens_so_far;
        if !has_output {
            let words = "the answer ended properly, without any output";
            self.fail(rules, FailureClass::StreamEmpty, words, at);
        } else if let (Some(wanted), Some(got)) = (wanted, got)
            && got < wanted
        {
            let words = format!("{got} output tokens instead of the {wanted} that were fixed");
            self.fail(rules, FailureClass::OutputShort, &words, at);
        } else {
            self.settle(rules, Outcome::Completed, at);
        }
    }

    fn settle(&mut self, rules: &Rules, outcome: Outcome, at: Nanos) {
        self.settled = true;
        self.record.outcome = outcome;
        self.record.end = at;
        let events = self.record.chunks.len() as u64;
        self.record.output = match self.tokens_so_far {
            Some(tokens) => Some(TokenCount { tokens, source: TokenSource::Usage }),
            None if events > 0 => Some(TokenCount { tokens: events, source: TokenSource::Events }),
            None => None,
        };
        if rules.keep.text {
            self.record.text = Some(rules.redactor.clean(&std::mem::take(&mut self.text)));
        }
    }
}

/// Nothing but the ends of lines: what stands before them is complete, and came with them.
fn is_line_end(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// The first 4 KiB, cut between characters.
fn shorten(text: &str) -> String {
    let mut end = text.len().min(MAX_WORDS);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
