//! Responses that are none of the API: compressed bodies, web pages, redirects, plain text in a stream.
//! Their classes are those of any other response; what is different is the explanation.

use super::{Body, Exchange, ExchangeProgress, Rules};
use crate::dialect::{Malformed, ServerError, excerpt};
use crate::explain::{compressed, explain, refusal};
use dyno_model::outcome::FailureClass;
use dyno_model::{Message, Nanos, message};

impl Exchange {
    /// Ends the exchange if its headers say that the body of a 200 is compressed.
    pub(super) fn refuse_compressed(
        &mut self,
        rules: &Rules,
        at: Nanos,
    ) -> Option<ExchangeProgress> {
        if !matches!(self.body, Body::Stream(_) | Body::Whole(_)) {
            return None;
        }
        let detail = compressed(self.head.as_deref()?)?;
        Some(self.fail(rules, FailureClass::StreamMalformed, &detail, at))
    }

    /// What an HTTP error says.
    pub(super) fn words_of_refusal(&self, rules: &Rules, body: &[u8]) -> Message {
        let explained = self.head.as_deref().and_then(|head| refusal(head, body, &rules.redactor));
        explained.unwrap_or_else(|| Message::quoted(String::from_utf8_lossy(body)))
    }

    /// Ends the exchange because a frame or a body cannot be read.
    pub(super) fn unreadable(
        &mut self,
        rules: &Rules,
        bad: &Malformed,
        bytes: &[u8],
        at: Nanos,
    ) -> ExchangeProgress {
        let head = self.head.as_deref().filter(|_| !self.understood);
        let explained = head.and_then(|head| explain(head, bytes, &rules.redactor));
        match explained {
            Some(explained) => self.fail(rules, FailureClass::StreamMalformed, &explained, at),
            None => self.fail(rules, FailureClass::StreamMalformed, bad, at),
        }
    }

    /// The body has ended, and there was text outside of events. If the response is incomplete, that
    /// is the reason: some servers write a message into the stream, and end it.
    pub(super) fn conclude_stray(&mut self, rules: &Rules, text: &[u8], at: Nanos) {
        let text = text.trim_ascii();
        if text.is_empty() || self.record.terminal || self.finished.is_some() {
            return;
        }
        if let Some(error) = self.error_in(rules, text) {
            self.refuse(rules, &error, at);
            return;
        }
        let head = self.head.as_deref();
        let explained =
            head.filter(|_| !self.understood).and_then(|head| explain(head, text, &rules.redactor));
        let kind = head.and_then(|head| head.header("content-type")).unwrap_or("");
        let is_stream = kind.to_ascii_lowercase().starts_with("text/event-stream");
        if let Some(explained) = explained {
            self.fail(rules, FailureClass::StreamMalformed, &explained, at);
        } else if text.starts_with(b"{") || !(self.understood || is_stream) {
            let shown = excerpt(text);
            let detail = message!(
                "the body is not a stream of events: {shown}",
                "响应体不是事件流：{shown}"
            );
            self.fail(rules, FailureClass::StreamMalformed, &detail, at);
        } else {
            let shown = excerpt(text);
            let detail =
                message!("the server wrote into the stream: {shown}", "服务器在流中写入：{shown}");
            self.fail(rules, FailureClass::StreamError, &detail, at);
        }
    }

    /// The error that a JSON document outside of any event reports.
    fn error_in(&self, rules: &Rules, text: &[u8]) -> Option<ServerError> {
        let document = text.starts_with(b"{").then_some(text)?;
        rules.dialect.reader().whole(document, rules.keep).ok()?.error
    }
}
