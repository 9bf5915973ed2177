//! Events that the engine has caused and the client has not seen yet, in the order in which it will.

use crate::core::{Core, Event, SequenceEntry};
use dyno_model::Nanos;
use std::collections::VecDeque;

/// An event, and what may be asked about its request when it is seen: by then the engine may have
/// forgotten it.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) event: Event,
    details: Option<Box<Details>>,
}

#[derive(Debug, Clone)]
struct Details {
    /// The times of its tokens, if it is finished and they are kept.
    times: Option<Vec<Nanos>>,
    entered: Option<SequenceEntry>,
}

impl From<Event> for Moment {
    fn from(event: Event) -> Self {
        Self { event, details: None }
    }
}

impl Moment {
    /// An event of the step just committed.
    pub(super) fn with_details(event: Event, core: &Core) -> Self {
        let id = event.id();
        let mut times = Vec::new();
        let known = matches!(event, Event::Finished { .. }) && core.token_times(id, &mut times);
        let details = Details { times: known.then_some(times), entered: core.entered(id) };
        Self { event, details: Some(Box::new(details)) }
    }

    fn details(&self, id: u64) -> Option<&Details> {
        self.details.as_deref().filter(|_| self.event.id() == id)
    }

    /// The times of all tokens of this request.
    pub(super) fn times(&self, id: u64) -> Option<&[Nanos]> {
        self.details(id)?.times.as_deref()
    }

    /// The admission of this request.
    pub(super) fn entered(&self, id: u64) -> Option<SequenceEntry> {
        self.details(id)?.entered
    }
}

/// Events by time; those at the same time in the order in which they were caused.
#[derive(Debug, Clone, Default)]
pub(super) struct Unseen(VecDeque<Moment>);

impl Unseen {
    /// Adds an event.
    pub(super) fn push(&mut self, moment: Moment) {
        let at = moment.event.at();
        match self.0.back() {
            Some(last) if last.event.at() > at => {
                let place = self.0.partition_point(|other| other.event.at() <= at);
                self.0.insert(place, moment);
            }
            _ => self.0.push_back(moment),
        }
    }

    /// The time of the next event.
    pub(super) fn next_at(&self) -> Option<Nanos> {
        self.0.front().map(|moment| moment.event.at())
    }

    /// Takes out the next event.
    pub(super) fn pop(&mut self) -> Option<Moment> {
        self.0.pop_front()
    }

    /// All events.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Moment> {
        self.0.iter()
    }

    /// Whether there is an event of this request.
    pub(super) fn has(&self, id: u64) -> bool {
        self.0.iter().any(|moment| moment.event.id() == id)
    }

    /// Drops the events of a request after this time; whether its end was among them.
    pub(super) fn drop_after(&mut self, now: Nanos, id: u64) -> bool {
        let mut ended = false;
        self.0.retain(|Moment { event, .. }| {
            let drop = event.id() == id && event.at() > now;
            ended |= drop && matches!(event, Event::Finished { .. });
            !drop
        });
        ended
    }
}
