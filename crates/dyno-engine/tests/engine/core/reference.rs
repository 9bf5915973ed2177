//! The engine written as simply as possible: every block is an object, every sequence is visited in every
//! step, every token has its time. Slow, but easy to verify.

use super::plain_blocks::Blocks;
use super::plain_front::PlainFront;
use super::scenario::Engine;
use dyno_engine::core::{Cost, Event, Policy, RefusedRequest, Request, Scheduler, Step, Token};
use dyno_model::Nanos;
use dyno_stats::rng::SplitMix;

#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) id: u64,
    input: u64,
    output: u64,
    queued: Nanos,
    /// Turns that it still takes in the front end.
    turns: u32,
    order: u64,
    /// A number for its first admission.
    admission: Option<u64>,
    hashes: Vec<u64>,
    blocks: Vec<usize>,
    /// Tokens whose keys and values are there.
    computed: u64,
    /// Those of them that were there after its last prefill.
    prefilled: u64,
    /// Whether it has all it needs to decode.
    decoding: bool,
    in_step: Option<u64>,
    /// Tokens that it has got, or will have got when the step on its way is handed out.
    produced: u64,
    pub(crate) times: Vec<Nanos>,
}

impl Sequence {
    fn tokens(&self) -> u64 {
        self.input + self.produced
    }
}

/// A step that was decided.
#[derive(Debug, Clone, Copy)]
struct Decided {
    step: Step,
    /// When the device is done with it, in parts of a nanosecond.
    device_done: u128,
}

/// A token that is not handed out yet.
#[derive(Debug, Clone, Copy)]
struct Owed {
    id: u64,
    number: u64,
    last: bool,
}

pub(crate) struct Reference {
    scheduler: Scheduler,
    cost: Cost,
    seed: u64,
    blocks: Blocks,
    queue: Vec<Sequence>,
    preempted: Vec<Sequence>,
    running: Vec<Sequence>,
    /// Those with all tokens, of which the last is not handed out yet.
    leaving: Vec<Sequence>,
    pub(crate) finished: Vec<Sequence>,
    front: PlainFront,
    /// Arrived, but not yet in the queue.
    arriving: Vec<Sequence>,
    /// The step that was decided last, while it is on its way.
    flying: Option<Decided>,
    /// The step whose tokens are handed out next, when that is, and its tokens.
    outgoing: Option<(Step, u128, Vec<Owed>)>,
    steps: u64,
    /// In parts of a nanosecond.
    free_at: u128,
    order: u64,
    admissions: u64,
    pub(crate) preemptions: u64,
    pub(crate) prefix: (u64, u64),
    emitted: Vec<Token>,
}

impl Reference {
    pub(crate) fn new(scheduler: Scheduler, cost: Cost, seed: u64) -> Self {
        Self {
            scheduler,
            cost,
            seed,
            blocks: Blocks::new(scheduler.kv_blocks),
            queue: Vec::new(),
            preempted: Vec::new(),
            running: Vec::new(),
            leaving: Vec::new(),
            finished: Vec::new(),
            front: PlainFront::new(cost.front, cost.front_end),
            arriving: Vec::new(),
            flying: None,
            outgoing: None,
            steps: 0,
            free_at: 0,
            order: 0,
            admissions: 0,
            preemptions: 0,
            prefix: (0, 0),
            emitted: Vec::new(),
        }
    }

    pub(crate) fn times(&self, id: u64) -> Option<&[Nanos]> {
        let all = self.running.iter().chain(&self.preempted).chain(&self.queue);
        all.chain(&self.arriving)
            .chain(&self.leaving)
            .chain(&self.finished)
            .find(|s| s.id == id)
            .map(|s| s.times.as_slice())
    }

    fn blocks_of(&self, tokens: u64) -> usize {
        tokens.div_ceil(u64::from(self.scheduler.block)) as usize
    }

    fn first_in_queue(&self, start: Nanos) -> Option<Sequence> {
        if let Some(first) = self.preempted.first() {
            return Some(first.clone());
        }
        let first = self.queue.iter().min_by_key(|s| (s.queued, s.order))?;
        (first.queued <= start).then(|| first.clone())
    }

    /// Blocks that hold the beginning of this prompt.
    fn cached(&self, sequence: &Sequence) -> Vec<usize> {
        let most = (sequence.tokens() - 1) / u64::from(self.scheduler.block);
        let held = sequence.hashes.iter().map_while(|hash| self.blocks.with_hash(*hash));
        held.take(most as usize).collect()
    }

    /// The first in the queue with the blocks it would share, if there is room for it.
    fn admissible(&self, start: Nanos) -> Option<(Sequence, Vec<usize>)> {
        if self.running.len() >= self.scheduler.max_seqs as usize {
            return None;
        }
        let first = self.first_in_queue(start)?;
        let cached = self.cached(&first);
        let idle = cached.iter().filter(|block| self.blocks.is_idle(**block)).count();
        let in_the_end = first.input + first.output - 1;
        let wanted = self.blocks_of((first.tokens() + 1).min(in_the_end));
        (self.blocks.available() - idle >= wanted - cached.len()).then_some((first, cached))
    }

    fn admit(&mut self, mut sequence: Sequence, cached: Vec<usize>) {
        self.queue.retain(|s| s.id != sequence.id);
        self.preempted.retain(|s| s.id != sequence.id);
        cached.iter().for_each(|block| self.blocks.share(*block));
        sequence.computed = cached.len() as u64 * u64::from(self.scheduler.block);
        if self.scheduler.prefix_cache {
            self.prefix.0 += sequence.tokens();
            self.prefix.1 += sequence.computed;
        }
        sequence.admission.get_or_insert(self.admissions);
        self.admissions += 1;
        sequence.blocks = cached;
        while sequence.blocks.len() < self.blocks_of(sequence.tokens()) {
            let block = self.blocks.take();
            sequence.blocks.push(block);
        }
        self.running.push(sequence);
    }

    /// Computes up to `most` more tokens of a running sequence.
    fn prefill(&mut self, index: usize, most: u64, step: &mut Step, pairs: &mut f64) -> u64 {
        let sequence = &mut self.running[index];
        let (past, chunk) = (sequence.computed, most.min(sequence.tokens() - sequence.computed));
        sequence.computed += chunk;
        sequence.prefilled = sequence.computed;
        sequence.in_step = Some(step.number);
        step.prefills += 1;
        step.prefill_tokens += chunk;
        *pairs += chunk as f64 * (past as f64 + chunk as f64 / 2.0);
        let full = sequence.computed / u64::from(self.scheduler.block);
        let known = past / u64::from(self.scheduler.block);
        let hashed = sequence.blocks.iter().zip(&sequence.hashes);
        for (block, hash) in hashed.take(full as usize).skip(known as usize) {
            self.blocks.publish(*block, *hash);
        }
        chunk
    }

    /// Releases the blocks of a sequence. Those filled by decoding are cached now.
    fn release(&mut self, sequence: &mut Sequence) {
        let blocks = |tokens: u64| (tokens / u64::from(self.scheduler.block)) as usize;
        let (known, full) = (blocks(sequence.prefilled), blocks(sequence.computed));
        if sequence.decoding {
            let filled = sequence.blocks.iter().zip(&sequence.hashes).take(full).skip(known);
            filled.for_each(|(block, hash)| self.blocks.publish(*block, *hash));
        }
        self.blocks.leave(std::mem::take(&mut sequence.blocks));
    }

    fn decode(&mut self, step: &mut Step) {
        let needs = |this: &Self, s: &Sequence| {
            usize::from(s.decoding && this.blocks_of(s.tokens()) > s.blocks.len())
        };
        while self.running.iter().map(|s| needs(self, s)).sum::<usize>() > self.blocks.available() {
            let mut last = self.running.pop().unwrap();
            self.release(&mut last);
            (last.computed, last.decoding) = (0, false);
            self.preempted.insert(0, last);
            step.preempted += 1;
            self.preemptions += 1;
        }
        for index in 0..self.running.len() {
            if !self.running[index].decoding {
                continue;
            }
            if needs(self, &self.running[index]) == 1 {
                let block = self.blocks.take();
                self.running[index].blocks.push(block);
            }
            let sequence = &mut self.running[index];
            sequence.in_step = Some(step.number);
            sequence.computed += 1;
            step.decodes += 1;
            step.kv_tokens += sequence.tokens();
        }
    }

    /// The front end takes in the requests that have arrived.
    fn take_in(&mut self, arrived: impl Fn(Nanos) -> bool) {
        while self.take_turn(&arrived) {}
    }

    /// The first that has arrived takes a turn in the front end; false if none has.
    fn take_turn(&mut self, arrived: impl Fn(Nanos) -> bool) -> bool {
        self.arriving.sort_by_key(|s| (s.queued, s.order));
        if self.arriving.first().is_none_or(|s| !arrived(s.queued)) {
            return false;
        }
        let mut sequence = self.arriving.remove(0);
        sequence.queued = self.front.turn(sequence.queued, sequence.input);
        sequence.turns -= 1;
        match sequence.turns {
            0 => {
                sequence.queued += self.front.latency();
                self.queue.push(sequence);
            }
            _ => self.arriving.push(sequence),
        }
        true
    }

    /// When the first that is arriving is queued, if all of them come in and nothing else happens.
    fn first_to_be_queued(&self) -> Option<Nanos> {
        let mut front = self.front.clone();
        let mut waiting: Vec<(Nanos, u64, u32, u64)> =
            self.arriving.iter().map(|s| (s.queued, s.order, s.turns, s.input)).collect();
        loop {
            waiting.sort_unstable();
            let (at, order, turns, input) = *waiting.first()?;
            let over = front.turn(at, input);
            if turns == 1 {
                return Some(over + front.latency());
            }
            waiting[0] = (over, order, turns - 1, input);
        }
    }

    /// Gives every sequence of a step the token that it gets at the end of it.
    fn settle(&mut self, step: Step) -> Vec<Owed> {
        let mut owed = Vec::new();
        for mut sequence in std::mem::take(&mut self.running) {
            let took_part = sequence.in_step == Some(step.number);
            if !took_part || sequence.computed < sequence.tokens() {
                self.running.push(sequence);
                continue;
            }
            sequence.decoding = true;
            sequence.produced += 1;
            let last = sequence.produced == sequence.output;
            owed.push(Owed { id: sequence.id, number: sequence.produced, last });
            if last {
                self.release(&mut sequence);
                self.leaving.push(sequence);
            } else {
                self.running.push(sequence);
            }
        }
        owed
    }

    /// How long the CPU takes to launch a step, in parts of a nanosecond.
    fn launch(&self, step: &Step) -> u128 {
        let launch = self.cost.launch;
        let sequences = f64::from(step.prefills) + f64::from(step.decodes);
        let tokens = step.prefill_tokens + u64::from(step.decodes);
        let large = launch.captured > 0 && tokens > u64::from(launch.captured);
        let each = if step.prefills == 0 { 0.0 } else { launch.sequence * sequences };
        parts(
            each + match (large, step.prefills) {
                (true, _) => launch.large,
                (false, 0) => launch.decode,
                (false, _) => launch.prefill,
            },
        )
    }

    fn noise(&self, step: u64) -> f64 {
        let sigma = self.cost.noise;
        let key = SplitMix::new(self.seed).next_u64() ^ step;
        let mut draws = SplitMix::new(SplitMix::new(key).next_u64());
        let radius = libm::sqrt(-2.0 * libm::log(draws.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * draws.unit());
        libm::exp(sigma * normal - 0.5 * sigma * sigma)
    }

    /// How long a step takes, in parts of a nanosecond.
    fn duration(&self, step: &Step, pairs: f64) -> u128 {
        let cost = &self.cost;
        let n = f64::from(step.decodes);
        let mut flat = cost.base + cost.decode * n;
        if let Some(knee) = cost.knee.filter(|knee| step.decodes > knee.above) {
            flat += knee.jump + knee.decode * (n - f64::from(knee.above));
        }
        let mut total = parts(flat) + parts(cost.kv) * u128::from(step.kv_tokens);
        if step.prefills > 0 {
            let tokens = cost.prefill_token * step.prefill_tokens as f64;
            total += parts(cost.prefill_base + tokens + cost.attention * pairs);
        }
        let total = total.max(1 << 32);
        let total = match cost.noise == 0.0 {
            true => total,
            false => ((total as f64 * self.noise(step.number) + 0.5) as u128).max(1 << 32),
        };
        match cost.slow_down.is_none() {
            true => total,
            false => (total as f64 * cost.slow_down.factor(step.start) + 0.5) as u128,
        }
    }
}

/// The clock counts in 2⁻³² ns.
pub(crate) fn parts(seconds: f64) -> u128 {
    (seconds * (1e9 * 4_294_967_296.0) + 0.5) as u128
}

impl Engine for Reference {
    fn submit(&mut self, request: Request<'_>, at: Nanos) -> Result<(), RefusedRequest> {
        let Request { id, input, output, hashes } = request;
        if input == 0 {
            return Err(RefusedRequest::NoInput);
        }
        if output == 0 {
            return Err(RefusedRequest::NoOutput);
        }
        if let Some(context) = self.scheduler.context
            && input + output > context
        {
            return Err(RefusedRequest::TooLong { context, input, output });
        }
        let pool = self.scheduler.kv_blocks * u64::from(self.scheduler.block);
        if u64::from(input + output) - 1 > pool {
            return Err(RefusedRequest::NeverFits { pool, input, output });
        }
        let all = self.running.iter().chain(&self.preempted).chain(&self.queue);
        if all.chain(&self.arriving).chain(&self.leaving).any(|s| s.id == id) {
            return Err(RefusedRequest::Duplicate(id));
        }
        let full = ((input + output - 1) / self.scheduler.block) as usize;
        let cache = if self.scheduler.prefix_cache { full } else { 0 };
        self.arriving.push(Sequence {
            id,
            input: u64::from(input),
            output: u64::from(output),
            queued: at,
            turns: self.front.turns,
            order: self.order,
            admission: None,
            hashes: hashes.iter().take(cache).copied().collect(),
            blocks: Vec::new(),
            computed: 0,
            prefilled: 0,
            decoding: false,
            in_step: None,
            produced: 0,
            times: Vec::new(),
        });
        self.order += 1;
        if self.front.is_idle() {
            self.take_in(|_| true);
        }
        Ok(())
    }

    fn cancel(&mut self, id: u64) -> bool {
        let mut found = None;
        let waiting = [&mut self.arriving, &mut self.queue, &mut self.preempted];
        for list in waiting.into_iter().chain([&mut self.running, &mut self.leaving]) {
            if let Some(index) = list.iter().position(|s| s.id == id) {
                found = Some(list.remove(index));
            }
        }
        let Some(mut sequence) = found else { return false };
        self.release(&mut sequence);
        true
    }

    fn idle(&mut self, until: Nanos) {
        let engine = [&self.running, &self.preempted, &self.queue];
        let idle = engine.iter().all(|list| list.is_empty());
        if idle && self.flying.is_none() && self.outgoing.is_none() {
            while self.queue.is_empty() && self.take_turn(|at| at < until) {}
        }
    }

    fn next_start(&self) -> Option<Nanos> {
        if let Some((step, ..)) = self.outgoing {
            return Some(step.start);
        }
        let free_at = (self.free_at >> 32) as Nanos;
        let busy = !self.running.is_empty() || !self.preempted.is_empty();
        if busy || self.flying.is_some() {
            return Some(free_at);
        }
        let queued = self.queue.iter().map(|s| s.queued).min();
        queued.into_iter().chain(self.first_to_be_queued()).min().map(|at| at.max(free_at))
    }

    fn plan(&mut self) -> Option<Step> {
        let start = self.next_start()?;
        self.take_in(|at| at <= start);
        let flying = self.flying.take();
        let owed = flying.map(|flying| self.settle(flying.step));
        let mut step = Step {
            number: self.steps,
            start,
            end: start,
            prefill_tokens: 0,
            prefills: 0,
            decodes: 0,
            kv_tokens: 0,
            preempted: 0,
        };
        let budget = u64::from(self.scheduler.token_budget);
        let mut pairs = 0.0;
        match self.scheduler.policy {
            Policy::PrefillFirst => {
                while let Some((sequence, cached)) = self.admissible(start) {
                    let block = u64::from(self.scheduler.block);
                    let tokens = sequence.tokens() - cached.len() as u64 * block;
                    if step.prefills > 0 && step.prefill_tokens + tokens > budget {
                        break;
                    }
                    self.admit(sequence, cached);
                    self.prefill(self.running.len() - 1, u64::MAX, &mut step, &mut pairs);
                }
                if step.prefills == 0 {
                    self.decode(&mut step);
                }
            }
            Policy::Chunked => {
                self.decode(&mut step);
                let mut rest = budget.saturating_sub(u64::from(step.decodes));
                for index in 0..self.running.len() {
                    let sequence = &self.running[index];
                    if rest > 0 && sequence.computed < sequence.tokens() {
                        rest -= self.prefill(index, rest, &mut step, &mut pairs);
                    }
                }
                while rest > 0 && step.preempted == 0 {
                    let Some((sequence, cached)) = self.admissible(start) else { break };
                    self.admit(sequence, cached);
                    let index = self.running.len() - 1;
                    rest -= self.prefill(index, rest, &mut step, &mut pairs);
                }
            }
        }
        // The loop decides at T and launches until T + cpu. The device takes step after step, and
        // is not done with one before it is launched.
        let decides = self.free_at.max(u128::from(start) << 32);
        let idle = step.prefills == 0 && step.decodes == 0;
        let launched = decides + self.launch(&step);
        if !idle {
            let device_free = flying.map_or(0, |flying| flying.device_done).max(decides);
            let device_done = launched.max(device_free + self.duration(&step, pairs));
            self.flying = Some(Decided { step, device_done });
            self.steps += 1;
        }
        match (flying, self.scheduler.steps_ahead) {
            // Nothing is on its way: the loop goes on to the next step, or waits for this one.
            (None, 1) => {
                self.free_at = launched;
                return None;
            }
            (None, _) => {
                let Decided { step, device_done } = self.flying.take().unwrap();
                let step = Step { end: (device_done >> 32) as Nanos, ..step };
                self.flying = None;
                self.outgoing = Some((step, device_done, Vec::new()));
            }
            (Some(before), _) => {
                let end = if idle { 0 } else { launched }.max(before.device_done);
                let step = Step { end: (end >> 32) as Nanos, ..before.step };
                self.outgoing = Some((step, end, owed.unwrap()));
            }
        }
        self.outgoing.as_ref().map(|(step, ..)| *step)
    }

    fn commit(&mut self, done: &mut Vec<Event>) {
        let (step, end, mut owed) = self.outgoing.take().unwrap();
        if self.scheduler.steps_ahead == 0 {
            owed = self.settle(step);
        }
        self.take_in(|at| at < step.end);
        self.free_at = end;
        self.emitted.clear();
        let seen = self.front.hand_out(end, owed.len() as u64);
        for Owed { id, number, last } in owed {
            let lists = [&mut self.running, &mut self.preempted, &mut self.leaving];
            let mut all = lists.into_iter().flatten();
            // Those cancelled since are gone.
            let Some(sequence) = all.find(|s| s.id == id) else { continue };
            let at = match number {
                1 => seen.first(),
                _ => seen.of(sequence.admission.unwrap()),
            };
            // No token is seen before the one before it.
            let at = at.max(sequence.times.last().copied().unwrap_or(0));
            sequence.times.push(at);
            if number == 1 {
                done.push(Event::First { id, at });
            }
            if last {
                done.push(Event::Finished { id, at });
            }
            self.emitted.push(Token { id, number: number as u32, last, at });
        }
        self.finished.append(&mut self.leaving);
    }

    fn emitted(&self) -> Vec<Token> {
        self.emitted.clone()
    }

    /// Waiting, running, and blocks in use.
    fn gauges(&self) -> (usize, usize, u64) {
        let used = self.blocks.used();
        let waiting = self.arriving.len() + self.queue.len() + self.preempted.len();
        (waiting, self.running.len(), used as u64)
    }
}
