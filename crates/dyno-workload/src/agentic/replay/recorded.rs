//! Prompts of recorded messages: the history as far as it was kept, and what was added, with tools and their results.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dyno_model::prompt::{Content, Item, RecordedPrompt};
use dyno_model::recorded::RecordedMessage;
use dyno_model::tree::Repeated;
use serde_json::{Value, json};

use super::kept::MOST_TOKENS;
use super::{ReplayKit, Responses, USUAL_BLOCK};
use crate::agentic::key::{self, Keys};
use crate::agentic::tree::{PromptParts, Tree, TreeTurn, TurnAt};
use crate::random::RandomError;
use crate::tokenizer::Tokenizer;

/// The messages of a tree, as far as they were sent.
pub(super) struct RecordedTexts {
    kit: Arc<ReplayKit>,
    tree: Arc<Tree>,
    marker: Option<String>,
    sessions: Vec<RecordedSession>,
    /// What the server has answered, by turn.
    answers: HashMap<TurnAt, String>,
    left_out: BTreeMap<String, u64>,
    /// Beginnings of prompts that were sent, and of prompts with their responses.
    prompts: Keys,
    held: Keys,
    bytes: usize,
}

#[derive(Default)]
struct RecordedSession {
    /// The history, with a place for each recorded message: some are not sent.
    history: Vec<SentMessage>,
    /// Which message has the marker.
    marked: Option<usize>,
    /// Turns that are in it.
    turns: usize,
    tools: Option<Arc<Value>>,
}

struct SentMessage {
    body: Option<Arc<Value>>,
    /// The key of the history up to here, and its tokens where they are counted.
    key: u64,
    tokens: u64,
}

impl RecordedTexts {
    /// The messages of a tree, if it has the texts of its prompts. Logs of agents lack those of the system and of tools:
    /// where the lengths of prompts are known, these say more than what is left of their texts.
    pub(super) fn of(kit: &Arc<ReplayKit>, tree: &Arc<Tree>, index: u64) -> Option<Self> {
        let has_lengths = tree.all().all(|(_, turn)| turn.input.is_some());
        let are_prompts = match tree.prompts {
            PromptParts::Messages { whole } => whole || !has_lengths,
            _ => false,
        };
        let has_text = are_prompts && tree.messages.iter().any(|message| message.body.is_some());
        let marker = format!("[{:x}-{index:x}] ", kit.key.run);
        (kit.options.text && has_text).then(|| Self {
            kit: Arc::clone(kit),
            tree: Arc::clone(tree),
            marker: kit.options.marker.then_some(marker),
            sessions: tree.sessions.iter().map(|_| RecordedSession::default()).collect(),
            answers: HashMap::new(),
            left_out: BTreeMap::new(),
            prompts: Keys::default(),
            held: Keys::default(),
            bytes: 0,
        })
    }

    pub(super) fn size(&self) -> usize {
        self.bytes
    }

    /// What is not sent of the messages so far: parts that are no text, by kind.
    pub(super) fn left_out(&self) -> &BTreeMap<String, u64> {
        &self.left_out
    }

    pub(super) fn answered(&mut self, at: TurnAt, answer: &str) {
        if self.kit.options.responses == Responses::Live && !answer.is_empty() {
            self.answers.insert(at, answer.to_owned());
        }
    }

    /// The prompt of a turn.
    pub(super) fn prompt(&mut self, at: TurnAt, warms: bool) -> Result<Item, RandomError> {
        let tree = Arc::clone(&self.tree);
        let Some(turn) = tree.turn(at) else {
            return Ok(Item::text(String::new()));
        };
        while self.sessions[at.session].turns <= at.turn {
            self.advance(&tree, at.session)?;
        }
        let session = &self.sessions[at.session];
        let messages = session.history.iter().filter_map(|one| one.body.clone()).collect();
        let prompt = RecordedPrompt { messages, tools: session.tools.clone() };
        Ok(Item {
            content: Content::Recorded(prompt),
            output_tokens: Some(if warms { 1 } else { self.output(turn)? }),
            // The recorded number is that of another tokenizer, and logs lack a part of the prompt.
            input_tokens: None,
        })
    }

    /// Adds a turn to the history of its session: the response before it, and its own messages.
    fn advance(&mut self, tree: &Tree, place: usize) -> Result<(), RandomError> {
        let turns = &tree.sessions[place].turns;
        let number = self.sessions[place].turns;
        if let Some(before) = number.checked_sub(1) {
            let at = TurnAt { session: place, turn: before };
            let mut live = self.answers.remove(&at);
            for response in &turns[before].response {
                self.push(tree, place, *response, live.take())?;
            }
        }
        let turn = &turns[number];
        let session = &mut self.sessions[place];
        session.history.truncate(turn.kept as usize);
        session.marked = session.marked.filter(|at| *at < session.history.len());
        for added in &turn.added {
            self.push(tree, place, *added, None)?;
        }
        let session = &mut self.sessions[place];
        session.tools = turn.definitions.clone().or(session.tools.take());
        session.turns += 1;
        Ok(())
    }

    /// Adds a message; `live` is what the server has said instead.
    fn push(
        &mut self,
        tree: &Tree,
        place: usize,
        message: u32,
        live: Option<String>,
    ) -> Result<(), RandomError> {
        let Some(said) = tree.messages.get(message as usize) else { return Ok(()) };
        let tokens = match said.body.as_ref().filter(|_| self.counts()) {
            Some(body) => u64::from(self.count(&text_of(body))?),
            None => 0,
        };
        let body = said.body.as_ref().filter(|body| body["role"].is_string());
        let mut body = body.map(|body| self.texts_of(body));
        if let (Some(live), Some(said)) = (live, &mut body) {
            self.bytes += live.len();
            let mut spoken = Value::clone(said);
            spoken["content"] = live.into();
            *said = Arc::new(spoken);
        }
        let session = &mut self.sessions[place];
        let marker = self.marker.as_ref().filter(|_| session.marked.is_none());
        if let (Some(marker), Some(said)) = (marker, &mut body) {
            let role = RecordedMessage(said).role();
            if role == "user" || !self.kit.options.share_system && role == "system" {
                *said = Arc::new(with_marker(said, marker));
                self.bytes += said["content"].as_str().map_or(0, str::len);
                session.marked = Some(session.history.len());
            }
        }
        let (before, so_far) =
            session.history.last().map_or((key::NOTHING, 0), |last| (last.key, last.tokens));
        session.history.push(SentMessage {
            body,
            key: key::after(before, u64::from(message)),
            tokens: so_far + tokens,
        });
        Ok(())
    }

    /// Whether tokens of messages can be counted without asking anybody.
    fn counts(&self) -> bool {
        let tokenizer = &self.kit.counter.tokenizer;
        !tokenizer.is_asking() && !tokenizer.is_estimate()
    }

    /// Tokens of a text; estimated where the server would have to be asked.
    fn count(&self, text: &str) -> Result<u32, RandomError> {
        let tokenizer = &self.kit.counter.tokenizer;
        if tokenizer.is_asking() {
            return Ok(Tokenizer::estimate().count(text)?);
        }
        Ok(tokenizer.count(text)?.saturating_sub(tokenizer.count("")?))
    }

    /// A message without parts that are no text.
    fn texts_of(&mut self, body: &Arc<Value>) -> Arc<Value> {
        let one = RecordedPrompt { messages: vec![Arc::clone(body)], tools: None };
        let other = one.left_out();
        if other.is_empty() {
            return Arc::clone(body);
        }
        for (kind, count) in other {
            *self.left_out.entry(kind).or_default() += count;
        }
        let mut texts = Value::clone(body);
        texts["content"] = RecordedMessage(body).text().as_ref().into();
        Arc::new(texts)
    }

    /// Output tokens: as recorded, else those of the recorded response.
    fn output(&self, turn: &TreeTurn) -> Result<u32, RandomError> {
        if let Some(output) = turn.output {
            return Ok(u32::try_from(output).unwrap_or(u32::MAX).clamp(1, MOST_TOKENS));
        }
        let said = turn.response.iter().filter_map(|place| self.tree.messages.get(*place as usize));
        let text: String = said.filter_map(|said| said.body.as_deref()).map(text_of).collect();
        Ok(self.count(&text)?.clamp(1, MOST_TOKENS))
    }

    /// The prompt of a turn is sent, before that of the next one is made. What of it was sent before, in whole
    /// messages; unknown where tokens cannot be counted here.
    pub(super) fn sent(&mut self, at: TurnAt, warms: bool) -> Option<Repeated> {
        if !self.counts() {
            return None;
        }
        let tree = Arc::clone(&self.tree);
        let turn = tree.turn(at)?;
        let history = &self.sessions[at.session].history;
        let longest = |keys: &Keys| {
            let found = history.iter().take_while(|one| keys.contains(&one.key)).last();
            let tokens = found.map_or(0, |one| u32::try_from(one.tokens).unwrap_or(u32::MAX));
            tokens / USUAL_BLOCK * USUAL_BLOCK
        };
        let (of_prompts, with_responses) = (longest(&self.prompts), longest(&self.held));
        for one in history {
            self.prompts.insert(one.key);
            self.held.insert(one.key);
        }
        let mut key = history.last().map_or(key::NOTHING, |last| last.key);
        // A single token is asked for where a turn only warms the cache.
        for response in turn.response.iter().filter(|_| !warms) {
            key = key::after(key, u64::from(*response));
            self.held.insert(key);
        }
        Some(Repeated { of_prompts, with_responses })
    }
}

/// Everything that a message says, as one text; of what is no message, all of it.
fn text_of(body: &Value) -> String {
    if !body["role"].is_string() {
        return body.to_string();
    }
    let message = RecordedMessage(body);
    let mut text = message.reasoning().unwrap_or_default().to_owned();
    text.push_str(&message.text());
    message.calls().for_each(|call| text.push_str(&call.text()));
    text
}

/// A message with the marker before its text.
fn with_marker(body: &Value, marker: &str) -> Value {
    let mut body = body.clone();
    match &mut body["content"] {
        Value::String(text) => text.insert_str(0, marker),
        Value::Array(parts) => match parts.first_mut().and_then(|part| part.get_mut("text")) {
            Some(Value::String(text)) => text.insert_str(0, marker),
            _ => parts.insert(0, json!({ "type": "text", "text": marker })),
        },
        other => *other = marker.into(),
    }
    body
}
