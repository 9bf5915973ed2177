//! `/v1/completions`: the prompt is plain text.

use super::{OPTIONAL, RESETS, TOKENIZE, TOKENIZE_CONTENT, options, reader};
use crate::framing::Framing;
use crate::{About, Auth, Dialect, End, ModelList, Reader, Shape};
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// OpenAI text completions.
#[derive(Debug)]
pub(crate) struct Completions;

static ABOUT: About = About {
    name: "openai-completions",
    title: "OpenAI text completions",
    task: Task::Generate,
    prefix: "/v1",
    path: "/completions",
    framing: Framing::Sse,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::TerminalOrFinish,
    talk: None,
    names_model: true,
    optional: OPTIONAL,
    short_by: 0,
    models: &[ModelList::OPENAI],
    health: &["/health", "/v1/models"],
    counting: &[TOKENIZE, TOKENIZE_CONTENT],
    resets: RESETS,
    signs: &[],
};

impl Dialect for Completions {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        prompt(fields, content);
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        options(fields, shape, output_tokens);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::OpenAi::default())
    }
}

/// Writes the text.
pub(crate) fn prompt(fields: &mut Map<String, Value>, content: &Content) {
    let text = match content {
        Content::Text(text) => text.clone(),
        Content::Texts(texts) => texts.joined(),
        Content::Recorded(prompt) => prompt.text(),
        Content::Messages(messages) => {
            let texts: Vec<&str> = messages.iter().map(|m| m.content.as_str()).collect();
            texts.join("\n")
        }
        // A complete body from the data keeps its prompt; a chat's messages are concatenated.
        Content::Body(_) => match fields.remove("messages") {
            Some(Value::Array(messages)) if !fields.contains_key("prompt") => {
                let texts = messages.iter().filter_map(|message| message.get("content")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => return,
        },
    };
    fields.insert("prompt".into(), text.into());
}
