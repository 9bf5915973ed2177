//! The core on a real clock. Requests go in as they are read, and tokens come out when their step has
//! ended; the server writes them.
//!
//! A step is planned for its scheduled start, even if that is noticed late, so lateness does not
//! accumulate, and the steps equal those in virtual time for the same arrivals.

mod log;
mod metrics;
mod on_the_way;
mod request;
#[cfg(test)]
mod tests;

pub use log::{LiveEvent, LiveLog};
pub(crate) use metrics::escaped;
pub(crate) use request::{Accepted, Due, LiveRequest};

use crate::brain::TwinBrain;
use crate::core::keys::NumberMap;
use crate::core::{Core, Event, RefusedRequest, Request};
use crate::slip::Slip;
use dyno_model::Nanos;
use dyno_respond::api::prompt::Prompt;
use dyno_respond::api::response_words;
use metrics::Metrics;
use on_the_way::{OnTheWay, Sent};
use request::Open;
use std::collections::VecDeque;

/// A live engine.
#[derive(Debug)]
pub(crate) struct Live {
    name: String,
    core: Core,
    requests: NumberMap<Open>,
    last_id: u64,
    /// Tokens that the front end has not sent yet.
    on_the_way: OnTheWay,
    /// Pending writes, in order.
    outbox: VecDeque<Due>,
    metrics: Metrics,
    /// How late the first and the last write of each step were.
    first_write: Slip,
    last_write: Slip,
    log: Option<LiveLog>,
    done: Vec<Event>,
}

impl Live {
    /// An idle engine.
    pub(crate) fn new(twin: TwinBrain) -> Self {
        Self {
            name: twin.name,
            core: twin.core,
            requests: NumberMap::default(),
            last_id: 0,
            on_the_way: OnTheWay::default(),
            outbox: VecDeque::new(),
            metrics: Metrics::new(),
            first_write: Slip::default(),
            last_write: Slip::default(),
            log: twin.log,
            done: Vec::new(),
        }
    }

    /// Accepts a request whose last byte was read at `at`, with all its prompts or not at all.
    pub(crate) fn submit(
        &mut self,
        asked: &LiveRequest<'_>,
        at: Nanos,
    ) -> Result<Accepted, RefusedRequest> {
        self.run(at);
        let mut accepted = Accepted { first: self.last_id + 1, count: 0 };
        for prompt in asked.prompts {
            if let Err(refused) = self.submit_one(asked, prompt, at) {
                self.forget(accepted, at);
                return Err(refused);
            }
            accepted.count += 1;
        }
        Ok(accepted)
    }

    fn submit_one(
        &mut self,
        asked: &LiveRequest<'_>,
        prompt: &Prompt,
        at: Nanos,
    ) -> Result<(), RefusedRequest> {
        let id = self.last_id + 1;
        let LiveRequest { connection, output, streamed, finish, .. } = *asked;
        let input = prompt.tokens;
        let hashes = match self.hashed_block() {
            Some(_) => prompt.hashes_with(response_words(asked.salt, output)),
            None => Vec::new(),
        };
        self.core.submit(Request { id, input, output, hashes: &hashes }, at)?;
        self.last_id = id;
        self.requests.insert(
            id,
            Open {
                connection,
                input,
                cached: None,
                queued: 0,
                streamed,
                finish,
                arrived: at,
                began: at,
                tokens: 0,
                last: at,
                over: false,
                listed: false,
            },
        );
        if let Some(log) = &self.log {
            log.push(LiveEvent::Arrived { at, id, input, output, hashes });
        }
        Ok(())
    }

    /// Cancels a request.
    pub(crate) fn forget(&mut self, accepted: Accepted, now: Nanos) {
        self.run(now);
        self.core.idle(now);
        for id in accepted.first..accepted.first + accepted.count {
            self.forget_one(id, now);
        }
    }

    fn forget_one(&mut self, id: u64, now: Nanos) {
        let Some(open) = self.requests.remove(&id) else { return };
        // The engine may be done with a request whose last token is not sent yet.
        if self.core.cancel(id) || !open.over {
            self.metrics.aborted();
            if let Some(log) = &self.log {
                log.push(LiveEvent::Left { at: now, id });
            }
        }
    }

    /// Starts every step that is scheduled before `now`, ends those that are over, and lists what
    /// is due to be written.
    pub(crate) fn run(&mut self, now: Nanos) {
        while self.step(now) {}
        if self.on_the_way.next_at().is_some_and(|at| at <= now) {
            let sent = self.on_the_way.take_until(now);
            self.list(sent);
        }
    }

    /// Starts or ends a step, if it is time.
    fn step(&mut self, now: Nanos) -> bool {
        let Some(step) = self.core.planned().copied() else {
            // A request may still be read at this very moment, so a step that starts now waits.
            let starts = self.core.next_start().is_some_and(|start| start < now);
            if starts {
                self.core.plan();
            }
            return starts;
        };
        if step.end > now {
            return false;
        }
        self.core.commit(&mut self.done);
        self.done.clear();
        let sent = self.core.emitted().map(|token| Sent::new(token, &self.core));
        match self.core.has_front_work() {
            true => self.on_the_way.extend(sent),
            false => {
                let sent = sent.collect();
                self.list(sent);
            }
        }
        if let Some(log) = &self.log {
            log.push(LiveEvent::Stepped(step));
        }
        true
    }

    /// Queues tokens for writing. A request with a pending write gets them added to it, so that a
    /// slow client catches up.
    fn list(&mut self, sent: Vec<Sent>) {
        let listed = self.outbox.len();
        for Sent { token, cached, entered } in sent {
            let end = token.at;
            let Some(open) = self.requests.get_mut(&token.id) else { continue };
            let since = end.saturating_sub(open.last);
            match token.number {
                1 => {
                    self.metrics.first_token(since, open.input);
                    open.cached = cached;
                    open.began = end;
                    open.queued = entered.unwrap_or(end).saturating_sub(open.arrived);
                }
                _ => self.metrics.next_token(since),
            }
            if token.last {
                self.metrics.finished(end.saturating_sub(open.arrived), open.finish);
            }
            (open.tokens, open.last, open.over) = (token.number, end, token.last);
            if !open.listed && (open.streamed || open.over) {
                open.listed = true;
                self.outbox.push_back(Due {
                    id: token.id,
                    connection: open.connection,
                    tokens: 0,
                    over: false,
                    cached: None,
                    at: end,
                    arrived: open.arrived,
                    began: open.began,
                    queued: open.queued,
                    came: end,
                    first: false,
                    last: false,
                });
            }
        }
        if let Some(first) = self.outbox.get_mut(listed) {
            first.first = true;
        }
        if self.outbox.len() > listed
            && let Some(last) = self.outbox.back_mut()
        {
            last.last = true;
        }
    }

    /// When there is something to do next, with what is known now.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        if !self.outbox.is_empty() {
            return Some(0);
        }
        let step = match self.core.planned() {
            Some(step) => Some(step.end),
            None => self.core.next_start().map(|start| start.saturating_add(1)),
        };
        step.into_iter().chain(self.on_the_way.next_at()).min()
    }

    /// The next tokens to write.
    pub(crate) fn next_write(&mut self) -> Option<Due> {
        let mut due = self.outbox.pop_front()?;
        if let Some(open) = self.requests.get_mut(&due.id) {
            (due.tokens, due.over, open.listed) = (open.tokens, open.over, false);
            (due.cached, due.queued) = (open.cached, open.queued);
            (due.began, due.came) = (open.began, open.last);
            if due.over {
                self.requests.remove(&due.id);
            }
        }
        Some(due)
    }

    /// These tokens were written at `now`.
    pub(crate) fn wrote(&mut self, due: &Due, now: Nanos) {
        if due.first {
            self.first_write.record(due.at, now);
        }
        if due.last {
            self.last_write.record(due.at, now);
        }
    }

    /// How late the first and the last write of each step were.
    pub(crate) fn step_slips(&self) -> (&Slip, &Slip) {
        (&self.first_write, &self.last_write)
    }

    /// Resets the lateness statistics.
    pub(crate) fn reset_slips(&mut self) {
        self.first_write.reset();
        self.last_write.reset();
    }

    /// Clears all cached prompt prefixes that no request uses.
    pub(crate) fn clear_prefix_cache(&mut self) {
        self.core.clear_prefix_cache();
    }

    /// The name of the twin.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The block size for prompt hashes; absent if there is no prefix cache.
    pub(crate) fn hashed_block(&self) -> Option<u32> {
        let scheduler = self.core.scheduler();
        scheduler.prefix_cache.then_some(scheduler.block)
    }

    /// The engine's metrics under vLLM's names.
    pub(crate) fn prometheus(&self, model: &str) -> String {
        self.metrics.prometheus(&self.core, model)
    }
}
