//! The engine written as simply as possible: every block is an object, every sequence is visited in every
//! step, every token has its time. Slow, but easy to verify.

use crate::plain_blocks::Blocks;
use crate::scenario::Engine;
use dyno_engine::core::{Cost, Event, Policy, Refused, Request, Scheduler, Step, Token};
use dyno_model::Nanos;
use dyno_stats::rng::SplitMix;

#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) id: u64,
    input: u64,
    output: u64,
    queued: Nanos,
    order: u64,
    hashes: Vec<u64>,
    blocks: Vec<usize>,
    /// Tokens whose keys and values are there.
    computed: u64,
    /// Whether it has all it needs to decode.
    decoding: bool,
    in_step: Option<u64>,
    pub(crate) times: Vec<Nanos>,
}

impl Sequence {
    fn tokens(&self) -> u64 {
        self.input + self.times.len() as u64
    }
}

pub(crate) struct Reference {
    scheduler: Scheduler,
    cost: Cost,
    seed: u64,
    blocks: Blocks,
    queue: Vec<Sequence>,
    preempted: Vec<Sequence>,
    running: Vec<Sequence>,
    pub(crate) finished: Vec<Sequence>,
    planned: Option<Step>,
    steps: u64,
    /// In parts of a nanosecond.
    free_at: u128,
    ends_at: u128,
    order: u64,
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
            finished: Vec::new(),
            planned: None,
            steps: 0,
            free_at: 0,
            ends_at: 0,
            order: 0,
            preemptions: 0,
            prefix: (0, 0),
            emitted: Vec::new(),
        }
    }

    pub(crate) fn times(&self, id: u64) -> Option<&[Nanos]> {
        let all = self.running.iter().chain(&self.preempted).chain(&self.queue);
        all.chain(&self.finished).find(|s| s.id == id).map(|s| s.times.as_slice())
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

    fn decode(&mut self, step: &mut Step) {
        let needs = |this: &Self, s: &Sequence| {
            usize::from(s.decoding && this.blocks_of(s.tokens()) > s.blocks.len())
        };
        while self.running.iter().map(|s| needs(self, s)).sum::<usize>() > self.blocks.available() {
            let mut last = self.running.pop().unwrap();
            self.blocks.leave(std::mem::take(&mut last.blocks));
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
fn parts(seconds: f64) -> u128 {
    (seconds * (1e9 * 4_294_967_296.0) + 0.5) as u128
}

impl Engine for Reference {
    fn submit(&mut self, request: Request<'_>, at: Nanos) -> Result<(), Refused> {
        let Request { id, input, output, hashes } = request;
        if input == 0 {
            return Err(Refused::NoInput);
        }
        if output == 0 {
            return Err(Refused::NoOutput);
        }
        if let Some(context) = self.scheduler.context
            && input + output > context
        {
            return Err(Refused::TooLong { context, input, output });
        }
        let pool = self.scheduler.kv_blocks * u64::from(self.scheduler.block);
        if u64::from(input + output) - 1 > pool {
            return Err(Refused::NeverFits { pool, input, output });
        }
        if self.running.iter().chain(&self.preempted).chain(&self.queue).any(|s| s.id == id) {
            return Err(Refused::Duplicate(id));
        }
        let full = (input / self.scheduler.block) as usize;
        let cache = if self.scheduler.prefix_cache { full } else { 0 };
        self.queue.push(Sequence {
            id,
            input: u64::from(input),
            output: u64::from(output),
            queued: at + (self.cost.front_end * 1e9).round() as Nanos,
            order: self.order,
            hashes: hashes.iter().take(cache).copied().collect(),
            blocks: Vec::new(),
            computed: 0,
            decoding: false,
            in_step: None,
            times: Vec::new(),
        });
        self.order += 1;
        Ok(())
    }

    fn cancel(&mut self, id: u64) -> bool {
        let mut found = None;
        for list in [&mut self.queue, &mut self.preempted, &mut self.running] {
            if let Some(index) = list.iter().position(|s| s.id == id) {
                found = Some(list.remove(index));
            }
        }
        let Some(sequence) = found else { return false };
        self.blocks.leave(sequence.blocks);
        true
    }

    fn next_start(&self) -> Option<Nanos> {
        if let Some(planned) = self.planned {
            return Some(planned.start);
        }
        let free_at = (self.free_at >> 32) as Nanos;
        if !self.running.is_empty() || !self.preempted.is_empty() {
            return Some(free_at);
        }
        self.queue.iter().map(|s| s.queued.max(free_at)).min()
    }

    fn plan(&mut self) -> Option<Step> {
        let start = self.next_start()?;
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
        self.ends_at = self.free_at.max(u128::from(start) << 32) + self.duration(&step, pairs);
        step.end = (self.ends_at >> 32) as Nanos;
        self.planned = Some(step);
        Some(step)
    }

    fn commit(&mut self, done: &mut Vec<Event>) {
        let step = self.planned.take().unwrap();
        self.steps += 1;
        self.free_at = self.ends_at;
        self.emitted.clear();
        for mut sequence in std::mem::take(&mut self.running) {
            let id = sequence.id;
            let took_part = sequence.in_step == Some(step.number);
            if !took_part || sequence.computed < sequence.tokens() {
                self.running.push(sequence);
                continue;
            }
            sequence.decoding = true;
            sequence.times.push(step.end);
            let number = sequence.times.len() as u32;
            if number == 1 {
                done.push(Event::First { id, at: step.end });
            }
            let last = sequence.times.len() as u64 == sequence.output;
            self.emitted.push(Token { id, number, last });
            if last {
                done.push(Event::Finished { id, at: step.end });
                self.blocks.leave(std::mem::take(&mut sequence.blocks));
                self.finished.push(sequence);
            } else {
                self.running.push(sequence);
            }
        }
    }

    fn emitted(&self) -> Vec<Token> {
        self.emitted.clone()
    }

    /// Waiting, running, and blocks in use.
    fn gauges(&self) -> (usize, usize, u64) {
        let used = self.blocks.used();
        (self.queue.len() + self.preempted.len(), self.running.len(), used as u64)
    }
}
