//! Scores of pairs of texts: vLLM's form, and SGLang's, which is told by its labels.

use super::results::{Scored, scores};
use super::{Input, Texts, ask, check};
use crate::api::ask::Ask;
use crate::api::openai::error;
use crate::api::response::{Facts, Response, Whole};
use crate::api::words::mix;
use crate::api::{Refusal, RequestBody, ServedApi};
use serde::Deserialize;
use std::io::Write;

/// Bytes of a score in a response.
const NUMBER: usize = 10;

/// `/score`.
#[derive(Debug)]
pub(in crate::api) struct Score;

/// The two sides have several names.
#[derive(Debug, Deserialize)]
struct Fields {
    model: Option<String>,
    #[serde(alias = "queries", alias = "data_1")]
    text_1: Option<Texts>,
    #[serde(alias = "documents", alias = "items", alias = "data_2")]
    text_2: Option<Texts>,
    /// SGLang's name of the first, which is a single text, …
    query: Option<String>,
    /// … and the tokens whose probabilities are the scores.
    label_token_ids: Option<Vec<u64>>,
}

impl ServedApi for Score {
    fn paths(&self) -> &'static [&'static str] {
        &["/score", "/v1/score"]
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        let fields: Fields = body.fields()?;
        if let Some(query) = &fields.query {
            return of_labels(&fields, query, body);
        }
        let first = fields.text_1.ok_or_else(|| Refusal::missing("text_1"))?;
        let second = fields.text_2.ok_or_else(|| Refusal::missing("text_2"))?;
        let (first, second) = (first.list(), second.list());
        let longest = first.iter().map(|text| text.len()).max().unwrap_or(0);
        check(first.len().max(second.len()), longest)?;
        let pairs: Vec<_> = match (first.len(), second.len()) {
            (1, _) => second.iter().map(|text| Input::of_pair(first[0], text)).collect(),
            (a, b) if a == b => {
                first.iter().zip(&second).map(|(a, b)| Input::of_pair(a, b)).collect()
            }
            (a, b) => {
                let message = format!("text_1 has {a} texts and text_2 {b}: send 1 or {b}.");
                return Err(Refusal::new(400, message));
            }
        };
        ask(fields.model, &pairs, body, Scores(pairs.clone()))
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        error(status, message)
    }
}

/// SGLang's form.
fn of_labels(fields: &Fields, query: &str, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
    let items = fields.text_2.as_ref().ok_or_else(|| Refusal::missing("items"))?;
    let labels = fields.label_token_ids.as_ref().filter(|labels| !labels.is_empty());
    let labels = labels.ok_or_else(|| Refusal::missing("label_token_ids"))?.clone();
    check(items.list().len(), query.len().max(NUMBER * labels.len()))?;
    let pairs: Vec<_> = items.list().iter().map(|item| Input::of_pair(query, item)).collect();
    ask(fields.model.clone(), &pairs, body, OfLabels { pairs: pairs.clone(), labels })
}

#[derive(Debug)]
struct OfLabels {
    pairs: Vec<Input>,
    labels: Vec<u64>,
}

impl Response for OfLabels {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let mut body = b"{\"scores\":[".to_vec();
        for (index, pair) in self.pairs.iter().take(facts.tokens as usize).enumerate() {
            body.extend_from_slice(if index > 0 { b",[" } else { b"[" });
            for (place, label) in self.labels.iter().enumerate() {
                if place > 0 {
                    body.push(b',');
                }
                let score = mix(pair.key(facts.seed) ^ *label, 1) % 1_000_000;
                Scored { index, score: score as i32 }.put(&mut body);
            }
            body.push(b']');
        }
        let (model, tokens) = (facts.model_json, facts.prompt_tokens);
        let _ = write!(
            body,
            "],\"model\":{model},\"usage\":{{\"prompt_tokens\":{tokens},\
             \"total_tokens\":{tokens},\"completion_tokens\":0}},\"object\":\"scoring\"}}"
        );
        body.into()
    }
}

#[derive(Debug)]
struct Scores(Vec<Input>);

impl Response for Scores {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let mut body = format!(
            "{{\"id\":\"score-{:016x}\",\"object\":\"list\",\"created\":{},\"model\":{},\"data\":[",
            mix(facts.salt, u32::MAX),
            facts.created(),
            facts.model_json
        )
        .into_bytes();
        for scored in scores(&self.0, facts.seed).iter().take(facts.tokens as usize) {
            if scored.index > 0 {
                body.push(b',');
            }
            let _ = write!(body, "{{\"index\":{},\"object\":\"score\",\"score\":", scored.index);
            scored.put(&mut body);
            body.push(b'}');
        }
        let tokens = facts.prompt_tokens;
        let _ = write!(
            body,
            "],\"usage\":{{\"prompt_tokens\":{tokens},\"total_tokens\":{tokens},\
             \"completion_tokens\":0}}}}"
        );
        body.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use serde_json::Value;

    fn scored(bytes: &str) -> Value {
        let ask = Score.read(&golden::body(bytes)).unwrap();
        let tokens = ask.prompts.len() as u32;
        let facts = Facts { tokens, prompt_tokens: ask.input(), ..golden::facts(&[]) };
        serde_json::from_slice(&ask.response.whole(&facts).body).unwrap()
    }

    #[test]
    fn one_text_is_compared_with_each_or_each_with_its_own() {
        let one = scored(r#"{"text_1":"a b","text_2":["c","d e"]}"#);
        assert_eq!(one["usage"]["prompt_tokens"], 7);
        assert_eq!(one["data"][1]["object"], "score");
        let each = scored(r#"{"queries":["a b","c"],"documents":["c","d e"]}"#);
        assert_eq!(each["usage"]["prompt_tokens"], 6);
        assert_eq!(each["data"][0]["score"], one["data"][0]["score"], "the same pair");
        for value in [&one, &each] {
            let score = |index: usize| value["data"][index]["score"].as_f64().unwrap();
            assert!((0.0..1.0).contains(&score(0)) && score(0) != score(1));
        }
        let wrong = r#"{"text_1":["a","b"],"text_2":["c","d","e"]}"#;
        let refusal = Score.read(&golden::body(wrong)).unwrap_err();
        assert!(format!("{refusal:?}").contains("has 2 texts and text_2 3"), "{refusal:?}");
    }
    #[test]
    fn with_labels_there_is_a_score_of_each_for_every_item() {
        let value = scored(r#"{"query":"a b","items":["c","d e"],"label_token_ids":[7,9]}"#);
        assert_eq!(
            (&value["object"], &value["usage"]["prompt_tokens"]),
            (&"scoring".into(), &7.into())
        );
        let lists = value["scores"].as_array().unwrap();
        assert_eq!(lists.len(), 2);
        for list in lists {
            let scores: Vec<f64> =
                list.as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect();
            assert!(scores.len() == 2 && scores.iter().all(|score| (0.0..1.0).contains(score)));
        }
        let one = scored(r#"{"query":"a b","items":"c","label_token_ids":[7,9]}"#);
        assert_eq!(one["scores"][0], lists[0], "the same pair");
        for missing in [r#"{"query":"a","items":["b"]}"#, r#"{"query":"a","label_token_ids":[1]}"#]
        {
            let refusal = Score.read(&golden::body(missing)).unwrap_err();
            assert_eq!(refusal.status, 400, "{refusal:?}");
        }
    }
}
