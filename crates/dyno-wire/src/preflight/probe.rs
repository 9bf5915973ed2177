//! Small test requests that find the fields the server accepts: all optional fields first, then
//! without those that it refuses, until it responds.

use super::{PreflightError, PreflightSetup};
use crate::client::Client;
use crate::dialect::Shape;
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

/// The optional fields, in the order in which they are dropped when a refusal names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    ContinuousUsage,
    IgnoreEos,
    MinTokens,
    StreamOptions,
    MaxTokens,
}

const FIELDS: &[(Field, &str)] = &[
    (Field::ContinuousUsage, "continuous_usage_stats"),
    (Field::IgnoreEos, "ignore_eos"),
    (Field::MinTokens, "min_tokens"),
    (Field::StreamOptions, "stream_options"),
    (Field::MaxTokens, "max_tokens"),
];

pub(super) struct Probe<'a> {
    client: &'a mut Client,
    setup: &'a PreflightSetup<'a>,
    shape: Shape,
    refused: Vec<(Field, String)>,
    head: Option<Box<Head>>,
    seen: Option<RequestRecord>,
    /// A length field was obeyed.
    obeyed: bool,
    notes: Vec<Diagnostic>,
}

impl<'a> Probe<'a> {
    pub(super) fn new(client: &'a mut Client, setup: &'a PreflightSetup<'a>, shape: Shape) -> Self {
        Self {
            client,
            setup,
            shape,
            refused: Vec::new(),
            head: None,
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
                (
                    Outcome::Failed(FailureClass::Http(status))
                    | Outcome::Shed(FailureClass::Http(status)),
                    _,
                ) => {
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
        let api = self.setup.plan.target.api;
        let shape = self.shape.clone();
        let encoder = Encoder::new(self.setup.endpoint, api, shape, self.setup.headers);
        let payload = encoder.for_preflight().payload(&Item::text(PROMPT), TOKENS);
        let (record, head) = self.client.ask(payload, self.setup.stop)?;
        self.head = head.or(self.head.take());
        Ok(record)
    }

    fn is_sent(&self, field: Field) -> bool {
        match field {
            Field::ContinuousUsage => self.shape.continuous_usage && self.shape.include_usage,
            Field::IgnoreEos => self.shape.ignore_eos,
            Field::MinTokens => self.shape.min_tokens,
            Field::StreamOptions => self.shape.include_usage,
            Field::MaxTokens => !self.shape.max_completion_tokens,
        }
    }

    /// Drops the field that a refusal names, or else the next in order; `false` if none is left.
    fn drop_a_field(&mut self, message: &str) -> bool {
        let sent = |(field, _): &&(Field, &str)| self.is_sent(*field);
        let named = FIELDS.iter().filter(sent).find(|(_, name)| message.contains(name));
        let Some((field, _)) = named.or_else(|| FIELDS.iter().find(sent)) else {
            return false;
        };
        match field {
            Field::ContinuousUsage => self.shape.continuous_usage = false,
            Field::IgnoreEos => {
                self.shape.ignore_eos = false;
                self.shape.min_tokens = !self.refused.iter().any(|(f, _)| *f == Field::MinTokens);
            }
            Field::MinTokens => self.shape.min_tokens = false,
            Field::StreamOptions => {
                (self.shape.include_usage, self.shape.continuous_usage) = (false, false);
            }
            Field::MaxTokens => self.shape.max_completion_tokens = true,
        }
        self.refused.push((*field, message.to_owned()));
        true
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
        let tries_min_tokens = self.shape.ignore_eos
            && !self.obeyed
            && matches!(
                record.outcome,
                Outcome::Completed | Outcome::Failed(FailureClass::OutputShort)
            )
            && !self.refused.iter().any(|(f, _)| *f == Field::MinTokens);
        if tries_min_tokens {
            let message = "accepted, but not obeyed".to_owned();
            self.refused.push((Field::IgnoreEos, message));
            (self.shape.ignore_eos, self.shape.min_tokens) = (false, true);
            return false;
        }
        if let Outcome::Failed(class) | Outcome::Shed(class) = &record.outcome
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
        let length_sent = self.shape.ignore_eos || self.shape.min_tokens;
        let failed = matches!(
            self.seen.as_ref().map(|r| &r.outcome),
            Some(Outcome::Failed(class) | Outcome::Shed(class)) if *class != FailureClass::OutputShort
        );
        // A response that failed for another reason does not show whether the field is obeyed.
        let length_works = length_sent && (self.obeyed || failed);
        let length_field = length_works
            .then(|| if self.shape.ignore_eos { "ignore_eos" } else { "min_tokens" }.to_owned());
        if !length_works {
            (self.shape.ignore_eos, self.shape.min_tokens) = (false, false);
            self.notes.push(Note::LengthNotFixed.into());
        }
        let usage = self.seen.as_ref().and_then(|r| r.output);
        let usage = usage.is_some_and(|count| count.source == TokenSource::Usage);
        let continuous = self.seen.as_ref().is_some_and(|r| r.chunk_tokens_known);
        if !usage && !failed {
            self.notes.push(Note::NoUsage.into());
        }
        if self.shape.stream && self.seen.as_ref().is_some_and(|r| !r.streamed) && !failed {
            self.notes.push(Note::NotStreamed.into());
        }
        let name = |field: Field| FIELDS.iter().find(|(f, _)| *f == field).map_or("", |(_, n)| n);
        let refused: Vec<(String, String)> = self
            .refused
            .iter()
            .map(|(f, message)| (name(*f).to_owned(), message.clone()))
            .collect();
        for (field, message) in &refused {
            let message: String = message.chars().take(200).collect();
            self.notes.push(Note::FieldRefused.with(vec![field.clone(), message]));
        }
        let limit =
            if self.shape.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        let preflight = Preflight {
            model: self.shape.model.clone(),
            stream_options: self.shape.include_usage,
            usage,
            continuous_usage: continuous,
            max_tokens_field: limit.into(),
            length_field,
            refused,
            shared_tokens: None,
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
