//! OpenAI's Responses: events with names and numbers, the last of which has the whole response.

mod events;
mod object;

use super::ask::{Ask, Output};
use super::openai::error;
use super::prompt::{Hashed, Prompt, PromptCount, Words};
use super::read::{ReadPrompt, ReadTools};
use super::response::{Chunks, Facts, KnownPrompt, Response, Whole};
use super::{Refusal, RequestBody, ServedApi, room};
use crate::framing::Frames;
use events::Events;
use object::Object;
use serde::Deserialize;

const CACHED: &str = "cached_tokens";

/// `/v1/responses`.
#[derive(Debug)]
pub(super) struct Responses;

/// The relevant fields of a request.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
struct Fields<W> {
    model: Option<String>,
    input: Option<ReadPrompt<W>>,
    instructions: Option<ReadPrompt<W>>,
    tools: Option<ReadTools<W>>,
    max_output_tokens: Option<u32>,
    ignore_eos: Option<bool>,
    stream: Option<bool>,
}

impl ServedApi for Responses {
    fn paths(&self) -> &'static [&'static str] {
        &["/v1/responses"]
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        match body.block {
            Some(_) => ask::<Hashed>(body),
            None => ask::<PromptCount>(body),
        }
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        error(status, message)
    }

    fn frames(&self) -> Frames {
        Frames::Events
    }
}

fn ask<W: Words>(body: &RequestBody<'_>) -> Result<Ask, Refusal> {
    let fields: Fields<W> = body.fields()?;
    let input = fields.input.ok_or_else(|| Refusal::missing("input"))?.0;
    let mut words = W::default();
    if let Some(ReadPrompt(instructions)) = fields.instructions {
        words.role("system");
        words.append(instructions);
    }
    words.append(input);
    let words = ReadTools::before(fields.tools, words);
    Ok(Ask {
        model: fields.model,
        prompts: vec![Prompt::new(&words, body.block.unwrap_or(1))],
        output: Output {
            max: fields.max_output_tokens,
            min: None,
            endless: fields.ignore_eos == Some(true),
            none: false,
        },
        stream: fields.stream.unwrap_or(false),
        response: Box::new(Answer { max: fields.max_output_tokens }),
    })
}

#[derive(Debug)]
struct Answer {
    max: Option<u32>,
}

impl Response for Answer {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let object = Object::new(facts, self.max);
        let mut body = Vec::new();
        object.put_complete(&mut body, |out| {
            if facts.tells_cached {
                out.extend_from_slice(b"\"input_tokens_details\":{");
                room::reserve(out, CACHED);
                out.extend_from_slice(b"},");
            }
        });
        body.into()
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        let cached = known.start.and_then(|start| start.cached);
        cached.into_iter().for_each(|cached| room::fill(bytes, CACHED, cached));
    }

    fn stream(&self, facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        Some(Box::new(Events::new(Object::new(facts, self.max))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::AnswerFinish;
    use crate::api::golden;
    use crate::api::response::ResponseStart;
    use crate::api::words::{text, word};
    use crate::fault::Quirk;
    use serde_json::{Value, json};

    /// The events of a stream: their names and data.
    fn events(quirks: &[Quirk]) -> Vec<(String, Value)> {
        let facts = golden::facts(quirks);
        let mut chunks = Answer { max: Some(4) }.stream(&facts).unwrap();
        chunks.start(ResponseStart { cached: Some(8), queued: 0 });
        parsed(&golden::streamed(Frames::Events, &mut *chunks, &facts))
    }

    fn parsed(text: &str) -> Vec<(String, Value)> {
        let events = text.split("\n\n").filter(|event| !event.is_empty());
        let parsed = events.map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            let data = data.strip_prefix("data: ").unwrap();
            let name = name.strip_prefix("event: ").unwrap().to_owned();
            (name, serde_json::from_str(data).unwrap())
        });
        parsed.collect()
    }

    #[test]
    fn the_events_come_in_their_order_and_are_numbered() {
        let events = events(&[]);
        let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.delta",
                "response.output_text.delta",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.completed",
            ]
        );
        for (number, (name, data)) in events.iter().enumerate() {
            assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(number)));
        }
        assert_eq!(events[0].1["response"]["status"], "in_progress");
        let item = &events[2].1["item"]["id"];
        let delta = json!({
            "type": "response.output_text.delta", "sequence_number": 5, "item_id": item,
            "output_index": 0, "content_index": 0, "delta": word(7, 1), "logprobs": [],
        });
        assert_eq!(events[5].1, delta);
        assert_eq!(events[8].1["text"], text(7, 4));
        let last = &events[11].1["response"];
        assert_eq!(last["status"], "incomplete");
        assert_eq!(last["incomplete_details"], json!({"reason": "max_output_tokens"}));
        assert_eq!(last["output"][0]["content"][0]["text"], text(7, 4));
        let usage = json!({
            "input_tokens": 11, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 4,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
        });
        assert_eq!(last["usage"], usage);
    }

    #[test]
    fn reasoning_is_an_item_before_the_message() {
        let events = events(&[Quirk::Reasoning]);
        let of = |name: &str| -> Vec<&Value> {
            events.iter().filter(|(n, _)| n == name).map(|(_, data)| data).collect()
        };
        assert_eq!(of("response.reasoning_text.delta").len(), 2);
        let deltas = of("response.output_text.delta");
        assert!(deltas.iter().all(|delta| delta["output_index"] == 1), "{deltas:?}");
        let last = &events.last().unwrap().1["response"];
        assert_eq!(last["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
        assert_eq!(
            (&last["output"][0]["type"], &last["output"][1]["type"]),
            (&json!("reasoning"), &json!("message"))
        );
        let numbers = events.iter().map(|(_, data)| data["sequence_number"].as_u64().unwrap());
        assert!(numbers.eq(0..events.len() as u64));
    }

    #[test]
    fn a_failure_is_the_last_event_with_its_reason() {
        let facts = golden::facts(&[]);
        let mut chunks = Answer { max: None }.stream(&facts).unwrap();
        let events = parsed(&golden::failed(Frames::Events, &mut *chunks));
        let (name, data) = &events[0];
        assert_eq!((events.len(), name.as_str()), (1, "response.failed"));
        assert_eq!(data["response"]["status"], "failed");
        assert_eq!(data["response"]["error"]["message"], "It broke.");
    }

    #[test]
    fn a_whole_response_is_the_object_of_the_last_event() {
        let facts = Facts { tells_cached: true, finish: AnswerFinish::Stop, ..golden::facts(&[]) };
        let answer = Answer { max: None };
        let mut body = answer.whole(&facts).body;
        let start = Some(ResponseStart { cached: Some(8), queued: 0 });
        answer.settle(&mut body, &KnownPrompt { start, first: 1, last: 2 });
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((&body["object"], &body["status"]), (&json!("response"), &json!("completed")));
        assert_eq!(body["usage"]["input_tokens_details"]["cached_tokens"], 8);
        assert!(body["incomplete_details"].is_null() && body["error"].is_null());
    }

    #[test]
    fn instructions_and_items_are_the_prompt() {
        let ask = Responses
            .read(&golden::body(
                r#"{"instructions":"be brief","input":[{"role":"user","content":
                [{"type":"input_text","text":"a b c"}]}],"max_output_tokens":9,"ignore_eos":true}"#,
            ))
            .unwrap();
        assert_eq!((ask.input(), ask.output.max, ask.output.endless), (5, Some(9), true));
        let plain = Responses.read(&golden::body(r#"{"input":"a b"}"#)).unwrap();
        assert_eq!((plain.input(), plain.output.max, plain.stream), (2, None, false));
    }
}
