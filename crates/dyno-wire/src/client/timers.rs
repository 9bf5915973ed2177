//! Time-outs, each with its own failure class. A connection has at most one active timer.

use super::Client;
use dyno_model::outcome::FailureClass;
use dyno_model::units::format_duration;
use dyno_model::{Nanos, message};
use std::cmp::Reverse;

impl Client {
    /// Makes sure that a timer fires no later than the connection's deadline.
    pub(super) fn set_timer(&mut self, token: u64) {
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        let Some((deadline, _)) = connection.deadline(&self.options.timeouts) else {
            return;
        };
        if deadline < connection.timer {
            connection.timer = deadline;
            self.timers.push(Reverse((deadline, token)));
        }
    }

    /// Fails the requests that are past their deadlines. Deadlines move with every byte; a timer
    /// whose deadline has moved is set again.
    pub(super) fn fire_timers(&mut self, now: Nanos) {
        while let Some(Reverse((at, token))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            let Some(connection) = self.table.get_mut(token) else {
                continue;
            };
            if connection.timer != at {
                continue;
            }
            connection.timer = Nanos::MAX;
            match connection.deadline(&self.options.timeouts) {
                Some((deadline, class)) if deadline <= now => self.give_up(token, class, now),
                _ => self.set_timer(token),
            }
        }
    }

    fn give_up(&mut self, token: u64, class: FailureClass, now: Nanos) {
        let Some(mut connection) = self.table.remove(token) else {
            return;
        };
        let Some(mut exchange) = self.take_exchange(&mut connection) else { return };
        let timeouts = &self.options.timeouts;
        let detail = match class {
            FailureClass::TimeoutConnect => {
                let time = format_duration(timeouts.connect_ns);
                let why = message!(
                    "no connection within {time} (--timeout-connect)",
                    "{time} 内未能建立连接（--timeout-connect）"
                );
                self.named(why, connection.address)
            }
            FailureClass::TimeoutFirstToken => {
                let time = format_duration(timeouts.first_token_ns);
                message!(
                    "no output within {time} (--timeout-first-token)",
                    "{time} 内没有输出（--timeout-first-token）"
                )
            }
            FailureClass::TimeoutIdle => {
                let time = format_duration(timeouts.idle_ns);
                message!(
                    "the stream paused for {time} (--timeout-idle)",
                    "流停顿了 {time}（--timeout-idle）"
                )
            }
            _ => {
                let time = format_duration(timeouts.total_ns);
                message!(
                    "not complete within {time} (--timeout-total)",
                    "{time} 内没有完成（--timeout-total）"
                )
            }
        };
        exchange.fail(&self.options.rules, class, &detail, now);
        self.ended.push(exchange);
    }
}
