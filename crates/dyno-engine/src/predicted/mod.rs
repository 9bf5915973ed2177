//! A twin instead of a server: an engine in virtual time answers the requests of the drivers. [`Predicted`] is a
//! transport for the drivers of a real run; sockets, HTTP and files are not known here.

mod prompts;

pub use prompts::{Prompts, TwinPrompt};

use crate::Prompt;
use crate::core::{Core, Event, Request};
use crate::virtual_time::Virtual;
use dyno_drive::{Ended, Job, RequestedLengths, Transport, TransportError};
use dyno_model::frame::ClientHealth;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{RequestRecord, TokenCount, TokenSource};
use dyno_model::{Message, Nanos};
use std::borrow::Cow;
use std::collections::VecDeque;

/// How the client in front of an engine behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientBehaviour {
    /// Network delay to the server. Even the shortest makes a request that is sent at the end of a
    /// response miss the step that begins then, as with a real client.
    pub way: Nanos,
    /// Whether it requests streams, so that the time of each token is known.
    pub streamed: bool,
    /// Whether records are complete, not only the times.
    pub details: bool,
    /// Whether it needs the text of responses, as conversations do.
    pub answers: bool,
    /// How long it waits for a response before it gives up. A worker of a closed loop whose first
    /// request is given up sends no more.
    pub patience: Option<Nanos>,
}

/// A twin that answers in virtual time.
#[derive(Debug)]
pub struct Predicted {
    time: Virtual,
    client: ClientBehaviour,
    in_flight: InFlight,
    /// Requests that the driver gave up and the engine has not cancelled yet.
    cut: Vec<u64>,
    /// Requests with a deadline, in the order in which they were sent.
    waiting: VecDeque<(u64, Nanos)>,
    ended: Vec<Ended>,
    times: Vec<Nanos>,
}

impl Predicted {
    /// An idle engine.
    pub fn new(core: Core, client: ClientBehaviour) -> Self {
        let mut time = Virtual::new(core);
        time.keep_times(client.streamed);
        Self {
            time,
            client,
            in_flight: InFlight::default(),
            cut: Vec::new(),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Prepares prompts for it: for the chat API if `chat`, otherwise for completions.
    pub fn prompts(&self, chat: bool) -> Prompts {
        Prompts { chat, block: self.time.core().scheduler().block }
    }

    /// Lets time pass while nothing is sent.
    pub fn rest(&mut self, time: Nanos) {
        self.cancel_given_up();
        let until = self.time.now().saturating_add(time);
        while self.time.advance(until).is_some() {}
    }

    /// Draws the noise of the steps to come from another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.time.reseed(seed);
    }

    /// Clears the engine's prefix cache.
    pub fn forget(&mut self) {
        self.time.clear_prefix_cache();
    }

    /// Submits a request to the engine; the server's error message if it is rejected.
    fn submit(
        &mut self,
        id: u64,
        lengths: RequestedLengths,
        prompt: TwinPrompt,
    ) -> Result<u32, String> {
        let prompt = prompt.0.map_err(|error| error.to_string())?;
        // A given tokenizer counts better than the number of words.
        let input = lengths.input.unwrap_or(prompt.tokens);
        let output = lengths.output.unwrap_or(1);
        let scheduler = self.time.core().scheduler();
        let hashes = match scheduler.prefix_cache && prompt.tokens == input {
            true => Cow::Owned(self.hashes(id, output, &prompt)),
            // Blocks of words, not of these tokens.
            false => Cow::Borrowed(&prompt.hashes[..]),
        };
        let request = Request { id, input, output, hashes: &hashes };
        let arrives = self.time.now().saturating_add(self.client.way);
        self.time.submit(arrives, request).map_err(|refused| refused.to_string())?;
        Ok(input)
    }

    /// The hashes of the blocks that a prompt and its response fill.
    fn hashes(&self, id: u64, output: u32, prompt: &Prompt) -> Vec<u64> {
        if self.client.answers {
            return prompt.hashes_with(response_text(id, output).split(' '));
        }
        let mut hashes = prompt.hashes.to_vec();
        if prompt.end.is_some() {
            // Nobody sends this response back, so that it is enough to tell its blocks apart.
            let tokens = u64::from(prompt.tokens) + u64::from(output) - 1;
            let full = tokens / u64::from(self.time.core().scheduler().block);
            hashes.extend((hashes.len() as u64..full).map(|block| !((id << 24) + block)));
        }
        hashes
    }

    /// The record of a request that ends.
    fn record(&mut self, id: u64) -> Option<Box<RequestRecord>> {
        Some(self.in_flight.remove(id)?.record(self.client.streamed))
    }

    fn first(&mut self, id: u64, at: Nanos) {
        if let Some(sent) = self.in_flight.get_mut(id) {
            sent.first = Some(at);
            sent.cached = self.time.cached(id);
        }
    }

    fn finished(&mut self, id: u64, at: Nanos) {
        let Some(mut record) = self.record(id) else { return };
        let tokens = record.requested_output.unwrap_or(1);
        record.outcome = Outcome::Completed;
        (record.last, record.end) = (Some(at), at);
        (record.streamed, record.terminal) = (self.client.streamed, true);
        if self.client.details {
            (record.status, record.finish_reason) = (Some(200), Some("length".to_owned()));
            record.output = Some(usage(tokens));
        }
        if self.client.streamed && self.time.token_times(id, &mut self.times) {
            record.chunk_tokens_known = true;
            // Tokens at the same time are one chunk.
            for chunk in self.times.chunk_by(|one, other| one == other) {
                record.chunks.push(chunk[0], false, chunk.len() as u32);
            }
        }
        let answer = self.client.answers.then(|| response_text(id, tokens));
        self.ended.push(Ended { record, answer });
    }

    /// Cancels requests that were given up, before the engine advances.
    fn cancel_given_up(&mut self) {
        for id in self.cut.drain(..) {
            self.time.cancel(id);
        }
    }

    /// The next request to time out, and when.
    fn deadline(&mut self) -> Option<(u64, Nanos)> {
        while let Some((id, at)) = self.waiting.front().copied() {
            if self.in_flight.get_mut(id).is_some() {
                return Some((id, at));
            }
            self.waiting.pop_front();
        }
        None
    }

    /// A request times out.
    fn give_up(&mut self, id: u64, at: Nanos) {
        let Some(mut record) = self.record(id) else { return };
        self.time.cancel(id);
        let is_first_of_worker = record.index == u64::from(record.slot);
        record.outcome = match is_first_of_worker {
            true => Outcome::Dropped("its worker was lost".to_owned()),
            false => Outcome::Censored,
        };
        record.end = at;
        self.ended.push(record.into());
    }

    fn drain_ended(&mut self, ended: &mut Vec<Ended>) {
        ended.append(&mut self.ended);
    }
}

/// A request in flight. Kept small, as there may be many; its record is made when it ends.
#[derive(Debug)]
struct Sent {
    job: Job<()>,
    /// Prompt tokens, as the engine counts them.
    input: Option<u32>,
    /// Cached prompt tokens; absent without a prefix cache.
    cached: Option<u32>,
    /// When its first token came.
    first: Option<Nanos>,
}

impl Sent {
    fn record(&self, streamed: bool) -> Box<RequestRecord> {
        let mut record = Box::new(self.job.record());
        (record.connected, record.sent) = (record.dispatched, record.dispatched);
        record.reused = true;
        record.input = self.input.map(usage);
        record.cached = self.cached.map(u64::from);
        record.headers = self.first;
        record.first = self.first.filter(|_| streamed);
        record
    }
}

/// The requests in flight, by their consecutive numbers.
#[derive(Debug, Default)]
struct InFlight {
    /// The number of the first entry.
    first: u64,
    sent: VecDeque<Option<Sent>>,
    count: usize,
}

impl InFlight {
    fn next_id(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    /// Adds the request with the next number; nothing if it has already ended.
    fn push(&mut self, sent: Option<Sent>) {
        self.count += usize::from(sent.is_some());
        self.sent.push_back(sent);
    }

    fn place(&mut self, id: u64) -> Option<&mut Option<Sent>> {
        self.sent.get_mut(usize::try_from(id.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Sent> {
        self.place(id)?.as_mut()
    }

    fn remove(&mut self, id: u64) -> Option<Sent> {
        let sent = self.place(id)?.take()?;
        self.count -= 1;
        while let Some(None) = self.sent.front() {
            self.sent.pop_front();
            self.first += 1;
        }
        Some(sent)
    }

    /// All of them, in order.
    fn drain(&mut self) -> impl Iterator<Item = (u64, Sent)> {
        let next = self.next_id();
        let first = std::mem::replace(&mut self.first, next);
        self.count = 0;
        let sent = (first..).zip(self.sent.drain(..));
        sent.filter_map(|(id, sent)| Some((id, sent?)))
    }
}

fn usage(tokens: u32) -> TokenCount {
    TokenCount { tokens: u64::from(tokens), source: TokenSource::Usage }
}

/// A unique response of so many words.
fn response_text(id: u64, tokens: u32) -> String {
    let word = format!("w{id:x}");
    (0..tokens).map(|number| format!("{word}.{number}")).collect::<Vec<_>>().join(" ")
}

impl Transport for Predicted {
    type Body = TwinPrompt;

    fn now(&self) -> Nanos {
        self.time.now()
    }

    fn max_wait(&self) -> Nanos {
        Nanos::MAX
    }

    fn prepare(&mut self, _connections: usize) -> Result<(), TransportError> {
        Ok(())
    }

    fn dispatch(&mut self, job: Job<TwinPrompt>) {
        self.cancel_given_up();
        let id = self.in_flight.next_id();
        let (job, prompt) = job.split();
        match self.submit(id, job.payload.lengths, prompt) {
            Ok(input) => {
                if let Some(patience) = self.client.patience {
                    self.waiting.push_back((id, job.dispatched.saturating_add(patience)));
                }
                self.in_flight.push(Some(Sent {
                    job,
                    input: Some(input),
                    cached: None,
                    first: None,
                }));
            }
            Err(message) => {
                let sent = Sent { job, input: None, cached: None, first: None };
                let mut record = sent.record(self.client.streamed);
                record.outcome = Outcome::Failed(FailureClass::Http(400));
                record.status = Some(400);
                record.detail = Some(Message::quoted(message));
                record.end = self.time.now();
                self.in_flight.push(None);
                self.ended.push(record.into());
            }
        }
    }

    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        self.cancel_given_up();
        while self.ended.is_empty() {
            let deadline = self.deadline().filter(|(_, at)| *at <= until);
            match self.time.advance(deadline.map_or(until, |(_, at)| at)) {
                Some(Event::First { id, at }) => self.first(id, at),
                Some(Event::Finished { id, at }) => self.finished(id, at),
                None => match deadline {
                    Some((id, at)) => self.give_up(id, at),
                    None => break,
                },
            }
        }
        self.drain_ended(ended);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.in_flight.count + self.ended.len()
    }

    fn censor(&mut self, ended: &mut Vec<Ended>) {
        let now = self.time.now();
        for (id, sent) in self.in_flight.drain() {
            let mut record = sent.record(self.client.streamed);
            // Cancelled when the engine advances, if it does.
            self.cut.push(id);
            (record.outcome, record.end) = (Outcome::Censored, now);
            self.ended.push(record.into());
        }
        self.drain_ended(ended);
    }

    fn take_health(&mut self) -> ClientHealth {
        ClientHealth::default()
    }
}
