//! What chat and text completions have in common: optional fields, events, whole answers, usage
//! and errors.

use super::text::{HasText, keeping};
use super::{Delta, Malformed, Shape, excerpt};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;

pub(super) fn options(fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
    fields.insert("model".into(), shape.model.clone().into());
    fields.insert("stream".into(), shape.stream.into());
    if shape.stream && shape.include_usage {
        let options = match shape.continuous_usage {
            true => json!({"include_usage": true, "continuous_usage_stats": true}),
            false => json!({"include_usage": true}),
        };
        fields.insert("stream_options".into(), options);
    }
    let limit = if shape.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    fields.insert(limit.into(), output_tokens.into());
    if shape.ignore_eos {
        fields.insert("ignore_eos".into(), true.into());
    }
    if shape.min_tokens {
        fields.insert("min_tokens".into(), output_tokens.into());
    }
    if let Some(temperature) = shape.temperature {
        fields.insert("temperature".into(), temperature.into());
    }
    if !shape.stop.is_empty() {
        fields.insert("stop".into(), shape.stop.clone().into());
    }
    for (key, value) in &shape.extra {
        fields.insert(key.clone(), value.clone());
    }
}

#[derive(Deserialize, Default)]
struct Message {
    #[serde(default)]
    content: HasText,
    #[serde(default)]
    reasoning_content: HasText,
    #[serde(default)]
    reasoning: HasText,
    #[serde(default)]
    refusal: HasText,
    #[serde(default)]
    tool_calls: Option<Fold<ToolCall>>,
    #[serde(default)]
    function_call: Option<Function>,
}

#[derive(Deserialize, Default)]
struct ToolCall {
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Deserialize, Default)]
struct Function {
    #[serde(default)]
    name: HasText,
    #[serde(default)]
    arguments: HasText,
}

#[derive(Deserialize, Default)]
struct Choice<'a> {
    #[serde(default)]
    delta: Option<Message>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    text: HasText,
    #[serde(default, borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default, Clone, Copy)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
struct Answer<'a> {
    #[serde(default, borrow)]
    object: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    choices: Option<Fold<Choice<'a>>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    error_code: Option<i64>,
}

/// A list of which only a summary is kept, so that an event is read without allocating.
trait Summary: Default {
    fn has_output(&self) -> bool;
    fn take_finish(&mut self) -> Option<String> {
        None
    }
}

#[derive(Default)]
struct Fold<T> {
    output: bool,
    finish: Option<String>,
    _of: std::marker::PhantomData<T>,
}

impl Summary for ToolCall {
    fn has_output(&self) -> bool {
        self.function.as_ref().is_some_and(Function::has_output)
    }
}

impl Function {
    fn has_output(&self) -> bool {
        self.name.0 || self.arguments.0
    }
}

impl Message {
    fn has_output(&self) -> bool {
        self.content.0
            || self.reasoning_content.0
            || self.reasoning.0
            || self.refusal.0
            || self.tool_calls.as_ref().is_some_and(|calls| calls.output)
            || self.function_call.as_ref().is_some_and(Function::has_output)
    }
}

impl Summary for Choice<'_> {
    fn has_output(&self) -> bool {
        self.text.0
            || self.delta.as_ref().is_some_and(Message::has_output)
            || self.message.as_ref().is_some_and(Message::has_output)
    }
    fn take_finish(&mut self) -> Option<String> {
        self.finish_reason.take().filter(|reason| !reason.is_empty()).map(Cow::into_owned)
    }
}

impl<'de, T: Summary + Deserialize<'de>> Deserialize<'de> for Fold<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(std::marker::PhantomData<T>);
        impl<'de, T: Summary + Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Fold<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Fold<T>, E> {
                Ok(Fold { output: false, finish: None, _of: self.0 })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Fold<T>, A::Error> {
                let mut fold = Fold { output: false, finish: None, _of: self.0 };
                while let Some(mut item) = items.next_element::<T>()? {
                    fold.output |= item.has_output();
                    if let Some(finish) = item.take_finish() {
                        fold.finish.get_or_insert(finish);
                    }
                }
                Ok(fold)
            }
        }
        deserializer.deserialize_any(List(std::marker::PhantomData))
    }
}

fn read(bytes: &[u8]) -> Result<Delta, Malformed> {
    let answer: Answer<'_> = serde_json::from_slice(bytes).map_err(|error| {
        Malformed(format!("not a JSON answer of this API ({error}): {}", excerpt(bytes)))
    })?;
    let failed = answer.error.is_some()
        || answer.object.as_deref() == Some("error")
        || answer.error_code.is_some_and(|code| code != 0);
    let usage = answer.usage.unwrap_or_default();
    let choices = answer.choices.unwrap_or_default();
    Ok(Delta {
        output: choices.output,
        finish: choices.finish,
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
        error: failed
            .then(|| answer.error.map_or_else(|| excerpt(bytes), |words| words.get().to_owned())),
        ..Delta::default()
    })
}

fn read_keeping(bytes: &[u8], keep_text: bool) -> Result<Delta, Malformed> {
    if !keep_text {
        return read(bytes);
    }
    let (delta, text) = keeping(|| read(bytes));
    delta.map(|delta| Delta { text: Some(text), ..delta })
}

pub(super) fn event(data: &[u8], keep_text: bool) -> Result<Delta, Malformed> {
    if data.trim_ascii() == b"[DONE]" {
        return Ok(Delta { terminal: true, ..Delta::default() });
    }
    read_keeping(data, keep_text)
}

pub(super) fn whole(body: &[u8], keep_text: bool) -> Result<Delta, Malformed> {
    let delta = read_keeping(body, keep_text)?;
    Ok(Delta { terminal: true, ..delta })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: Value) -> Delta {
        event(value.to_string().as_bytes(), true).unwrap()
    }

    fn delta(delta: Value) -> Value {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    #[test]
    fn output_is_content_reasoning_or_tool_calls() {
        for with_output in [
            json!({"content": "a"}),
            json!({"content": null, "reasoning_content": "hm"}),
            json!({"reasoning": "hm", "content": ""}),
            json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\""}}]}),
            json!({"content": [{"type": "text", "text": "part"}]}),
            json!({"content": "\u{1F600}\n\"quoted\""}),
        ] {
            assert!(parse(delta(with_output.clone())).output, "{with_output}");
        }
        for without in [
            json!({"role": "assistant", "content": ""}),
            json!({"role": "assistant"}),
            json!({}),
            json!({"content": null, "tool_calls": null}),
            json!({"tool_calls": []}),
        ] {
            assert!(!parse(delta(without.clone())).output, "{without}");
        }
    }

    #[test]
    fn completions_usage_finish_and_the_end() {
        let chunk = parse(json!({
            "choices": [{"text": " hi", "finish_reason": "length"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        }));
        assert!(chunk.output);
        assert_eq!(chunk.text.as_deref(), Some(" hi"));
        assert_eq!(chunk.finish.as_deref(), Some("length"));
        assert_eq!((chunk.input_tokens, chunk.output_tokens), (Some(7), Some(3)));
        let usage = parse(json!({"choices": [], "usage": {"prompt_tokens": 7}}));
        assert!(!usage.output && usage.finish.is_none());
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(7), None));
        assert!(parse(json!({"choices": [], "usage": null})).input_tokens.is_none());
        assert!(event(b" [DONE] ", false).unwrap().terminal);
    }

    #[test]
    fn errors_in_any_shape() {
        let words = |v: Value| parse(v).error.unwrap();
        assert!(words(json!({"error": {"message": "boom", "code": 500}})).contains("boom"));
        assert!(words(json!({"error": "boom"})).contains("boom"));
        assert!(words(json!({"object": "error", "message": "boom"})).contains("boom"));
        assert!(words(json!({"text": "boom", "error_code": 50001})).contains("boom"));
        assert!(parse(json!({"error": null, "choices": []})).error.is_none());
    }

    #[test]
    fn what_is_not_json_is_malformed_and_quoted() {
        let error = event(b"{\"choices\": [", false).unwrap_err();
        assert!(error.0.contains("{\"choices\": ["), "{error}");
        assert!(event(b"hello", false).is_err());
        assert!(event(b"[1,2]", false).is_err());
        assert!(event(b"{\"choices\": 5}", false).is_err());
        assert!(event(&[b'['; 100_000], false).is_err());
    }

    #[test]
    fn a_whole_answer() {
        let body = json!({
            "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1}
        });
        let delta = whole(body.to_string().as_bytes(), true).unwrap();
        assert!(delta.output && delta.terminal);
        assert_eq!(delta.text.as_deref(), Some("hi"));
    }

    #[test]
    fn the_body_has_just_the_fields_that_were_settled() {
        let shape = Shape {
            model: "m".into(),
            stream: true,
            include_usage: true,
            ignore_eos: true,
            ..Shape::default()
        };
        let body: Value = serde_json::from_slice(&super::super::body(
            dyno_core::plan::Api::OpenAiChat,
            &shape,
            "hi",
            8,
        ))
        .unwrap();
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
                "max_tokens": 8, "ignore_eos": true,
                "messages": [{"role": "user", "content": "hi"}]
            })
        );
    }
}
