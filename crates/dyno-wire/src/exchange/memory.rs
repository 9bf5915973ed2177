//! The memory that a response holds: its share of what all responses in flight may hold.

use super::{Body, Exchange, ExchangeProgress, Rules};
use dyno_model::outcome::FailureClass;
use dyno_model::{Nanos, message};

impl Exchange {
    /// Fails the exchange if what it holds is more than the budget has left.
    pub(super) fn within_budget(&mut self, rules: &Rules, at: Nanos) -> Option<ExchangeProgress> {
        if self.settled {
            return None;
        }
        let holds = self.holds();
        let held = self.held.get_or_insert_with(|| rules.budget.share());
        let over = held.set(holds).err()?;
        (self.body, self.held) = (Body::Awaited, None);
        let detail = message!(
            "{over} for the responses in flight; lower the concurrency, or request shorter responses",
            "进行中的响应{over}；请降低并发数，或请求更短的响应"
        );
        Some(self.fail(rules, FailureClass::StreamMalformed, &detail, at))
    }

    /// Bytes that it holds.
    fn holds(&self) -> usize {
        let body = match &self.body {
            Body::Awaited => 0,
            Body::Stream(framer) => framer.as_ref().map_or(0, |framer| framer.holds()),
            Body::Whole(body) | Body::Refused(body) | Body::Raw(body) => body.capacity(),
        };
        let chunks = self.record.chunks.holds();
        body + chunks + self.text.capacity() + self.content.capacity()
    }
}
