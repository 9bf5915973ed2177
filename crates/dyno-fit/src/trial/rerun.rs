//! A trial sent again, to a simulated engine.

use super::{Chunk, Sent, Shared, Trial, When};
use dyno_engine::core::{Core, Event, Request};
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The same requests with the tokens that the engine gives; nothing if it rejects one of them.
pub fn rerun(trial: &Trial, core: Core) -> Option<Trial> {
    let mut client = Client::new(trial, core);
    while client.step()? {}
    let requests = trial.requests.iter().zip(client.seen);
    let requests = requests.map(|(sent, seen)| Sent { seen, ..sent.clone() }).collect();
    Some(Trial { label: trial.label.clone(), kind: trial.kind, requests })
}

struct Client<'a> {
    trial: &'a Trial,
    engine: Virtual,
    block: u32,
    /// Requests that are due, the first first.
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// The requests that wait for each one, and how long after it they are sent.
    followers: Vec<Vec<(usize, Nanos)>>,
    sent: Vec<Nanos>,
    seen: Vec<Vec<Chunk>>,
    in_flight: usize,
    hashes: Vec<u64>,
    times: Vec<Nanos>,
}

impl<'a> Client<'a> {
    fn new(trial: &'a Trial, core: Core) -> Self {
        let block = core.scheduler().block;
        let mut engine = Virtual::new(core);
        engine.keep_times(true);
        let mut due = BinaryHeap::new();
        let mut followers = vec![Vec::new(); trial.requests.len()];
        for (place, request) in trial.requests.iter().enumerate() {
            match request.when {
                When::At(at) => due.push(Reverse((at, place))),
                When::After { request, pause } => followers[request].push((place, pause)),
            }
        }
        Self {
            trial,
            engine,
            block,
            due,
            followers,
            sent: vec![0; trial.requests.len()],
            seen: vec![Vec::new(); trial.requests.len()],
            in_flight: 0,
            hashes: Vec::new(),
            times: Vec::new(),
        }
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
        while let Some(Reverse((at, place))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let request = self.trial.requests.get(place)?;
            name_blocks(request, self.block, &mut self.hashes);
            let Sent { input, output, .. } = *request;
            let id = place as u64;
            self.engine.submit(now, Request { id, input, output, hashes: &self.hashes }).ok()?;
            self.sent[place] = now;
            self.in_flight += 1;
        }
        Some(())
    }

    fn ended(&mut self, place: usize, at: Nanos) {
        self.in_flight -= 1;
        let sent = self.sent[place];
        if self.engine.token_times(place as u64, &mut self.times) {
            // Tokens at the same time are one chunk.
            let chunks = self.times.chunk_by(|one, other| one == other);
            let chunk = |at: &[Nanos]| Chunk { after: at[0] - sent, tokens: at.len() as u32 };
            self.seen[place] = chunks.map(chunk).collect();
        }
        for (follower, pause) in std::mem::take(&mut self.followers[place]) {
            self.due.push(Reverse((at + pause, follower)));
        }
    }
}

/// Names the blocks of a prompt such that shared ones have the same name. The name of a block stands for
/// all before it, too.
fn name_blocks(request: &Sent, block: u32, hashes: &mut Vec<u64>) {
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
    use crate::trial::Kind;
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
        let turn = |when, input| Sent {
            when,
            input,
            output: 33,
            shared,
            measured: true,
            seen: Vec::new(),
        };
        let after = When::After { request: 0, pause: 0 };
        let requests = vec![turn(When::At(0), 64), turn(after, 64 + 33 + 16)];
        let trial = Trial { label: String::new(), kind: Kind::Sessions, requests };
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
