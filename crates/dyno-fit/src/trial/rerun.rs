//! A trial sent again, to a simulated engine.

use super::{SentRequest, Shared, Trial, TrialChunk, TrialTime};
use dyno_engine::core::{Core, Event, Request};
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The same load with the tokens that the engine gives; nothing if it rejects a request. Where time ended a closed
/// loop, its slots go on until then: a fixed number of requests for each of them would leave the last ones of slow
/// slots alone with the engine.
pub fn rerun(trial: &Trial, core: Core) -> Option<Trial> {
    let mut client = Client::new(trial, core);
    while client.step()? {}
    let requests = client.sent.into_iter().map(|sent| {
        let SentRequest { when, input, output, shared, measured, .. } = trial.requests[sent.like];
        let (when, measured) = (sent.when.unwrap_or(when), measured || sent.again);
        SentRequest { when, input, output, shared, measured, seen: sent.seen }
    });
    let (label, kind, until) = (trial.label.clone(), trial.kind, trial.until);
    Some(Trial { label, kind, requests: requests.collect(), until })
}

/// A request that is sent in the rerun.
struct Again {
    /// The request of the trial that it is like.
    like: usize,
    /// That one was sent before: time is left when all were.
    again: bool,
    /// When it is sent, if not as in the trial.
    when: Option<TrialTime>,
    at: Nanos,
    seen: Vec<TrialChunk>,
}

struct Client<'a> {
    trial: &'a Trial,
    engine: Virtual,
    block: u32,
    /// Requests that are due, the first first.
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// The requests that wait for each one, and how long after it they are sent.
    followers: Vec<Vec<(usize, Nanos)>>,
    /// All requests so far, or all of the trial.
    sent: Vec<Again>,
    /// What the slots of a closed loop send next, until its time is over.
    next: Option<Next>,
    in_flight: usize,
    hashes: Vec<u64>,
    times: Vec<Nanos>,
}

/// The requests that free slots take, in the order in which they were taken in the trial.
struct Next {
    until: Nanos,
    places: Vec<usize>,
    taken: usize,
}

impl<'a> Client<'a> {
    fn new(trial: &'a Trial, core: Core) -> Self {
        let block = core.scheduler().block;
        let mut engine = Virtual::new(core);
        engine.keep_times(true);
        let mut client = Self {
            trial,
            engine,
            block,
            due: BinaryHeap::new(),
            followers: Vec::new(),
            sent: Vec::with_capacity(trial.requests.len()),
            next: trial.until.map(|until| Next { until, places: Vec::new(), taken: 0 }),
            in_flight: 0,
            hashes: Vec::new(),
            times: Vec::new(),
        };
        for (place, request) in trial.requests.iter().enumerate() {
            if let (TrialTime::After { .. }, Some(next)) = (request.when, &mut client.next) {
                next.places.push(place);
                continue;
            }
            let number = client.add(place, None);
            match request.when {
                TrialTime::At(at) => client.due.push(Reverse((at, number))),
                TrialTime::After { request, pause } => {
                    client.followers[request].push((number, pause))
                }
            }
        }
        client
    }

    fn add(&mut self, like: usize, when: Option<TrialTime>) -> usize {
        let seen = Vec::new();
        self.sent.push(Again { like, again: false, when, at: 0, seen });
        self.followers.push(Vec::new());
        self.sent.len() - 1
    }

    /// One event, or the requests that are due; false when all have ended.
    fn step(&mut self) -> Option<bool> {
        let next = self.due.peek().map(|Reverse((at, _))| *at);
        if next.is_none() && self.in_flight == 0 {
            return Some(false);
        }
        match self.engine.advance(next.unwrap_or(Nanos::MAX)) {
            Some(Event::Finished { id, at }) => self.ended(id as usize, at),
            Some(Event::First { .. }) => {}
            None => self.send(next?)?,
        }
        Some(true)
    }

    /// Sends what is due now.
    fn send(&mut self, now: Nanos) -> Option<()> {
        while let Some(Reverse((at, number))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let request = self.trial.requests.get(self.sent[number].like)?;
            name_blocks(request, self.block, &mut self.hashes);
            let SentRequest { input, output, .. } = *request;
            let id = number as u64;
            self.engine.submit(now, Request { id, input, output, hashes: &self.hashes }).ok()?;
            self.sent[number].at = now;
            self.in_flight += 1;
        }
        Some(())
    }

    fn ended(&mut self, number: usize, at: Nanos) {
        self.in_flight -= 1;
        let sent = self.sent[number].at;
        if self.engine.token_times(number as u64, &mut self.times) {
            // Tokens at the same time are one chunk.
            let chunks = self.times.chunk_by(|one, other| one == other);
            let chunk = |at: &[Nanos]| TrialChunk { after: at[0] - sent, tokens: at.len() as u32 };
            self.sent[number].seen = chunks.map(chunk).collect();
        }
        for (follower, pause) in std::mem::take(&mut self.followers[number]) {
            self.due.push(Reverse((at + pause, follower)));
        }
        self.free(number, at);
    }

    /// A slot of a closed loop takes the next request, if there is time.
    fn free(&mut self, request: usize, at: Nanos) {
        let Some(next) = &mut self.next else { return };
        let all = next.places.len();
        let Some(place) = next.taken.checked_rem(all).map(|of| next.places[of]) else { return };
        let TrialTime::After { pause, .. } = self.trial.requests[place].when else { return };
        if at + pause >= next.until {
            return;
        }
        let again = next.taken >= all;
        next.taken += 1;
        let number = self.add(place, Some(TrialTime::After { request, pause }));
        self.sent[number].again = again;
        self.due.push(Reverse((at + pause, number)));
    }
}

/// Names the blocks of a prompt such that shared ones have the same name. The name of a block stands for
/// all before it, too.
fn name_blocks(request: &SentRequest, block: u32, hashes: &mut Vec<u64>) {
    hashes.clear();
    let (tokens, family) = match request.shared {
        Shared::Nothing => return,
        Shared::Prefix(tokens) => (tokens, u64::MAX),
        Shared::Conversation(session) => (request.input + request.output, session),
        Shared::Prompts(session) => (request.input, session),
    };
    let blocks = u64::from(tokens / block);
    hashes.extend(
        (0..blocks).map(|place| dyno_stats::rng::SplitMix::new(family ^ (place << 40)).next_u64()),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::TrialKind;
    use dyno_engine::core::{Cost, Policy, Scheduler};

    /// Milliseconds to the first token of the second turn of a conversation: a prompt of 64 tokens, an
    /// answer of 33, and then 16 more; 1 ms for each token that is prefilled.
    fn second_turn(shared: Shared) -> u64 {
        let scheduler = Scheduler {
            policy: Policy::Chunked,
            max_seqs: 4,
            token_budget: 1_000,
            block: 16,
            kv_blocks: 1_000,
            prefix_cache: true,
            context: None,
            steps_ahead: 0,
        };
        let cost = Cost { prefill_token: 0.001, decode: 0.001, ..Cost::default() };
        let core = Core::new(scheduler, cost, 0).unwrap();
        let turn = |when, input| SentRequest {
            when,
            input,
            output: 33,
            shared,
            measured: true,
            seen: Vec::new(),
        };
        let after = TrialTime::After { request: 0, pause: 0 };
        let requests = vec![turn(TrialTime::At(0), 64), turn(after, 64 + 33 + 16)];
        let trial =
            Trial { label: String::new(), kind: TrialKind::Sessions, requests, until: None };
        let again = rerun(&trial, core).unwrap();
        again.requests[1].seen[0].after / 1_000_000
    }

    #[test]
    fn a_conversation_finds_answers_and_prompts_alone_do_not() {
        // 96 tokens are computed: six blocks. Of the prompt alone, there are four.
        assert_eq!(second_turn(Shared::Conversation(7)), 113 - 96);
        assert_eq!(second_turn(Shared::Prompts(7)), 113 - 64);
        assert_eq!(second_turn(Shared::Nothing), 113);
    }
}
