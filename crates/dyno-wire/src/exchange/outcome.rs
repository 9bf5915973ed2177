//! How an exchange ends: what the end of a body or a stream means, and the outcome in the record.

use super::{Body, Exchange, MAX_DETAIL, Progress, Rules};
use crate::dialect::{self, Delta};
use dyno_model::Nanos;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{TokenCount, TokenSource};

/// Statuses of a server that has too many requests: too many, unavailable, and overloaded.
const OVERLOADED: [u16; 3] = [429, 503, 529];

impl Exchange {
    /// Ends the exchange as failed.
    pub fn fail(
        &mut self,
        rules: &Rules,
        class: FailureClass,
        detail: &str,
        at: Nanos,
    ) -> Progress {
        if !self.settled {
            self.settle(rules, Outcome::Failed(class), at);
            self.record.detail = Some(shorten(&rules.redactor.clean(detail)));
        }
        Progress::Over { reusable: false }
    }

    /// Ends the exchange as refused by an overloaded server.
    pub(super) fn shed(&mut self, rules: &Rules, class: FailureClass, detail: &str, at: Nanos) {
        if !self.settled {
            self.fail(rules, class, detail, at);
            self.record.outcome = Outcome::Shed(class);
            self.record.retry_after = self.head.as_ref().and_then(|head| head.retry_after());
        }
    }

    /// Ends the exchange because the run has to stop; its times so far are kept.
    pub fn censor(&mut self, rules: &Rules, at: Nanos) {
        if !self.settled {
            self.settle(rules, Outcome::Censored, at);
        }
    }

    /// The HTTP body has ended.
    pub(super) fn conclude(&mut self, rules: &Rules, at: Nanos) {
        if self.settled {
            return;
        }
        match std::mem::replace(&mut self.body, Body::Awaited) {
            Body::Refused(body) => {
                let message = String::from_utf8_lossy(&body).into_owned();
                let status = self.record.status.unwrap_or(0);
                let class = FailureClass::Http(status);
                match OVERLOADED.contains(&status) {
                    true => self.shed(rules, class, &message, at),
                    false => drop(self.fail(rules, class, &message, at)),
                }
            }
            Body::Whole(body) => self.conclude_whole(rules, &body, at),
            Body::Stream(decoder) => {
                let pending = decoder.map(|decoder| decoder.pending()).unwrap_or_default();
                if pending.trim_ascii() == b"[DONE]" {
                    self.record.terminal = true;
                } else if !pending.is_empty() {
                    let detail = format!(
                        "the body ended in the middle of an event: {}",
                        dialect::excerpt(&pending)
                    );
                    self.fail(rules, FailureClass::StreamTruncated, &detail, at);
                    return;
                }
                self.conclude_stream(rules, at);
            }
            body @ (Body::Raw(_) | Body::Awaited) => {
                self.body = body;
                self.settle(rules, Outcome::Completed, at);
            }
        }
    }

    fn conclude_whole(&mut self, rules: &Rules, body: &[u8], at: Nanos) {
        match dialect::whole(rules.api, body, rules.keep) {
            Err(bad) => {
                self.fail(rules, FailureClass::StreamMalformed, &bad.0, at);
            }
            Ok(Delta { error: Some(message), .. }) => {
                self.fail(rules, FailureClass::StreamError, &message, at);
            }
            Ok(delta) => {
                let usage = |tokens| TokenCount { tokens, source: TokenSource::Usage };
                self.record.input = delta.input_tokens.map(usage);
                self.record.cached = delta.cached_tokens;
                self.tokens_so_far = delta.output_tokens;
                self.record.last = Some(at);
                self.record.terminal = true;
                self.record.finish_reason =
                    delta.finish.map(|reason| shorten(&rules.redactor.clean(&reason)));
                self.text = delta.text.unwrap_or_default();
                self.content = delta.content.unwrap_or_default();
                self.check_output(rules, delta.output, at);
            }
        }
    }

    /// The stream has ended, with its terminal event or with the end of its body.
    pub(super) fn conclude_stream(&mut self, rules: &Rules, at: Nanos) {
        if !self.record.terminal && !self.finished {
            let detail = "the body ended in the middle of the response: no finish reason and no \
                          terminal event";
            self.fail(rules, FailureClass::StreamTruncated, detail, at);
        } else {
            self.check_output(rules, self.record.first.is_some(), at);
        }
    }

    /// Whether a response that ended as it should has what was requested.
    fn check_output(&mut self, rules: &Rules, has_output: bool, at: Nanos) {
        let wanted = self.record.requested_output.map(u64::from).filter(|_| self.fixed_output);
        let got = self.tokens_so_far;
        if !has_output {
            let detail = "the response ended normally, but without any output";
            self.fail(rules, FailureClass::StreamEmpty, detail, at);
        } else if let (Some(wanted), Some(got)) = (wanted, got)
            && got < wanted
        {
            let detail = format!("{got} output tokens instead of the {wanted} requested");
            self.fail(rules, FailureClass::OutputShort, &detail, at);
        } else {
            self.settle(rules, Outcome::Completed, at);
        }
    }

    fn settle(&mut self, rules: &Rules, outcome: Outcome, at: Nanos) {
        self.settled = true;
        self.record.outcome = outcome;
        self.record.end = at;
        let events = self.record.chunks.len() as u64;
        self.record.output = match self.tokens_so_far {
            Some(tokens) => Some(TokenCount { tokens, source: TokenSource::Usage }),
            None if events > 0 => Some(TokenCount { tokens: events, source: TokenSource::Events }),
            None => None,
        };
        if rules.keep.text {
            self.record.text = Some(rules.redactor.clean(&std::mem::take(&mut self.text)));
        }
    }
}

/// The first 4 KiB, cut at a character boundary.
pub(super) fn shorten(text: &str) -> String {
    let mut end = text.len().min(MAX_DETAIL);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
