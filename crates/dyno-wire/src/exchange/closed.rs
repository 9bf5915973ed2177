//! Connections that are closed before the response is complete, or even before the request was sent whole.

use super::{Body, Exchange, ExchangeProgress, Rules};
use crate::client::{ArrivalTime, Broken};
use dyno_model::outcome::FailureClass;
use dyno_model::{Message, message};

impl Exchange {
    /// The connection was closed, or broke; `why` if it broke.
    pub fn on_close(
        &mut self,
        rules: &Rules,
        why: Option<&Broken>,
        arrival: ArrivalTime,
    ) -> ExchangeProgress {
        let at = arrival.at;
        if self.settled {
            return ExchangeProgress::Over { reusable: false };
        }
        self.widen_at_close(arrival);
        if why.is_none() && self.reader.close() {
            self.conclude(rules, at);
            return ExchangeProgress::Over { reusable: false };
        }
        let detail = match (&self.body, self.begun, why) {
            (_, false, None) => message!(
                "the server closed the connection before any byte of the response",
                "服务器在发出响应之前关闭了连接"
            ),
            (_, false, Some(why)) => {
                message!("{why} before any byte of the response", "{why}，尚未收到响应")
            }
            (Body::Awaited, true, None) => message!(
                "the server closed the connection inside the response headers",
                "服务器在响应头中途关闭了连接"
            ),
            (Body::Awaited, true, Some(why)) => {
                message!("{why} inside the response headers", "{why}，响应头尚未结束")
            }
            (_, true, None) => message!(
                "the server closed the connection in the middle of the response",
                "服务器在响应中途关闭了连接"
            ),
            (_, true, Some(why)) => {
                message!("{why} in the middle of the response", "{why}，响应尚未结束")
            }
        };
        self.fail(rules, FailureClass::StreamReset, &detail, at)
    }

    /// The connection was closed, or broke (`why`), before the request was sent whole. A refusal that
    /// has arrived is the reason, even if it is incomplete.
    pub fn on_unsent(
        &mut self,
        rules: &Rules,
        why: Option<&Broken>,
        arrival: ArrivalTime,
    ) -> ExchangeProgress {
        if self.settled {
            return ExchangeProgress::Over { reusable: false };
        }
        self.widen_at_close(arrival);
        if matches!(self.body, Body::Refused(_)) {
            self.conclude(rules, arrival.at);
            return ExchangeProgress::Over { reusable: false };
        }
        let why = why.map_or_else(|| message!("no error was reported", "未报告错误"), Message::of);
        let detail = match (&self.body, self.begun) {
            (_, false) => message!(
                "the server closed the connection before the request was sent whole ({why}), and \
                 no response could be read; if it sent one, it was lost with the connection; servers \
                 do this to requests that they refuse, such as large ones",
                "请求尚未发完，服务器就关闭了连接（{why}），且未能读到响应；若服务器发过响应，则已随连接丢失；\
                 服务器拒绝请求（例如请求过大）时常会如此"
            ),
            (Body::Awaited, true) => message!(
                "the server closed the connection before the request was sent whole ({why}), inside \
                 the response headers",
                "请求尚未发完，服务器就关闭了连接（{why}），响应头尚未结束"
            ),
            _ => message!(
                "the server closed the connection before the request was sent whole ({why}), in the \
                 middle of the response",
                "请求尚未发完，服务器就关闭了连接（{why}），响应尚未结束"
            ),
        };
        self.fail(rules, FailureClass::StreamReset, &detail, arrival.at)
    }
}
