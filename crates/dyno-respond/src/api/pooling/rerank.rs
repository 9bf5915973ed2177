//! Rerankers: the form of Cohere, Jina and vLLM, the bare lists of SGLang, and that of Text
//! Embeddings Inference, which is told by its field `texts`.

use super::results::{Scored, ranked};
use super::{Input, Text, ask, check};
use crate::api::ask::Ask;
use crate::api::openai::error;
use crate::api::response::{Facts, KnownPrompt, Response, Whole};
use crate::api::room;
use crate::api::words::mix;
use crate::api::{Refusal, RequestBody, ServedApi};
use crate::fault::Quirk;
use serde::Deserialize;
use serde_json::Value;
use std::io::Write;

/// `/rerank` and `/v1/rerank`.
pub(in crate::api) const RERANK: Rerank = Rerank { billed: false };
/// `/v2/rerank`, whose responses also have the units that Cohere bills.
pub(in crate::api) const RERANK_V2: Rerank = Rerank { billed: true };

const MS: u64 = 1_000_000;

/// A reranker.
#[derive(Debug)]
pub(in crate::api) struct Rerank {
    billed: bool,
}

#[derive(Debug, Deserialize)]
struct Fields {
    model: Option<String>,
    query: Option<Text>,
    documents: Option<Vec<Text>>,
    texts: Option<Vec<Text>>,
    top_n: Option<u32>,
    return_documents: Option<bool>,
    return_text: Option<bool>,
}

impl ServedApi for Rerank {
    fn paths(&self) -> &'static [&'static str] {
        match self.billed {
            true => &["/v2/rerank"],
            false => &["/rerank", "/v1/rerank"],
        }
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        let fields: Fields = body.fields()?;
        let query = fields.query.ok_or_else(|| Refusal::missing("query"))?;
        let bare = body.quirks.has(Quirk::BareList);
        let (form, texts) = match (fields.documents, fields.texts) {
            (Some(documents), None) if bare => (Form::Bare, documents),
            (Some(documents), None) => (Form::Results { billed: self.billed }, documents),
            (None, Some(texts)) => (Form::Texts, texts),
            _ => return Err(Refusal::new(400, "Either documents or texts should be provided.")),
        };
        check(texts.len(), query.words().len())?;
        let texts: Vec<_> = texts.iter().map(|text| text.words().to_owned()).collect();
        let pairs: Vec<_> = texts.iter().map(|text| Input::of_pair(query.words(), text)).collect();
        let characters = texts.iter().map(|text| text.chars().count()).sum();
        let shown = match form {
            Form::Texts => fields.return_text.unwrap_or(false),
            Form::Results { .. } | Form::Bare => fields.return_documents.unwrap_or(true),
        };
        let best = fields.top_n.filter(|n| *n > 0).map_or(texts.len(), |n| n as usize);
        let response = Ranking { form, pairs: pairs.clone(), texts, characters, shown, best };
        ask(fields.model, &pairs, body, response)
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        error(status, message)
    }
}

/// How a ranking is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// An object with `results`; `billed`: and with Cohere's units.
    Results { billed: bool },
    /// SGLang's list.
    Bare,
    /// The list of Text Embeddings Inference; its counts and times are in headers.
    Texts,
}

#[derive(Debug)]
struct Ranking {
    form: Form,
    pairs: Vec<Input>,
    texts: Vec<String>,
    /// Characters of all texts.
    characters: usize,
    /// Whether the texts are sent back.
    shown: bool,
    /// How many results are wanted.
    best: usize,
}

impl Ranking {
    fn put(&self, out: &mut Vec<u8>, scored: Scored, id: &str) {
        let text = &self.texts[scored.index];
        let text = self.shown.then(|| Value::from(text.as_str()).to_string());
        let _ = write!(out, "{{\"index\":{}", scored.index);
        let name = match self.form {
            Form::Results { .. } => "relevance_score",
            Form::Bare | Form::Texts => "score",
        };
        let _ = write!(out, ",\"{name}\":");
        scored.put(out);
        let _ = match (self.form, text) {
            (_, None) => Ok(()),
            (Form::Results { .. }, Some(text)) => write!(out, ",\"document\":{{\"text\":{text}}}"),
            (Form::Bare, Some(text)) => write!(out, ",\"document\":{text}"),
            (Form::Texts, Some(text)) => write!(out, ",\"text\":{text}"),
        };
        if self.form == Form::Bare {
            let tokens = self.pairs[scored.index].prompt(None).tokens;
            let _ = write!(out, ",\"meta_info\":{{\"id\":\"{id}\",\"prompt_tokens\":{tokens}}}");
        }
        out.push(b'}');
    }

    fn headers(&self, facts: &Facts<'_>) -> String {
        if self.form != Form::Texts {
            return String::new();
        }
        let mut headers = format!(
            "x-compute-type: cpu\r\nx-compute-characters: {}\r\nx-compute-tokens: {}\r\n\
             x-tokenization-time: 0\r\n",
            self.characters, facts.prompt_tokens
        );
        for name in TIMES {
            room::reserve_header(&mut headers, name);
        }
        headers
    }
}

const TIMES: [&str; 4] = ["x-compute-time", "x-total-time", "x-queue-time", "x-inference-time"];

impl Response for Ranking {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let id = format!("rerank-{:016x}", mix(facts.salt, u32::MAX));
        let mut body = Vec::new();
        if let Form::Results { .. } = self.form {
            let _ = write!(body, "{{\"id\":\"{id}\",\"model\":{},\"results\":", facts.model_json);
        }
        body.push(b'[');
        let best = self.best.min(facts.tokens as usize);
        for (rank, scored) in ranked(&self.pairs, facts.seed).iter().take(best).enumerate() {
            if rank > 0 {
                body.push(b',');
            }
            self.put(&mut body, *scored, &id);
        }
        body.push(b']');
        if let Form::Results { billed } = self.form {
            let tokens = facts.prompt_tokens;
            let usage = format!("{{\"prompt_tokens\":{tokens},\"total_tokens\":{tokens}}}");
            let _ = write!(body, ",\"usage\":{usage}");
            if billed {
                body.extend_from_slice(
                    b",\"meta\":{\"api_version\":{\"version\":\"2\"},\
                      \"billed_units\":{\"search_units\":1}}",
                );
            }
            body.push(b'}');
        }
        Whole { body, headers: self.headers(facts) }
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        if self.form != Form::Texts {
            return;
        }
        let queued = known.start.map_or(0, |start| start.queued);
        let computed = known.last.saturating_sub(queued);
        for (name, time) in TIMES.into_iter().zip([computed, known.last, queued, computed]) {
            room::fill_header(bytes, name, time / MS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use serde_json::json;

    const DOCUMENTS: &str = r#"{"query":"a b","documents":["c",{"text":"d e"},"f g h"]}"#;

    fn ranked(api: &Rerank, bytes: &str, quirks: &[Quirk]) -> (Value, String) {
        let facts = golden::facts(quirks);
        let ask = api.read(&RequestBody { quirks: facts.quirks, ..golden::body(bytes) }).unwrap();
        let tokens = ask.prompts.len() as u32;
        let facts = Facts { tokens, prompt_tokens: ask.input(), ..facts };
        let whole = ask.response.whole(&facts);
        let mut headers = whole.headers.into_bytes();
        let start = Some(crate::api::response::ResponseStart { cached: None, queued: 3 * MS });
        ask.response.settle(&mut headers, &KnownPrompt { start, first: 9 * MS, last: 12 * MS });
        (serde_json::from_slice(&whole.body).unwrap(), String::from_utf8(headers).unwrap())
    }

    fn scores(list: &Value, name: &str) -> Vec<f64> {
        list.as_array().unwrap().iter().map(|item| item[name].as_f64().unwrap()).collect()
    }

    /// M6: a long query is repeated for each of its documents.
    #[test]
    fn a_query_that_is_too_long_for_its_documents_is_refused() {
        let of = |query: usize, documents: usize| {
            let (query, documents) = ("q".repeat(query), vec!["d"; documents]);
            let bytes = json!({"query": query, "documents": documents}).to_string();
            RERANK.read(&golden::body(&bytes)).map(|_| ())
        };
        assert!(of(1_000, 1_000).is_ok());
        let refusal = of((64 << 10) + 1, 1_024).unwrap_err();
        assert!(format!("{refusal:?}").contains("64 MiB"), "{refusal:?}");
        assert!(format!("{:?}", of(1, 10_001).unwrap_err()).contains("got 10001"));
    }

    #[test]
    fn the_best_come_first_with_their_documents() {
        let (value, headers) = ranked(&RERANK, DOCUMENTS, &[]);
        let found = scores(&value["results"], "relevance_score");
        assert!(found.len() == 3 && found.is_sorted_by(|a, b| a >= b), "{value}");
        let first = &value["results"][0];
        let document = ["c", "d e", "f g h"][first["index"].as_u64().unwrap() as usize];
        assert_eq!(first["document"]["text"], document);
        assert_eq!(value["usage"], json!({"prompt_tokens": 12, "total_tokens": 12}));
        assert!(value["meta"].is_null() && headers.is_empty());
        let few =
            DOCUMENTS.replace("\"query\"", "\"top_n\":2,\"return_documents\":false,\"query\"");
        let (few, _) = ranked(&RERANK_V2, &few, &[]);
        assert_eq!(scores(&few["results"], "relevance_score"), found[..2]);
        assert!(few["results"][0]["document"].is_null());
        assert_eq!(few["meta"]["billed_units"]["search_units"], 1);
    }

    #[test]
    fn sglang_sends_a_bare_list_with_counts_in_each() {
        let (value, _) = ranked(&RERANK, DOCUMENTS, &[Quirk::BareList]);
        assert_eq!(scores(&value, "score").len(), 3);
        let tokens: u64 = value
            .as_array()
            .unwrap()
            .iter()
            .map(|i| i["meta_info"]["prompt_tokens"].as_u64().unwrap())
            .sum();
        assert_eq!(tokens, 12);
        assert!(value[0]["document"].is_string());
    }

    #[test]
    fn texts_get_a_bare_list_and_headers_with_counts_and_times() {
        let (value, headers) = ranked(&RERANK, r#"{"query":"a b","texts":["c","d é"]}"#, &[]);
        assert_eq!(scores(&value, "score").len(), 2);
        assert!(value[0]["text"].is_null());
        let number = |name: &str| {
            let line = headers.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim_start_matches(':').trim().parse::<u64>().unwrap()
        };
        assert_eq!((number("x-compute-tokens"), number("x-compute-characters")), (7, 4));
        assert_eq!((number("x-total-time"), number("x-queue-time")), (12, 3));
        assert_eq!(number("x-inference-time"), 9);
    }
}
