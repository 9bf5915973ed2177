//! A twin in the place of a server: what the drivers send is answered by an engine in virtual time.

use crate::prompts::{Asked, Prompts};
use dyno_drive::{Ended, Job, Lengths, Transport, TransportError};
use dyno_engine::core::{Core, Event, Request};
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use dyno_model::frame::ClientHealth;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{RequestRecord, TokenCount, TokenSource};
use std::collections::VecDeque;

/// How the client in front of an engine behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manner {
    /// The way to the server. However short, it makes the one who sends at the end of a response miss
    /// the step that begins there, as every real client does.
    pub way: Nanos,
    /// It asks for streams, so that the time of each token is known.
    pub streamed: bool,
    /// It keeps all that a record can hold, not the times alone.
    pub details: bool,
    /// It needs the responses themselves: conversations do.
    pub answers: bool,
    /// How long it waits for a response before it gives the request up. A worker of a closed loop
    /// that gives up its first request is lost with it.
    pub patience: Option<Nanos>,
}

/// A twin that answers in virtual time.
#[derive(Debug)]
pub struct Predicted {
    time: Virtual,
    manner: Manner,
    in_flight: InFlight,
    /// Those that the driver has given up while the engine had not gone on.
    cut: Vec<u64>,
    /// Those that may be given up, and when, in the order in which they were sent.
    waiting: VecDeque<(u64, Nanos)>,
    ended: Vec<Ended>,
    times: Vec<Nanos>,
}

impl Predicted {
    /// An engine that has not been asked anything.
    pub fn new(core: Core, manner: Manner) -> Self {
        let mut time = Virtual::new(core);
        time.keep_times(manner.streamed);
        Self {
            time,
            manner,
            in_flight: InFlight::default(),
            cut: Vec::new(),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            times: Vec::new(),
        }
    }

    /// What prepares prompts for it: over the chat API if `chat`, else over that of completions.
    pub fn prompts(&self, chat: bool) -> Prompts {
        Prompts { chat, block: self.time.core().scheduler().block }
    }

    /// Lets time pass while nothing is sent.
    pub fn rest(&mut self, time: Nanos) {
        self.cut_off();
        let until = self.time.now().saturating_add(time);
        while self.time.advance(until).is_some() {}
    }

    /// Draws the noise of the steps to come from another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.time.reseed(seed);
    }

    /// Makes the engine forget the beginnings of prompts.
    pub fn forget(&mut self) {
        self.time.clear_prefix_cache();
    }

    /// Hands the request to the engine; the server's words if it refuses.
    fn submit(&mut self, id: u64, lengths: Lengths, asked: Asked) -> Result<u32, String> {
        let prompt = asked.0.map_err(|error| error.to_string())?;
        // A tokenizer that was given knows better than the number of words.
        let input = lengths.input.unwrap_or(prompt.tokens);
        let output = lengths.output.unwrap_or(1);
        let request = Request { id, input, output, hashes: &prompt.hashes };
        let arrives = self.time.now().saturating_add(self.manner.way);
        self.time.submit(arrives, request).map_err(|refused| refused.to_string())?;
        Ok(input)
    }

    /// What is known of a request that ends.
    fn record(&mut self, id: u64) -> Option<Box<RequestRecord>> {
        Some(self.in_flight.remove(id)?.record(self.manner.streamed))
    }

    fn first(&mut self, id: u64, at: Nanos) {
        if let Some(sent) = self.in_flight.get_mut(id) {
            sent.first = Some(at);
            sent.cached = self.time.core().cached(id);
        }
    }

    fn finished(&mut self, id: u64, at: Nanos) {
        let Some(mut record) = self.record(id) else { return };
        let tokens = record.requested_output.unwrap_or(1);
        record.outcome = Outcome::Completed;
        (record.last, record.end) = (Some(at), at);
        (record.streamed, record.terminal) = (self.manner.streamed, true);
        if self.manner.details {
            (record.status, record.finish_reason) = (Some(200), Some("length".to_owned()));
            record.output = Some(usage(tokens));
        }
        if self.manner.streamed && self.time.token_times(id, &mut self.times) {
            record.chunk_tokens_known = true;
            self.times.iter().for_each(|at| record.chunks.push(*at, false, 1));
        }
        let answer = self.manner.answers.then(|| words(id, tokens));
        self.ended.push(Ended { record, answer });
    }

    /// Tells the engine what is not waited for any more, before it goes on.
    fn cut_off(&mut self) {
        for id in self.cut.drain(..) {
            self.time.cancel(id);
        }
    }

    /// The request that is given up next if it does not end, and when.
    fn deadline(&mut self) -> Option<(u64, Nanos)> {
        while let Some((id, at)) = self.waiting.front().copied() {
            if self.in_flight.get_mut(id).is_some() {
                return Some((id, at));
            }
            self.waiting.pop_front();
        }
        None
    }

    /// The client waits for it no longer.
    fn give_up(&mut self, id: u64, at: Nanos) {
        let Some(mut record) = self.record(id) else { return };
        self.time.cancel(id);
        let is_first_of_worker = record.index == u64::from(record.slot);
        record.outcome = match is_first_of_worker {
            true => Outcome::Dropped("its worker is lost".to_owned()),
            false => Outcome::Censored,
        };
        record.end = at;
        self.ended.push(record.into());
    }

    fn hand_over(&mut self, ended: &mut Vec<Ended>) {
        ended.append(&mut self.ended);
    }
}

/// A request that is under way. Small, as there may be many; its record is made at its end.
#[derive(Debug)]
struct Sent {
    job: Job<()>,
    /// Tokens of its prompt, as the engine counts.
    input: Option<u32>,
    /// Tokens of its prompt that the prefix cache had; absent without one.
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

/// The requests under way, by their numbers, which go on and on.
#[derive(Debug, Default)]
struct InFlight {
    /// The number of the first that is kept.
    first: u64,
    sent: VecDeque<Option<Sent>>,
    count: usize,
}

impl InFlight {
    fn next_id(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    /// Takes the one of the next number; nothing if it has ended already.
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

/// A response of so many words that no other answer has.
fn words(id: u64, tokens: u32) -> String {
    let word = format!("w{id:x}");
    (0..tokens).map(|number| format!("{word}.{number}")).collect::<Vec<_>>().join(" ")
}

impl Transport for Predicted {
    type Body = Asked;

    fn now(&self) -> Nanos {
        self.time.now()
    }

    fn patience(&self) -> Nanos {
        Nanos::MAX
    }

    fn prepare(&mut self, _connections: usize) -> Result<(), TransportError> {
        Ok(())
    }

    fn dispatch(&mut self, job: Job<Asked>) {
        self.cut_off();
        let id = self.in_flight.next_id();
        let (job, asked) = job.split();
        match self.submit(id, job.payload.lengths, asked) {
            Ok(input) => {
                if let Some(patience) = self.manner.patience {
                    self.waiting.push_back((id, job.dispatched.saturating_add(patience)));
                }
                self.in_flight.push(Some(Sent {
                    job,
                    input: Some(input),
                    cached: None,
                    first: None,
                }));
            }
            Err(words) => {
                let sent = Sent { job, input: None, cached: None, first: None };
                let mut record = sent.record(self.manner.streamed);
                record.outcome = Outcome::Failed(FailureClass::Http(400));
                record.status = Some(400);
                record.detail = Some(words);
                record.end = self.time.now();
                self.in_flight.push(None);
                self.ended.push(record.into());
            }
        }
    }

    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        self.cut_off();
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
        self.hand_over(ended);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.in_flight.count + self.ended.len()
    }

    fn censor(&mut self, ended: &mut Vec<Ended>) {
        let now = self.time.now();
        for (id, sent) in self.in_flight.drain() {
            let mut record = sent.record(self.manner.streamed);
            // The engine is told when it goes on, if it does.
            self.cut.push(id);
            (record.outcome, record.end) = (Outcome::Censored, now);
            self.ended.push(record.into());
        }
        self.hand_over(ended);
    }

    fn take_health(&mut self) -> ClientHealth {
        ClientHealth::default()
    }
}
