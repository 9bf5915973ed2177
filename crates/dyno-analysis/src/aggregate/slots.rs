//! The slots of a closed loop: when each started, and how often it sent.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// When its first measured request was sent and when that ended.
    first: (u64, u64),
    last_sent: u64,
    /// When the last of its requests that ended did.
    last_end: u64,
    sent: u64,
}

/// Slots by number, whatever the order of their requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    slots: BTreeMap<u32, Slot>,
}

impl Slots {
    /// A measured request of a slot.
    pub(crate) fn add(&mut self, slot: u32, sent: u64, end: u64) {
        let new = Slot { first: (sent, end), last_sent: sent, last_end: end, sent: 0 };
        let slot = self.slots.entry(slot).or_insert(new);
        slot.first = slot.first.min((sent, end));
        slot.last_sent = slot.last_sent.max(sent);
        slot.last_end = slot.last_end.max(end);
        slot.sent += 1;
    }

    pub(crate) fn count(&self) -> u64 {
        self.slots.len() as u64
    }

    /// When every slot had sent its first request.
    pub(crate) fn all_sent(&self) -> Option<u64> {
        self.slots.values().map(|slot| slot.first.0).max()
    }

    /// When the first request of every slot had ended.
    pub(crate) fn all_ended(&self) -> Option<u64> {
        self.slots.values().map(|slot| slot.first.1).max()
    }

    /// Until when the requests of every slot are known: what was in flight when the client was killed is not.
    pub(crate) fn known_until(&self) -> Option<u64> {
        self.slots.values().map(|slot| slot.last_end).min()
    }

    /// The mean time from one request of a slot to its next; absent where no slot sent two.
    pub(crate) fn mean_cycle(&self) -> Option<f64> {
        let (mut time, mut cycles) = (0_u128, 0_u64);
        for slot in self.slots.values() {
            time += u128::from(slot.last_sent.saturating_sub(slot.first.0));
            cycles += slot.sent.saturating_sub(1);
        }
        (cycles > 0).then(|| time as f64 / cycles as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_requests_does_not_matter() {
        let requests = [(0, 10, 15), (0, 30, 31), (1, 12, 14), (1, 22, 23), (1, 62, 70)];
        let of = |requests: &[(u32, u64, u64)]| {
            let mut slots = Slots::default();
            requests.iter().for_each(|(slot, sent, end)| slots.add(*slot, *sent, *end));
            (slots.count(), slots.all_sent(), slots.all_ended(), slots.mean_cycle())
        };
        // Slot 0 waits 20 once, slot 1 waits 50 in two.
        assert_eq!(of(&requests), (2, Some(12), Some(15), Some(70.0 / 3.0)));
        let mut slots = Slots::default();
        requests.iter().for_each(|(slot, sent, end)| slots.add(*slot, *sent, *end));
        assert_eq!(slots.known_until(), Some(31), "slot 1 ended at 70");
        let mut turned = requests;
        turned.reverse();
        assert_eq!(of(&turned), of(&requests));
        assert_eq!(of(&requests[..1]).3, None);
        assert_eq!(of(&[]), (0, None, None, None));
    }
}
