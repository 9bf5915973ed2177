//! Requests that could not be sent whole, because the server closed the connection first.

use super::{Body, Exchange, Progress, Rules};
use crate::client::Arrival;
use dyno_model::outcome::FailureClass;

impl Exchange {
    /// The connection was closed, or broke (`why`), before the request was sent whole. A refusal that
    /// has arrived is the reason, even if it is incomplete.
    pub fn on_unsent(&mut self, rules: &Rules, why: Option<&str>, arrival: Arrival) -> Progress {
        if self.settled {
            return Progress::Over { reusable: false };
        }
        self.widen_at_close(arrival);
        if matches!(self.body, Body::Refused(_)) {
            self.conclude(rules, arrival.at);
            return Progress::Over { reusable: false };
        }
        let why = why.unwrap_or("no error was reported");
        let detail = match (&self.body, self.begun) {
            (_, false) => format!(
                "the server closed the connection before the request was sent whole ({why}), and \
                 no response could be read; if it sent one, it was lost with the connection; servers \
                 do this to requests that they refuse, such as large ones"
            ),
            (Body::Awaited, true) => format!(
                "the server closed the connection before the request was sent whole ({why}), inside \
                 the response headers"
            ),
            _ => format!(
                "the server closed the connection before the request was sent whole ({why}), in the \
                 middle of the response"
            ),
        };
        self.fail(rules, FailureClass::StreamReset, &detail, arrival.at)
    }
}
