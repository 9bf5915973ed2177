//! How an exchange ends: what the end of a body or a stream means, and the outcome in the record.

use super::{Body, Exchange, ExchangeProgress, MAX_DETAIL, MAX_TEXT, Rules};
use crate::dialect::{self, Delta, End, FinishKind, ServerError};
use crate::framing::{Framer, WireFrame};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::{Language, Localized, Message, Nanos, message};

impl Exchange {
    /// Ends the exchange as failed.
    pub fn fail(
        &mut self,
        rules: &Rules,
        class: FailureClass,
        detail: &impl Localized,
        at: Nanos,
    ) -> ExchangeProgress {
        if !self.settled {
            self.settle(rules, Outcome::Failed(class), at);
            self.record.detail = Some(kept(rules, detail));
        }
        ExchangeProgress::Over { reusable: false }
    }

    /// Ends the exchange because the server reports an error inside of the response.
    pub(super) fn refuse(
        &mut self,
        rules: &Rules,
        error: &ServerError,
        at: Nanos,
    ) -> ExchangeProgress {
        let message = Message::quoted(&error.message);
        match error.overloaded {
            true => self.shed(rules, FailureClass::StreamError, &message, at),
            false => drop(self.fail(rules, FailureClass::StreamError, &message, at)),
        }
        ExchangeProgress::Over { reusable: false }
    }

    /// Ends the exchange as refused by an overloaded server.
    pub(super) fn shed(&mut self, rules: &Rules, class: FailureClass, detail: &Message, at: Nanos) {
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
                let message = self.words_of_refusal(rules, &body);
                let status = self.record.status.unwrap_or(0);
                let class = FailureClass::Http(status);
                match dialect::is_overload_status(status) {
                    true => self.shed(rules, class, &message, at),
                    false => drop(self.fail(rules, class, &message, at)),
                }
            }
            Body::Whole(body) => self.conclude_whole(rules, &body, at),
            Body::Stream(framer) => {
                if let Some(framer) = framer {
                    self.conclude_stray(rules, &framer.stray(), at);
                    if !self.settled {
                        self.conclude_last(rules, &framer, at);
                    }
                }
                if !self.settled {
                    self.conclude_stream(rules, at);
                }
            }
            body @ (Body::Raw(_) | Body::Awaited) => {
                self.body = body;
                self.settle(rules, Outcome::Completed, at);
            }
        }
    }

    /// The body has ended, perhaps in the middle of a frame. Some servers leave out the end of the
    /// last one, which is whole all the same.
    fn conclude_last(&mut self, rules: &Rules, framer: &Framer, at: Nanos) {
        let pending = framer.pending();
        let data = pending.trim_ascii();
        if data.is_empty() {
            return;
        }
        let meaning = self.meaning.as_mut();
        let read =
            meaning.and_then(|reader| reader.frame(WireFrame { kind: b"", data }, rules.keep).ok());
        match read.filter(|delta| delta.terminal || framer.last_may_be_open()) {
            Some(delta) => {
                self.on_delta(rules, delta, at, &mut false);
            }
            None => {
                let shown = dialect::excerpt(&pending);
                let detail = message!(
                    "the body ended in the middle of an event: {shown}",
                    "响应体在一个事件中途结束：{shown}"
                );
                self.fail(rules, FailureClass::StreamTruncated, &detail, at);
            }
        }
    }

    fn conclude_whole(&mut self, rules: &Rules, body: &[u8], at: Nanos) {
        let mut meaning = self.meaning.take().unwrap_or_else(|| rules.dialect.reader());
        match meaning.whole(body, rules.keep) {
            Err(bad) => {
                self.unreadable(rules, &bad, body, at);
            }
            Ok(Delta { error: Some(error), .. }) => {
                self.refuse(rules, &error, at);
            }
            Ok(Delta { text: Some(text), .. }) | Ok(Delta { content: Some(text), .. })
                if text.len() > MAX_TEXT =>
            {
                self.fail(rules, FailureClass::StreamMalformed, &text_too_large(), at);
            }
            Ok(delta) => {
                self.note(&delta);
                self.record.last = Some(at);
                self.record.terminal = true;
                self.record.body_bytes = Some(body.len() as u64);
                self.finished = delta.finish.as_ref().map(|finish| finish.kind);
                self.record.finish_reason =
                    delta.finish.map(|finish| shorten(&rules.redactor.clean(&finish.reason)));
                self.has_text = delta.output;
                self.text = delta.text.unwrap_or_default();
                self.content = delta.content.unwrap_or_default();
                self.dimensions = delta.dimensions;
                match delta.results.zip(self.record.inputs) {
                    Some((got, sent)) if got < sent && got > 0 && self.fixed_output => {
                        let detail = message!(
                            "{got} results for {sent} inputs",
                            "{sent} 条输入只有 {got} 个结果"
                        );
                        self.fail(rules, FailureClass::OutputShort, &detail, at);
                    }
                    _ => self.check_output(rules, at),
                }
            }
        }
    }

    /// The stream has ended, with its terminal event or with the end of its body.
    pub(super) fn conclude_stream(&mut self, rules: &Rules, at: Nanos) {
        let (terminal, finished) = (self.record.terminal, self.finished.is_some());
        let is_whole = match rules.dialect.about().end {
            End::Terminal => terminal,
            End::TerminalOrFinish => terminal || finished,
            // Where something confirms it, the clean end is what a terminal event is elsewhere.
            End::CleanEnd => {
                self.record.terminal = terminal || finished || self.has_all(rules);
                true
            }
        };
        if is_whole {
            self.check_output(rules, at);
        } else {
            let detail = match finished {
                true => message!(
                    "the body ended after the finish reason, without the terminal event",
                    "响应体在结束原因之后结束，没有结束事件"
                ),
                false => message!(
                    "the body ended in the middle of the response: no finish reason and no terminal \
                     event",
                    "响应体在中途结束：没有结束原因，也没有结束事件"
                ),
            };
            self.fail(rules, FailureClass::StreamTruncated, &detail, at);
        }
    }

    /// Whether as many tokens arrived as were requested, by the server's counts or else by the events.
    fn has_all(&self, rules: &Rules) -> bool {
        let events = self.record.chunks.len() as u64;
        let got = self.counts.so_far().unwrap_or(events);
        let short_by = u64::from(rules.dialect.about().short_by);
        let wanted = self.record.requested_output.map(u64::from);
        wanted.is_some_and(|wanted| got.saturating_add(short_by) >= wanted)
    }

    /// Whether a response that ended as it should has what was requested.
    fn check_output(&mut self, rules: &Rules, at: Nanos) {
        let wanted = self.record.requested_output.map(u64::from).filter(|_| self.fixed_output);
        let got = self.counts.so_far();
        let short_by = u64::from(rules.dialect.about().short_by);
        if self.finished == Some(FinishKind::Failed) {
            let reason = self.record.finish_reason.clone().unwrap_or_default();
            let detail = message!(
                "the server ended the response with the finish reason `{reason}`",
                "服务器以结束原因 `{reason}` 结束了响应"
            );
            self.fail(rules, FailureClass::StreamError, &detail, at);
        } else if !self.has_text && got.unwrap_or(0) == 0 {
            let detail = message!(
                "the response ended normally, but without any output",
                "响应正常结束，但没有任何输出"
            );
            self.fail(rules, FailureClass::StreamEmpty, &detail, at);
        } else if rules.dialect.about().task.generates()
            && self.finished.is_none()
            && !self.has_all(rules)
            // A document is whole by its form, unless it says that tokens are missing.
            && (self.record.streamed || got.is_some())
        {
            let events = self.record.chunks.len() as u64;
            let tokens = got.unwrap_or(events);
            let detail = match self.record.requested_output {
                Some(asked) => message!(
                    "ended without a finish reason, after {tokens} of {asked} tokens",
                    "没有结束原因即结束，共 {tokens} 个 token（请求 {asked} 个）"
                ),
                None => message!(
                    "ended without a finish reason, after {tokens} tokens",
                    "没有结束原因即结束，共 {tokens} 个 token"
                ),
            };
            self.settle(rules, Outcome::Unconfirmed, at);
            self.record.detail = Some(detail);
        } else if let (Some(wanted), Some(got)) = (wanted, got)
            && got.saturating_add(short_by) < wanted
            && self.finished != Some(FinishKind::Length)
        {
            let detail = message!(
                "{got} output tokens instead of the {wanted} requested",
                "要求 {wanted} 个输出 token，实际只有 {got} 个"
            );
            self.fail(rules, FailureClass::OutputShort, &detail, at);
        } else {
            self.settle(rules, Outcome::Completed, at);
        }
    }

    fn settle(&mut self, rules: &Rules, outcome: Outcome, at: Nanos) {
        self.settled = true;
        self.record.outcome = outcome;
        self.record.end = at;
        self.counts.settle(&mut self.record, self.has_text, self.characters);
        if rules.keep.text {
            self.record.text = Some(rules.redactor.clean(&std::mem::take(&mut self.text)));
        }
    }
}

pub(super) fn text_too_large() -> Message {
    message!(
        "the text of the response is larger than {MAX_TEXT} bytes",
        "响应的文本超过 {MAX_TEXT} 字节"
    )
}

/// What is kept of a message, in each language: its first 4 KiB, without secrets.
fn kept(rules: &Rules, said: &impl Localized) -> Message {
    let safe = |text: &str| shorten(&rules.redactor.clean(text));
    let [english, chinese] =
        [Language::English, Language::Chinese].map(|language| said.text(language));
    match english == chinese {
        true => Message::quoted(safe(&english)),
        false => Message::new([safe(&english), safe(&chinese)]),
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
