//! Calls of tools and their results, as strict servers want them: every result follows its call, and every call has one.

use dyno_model::recorded::{RecordedMessage, ToolCall};
use std::borrow::Cow;
use std::collections::HashSet;

/// The longest id of a call.
const LONGEST_ID: usize = 64;

/// A message whose calls and results belong together.
#[derive(Debug)]
pub(crate) struct Paired<'a> {
    /// Who says it.
    pub(crate) by: By<'a>,
    /// What the model thought before it.
    pub(crate) thought: Option<&'a str>,
    /// What it says.
    pub(crate) text: Cow<'a, str>,
    /// The tools that it calls, each with its id.
    pub(crate) calls: Vec<(String, ToolCall<'a>)>,
}

/// Who says something.
#[derive(Debug, PartialEq)]
pub(crate) enum By<'a> {
    /// The model.
    Model,
    /// The tool of the call with this id.
    Tool(String),
    /// The user, or the system in the middle of a conversation.
    Other(&'a str),
}

/// Messages with ids of allowed characters that no other call has. Calls without a result become text of the model, and
/// results without a call text of the user: strict servers refuse both.
pub(crate) fn paired(messages: Vec<RecordedMessage<'_>>) -> Vec<Paired<'_>> {
    let mut ids = Ids::default();
    let mut all: Vec<Paired<'_>> = Vec::new();
    // The calls of the last message of the model that wait for a result: as recorded, and as written.
    let mut open: Vec<(Option<&str>, String)> = Vec::new();
    let mut unanswered = HashSet::new();
    for message in messages {
        let mut said = Paired {
            by: By::Other("user"),
            thought: None,
            text: message.text(),
            calls: Vec::new(),
        };
        if message.is_result() {
            let id = message.result_of();
            let place = open.iter().position(|(recorded, _)| id.is_none() || *recorded == id);
            if let Some(place) = place {
                said.by = By::Tool(open.remove(place).1);
            }
        } else if message.role() == "assistant" {
            unanswered.extend(open.drain(..).map(|(_, id)| id));
            said.by = By::Model;
            said.thought = message.reasoning();
            said.calls = message.calls().map(|call| (ids.of(call.id), call)).collect();
            open.extend(said.calls.iter().map(|(id, call)| (call.id, id.clone())));
        } else if message.is_of_system() {
            said.by = By::Other(message.role());
        }
        all.push(said);
    }
    unanswered.extend(open.into_iter().map(|(_, id)| id));
    for said in &mut all {
        let (alone, calls) = std::mem::take(&mut said.calls)
            .into_iter()
            .partition::<Vec<_>, _>(|(id, _)| unanswered.contains(id));
        said.calls = calls;
        for (_, call) in alone {
            let text = said.text.to_mut();
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&call.text());
        }
    }
    all
}

/// The ids of calls so far.
#[derive(Default)]
struct Ids(HashSet<String>);

impl Ids {
    fn of(&mut self, recorded: Option<&str>) -> String {
        let allowed = |id: &&str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(plain)
        };
        let recorded = recorded.filter(allowed).map(str::to_owned);
        let own = (self.0.len()..).map(|number| format!("call_{number}"));
        let free = recorded.into_iter().chain(own).find(|id| !self.0.contains(id));
        let id = free.unwrap_or_default();
        self.0.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(messages: &[Value]) -> Vec<Paired<'_>> {
        paired(messages.iter().map(RecordedMessage).collect())
    }

    fn calls(ids: &[Option<&str>]) -> Value {
        let call =
            |id: &Option<&str>| json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        json!({"role": "assistant", "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
    }

    fn result(id: Option<&str>) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "r"})
    }

    #[test]
    fn results_find_their_calls_by_id_or_in_their_order() {
        let by = |messages: &[Value]| {
            let by = of(messages).into_iter().map(|said| match said.by {
                By::Tool(id) => id,
                by => format!("{by:?}"),
            });
            by.collect::<Vec<_>>()
        };
        let two = [calls(&[Some("a"), Some("b")]), result(Some("b")), result(Some("a"))];
        assert_eq!(by(&two), ["Model", "b", "a"]);
        let nameless = [calls(&[None, None]), result(None), result(None)];
        assert_eq!(by(&nameless), ["Model", "call_0", "call_1"]);
        let odd = [calls(&[Some("functions.f:0")]), result(Some("functions.f:0"))];
        assert_eq!(by(&odd), ["Model", "call_0"]);
        let twice =
            [calls(&[Some("a")]), result(Some("a")), calls(&[Some("a")]), result(Some("a"))];
        assert_eq!(by(&twice), ["Model", "a", "Model", "call_1"]);
    }

    #[test]
    fn what_has_no_counterpart_becomes_text() {
        let messages = [
            result(Some("gone")),
            calls(&[Some("a"), Some("b")]),
            result(Some("a")),
            calls(&[Some("c")]),
        ];
        let all = of(&messages);
        assert_eq!(all[0].by, By::Other("user"));
        let calls = |at: usize| all[at].calls.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>();
        assert_eq!((calls(1), calls(3)), (vec!["a"], vec![]));
        assert_eq!(
            (&*all[1].text, &*all[3].text),
            ("{\"name\":\"f\",\"arguments\":{}}", &*all[1].text)
        );
    }
}
