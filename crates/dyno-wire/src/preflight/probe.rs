//! Small test requests that find the fields the server accepts: all optional fields first, then
//! without those that it refuses, until it responds.

use super::{PreflightError, PreflightSetup};
use crate::client::Client;
use crate::dialect::{About, Does, Optional, Shape};
use crate::encode::Encoder;
use crate::http::Head;
use dyno_model::Diagnostic;
use dyno_model::environment::Preflight;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::prompt::Item;
use dyno_model::record::{RequestRecord, TokenSource};
use dyno_words::Note;

/// A model that ignores the length fields replies to this with a word or two.
const PROMPT: &str = "Reply with the single word OK.";
const TOKENS: u32 = 16;
const TRIES: usize = 10;
/// Headers that are kept; others could contain a secret or a cookie.
const SHOWN: &[&str] =
    &["server", "content-type", "x-powered-by", "via", "x-vllm-version", "x-dyno-simulated"];

pub(super) struct Probe<'a> {
    client: &'a mut Client,
    setup: &'a PreflightSetup<'a>,
    shape: Shape,
    about: &'static About,
    refused: Vec<(&'static Optional, String)>,
    head: Option<Box<Head>>,
    /// Numbers in a vector.
    dimensions: Option<u32>,
    seen: Option<RequestRecord>,
    /// A length field was obeyed.
    obeyed: bool,
    notes: Vec<Diagnostic>,
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
            head: None,
            dimensions: None,
            seen: None,
            obeyed: false,
            notes: Vec::new(),
        }
    }

    /// Sends test requests until the server accepts one and it is known whether it obeys.
    pub(super) fn run(&mut self) -> Result<(), PreflightError> {
        for _ in 0..TRIES {
            let record = self.ask()?;
            match (&record.outcome, record.status) {
                (Outcome::Failed(FailureClass::Http(status)), _) if may_be_a_field(*status) => {
                    let message = record.detail.clone().unwrap_or_default();
                    if !self.drop_a_field(&message) {
                        return Err(refusal(*status, &message));
                    }
                }
                (Outcome::Failed(FailureClass::Http(status)), _) => {
                    let message = record.detail.clone().unwrap_or_default();
                    return Err(refusal(*status, &message));
                }
                (_, Some(200)) => {
                    if self.judge(record) {
                        return Ok(());
                    }
                }
                _ => {
                    let detail = record.detail.unwrap_or_else(|| "no response".into());
                    return Err(PreflightError::Target(format!(
                        "the test request failed: {detail}"
                    )));
                }
            }
        }
        Err(PreflightError::Target(format!(
            "the server refused {TRIES} requests in a row, each with fewer optional fields"
        )))
    }

    fn ask(&mut self) -> Result<RequestRecord, PreflightError> {
        let dialect = self.client.rules().dialect;
        let shape = self.shape.clone();
        let encoder = Encoder::new(self.setup.endpoint, dialect, shape, self.setup.headers);
        let payload = encoder.for_preflight().payload(&Item::text(PROMPT), TOKENS);
        let asked = self.client.ask(payload, self.setup.stop)?;
        self.head = asked.head.or(self.head.take());
        self.dimensions = asked.dimensions;
        Ok(asked.record)
    }

    /// Drops the field that a refusal names, or else the next in order; `false` if none is left.
    fn drop_a_field(&mut self, message: &str) -> bool {
        let can_go = |field: &&&'static Optional| {
            // One field has to limit the length, so the last of these stays.
            self.shape.sends(field.name)
                && (field.does != Does::LimitLength || self.alternative(field).is_some())
        };
        let optional: Vec<&'static Optional> = self.about.optional.iter().collect();
        let mut left = optional.iter().filter(can_go);
        let named = left.clone().find(|field| message.contains(field.name));
        let Some(field) = named.or_else(|| left.next()).copied() else {
            return false;
        };
        self.leave_out(field, message);
        true
    }

    /// Leaves a field out, and sends the next that does the same.
    fn leave_out(&mut self, field: &'static Optional, message: &str) {
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
    fn alternative(&self, field: &Optional) -> Option<&'static Optional> {
        if let Does::Other = field.does {
            return None;
        }
        let tried = |other: &Optional| {
            self.shape.sends(other.name) || self.refused.iter().any(|(f, _)| f.name == other.name)
        };
        self.about.that(field.does).find(|other| other.name != field.name && !tried(other))
    }

    /// The field that is sent for this.
    fn sent(&self, does: Does) -> Option<&'static Optional> {
        self.about.that(does).find(|field| self.shape.sends(field.name))
    }

    /// Checks a response; whether no further test request is needed.
    fn judge(&mut self, record: RequestRecord) -> bool {
        let wanted = u64::from(TOKENS);
        let got = record.output.map(|count| match count.source {
            // An event can carry several tokens, and a finish event none.
            TokenSource::Events => count.tokens + 1,
            _ => count.tokens,
        });
        self.obeyed = got.is_some_and(|got| got >= wanted);
        let shows_it = matches!(
            record.outcome,
            Outcome::Completed | Outcome::Failed(FailureClass::OutputShort)
        );
        if let Some(field) = self.sent(Does::FixLength)
            && !self.obeyed
            && shows_it
            && self.alternative(field).is_some()
        {
            self.leave_out(field, "accepted, but not obeyed");
            return false;
        }
        if let Outcome::Failed(class) = &record.outcome
            && *class != FailureClass::OutputShort
        {
            let detail = record.detail.clone().unwrap_or_default();
            self.notes.push(Note::PreflightFailed.with(vec![class.to_string(), detail]));
        }
        self.seen = Some(record);
        true
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
        let failed = matches!(
            self.seen.as_ref().map(|r| &r.outcome),
            Some(Outcome::Failed(class)) if *class != FailureClass::OutputShort
        );
        // A response that failed for another reason does not show whether the field is obeyed.
        let length_field = length_field.filter(|_| self.obeyed || failed);
        if length_field.is_none() && self.about.task.generates() {
            let fixes = |name: &str| self.about.that(Does::FixLength).any(|f| f.name == name);
            let kept = self.shape.fields.iter().copied().filter(|name| !fixes(name)).collect();
            self.shape.fields = kept;
            self.notes.push(Note::LengthNotFixed.into());
        }
        let generates = self.about.task.generates();
        let usage = self.seen.as_ref().and_then(|r| if generates { r.output } else { r.input });
        let usage = usage.is_some_and(|count| count.source == TokenSource::Usage);
        let continuous = self.seen.as_ref().is_some_and(|r| r.chunk_tokens_known);
        if !usage && !failed {
            let note = if generates { Note::NoUsage } else { Note::NoInputUsage };
            self.notes.push(note.into());
        }
        if self.shape.stream && self.seen.as_ref().is_some_and(|r| !r.streamed) && !failed {
            self.notes.push(Note::NotStreamed.into());
        }
        let refused = self.refused.iter().map(|(f, message)| (f.name.to_owned(), message.clone()));
        let refused: Vec<(String, String)> = refused.collect();
        for (field, message) in &refused {
            let message: String = message.chars().take(200).collect();
            self.notes.push(Note::FieldRefused.with(vec![field.clone(), message]));
        }
        let limit = self.sent(Does::LimitLength).map_or("", |field| field.name);
        let preflight = Preflight {
            model: self.shape.model.clone(),
            stream_options: self.sent(Does::CountAtEnd).is_some(),
            usage,
            continuous_usage: continuous,
            max_tokens_field: limit.into(),
            length_field: length_field.map(|field| field.name.to_owned()),
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

fn refusal(status: u16, message: &str) -> PreflightError {
    let hint = match status {
        401 | 403 => "; pass a key with --api-key-file or DYNO_API_KEY",
        404 => "; check the path of the target, --api and --model",
        _ => "",
    };
    let message = message.trim();
    PreflightError::Target(format!("the server returned HTTP {status}{hint}: {message}"))
}
