//! The concurrency that a closed loop really kept. A slot whose response has ended is empty until the
//! client has noticed and sent the next request, which lowers the load on the server.

use dyno_model::record::RequestRecord;

/// The time that slots were empty because of the client.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Effective {
    empty_ns: u128,
    /// The time that first requests of slots took, before which no slot can be empty because of the client.
    first_ns: u128,
}

impl Effective {
    /// A measured request of a closed loop that was started at `started`.
    pub(crate) fn add(&mut self, record: &RequestRecord, started: u64) {
        let (Some(sent), Some(dispatched)) = (record.sent, record.dispatched) else { return };
        // The first request of a slot has no predecessor.
        if record.intended <= started {
            self.first_ns += u128::from(record.end.saturating_sub(sent));
            return;
        }
        let free =
            record.intended.saturating_sub(record.widths.map_or(0, |widths| widths.intended));
        let connecting = match record.connected {
            Some(connected) if !record.reused => connected.saturating_sub(dispatched),
            _ => 0,
        };
        self.empty_ns += u128::from(sent.saturating_sub(free).saturating_sub(connecting));
    }

    /// The share of `slots` requests that were in flight on average over a level of this length, once every
    /// slot's first request had ended.
    pub(crate) fn share(&self, slots: u32, duration: u64) -> Option<f64> {
        let all = f64::from(slots) * duration as f64 - self.first_ns as f64;
        (all > 0.0).then(|| (1.0 - self.empty_ns as f64 / all).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;
    use dyno_model::record::{Phase, Widths};

    #[test]
    fn slots_that_stand_empty_count_for_as_long_as_they_may_have() {
        let mut record = RequestRecord::new(0, 1, 0, Phase::Measured, 100 * MS);
        record.widths = Some(Widths { intended: 10 * MS, ..Widths::default() });
        (record.dispatched, record.connected) = (Some(120 * MS), Some(130 * MS));
        record.sent = Some(140 * MS);
        let mut effective = Effective::default();
        // 10 ms of it went into a connection, which is the network's.
        effective.add(&record, 0);
        assert_eq!(effective.share(2, 200 * MS), Some(0.9));
        // A first request has no predecessor, and 200 of the 400 ms are its own.
        record.end = 340 * MS;
        effective.add(&record, 100 * MS);
        assert_eq!(effective.share(2, 200 * MS), Some(0.8));
        assert_eq!(effective.share(2, 0), None);
    }
}
