//! OpenAI's embeddings.

use super::vector::{put_base64, put_numbers, vector};
use super::{Input, ask, check};
use crate::api::ask::Ask;
use crate::api::openai::error;
use crate::api::response::{Facts, Response, Whole};
use crate::api::words::mix;
use crate::api::{Refusal, RequestBody, ServedApi};
use serde::Deserialize;
use std::io::Write;

/// `/v1/embeddings`.
#[derive(Debug)]
pub(in crate::api) struct Embeddings;

/// Bytes of a number in a response.
const NUMBER: usize = 10;

#[derive(Debug, Deserialize)]
struct Fields {
    model: Option<String>,
    input: Option<Inputs>,
    encoding_format: Option<String>,
    dimensions: Option<u32>,
}

/// Texts or tokens, one or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Inputs {
    Text(String),
    Texts(Vec<String>),
    Ids(Vec<u64>),
    Lists(Vec<Vec<u64>>),
}

impl Inputs {
    fn count(&self) -> usize {
        match self {
            Self::Text(_) | Self::Ids(_) => 1,
            Self::Texts(texts) => texts.len(),
            Self::Lists(lists) => lists.len(),
        }
    }

    fn list(&self) -> Vec<Input> {
        match self {
            Self::Text(text) => vec![Input::of_text(text)],
            Self::Texts(texts) => texts.iter().map(|text| Input::of_text(text)).collect(),
            Self::Ids(ids) => vec![Input::of_ids(ids)],
            Self::Lists(lists) => lists.iter().map(|ids| Input::of_ids(ids)).collect(),
        }
    }
}

impl ServedApi for Embeddings {
    fn paths(&self) -> &'static [&'static str] {
        &["/v1/embeddings"]
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        let fields: Fields = body.fields()?;
        let inputs = fields.input.ok_or_else(|| Refusal::missing("input"))?;
        let base64 = match fields.encoding_format.as_deref() {
            None | Some("float") => false,
            Some("base64") => true,
            Some(other) => {
                let message = format!("encoding_format is float or base64, not {other}.");
                return Err(Refusal::new(400, message));
            }
        };
        let size = fields.dimensions.unwrap_or(body.dimensions);
        if size == 0 || size > body.dimensions {
            let most = body.dimensions;
            let message = format!("dimensions must be from 1 to {most}, got {size}.");
            return Err(Refusal::new(400, message));
        }
        check(inputs.count(), NUMBER * size as usize)?;
        let inputs = inputs.list();
        let response = Embedded { inputs: inputs.clone(), base64, size };
        ask(fields.model, &inputs, body, response)
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        error(status, message)
    }
}

#[derive(Debug)]
struct Embedded {
    inputs: Vec<Input>,
    base64: bool,
    size: u32,
}

impl Response for Embedded {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let mut body = format!(
            "{{\"id\":\"embd-{:016x}\",\"object\":\"list\",\"created\":{},\"model\":{},\"data\":[",
            mix(facts.salt, u32::MAX),
            facts.created(),
            facts.model_json
        )
        .into_bytes();
        for (index, input) in self.inputs.iter().take(facts.tokens as usize).enumerate() {
            if index > 0 {
                body.push(b',');
            }
            let head = "\"object\":\"embedding\",\"embedding\":";
            let _ = write!(body, "{{\"index\":{index},{head}");
            let vector = vector(input.key(facts.seed), self.size);
            match self.base64 {
                true => put_base64(&mut body, &vector),
                false => put_numbers(&mut body, &vector),
            }
            body.push(b'}');
        }
        let tokens = facts.prompt_tokens;
        let _ =
            write!(body, "],\"usage\":{{\"prompt_tokens\":{tokens},\"total_tokens\":{tokens}}}}}");
        body.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use serde_json::Value;

    fn read(bytes: &str) -> Result<Ask, Refusal> {
        Embeddings.read(&golden::body(bytes))
    }

    /// The body of the response.
    fn embedded(bytes: &str) -> Value {
        let ask = read(bytes).unwrap();
        let tokens = ask.prompts.len() as u32;
        let facts = Facts { tokens, prompt_tokens: ask.input(), ..golden::facts(&[]) };
        serde_json::from_slice(&ask.response.whole(&facts).body).unwrap()
    }

    #[test]
    fn one_vector_for_each_input_in_every_form() {
        let cases = [
            (r#""a b c""#, &[3][..]),
            (r#"["a b c","d"]"#, &[3, 1]),
            ("[5,6]", &[2]),
            ("[[5,6],[7],[8]]", &[2, 1, 1]),
        ];
        for (input, expected) in cases {
            let body = format!("{{\"input\":{input}}}");
            let ask = read(&body).unwrap();
            let tokens: Vec<_> = ask.prompts.iter().map(|prompt| prompt.tokens).collect();
            assert_eq!(tokens, expected, "{input}");
            let value = embedded(&body);
            let total: u32 = expected.iter().sum();
            assert_eq!(value["usage"]["prompt_tokens"], total);
            let data = value["data"].as_array().unwrap();
            assert_eq!(data.len(), expected.len());
            for (index, item) in data.iter().enumerate() {
                assert_eq!(item["index"], index);
                assert_eq!(item["embedding"].as_array().unwrap().len(), 16);
            }
        }
    }

    #[test]
    fn the_same_text_has_the_same_vector_and_its_size_can_be_less() {
        let value = embedded(r#"{"input":["a b","c","a  b"],"dimensions":4}"#);
        let vector = |index: usize| value["data"][index]["embedding"].clone();
        assert_eq!(vector(0), vector(2));
        assert_ne!(vector(0), vector(1));
        assert_eq!(vector(0).as_array().unwrap().len(), 4);
        let base64 = embedded(r#"{"input":"a b","dimensions":4,"encoding_format":"base64"}"#);
        assert_eq!(base64["data"][0]["embedding"].as_str().unwrap().len(), 24);
    }

    #[test]
    fn what_is_wrong_is_said() {
        // M6: a million inputs made a response of 10 GB.
        let many = format!("{{\"input\":[{}\"a\"]}}", "\"a\",".repeat(10_000));
        for (body, words) in [
            ("{}", "`input`"),
            (r#"{"input":[]}"#, "empty"),
            (r#"{"input":"a","dimensions":17}"#, "from 1 to 16, got 17"),
            (r#"{"input":"a","encoding_format":"bytes"}"#, "not bytes"),
            (&many, "10000 inputs, got 10001"),
        ] {
            let refusal = read(body).unwrap_err();
            assert!(refusal.status == 400 && format!("{refusal:?}").contains(words), "{refusal:?}");
        }
    }

    /// M6: few enough inputs of vectors that are too long.
    #[test]
    fn a_response_of_more_than_64_mib_is_refused() {
        let of = |inputs: usize, dimensions: u32| {
            let bytes = format!("{{\"input\":[{}\"a\"]}}", "\"a\",".repeat(inputs - 1));
            Embeddings.read(&RequestBody { dimensions, ..golden::body(&bytes) })
        };
        // Ten bytes for each number.
        let most = (64 << 20) / (NUMBER * 1_024);
        assert!(of(most, 1_024).is_ok());
        for (inputs, dimensions) in [(most + 1, 1_024), (10_000, 1_024), (2, 1 << 30)] {
            let refusal = of(inputs, dimensions).unwrap_err();
            assert_eq!(refusal.status, 400, "{inputs} {dimensions}");
            assert!(format!("{refusal:?}").contains("64 MiB"), "{refusal:?}");
        }
    }
}
