//! Small test requests that find the fields the server accepts: all optional fields first, then
//! without those that it refuses, until it responds. Whether it obeys them is the business of `length`.

use super::error::{about_key, failed, returned};
use super::length::Force;
use super::patience::Patience;
use super::refusal;
use super::{PreflightError, PreflightSetup};
use crate::client::Client;
use crate::dialect::{About, DIALECTS, Does, Optional, Shape, is_overload_status};
use crate::encode::Encoder;
use crate::http::ResponseHead;
use dyno_model::environment::Preflight;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::prompt::Item;
use dyno_model::record::{RequestRecord, TokenSource};
use dyno_model::{Diagnostic, DiagnosticValue, Message, message};
use dyno_words::Note;

/// A model that ends its responses by itself replies to this with a word or two.
const PROMPT: &str = "Reply with the single word OK.";
/// The length of the first test request.
pub(super) const TOKENS: u32 = 16;
const TRIES: usize = 10;
/// Headers that are kept; others could contain a secret or a cookie.
const SHOWN: &[&str] =
    &["server", "content-type", "x-powered-by", "via", "x-vllm-version", "x-dyno-simulated"];

pub(super) struct Probe<'a> {
    client: &'a mut Client,
    setup: &'a PreflightSetup<'a>,
    pub(super) shape: Shape,
    pub(super) about: &'static About,
    pub(super) refused: Vec<(&'static Optional, String)>,
    /// Fields that it accepts and does not obey.
    pub(super) ignored: Vec<&'static Optional>,
    head: Option<Box<ResponseHead>>,
    /// Numbers in a vector.
    dimensions: Option<u32>,
    seen: Option<RequestRecord>,
    force: Force,
    notes: Vec<Diagnostic>,
}

/// A response to a test request.
enum Reply {
    Accepted(Box<RequestRecord>),
    /// It may be one of our fields that the server does not know.
    Refused {
        status: u16,
        message: Message,
    },
}

impl<'a> Probe<'a> {
    pub(super) fn new(client: &'a mut Client, setup: &'a PreflightSetup<'a>, shape: Shape) -> Self {
        let about = client.rules().dialect.about();
        Self {
            client,
            setup,
            shape,
            about,
            refused: Vec::new(),
            ignored: Vec::new(),
            head: None,
            dimensions: None,
            seen: None,
            force: Force::No,
            notes: Vec::new(),
        }
    }

    /// Sends test requests until the server accepts one and it is known, as far as it can be, whether
    /// it obeys.
    pub(super) fn run(&mut self) -> Result<(), PreflightError> {
        let (record, force) = self.find_force()?;
        if let Some(class) = record.outcome.class() {
            let detail = record.detail.clone().unwrap_or_else(|| Message::quoted(""));
            let values = [DiagnosticValue::from(class), DiagnosticValue::from(detail)];
            self.notes.push(Note::PreflightFailed.with(values));
        }
        (self.seen, self.force) = (Some(record), force);
        Ok(())
    }

    /// Sends test requests of this length, each with fewer optional fields, until the server accepts
    /// one.
    pub(super) fn accepted(&mut self, tokens: u32) -> Result<RequestRecord, PreflightError> {
        let mut about_fields = false;
        for _ in 0..TRIES {
            match self.reply(tokens)? {
                Reply::Accepted(record) => return Ok(*record),
                Reply::Refused { status, message } => {
                    let said = message.to_string();
                    if self.drop_named(&said) {
                        continue;
                    }
                    // Nothing is named. Before fields are given up one by one, see whether they matter.
                    about_fields = about_fields || self.bare_is_accepted(tokens, &said)?;
                    if !about_fields || !self.drop_next(&said) {
                        return Err(self.refusal(status, &message));
                    }
                }
            }
        }
        Err(PreflightError::Target(message!(
            "the server refused {TRIES} requests in a row, each with fewer optional fields",
            "服务器连续拒绝了 {TRIES} 个请求，每个请求的可选字段都比前一个少"
        )))
    }

    /// Says that the server refused a request. Another API may have the same path.
    fn refusal(&self, status: u16, message: &Message) -> PreflightError {
        let about = self.about;
        let whole =
            !about.prefix.is_empty() && self.setup.endpoint.path.contains(&about.whole_path());
        let same = |other: &&About| !whole && other.name != about.name && other.path == about.path;
        match DIALECTS.iter().map(|dialect| dialect.about()).find(same) {
            Some(other) if may_be_a_field(status) => PreflightError::Other {
                message: returned(status, None, message),
                other: other.name,
            },
            _ => self.refusal_error(status, message),
        }
    }

    /// Says that the server refused a request, and what to check.
    fn refusal_error(&self, status: u16, message: &Message) -> PreflightError {
        let hint = match status {
            401 | 403 => Some(about_key(self.setup.headers)),
            404 => Some(message!(
                "check the path of the target, --api and --model",
                "请检查目标的路径、--api 和 --model"
            )),
            _ => None,
        };
        let text = returned(status, hint, message);
        // A model that does not exist is a 404, too, and is named.
        match status {
            404 if !message.to_string().to_ascii_lowercase().contains("model") => {
                PreflightError::NoSuchApi(text)
            }
            405 | 501 => PreflightError::NoSuchApi(text),
            _ => PreflightError::Target(text),
        }
    }

    /// One test request; overload is waited out.
    fn reply(&mut self, tokens: u32) -> Result<Reply, PreflightError> {
        let mut patience = Patience::new();
        loop {
            let record = self.ask(tokens)?;
            let message = || said(&record);
            match (&record.outcome, record.status) {
                (
                    Outcome::Failed(FailureClass::Http(status))
                    | Outcome::Shed(FailureClass::Http(status)),
                    _,
                ) => {
                    let status = *status;
                    if is_overload_status(status) {
                        let (now, told) = (self.client.clock().now(), record.retry_after);
                        if patience.wait(now, told, self.setup.stop) {
                            continue;
                        }
                        let why = patience.exhausted(status, told, &message());
                        return Err(PreflightError::Target(why));
                    }
                    return match may_be_a_field(status) {
                        true => Ok(Reply::Refused { status, message: message() }),
                        false => Err(self.refusal_error(status, &message())),
                    };
                }
                (Outcome::Shed(_), Some(200)) => {
                    let (now, told) = (self.client.clock().now(), record.retry_after);
                    if !patience.wait(now, told, self.setup.stop) {
                        let why = patience.exhausted(200, told, &message());
                        return Err(PreflightError::Target(why));
                    }
                }
                // Some servers check requests only after they have sent the headers.
                (Outcome::Failed(FailureClass::StreamError), Some(200))
                    if !self.named(&message().to_string()).is_empty() =>
                {
                    return Ok(Reply::Refused { status: 200, message: message() });
                }
                (Outcome::Failed(_), Some(200)) if self.is_page() => {
                    let detail = message();
                    return Err(failed(&detail));
                }
                (_, Some(200)) => return Ok(Reply::Accepted(Box::new(record))),
                _ => {
                    let none = || message!("no response", "没有响应");
                    return Err(failed(&record.detail.unwrap_or_else(none)));
                }
            }
        }
    }

    /// Whether the last response was a web page: no inference server is there.
    fn is_page(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/html"))
    }

    fn ask(&mut self, tokens: u32) -> Result<RequestRecord, PreflightError> {
        let dialect = self.client.rules().dialect;
        let shape = self.shape.clone();
        let encoder = Encoder::new(self.setup.endpoint, dialect, shape, self.setup.headers);
        let payload = encoder.for_preflight().payload(&Item::text(PROMPT), tokens);
        let asked = self.client.ask(payload, self.setup.stop)?;
        self.head = asked.head.or(self.head.take());
        self.dimensions = asked.dimensions;
        Ok(asked.record)
    }

    /// Fields that are sent and can be left out: one has to limit the length, so the last of these
    /// stays.
    fn droppable(&self) -> Vec<&'static Optional> {
        let can_go = |field: &&'static Optional| {
            self.shape.sends(field.name)
                && (field.does != Does::LimitLength || self.alternative(field).is_some())
        };
        self.about.optional.iter().filter(can_go).collect()
    }

    /// The fields that a refusal names, of those that can be left out.
    fn named(&self, message: &str) -> Vec<&'static Optional> {
        let mut named = refusal::named(message, self.droppable().into_iter());
        // A field within another is named together with it.
        if named.iter().any(|field| field.does == Does::CountChunks) {
            named.retain(|field| field.does != Does::CountAtEnd);
        }
        named
    }

    /// Leaves out the fields that a refusal names; whether there are any.
    fn drop_named(&mut self, message: &str) -> bool {
        let named = self.named(message);
        for field in &named {
            self.leave_out(field, message);
        }
        !named.is_empty()
    }

    /// Leaves out the next field in order; `false` if none is left.
    fn drop_next(&mut self, message: &str) -> bool {
        let next = self.droppable().first().copied();
        if let Some(field) = next {
            self.leave_out(field, message);
        }
        next.is_some()
    }

    /// Whether the server accepts a request without optional fields. If it takes only the other field
    /// that limits the length, that is settled, too.
    fn bare_is_accepted(&mut self, tokens: u32, message: &str) -> Result<bool, PreflightError> {
        let all = self.shape.fields.clone();
        let limits: Vec<_> = self.about.that(Does::LimitLength).map(|field| field.name).collect();
        let limit = |name: &&&'static str| limits.contains(*name);
        self.shape.fields = all.iter().filter(limit).copied().collect();
        let mut accepted = matches!(self.reply(tokens)?, Reply::Accepted(_));
        if !accepted
            && let Some(field) = self.sent(Does::LimitLength)
            && let Some(other) = self.alternative(field)
        {
            self.shape.fields = vec![other.name];
            accepted = matches!(self.reply(tokens)?, Reply::Accepted(_));
            if accepted {
                self.shape.fields = all;
                self.leave_out(field, message);
                return Ok(true);
            }
        }
        self.shape.fields = all;
        Ok(accepted)
    }

    /// Leaves a field out, and sends the next that does the same.
    pub(super) fn leave_out(&mut self, field: &'static Optional, message: &str) {
        self.shape.fields.retain(|name| *name != field.name);
        self.refused.push((field, message.to_owned()));
        if field.does == Does::CountAtEnd {
            // Usage with every chunk comes with usage at the end.
            let counts = |name: &str| self.about.that(Does::CountChunks).any(|f| f.name == name);
            let kept = self.shape.fields.iter().copied().filter(|name| !counts(name)).collect();
            self.shape.fields = kept;
        }
        let next = self.alternative(field);
        self.shape.fields.extend(next.map(|next| next.name));
    }

    /// Another field for the same that has not been tried.
    pub(super) fn alternative(&self, field: &Optional) -> Option<&'static Optional> {
        if let Does::Other = field.does {
            return None;
        }
        let tried = |other: &Optional| {
            self.shape.sends(other.name) || self.refused.iter().any(|(f, _)| f.name == other.name)
        };
        self.about.that(field.does).find(|other| other.name != field.name && !tried(other))
    }

    /// The field that is sent for this.
    pub(super) fn sent(&self, does: Does) -> Option<&'static Optional> {
        self.about.that(does).find(|field| self.shape.sends(field.name))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.as_ref()?.header(name)
    }

    pub(super) fn shown_headers(&self) -> Vec<(String, String)> {
        let headers = self.head.iter().flat_map(|head| &head.headers);
        let shown = headers.filter(|(name, _)| SHOWN.contains(&name.as_str()));
        let redactor = &self.client.rules().redactor;
        shown.map(|(name, value)| (name.clone(), redactor.clean(value))).collect()
    }

    pub(super) fn into_result(mut self) -> (Shape, Preflight, Vec<Diagnostic>) {
        let length_field = self.sent(Does::FixLength);
        let failed = matches!(self.seen.as_ref().map(|r| &r.outcome), Some(Outcome::Failed(_)));
        let generates = self.about.task.generates();
        match length_field {
            None if generates && !failed => self.notes.push(Note::LengthNotFixed.into()),
            Some(field) if self.force == Force::Unproven => {
                self.notes.push(Note::LengthUnproven.with(vec![field.name.to_owned()]));
            }
            _ => {}
        }
        self.shape.forced = self.force == Force::Yes;
        let contradicts = self.seen.as_ref().is_some_and(|r| r.usage_ignored);
        let usage = self.seen.as_ref().and_then(|r| if generates { r.output } else { r.input });
        let usage = usage.is_some_and(|count| count.source == TokenSource::Usage);
        let continuous = self.seen.as_ref().is_some_and(|r| r.chunk_tokens_known);
        if !usage && !failed && !contradicts {
            let note = if generates { Note::NoUsage } else { Note::NoInputUsage };
            self.notes.push(note.into());
        }
        if self.shape.stream && self.seen.as_ref().is_some_and(|r| !r.streamed) && !failed {
            self.notes.push(Note::NotStreamed.into());
        }
        let refused = self.refused.iter().map(|(f, message)| (f.name.to_owned(), message.clone()));
        let refused: Vec<(String, String)> = refused.collect();
        for field in &self.ignored {
            self.notes.push(Note::FieldIgnored.with(vec![field.name.to_owned()]));
        }
        let ignored = |field: &str| self.ignored.iter().any(|ignored| ignored.name == field);
        for (field, message) in refused.iter().filter(|(field, _)| !ignored(field)) {
            let message: String = message.chars().take(200).collect();
            self.notes.push(Note::FieldRefused.with(vec![field.clone(), message]));
        }
        let limit = self.sent(Does::LimitLength).map_or("", |field| field.name);
        let preflight = Preflight {
            model: self.client.rules().redactor.clean_name(&self.shape.model),
            stream_options: self.sent(Does::CountAtEnd).is_some(),
            usage,
            continuous_usage: continuous,
            max_tokens_field: limit.into(),
            length_field: length_field.map(|field| field.name.to_owned()),
            length_forced: length_field.map(|_| self.force == Force::Yes),
            refused,
            shared_tokens: None,
            dimensions: self.dimensions,
        };
        (self.shape, preflight, self.notes)
    }
}

fn may_be_a_field(status: u16) -> bool {
    matches!(status, 400 | 422)
}

/// What the server says in a refusal; perhaps nothing.
fn said(record: &RequestRecord) -> Message {
    let texts = record.detail.as_ref().map(Message::texts).unwrap_or_default();
    Message::new(texts.map(|text| text.trim().to_owned()))
}
