//! What a file was recognised as, in words: its description, remarks and warnings.

use std::fmt;

use super::conversation::is_one_sided;
use super::layout::DataLayout;
use super::pick::{Pick, Taken};
use super::prompt_in::PromptIn;
use super::record::Record;
use super::source::Compression;
use super::spec::{DataKind, Turns};
use super::texts;
use super::unused::UnusedFields;
use dyno_model::message::Message as Said;
use dyno_model::prompt::ChatMessage;
use dyno_model::{Language, Localized, message};
use dyno_words::escape::escape;

/// What a data set was recognised as, printed before it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecognisedData {
    /// The file, or the built-in text.
    pub name: Said,
    /// Its kind.
    pub kind: DataKind,
    /// How its records follow each other, in words.
    pub layout: Said,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// What is read from which field: a role, and the field's name.
    pub fields: Vec<(&'static str, String)>,
    /// Fields that are not sent, of the first records.
    pub unused: Vec<UnusedFields>,
    /// Mean characters of the first prompts.
    pub prompt_chars: u64,
    /// Remarks.
    pub notes: Vec<Said>,
}

impl Localized for RecognisedData {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let Self { name, kind, layout, compression, fields, notes, .. } = self;
        message!("{name}: {kind}, {layout}", "{name}：{kind}，{layout}").fmt_in(f, language)?;
        if let Some(compression) = compression {
            message!(" ({compression})", "（{compression}）").fmt_in(f, language)?;
        }
        for (role, field) in fields {
            let role = match *role {
                "output tokens" => message!("output tokens", "输出 token"),
                role => Said::quoted(role),
            };
            message!(", {role} from {field}", "，{role} 取自 {field}").fmt_in(f, language)?;
        }
        notes.iter().try_for_each(|note| message!("; {note}", "；{note}").fmt_in(f, language))
    }
}

impl fmt::Display for RecognisedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}

impl RecognisedData {
    /// What its user should know before anything is sent: long text that is not sent.
    pub fn warnings(&self) -> Vec<Said> {
        let (name, prompt) = (&self.name, self.prompt_chars);
        let messages = self.fields.iter().any(|(role, _)| *role == "messages");
        let overlooked = self.unused.iter().filter(|field| field.overlooked);
        let warning = |UnusedFields { field, chars, is_text, .. }: &UnusedFields| {
            let field = escape(field, 80);
            let fix = match (is_text, messages) {
                (true, false) => message!(
                    "write context={field} to put it before the prompt, or prompt={field} to send it instead",
                    "写 context={field} 把它放在提示词之前，或写 prompt={field} 改为发送它"
                ),
                (true, true) => message!(
                    "write prompt={field} to send it instead",
                    "写 prompt={field} 改为发送它"
                ),
                (false, _) => message!(
                    "only whole request bodies can hold it: write them one a line and read them as lines:FILE",
                    "只有完整的请求体才能包含它：请每行写一个请求体，并用 lines:FILE 读取"
                ),
            };
            message!(
                "{name}: the field {field:?} is not sent, although it is longer than the prompts ({chars} characters on average, the prompts {prompt}); {fix}",
                "{name}：字段 {field:?} 不会发送，但它比提示词更长（平均 {chars} 个字符，提示词 {prompt} 个）；{fix}"
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
pub(super) fn notes(
    kind: DataKind,
    layout: DataLayout,
    pick: &Pick,
    samples: &[Record],
) -> Vec<Said> {
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
            let is_tool = |message: &ChatMessage| message.role == "tool";
            pick.messages(sample).is_ok_and(|messages| messages.iter().any(is_tool))
        };
        samples.iter().any(says)
    };
    let mut notes: Vec<Said> = layout.skipped().into_iter().collect();
    match pick.taken {
        Taken::Verbatim
            if kind == DataKind::Lines
                && pick.prompt.is_none()
                && matches!(layout, DataLayout::JsonLines { .. }) =>
        {
            notes.push(message!(
                "message arrays and request bodies, sent as they are",
                "消息数组和请求体，原样发送"
            ));
        }
        Taken::Texts => notes.push(message!(
            "lists of texts, each sent as one request",
            "文本列表，每个列表作为一个请求发送"
        )),
        Taken::Led => notes.push(message!(
            "the user's turns, replayed with the server's own responses",
            "用户的各轮消息，配合服务器自己的响应回放"
        )),
        Taken::Prompt(_) if is_list && turn_by_turn() => {
            notes.push(message!(
                "the first question of each conversation (session:FILE for all)",
                "每个对话的第一个问题（全部请用 session:FILE）"
            ));
        }
        Taken::Prompt(Turns::First) if is_list => {
            notes.push(message!(
                "the first turn of each conversation (turns=all for all)",
                "每个对话的第一轮（全部请写 turns=all）"
            ));
        }
        Taken::Prompt(Turns::All) if is_list => {
            notes.push(message!(
                "whole conversations, without the final response",
                "完整的对话，不含最后的响应"
            ));
            if uses_tools() {
                notes.push(message!(
                    "tool calls as the assistant's text, tool results with the role tool",
                    "工具调用作为 assistant 的文本发送，工具结果以 tool 角色发送"
                ));
            }
        }
        Taken::Prompt(_) if !is_list && samples.iter().all(texts::holds) => {
            notes.push(message!(
                "one prompt per record; --api rerank sends its lists of texts as lists",
                "每条记录作为一条提示词；--api rerank 会把其中的文本列表作为列表发送"
            ));
        }
        _ => {}
    }
    notes
}
