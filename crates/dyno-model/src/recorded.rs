//! A prompt as an agent sent it, with calls of tools and their results, and what APIs that have other forms for these
//! need to know of it. Bodies of requests are not written here.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// A prompt as an agent sent it: messages in the form of OpenAI's chat API.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedPrompt {
    /// Its messages: `role` with `content`, `reasoning_content`, `tool_calls`, `tool_call_id`.
    pub messages: Vec<Arc<Value>>,
    /// The list of tools that the model may call.
    pub tools: Option<Arc<Value>>,
}

/// A tool that the model may call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolDefinition<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: Option<&'a str>,
    /// The JSON schema of its arguments.
    pub parameters: Option<&'a Value>,
}

impl<'a> ToolDefinition<'a> {
    /// The functions in a list of tools, in the form of whichever API.
    pub fn all(tools: &'a Value) -> impl Iterator<Item = Self> {
        list(tools).filter_map(definition)
    }

    /// All of it as fields, with the schema under this name.
    pub fn fields(&self, schema: &str) -> Map<String, Value> {
        let description = self.description.map(|text| ("description".to_owned(), text.into()));
        let schema = (schema.to_owned(), Value::Object(self.schema()));
        let name = ("name".to_owned(), self.name.into());
        [name, schema].into_iter().chain(description).collect()
    }

    /// The schema of its arguments, which are always an object.
    pub fn schema(&self) -> Map<String, Value> {
        let mut schema = self.parameters.and_then(Value::as_object).cloned().unwrap_or_default();
        schema.entry("type").or_insert_with(|| "object".into());
        schema
    }
}

/// A call of a tool by the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall<'a> {
    /// By which its result is known.
    pub id: Option<&'a str>,
    /// The tool.
    pub name: &'a str,
    /// The arguments, which should be a JSON object.
    pub arguments: Cow<'a, str>,
}

impl ToolCall<'_> {
    /// The arguments as the text of an object: as they are, if they are one.
    pub fn object_text(&self) -> Cow<'_, str> {
        match serde_json::from_str::<Map<String, Value>>(&self.arguments) {
            Ok(_) => Cow::Borrowed(&self.arguments),
            Err(_) => Cow::Owned(Value::Object(self.input()).to_string()),
        }
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let name = Value::from(self.name);
        format!("{{\"name\":{name},\"arguments\":{}}}", self.object_text())
    }

    /// The arguments as an object; text that is none becomes one.
    pub fn input(&self) -> Map<String, Value> {
        if self.arguments.trim().is_empty() {
            return Map::new();
        }
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| {
            Map::from_iter([("arguments".to_owned(), self.arguments.as_ref().into())])
        })
    }
}

/// A message of such a prompt, as it can be read in any API.
#[derive(Debug, Clone, Copy)]
pub struct RecordedMessage<'a>(pub &'a Value);

impl<'a> RecordedMessage<'a> {
    /// Who says it; the user if nothing else is known.
    pub fn role(self) -> &'a str {
        self.0["role"].as_str().unwrap_or("user")
    }

    /// Whether the system says it.
    pub fn is_of_system(self) -> bool {
        matches!(self.role(), "system" | "developer")
    }

    /// Whether it is the result of a call.
    pub fn is_result(self) -> bool {
        matches!(self.role(), "tool" | "function")
    }

    /// The call whose result it is.
    pub fn result_of(self) -> Option<&'a str> {
        self.0["tool_call_id"].as_str()
    }

    /// What it says.
    pub fn text(self) -> Cow<'a, str> {
        let content = &self.0["content"];
        match content {
            Value::String(text) => Cow::Borrowed(text),
            Value::Array(parts) => {
                let texts: Vec<&str> = parts.iter().filter_map(text_of).collect();
                match texts[..] {
                    [only] => Cow::Borrowed(only),
                    _ => Cow::Owned(texts.join("\n")),
                }
            }
            _ => text_of(content).map_or(Cow::Borrowed(""), Cow::Borrowed),
        }
    }

    /// What the model thought before it says or calls anything.
    pub fn reasoning(self) -> Option<&'a str> {
        let text = self.0["reasoning_content"].as_str().or_else(|| self.0["reasoning"].as_str());
        text.filter(|text| !text.is_empty())
    }

    /// The tools that it calls.
    pub fn calls(self) -> impl Iterator<Item = ToolCall<'a>> {
        list(&self.0["tool_calls"]).map(|call| {
            let function = call.get("function").unwrap_or(call);
            let arguments = match &function["arguments"] {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                Value::Null => Cow::Borrowed(""),
                value => Cow::Owned(value.to_string()),
            };
            let name = function["name"].as_str().filter(|name| !name.is_empty());
            ToolCall { id: call["id"].as_str(), name: name.unwrap_or("tool"), arguments }
        })
    }
}

impl RecordedPrompt {
    /// Its messages, to be read.
    pub fn read(&self) -> impl Iterator<Item = RecordedMessage<'_>> {
        self.messages.iter().map(|message| RecordedMessage(message))
    }

    /// What the system says at the beginning, and what follows. A prompt of nothing else begins with the user.
    pub fn split_system(&self) -> (Vec<RecordedMessage<'_>>, Vec<RecordedMessage<'_>>) {
        let mut system: Vec<_> = self.read().collect();
        let first = system.iter().position(|message| !message.is_of_system());
        let rest = system.split_off(first.unwrap_or(0));
        (system, rest)
    }

    /// The tools that are functions.
    pub fn definitions(&self) -> impl Iterator<Item = ToolDefinition<'_>> {
        self.tools.iter().flat_map(|tools| ToolDefinition::all(tools))
    }

    /// All of it as fields of a chat's body.
    pub fn fields(&self) -> Map<String, Value> {
        let messages = self.messages.iter().map(|message| Value::clone(message)).collect();
        let tools = self.tools.iter().map(|tools| ("tools".to_owned(), Value::clone(tools)));
        [("messages".to_owned(), messages)].into_iter().chain(tools).collect()
    }

    /// All of it as one text, for APIs without messages. It ends where the response begins, so that the next prompt of
    /// the same session begins with this one and its response.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (number, tool) in self.definitions().enumerate() {
            text.push_str(if number == 0 { "tools:\n" } else { "" });
            let _ = writeln!(text, "{}", Value::Object(tool.fields("parameters")));
        }
        text.push_str(if text.is_empty() { "" } else { "\n" });
        for message in self.read() {
            text.push_str(message.role());
            text.push(':');
            for said in message.reasoning().into_iter().chain([&*message.text()]) {
                if !said.is_empty() {
                    text.push(' ');
                    text.push_str(said);
                }
            }
            for call in message.calls() {
                let _ = write!(text, "\n{}", call.text());
            }
            text.push_str("\n\n");
        }
        text.push_str("assistant:");
        text
    }

    /// What only OpenAI's chat API is sent, by kind and number: images, sound, and tools that are no functions.
    pub fn left_out(&self) -> BTreeMap<String, u64> {
        let parts = self.messages.iter().flat_map(|message| match &message["content"] {
            Value::Array(parts) => &parts[..],
            Value::Null | Value::String(_) => &[],
            one => std::slice::from_ref(one),
        });
        let parts = parts.filter(|part| text_of(part).is_none());
        let tools = self.tools.iter().flat_map(|tools| list(tools));
        let mut kinds = BTreeMap::new();
        for one in parts.chain(tools.filter(|tool| definition(tool).is_none())) {
            let kind = one["type"].as_str().unwrap_or("unknown");
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
        kinds
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a part of a message, if it is text.
fn text_of(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part["text"].as_str())
}

fn definition(tool: &Value) -> Option<ToolDefinition<'_>> {
    let function = match tool["type"].as_str() {
        Some("function") | None => tool.get("function").unwrap_or(tool),
        Some(_) => return None,
    };
    Some(ToolDefinition {
        name: function["name"].as_str().filter(|name| !name.is_empty())?,
        description: function["description"].as_str(),
        parameters: function.get("parameters").or_else(|| function.get("input_schema")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn prompt(messages: &[Value], tools: Option<Value>) -> RecordedPrompt {
        let messages = messages.iter().cloned().map(Arc::new).collect();
        RecordedPrompt { messages, tools: tools.map(Arc::new) }
    }

    fn session() -> Vec<Value> {
        let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
        vec![
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "text", "text": "here"}
            ]}),
            json!({"role": "assistant", "content": null, "reasoning_content": "hm",
                "tool_calls": [call("a", "{\"path\":\"x\"}"), call("b", "not JSON")]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "one"}),
            json!({"role": "tool", "tool_call_id": "b", "content": [{"type": "input_audio"}]}),
        ]
    }

    fn tools() -> Value {
        let function =
            json!({"name": "read", "description": "Reads.", "parameters": {"type": "object"}});
        json!([{"type": "function", "function": function}, {"type": "web_search"}])
    }

    #[test]
    fn a_text_has_all_of_it_and_begins_as_the_one_before() {
        let whole = prompt(&session(), Some(tools())).text();
        assert_eq!(
            whole,
            "tools:\n{\"description\":\"Reads.\",\"name\":\"read\",\"parameters\":{\"type\":\"object\"}}\n\n\
             system: Be brief.\n\nuser: look\nhere\n\n\
             assistant: hm\n{\"name\":\"read\",\"arguments\":{\"path\":\"x\"}}\n\
             {\"name\":\"read\",\"arguments\":{\"arguments\":\"not JSON\"}}\n\n\
             tool: one\n\ntool:\n\nassistant:"
        );
        let earlier = prompt(&session()[..2], Some(tools())).text();
        assert!(whole.starts_with(&earlier), "{earlier}");
    }

    #[test]
    fn what_other_apis_cannot_hold_is_counted() {
        let left_out = prompt(&session(), Some(tools())).left_out();
        let expected = [("image_url", 1), ("input_audio", 1), ("web_search", 1)];
        assert_eq!(left_out, expected.map(|(kind, number)| (kind.to_owned(), number)).into());
        assert!(prompt(&session()[..1], None).left_out().is_empty());
    }

    #[test]
    fn the_system_stands_before_the_first_of_the_others() {
        let mut messages = session();
        messages.push(json!({"role": "developer", "content": "Be quick."}));
        let prompt = prompt(&messages, None);
        let (system, rest) = prompt.split_system();
        assert_eq!((system.len(), rest.len()), (1, 5));
        let only = self::prompt(&messages[..1], None);
        let (system, rest) = only.split_system();
        assert_eq!((system.len(), rest.len()), (0, 1));
    }

    #[test]
    fn odd_messages_are_read_as_far_as_they_go() {
        for odd in [json!(null), json!(7), json!({"role": 1, "content": 2, "tool_calls": {}})] {
            let message = RecordedMessage(&odd);
            assert_eq!((message.role(), &*message.text(), message.reasoning()), ("user", "", None));
            assert_eq!(message.calls().count(), 0);
        }
        let call = json!({"tool_calls": [{"function": {"arguments": {"a": 1}}}]});
        let call = RecordedMessage(&call).calls().next().expect("a call");
        assert_eq!((call.id, call.name, &*call.arguments), (None, "tool", "{\"a\":1}"));
        assert_eq!(Value::Object(call.input()), json!({"a": 1}));
    }
}
