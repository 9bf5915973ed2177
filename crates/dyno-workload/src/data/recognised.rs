//! What a file was recognised as, in words: its description, remarks and warnings.

use std::fmt;

use super::conversation::is_one_sided;
use super::layout::Layout;
use super::pick::{Pick, Taken};
use super::prompt_in::PromptIn;
use super::record::Record;
use super::source::Compression;
use super::spec::{Kind, Turns};
use super::texts;
use super::unused::Unused;
use dyno_model::prompt::Message;
use dyno_words::escape::escape;

/// What a data set was recognised as, printed before it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// The file, or the built-in text.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// How its records follow each other, in words.
    pub layout: String,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// What is read from which field: a role, and the field's name.
    pub fields: Vec<(&'static str, String)>,
    /// Fields that are not sent, of the first records.
    pub unused: Vec<Unused>,
    /// Mean characters of the first prompts.
    pub prompt_chars: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

impl fmt::Display for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.name, self.kind, self.layout)?;
        if let Some(compression) = self.compression {
            write!(f, " ({compression})")?;
        }
        for (role, field) in &self.fields {
            write!(f, ", {role} from {field}")?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}

impl Recognised {
    /// What its user should know before anything is sent: long text that is not sent.
    pub fn warnings(&self) -> Vec<String> {
        let (name, prompt) = (&self.name, self.prompt_chars);
        let messages = self.fields.iter().any(|(role, _)| *role == "messages");
        let overlooked = self.unused.iter().filter(|field| field.overlooked);
        let warning = |Unused { field, chars, is_text, .. }: &Unused| {
            let field = escape(field, 80);
            let fix = match (is_text, messages) {
                (true, false) => {
                    format!("write context={field} to put it before the prompt, or prompt={field} to send it instead")
                }
                (true, true) => format!("write prompt={field} to send it instead"),
                (false, _) => {
                    "only whole request bodies can hold it: write them one a line and read them as lines:FILE".into()
                }
            };
            format!(
                "{name}: the field {field:?} is not sent, although it is longer than the prompts ({chars} characters on average, the prompts {prompt}); {fix}"
            )
        };
        overlooked.map(warning).collect()
    }
}

/// The fields of a pick, for the description.
pub(super) fn described_fields(pick: &Pick) -> Vec<(&'static str, String)> {
    let role = |prompt: &PromptIn| match prompt {
        PromptIn::Field(_) | PromptIn::Joined(_) => "prompt",
        PromptIn::Messages(_) | PromptIn::Alternating(_) => "messages",
    };
    let mut fields = Vec::new();
    fields.extend(pick.prompt.iter().map(|prompt| (role(prompt), prompt.to_string())));
    fields.extend(pick.system.iter().map(|field| ("system", field.to_string())));
    fields.extend(pick.output.iter().map(|field| ("output tokens", field.to_string())));
    fields
}

/// Remarks about a pick, for the description.
pub(super) fn notes(kind: Kind, layout: Layout, pick: &Pick, samples: &[Record]) -> Vec<String> {
    let is_list = match &pick.prompt {
        Some(PromptIn::Messages(_) | PromptIn::Alternating(_)) => true,
        Some(PromptIn::Field(field)) => {
            let object = |sample: &Record| sample.value.as_object()?.get(field.as_str()).cloned();
            samples.iter().filter_map(object).any(|value| value.is_array())
        }
        _ => false,
    };
    let turn_by_turn = || {
        if matches!(pick.prompt, Some(PromptIn::Alternating(_))) {
            return false;
        }
        let fields = pick.prompt.iter().flat_map(PromptIn::fields);
        let mut lists = fields.flat_map(|field| {
            samples.iter().filter_map(move |sample| field.find(sample.value.as_object()?))
        });
        lists.all(is_one_sided)
    };
    let uses_tools = || {
        let says = |sample: &Record| {
            let is_tool = |message: &Message| message.role == "tool";
            pick.messages(sample).is_ok_and(|messages| messages.iter().any(is_tool))
        };
        samples.iter().any(says)
    };
    let mut notes: Vec<&str> = Vec::new();
    match pick.taken {
        Taken::Verbatim
            if kind == Kind::Lines
                && pick.prompt.is_none()
                && matches!(layout, Layout::JsonLines { .. }) =>
        {
            notes.push("message arrays and request bodies, sent as they are");
        }
        Taken::Texts => notes.push("lists of texts, each sent as one request"),
        Taken::Led => notes.push("the user's turns, replayed with the server's own responses"),
        Taken::Prompt(_) if is_list && turn_by_turn() => {
            notes.push("the first question of each conversation (session:FILE for all)");
        }
        Taken::Prompt(Turns::First) if is_list => {
            notes.push("the first turn of each conversation (turns=all for all)");
        }
        Taken::Prompt(Turns::All) if is_list => {
            notes.push("whole conversations, without the final response");
            if uses_tools() {
                notes.push("tool calls as the assistant's text, tool results with the role tool");
            }
        }
        Taken::Prompt(_) if !is_list && samples.iter().all(texts::holds) => {
            notes.push("one prompt per record; --api rerank sends its lists of texts as lists");
        }
        _ => {}
    }
    layout.skipped().into_iter().chain(notes.into_iter().map(String::from)).collect()
}
