//! Ollama's `/api/chat` and `/api/generate`: JSON lines, the last of which has the counts and the
//! server's own times.

mod lines;
mod routes;

use super::ask::{Ask, Output};
use super::prompt::{Hashed, Prompt, PromptCount, Words};
use super::read::{ReadPrompt, ReadTools};
use super::response::{Chunks, Facts, KnownPrompt, Response, Whole};
use super::route::Route;
use super::words::text;
use super::{AnswerFinish, Refusal, RequestBody, ServedApi, room};
use crate::framing::Frames;
use dyno_model::Nanos;
use lines::Lines;
use serde::Deserialize;
use serde_json::json;

/// `/api/chat`.
pub(super) const CHAT: Endpoint = Endpoint::Chat;
/// `/api/generate`.
pub(super) const GENERATE: Endpoint = Endpoint::Generate;

const TOTAL: &str = "total_duration";
const PREFILL: &str = "prompt_eval_duration";
const DECODE: &str = "eval_duration";

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Chat,
    Generate,
}

/// The relevant fields of a request.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
struct Fields<W> {
    model: Option<String>,
    messages: Option<ReadPrompt<W>>,
    tools: Option<ReadTools<W>>,
    system: Option<ReadPrompt<W>>,
    prompt: Option<ReadPrompt<W>>,
    stream: Option<bool>,
    #[serde(default)]
    options: Options,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    num_predict: Option<i64>,
}

impl ServedApi for Endpoint {
    fn paths(&self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["/api/chat"],
            Self::Generate => &["/api/generate"],
        }
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        match body.block {
            Some(_) => self.ask::<Hashed>(body),
            None => self.ask::<PromptCount>(body),
        }
    }

    fn error(&self, _status: u16, message: &str) -> Vec<u8> {
        json!({"error": message}).to_string().into_bytes()
    }

    fn frames(&self) -> Frames {
        Frames::Lines
    }

    fn routes(&self) -> &'static [Route] {
        match self {
            Self::Chat => routes::ROUTES,
            Self::Generate => &[],
        }
    }
}

impl Endpoint {
    fn ask<W: Words>(self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        let fields: Fields<W> = body.fields()?;
        let words = match self {
            Self::Chat => {
                let messages = fields.messages.ok_or_else(|| Refusal::missing("messages"))?.0;
                ReadTools::before(fields.tools, messages)
            }
            Self::Generate => {
                let prompt = fields.prompt.ok_or_else(|| Refusal::missing("prompt"))?.0;
                let mut words = fields.system.map(|system| system.0).unwrap_or_default();
                words.append(prompt);
                words
            }
        };
        // Negative numbers mean: as long as the model likes.
        let max = fields.options.num_predict.and_then(|tokens| u32::try_from(tokens).ok());
        Ok(Ask {
            model: fields.model,
            prompts: vec![Prompt::new(&words, body.block.unwrap_or(1))],
            output: Output { max, ..Output::default() },
            stream: fields.stream.unwrap_or(true),
            response: Box::new(Reply(self)),
        })
    }
}

#[derive(Debug)]
struct Reply(Endpoint);

impl Response for Reply {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let mut body = Vec::new();
        let (second, nanos) = (lines::second(facts.start), facts.start % 1_000_000_000);
        lines::put_head(&mut body, facts.model_json, &second, nanos);
        lines::put_text(&mut body, self.0, lines::Kind::Content, &text(facts.salt, facts.tokens));
        lines::put_done(&mut body, facts.finish);
        for name in [TOTAL, PREFILL, DECODE] {
            body.push(b',');
            room::reserve(&mut body, name);
        }
        lines::put_counts(&mut body, facts.prompt_tokens, facts.tokens);
        body.push(b'}');
        body.into()
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        let queued = known.start.map_or(0, |start| start.queued);
        let durations = Durations::new(queued, known.first, known.last);
        room::fill(bytes, TOTAL, durations.total);
        room::fill(bytes, PREFILL, durations.prefill);
        room::fill(bytes, DECODE, durations.decode);
    }

    fn stream(&self, facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        Some(Box::new(Lines::new(self.0, facts)))
    }
}

/// What the server says of its own times. What is missing from the total is the time in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Durations {
    total: Nanos,
    prefill: Nanos,
    decode: Nanos,
}

impl Durations {
    /// From when a request was admitted and when its first and its last token came, all counted
    /// from its arrival.
    fn new(queued: Nanos, first: Nanos, last: Nanos) -> Self {
        let prefill = first.saturating_sub(queued);
        Self { total: last, prefill, decode: last.saturating_sub(first) }
    }
}

/// The name of a reason in `done_reason`.
fn finish_name(finish: AnswerFinish) -> &'static str {
    match finish {
        AnswerFinish::Stop => "stop",
        AnswerFinish::Length => "length",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use crate::api::response::ResponseStart;
    use crate::api::words::word;
    use crate::fault::Quirk;
    use serde_json::Value;

    fn streamed(endpoint: Endpoint, quirks: &[Quirk], start: Option<ResponseStart>) -> String {
        let facts = golden::facts(quirks);
        let mut chunks = Reply(endpoint).stream(&facts).unwrap();
        start.into_iter().for_each(|start| chunks.start(start));
        golden::streamed(Frames::Lines, &mut *chunks, &facts)
    }

    /// A line with this time and these fields.
    fn line(time: &str, rest: &str) -> String {
        let at = format!("2023-11-14T22:13:{time}Z");
        format!("{{\"model\":\"m \\\"x\\\"\",\"created_at\":\"{at}\",{rest}}}\n")
    }

    #[test]
    fn a_chat_is_lines_of_messages_and_a_last_one_with_counts_and_times() {
        let message = |time: &str, k| {
            let text = word(7, k);
            let message = format!("\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}");
            line(time, &format!("{message},\"done\":false"))
        };
        let last = line(
            "20.410000000",
            "\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\
             \"done_reason\":\"length\",\"total_duration\":160000000,\
             \"prompt_eval_duration\":70000000,\"eval_duration\":60000000,\
             \"prompt_eval_count\":11,\"eval_count\":4",
        );
        let lines = [
            message("20.350000000", 0),
            message("20.370000000", 1),
            message("20.390000000", 2),
            message("20.410000000", 3),
            last,
        ];
        let start = ResponseStart { cached: None, queued: 30_000_000 };
        assert_eq!(streamed(Endpoint::Chat, &[], Some(start)), lines.concat());
    }

    #[test]
    fn generated_text_and_thinking_have_fields_of_their_own() {
        let lines = streamed(Endpoint::Generate, &[Quirk::Reasoning], None);
        let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 5);
        for (k, line) in lines[..4].iter().enumerate() {
            assert_eq!(line["thinking"].is_string(), k < 2, "{line}");
            assert_eq!(line["response"] == "", k < 2, "{line}");
        }
        assert_eq!((&lines[4]["done"], &lines[4]["eval_count"]), (&json!(true), &json!(4)));
    }

    #[test]
    fn a_whole_response_has_everything_in_one() {
        let facts = golden::facts(&[]);
        let mut body = Reply(Endpoint::Chat).whole(&facts).body;
        let start = Some(ResponseStart { cached: None, queued: 5 });
        Reply(Endpoint::Chat).settle(&mut body, &KnownPrompt { start, first: 25, last: 65 });
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["message"]["content"].as_str().unwrap().split(' ').count(), 5);
        let durations = [TOTAL, PREFILL, DECODE].map(|name| body[name].as_u64().unwrap());
        assert_eq!(durations, [65, 20, 40]);
        assert_eq!((&body["done"], &body["done_reason"]), (&json!(true), &json!("length")));
    }

    #[test]
    fn a_failure_is_a_line_with_an_error_and_nothing_after_it() {
        let facts = golden::facts(&[]);
        let mut chunks = Reply(Endpoint::Chat).stream(&facts).unwrap();
        let failed = golden::failed(Frames::Lines, &mut *chunks);
        assert_eq!(failed, "{\"error\":\"It broke.\"}\n");
    }

    #[test]
    fn a_request_streams_unless_it_says_otherwise_and_its_length_is_only_bounded() {
        let read = |endpoint: Endpoint, bytes: &str| endpoint.read(&golden::body(bytes));
        let chat = r#"{"model":"m","messages":[{"role":"user","content":"a b"}],
            "options":{"num_predict":9,"seed":1}}"#;
        let ask = read(Endpoint::Chat, chat).unwrap();
        assert_eq!((ask.stream, ask.input(), ask.output.max), (true, 2, Some(9)));
        assert!(!ask.output.endless);
        let generate =
            r#"{"system":"x y","prompt":"a","stream":false,"options":{"num_predict":-1}}"#;
        let ask = read(Endpoint::Generate, generate).unwrap();
        assert_eq!((ask.stream, ask.input(), ask.output.max), (false, 3, None));
        assert_eq!(read(Endpoint::Chat, "{}").unwrap_err(), Refusal::missing("messages"));
    }
}
