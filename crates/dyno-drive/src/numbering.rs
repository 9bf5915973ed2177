//! Numbers what one of several load generators sends, so that no number is given twice in a level.

use crate::share::Share;

/// The numbers of a level's items, requests and slots.
#[derive(Debug)]
pub(crate) struct Numbering {
    share: Share,
    /// Requests are turns of conversations: when they are sent depends on the responses, so they
    /// have no place in a common order.
    sessions: bool,
    /// A slot has a number of its own.
    closed: bool,
    own: Own,
    taken: u64,
    /// Behind the last item that was taken, in the order of all.
    position: u64,
}

impl Numbering {
    pub(crate) fn new(share: Share, sessions: bool, closed: bool) -> Self {
        Self { share, sessions, closed, own: Own::new(share), taken: 0, position: 0 }
    }

    /// An item is taken from the supply; its number among the items of all.
    pub(crate) fn take(&mut self) -> u64 {
        let item = self.own.get(self.taken);
        self.taken += 1;
        self.position = item + 1;
        item
    }

    /// How many items of all come before the next one.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The number of the request that is the `nth` here: that of its item, where each item is one
    /// request. Must not be asked for an earlier one later.
    pub(crate) fn request(&mut self, nth: u64) -> u64 {
        match self.sessions {
            true => self.share.interleaved(nth),
            false => self.own.get(nth),
        }
    }

    /// The number of a slot; open loops have none.
    pub(crate) fn slot(&self, nth: u32) -> u32 {
        match self.closed {
            true => u32::try_from(self.share.interleaved(u64::from(nth))).unwrap_or(u32::MAX),
            false => nth,
        }
    }
}

/// The own arrivals of a share, in order.
#[derive(Debug)]
struct Own {
    share: Share,
    /// How many come before `at`, which is its own.
    before: u64,
    at: u64,
}

impl Own {
    fn new(share: Share) -> Self {
        Self { share, before: 0, at: share.next(0).unwrap_or(0) }
    }

    fn get(&mut self, nth: u64) -> u64 {
        if self.share.is_whole() {
            return nth;
        }
        while self.before < nth {
            self.at = self.share.next(self.at + 1).unwrap_or(self.at + 1);
            self.before += 1;
        }
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{Arrival, Load, Shard};

    fn numbering(load: Load, sessions: bool, index: u32) -> Numbering {
        let share = Share::new(load, None, (3, 1), Shard { index, of: 3 });
        Numbering::new(share, sessions, !load.is_open())
    }

    #[test]
    fn items_and_requests_have_the_numbers_of_the_whole() {
        for load in [
            Load::Concurrency { concurrency: 7 },
            Load::Rate { rate: 9.0, arrival: Arrival::Poisson },
            Load::Trace { speed: 1.0 },
        ] {
            let mut all: Vec<u64> = Vec::new();
            for index in 0..3 {
                let mut numbering = numbering(load, false, index);
                let own = numbering.share.count(90);
                for nth in 0..own {
                    let item = numbering.take();
                    assert_eq!(numbering.request(nth), item);
                    assert_eq!(numbering.position(), item + 1);
                    all.push(item);
                }
            }
            all.sort_unstable();
            assert_eq!(all, (0..90).collect::<Vec<_>>(), "{load:?}");
        }
    }

    #[test]
    fn turns_and_slots_are_interleaved() {
        let mut second = numbering(Load::Concurrency { concurrency: 7 }, true, 1);
        assert_eq!([second.request(0), second.request(1), second.request(2)], [1, 4, 7]);
        assert_eq!([second.slot(0), second.slot(1)], [1, 4]);
        let open = numbering(Load::Trace { speed: 1.0 }, false, 1);
        assert_eq!([open.slot(0), open.position().try_into().unwrap()], [0, 0]);
    }
}
