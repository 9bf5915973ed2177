//! A twin in the place of a server: the drivers of a real run, the requests of a real run, and an
//! engine that answers them in virtual time.

use super::levels::Bench;
use super::pulse::Pulse;
use dyno_drive::{Ended, Job, Payload, StopSignal, Transport, TransportError};
use dyno_engine::core::{Core, Event, Request};
use dyno_engine::prompt_of;
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use dyno_model::frame::{ClientHealth, EngineSlip};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::Api;
use dyno_model::record::{RequestRecord, TokenCount, TokenSource};
use std::collections::HashMap;

/// The way to the server. However short, it makes whoever sends at the end of an answer miss the
/// step that begins there, as every real client does.
const WAY: Nanos = 1_000;

/// A twin that answers in virtual time.
pub(crate) struct Predicted {
    time: Virtual,
    api: Api,
    block: u32,
    streamed: bool,
    /// Conversations need answers.
    answers: bool,
    asked: u64,
    in_flight: HashMap<u64, Box<RequestRecord>>,
    ended: Vec<Ended>,
    times: Vec<Nanos>,
}

impl Predicted {
    /// An engine that has not been asked anything.
    pub(crate) fn new(core: Core, api: Api, streamed: bool, answers: bool) -> Self {
        let block = core.scheduler().block;
        let mut time = Virtual::new(core);
        time.keep_times(true);
        Self {
            time,
            api,
            block,
            streamed,
            answers,
            asked: 0,
            in_flight: HashMap::new(),
            ended: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Hands the request to the engine; the server's words if it refuses.
    fn submit(&mut self, id: u64, payload: &Payload) -> Result<u32, String> {
        let chat = self.api == Api::OpenAiChat;
        let prompt =
            prompt_of(body(&payload.bytes), chat, self.block).map_err(|error| error.to_string())?;
        // A tokenizer that was given knows better than the number of words.
        let input = payload.requested_input.unwrap_or(prompt.tokens);
        let output = payload.requested_output.unwrap_or(1);
        let request = Request { id, input, output, hashes: &prompt.hashes };
        let arrives = self.time.now().saturating_add(WAY);
        self.time.submit(arrives, request).map_err(|refused| refused.to_string())?;
        Ok(input)
    }

    fn first(&mut self, id: u64, at: Nanos) {
        if let Some(record) = self.in_flight.get_mut(&id) {
            record.headers = Some(at);
            record.first = Some(at).filter(|_| self.streamed);
        }
    }

    fn finished(&mut self, id: u64, at: Nanos) {
        let Some(mut record) = self.in_flight.remove(&id) else { return };
        let tokens = record.requested_output.unwrap_or(1);
        record.outcome = Outcome::Completed;
        (record.last, record.end) = (Some(at), at);
        (record.streamed, record.terminal) = (self.streamed, true);
        (record.status, record.finish_reason) = (Some(200), Some("length".to_owned()));
        let usage = |tokens| TokenCount { tokens, source: TokenSource::Usage };
        record.output = Some(usage(u64::from(tokens)));
        if self.streamed && self.time.token_times(id, &mut self.times) {
            record.chunk_tokens_known = true;
            self.times.iter().for_each(|at| record.chunks.push(*at, false, 1));
        }
        let answer = self.answers.then(|| words(id, tokens));
        self.ended.push(Ended { record: *record, answer });
    }

    fn hand_over(&mut self, ended: &mut Vec<Ended>) {
        ended.append(&mut self.ended);
    }
}

/// The body of an encoded request.
fn body(request: &[u8]) -> &[u8] {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(request, |end| &request[end + 4..])
}

/// An answer of so many words that no other answer has.
fn words(id: u64, tokens: u32) -> String {
    let word = format!("w{id:x}");
    (0..tokens).map(|number| format!("{word}.{number}")).collect::<Vec<_>>().join(" ")
}

impl Transport for Predicted {
    fn now(&self) -> Nanos {
        self.time.now()
    }

    fn patience(&self) -> Nanos {
        Nanos::MAX
    }

    fn prepare(&mut self, _connections: usize) -> Result<(), TransportError> {
        Ok(())
    }

    fn dispatch(&mut self, job: Job) {
        let mut record =
            RequestRecord::new(job.level, job.index, job.slot, job.phase, job.intended);
        record.turn = job.turn;
        record.requested_input = job.payload.requested_input;
        record.requested_output = job.payload.requested_output;
        let at = Some(job.dispatched);
        (record.dispatched, record.connected, record.sent) = (at, at, at);
        record.reused = true;
        let id = self.asked;
        self.asked += 1;
        match self.submit(id, &job.payload) {
            Ok(input) => {
                let input = TokenCount { tokens: u64::from(input), source: TokenSource::Usage };
                record.input = Some(input);
                self.in_flight.insert(id, Box::new(record));
            }
            Err(words) => {
                record.outcome = Outcome::Failed(FailureClass::Http(400));
                record.status = Some(400);
                record.detail = Some(words);
                record.end = self.time.now();
                self.ended.push(record.into());
            }
        }
    }

    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        while self.ended.is_empty() {
            match self.time.advance(until) {
                Some(Event::First { id, at }) => self.first(id, at),
                Some(Event::Finished { id, at }) => self.finished(id, at),
                None => break,
            }
        }
        self.hand_over(ended);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len() + self.ended.len()
    }

    fn censor(&mut self, ended: &mut Vec<Ended>) {
        let now = self.time.now();
        let mut cut: Vec<_> = self.in_flight.drain().collect();
        cut.sort_by_key(|(id, _)| *id);
        for (id, mut record) in cut {
            self.time.cancel(id);
            (record.outcome, record.end) = (Outcome::Censored, now);
            self.ended.push((*record).into());
        }
        self.hand_over(ended);
    }

    fn take_health(&mut self) -> ClientHealth {
        ClientHealth::default()
    }
}

impl Bench for Predicted {
    fn transport(&mut self) -> &mut dyn Transport {
        self
    }

    fn slip(&mut self) -> Option<EngineSlip> {
        None
    }

    fn rest(&mut self, time: Nanos, _stop: &StopSignal) {
        let until = self.time.now().saturating_add(time);
        while self.time.advance(until).is_some() {}
    }

    fn answers(&mut self, _stop: &StopSignal) -> Result<(), String> {
        Ok(())
    }

    fn forget(&mut self, _stop: &StopSignal) -> Result<(), String> {
        self.time.clear_prefix_cache();
        Ok(())
    }

    fn pulse(&self, _stop: &StopSignal) -> Option<Pulse> {
        None
    }
}
