//! What `dyno data show` says about the fields of a file and about the first request, in English and
//! Chinese. Text of the file is escaped and cut.

use dyno_model::{Language, Localized, message};
use dyno_words::escape::escape;

use super::recognised::RecognisedData;
use dyno_model::prompt::{ChatMessage, Content};

/// Characters that are shown of a text from its beginning and, of longer ones, from its end.
const BEGINNING: usize = 400;
const END: usize = 160;
/// Fields that are shown of those that are not sent.
const MOST_FIELDS: usize = 20;
/// Messages that are shown of a conversation from its beginning and from its end.
const FIRST_MESSAGES: usize = 5;
const LAST_MESSAGES: usize = 3;

/// A request as it is sent, and its length.
#[derive(Debug, Clone, PartialEq)]
pub struct First {
    /// What is sent.
    pub content: Content,
    /// Its input tokens.
    pub tokens: u32,
}

/// Which fields are used for what, and which are not sent; nothing where records have no fields.
pub fn fields(recognised: &RecognisedData, language: Language) -> String {
    let used = recognised.fields.iter().map(|(role, fields)| match *role {
        "messages" => message!("messages: {fields}", "消息：{fields}"),
        "system" => message!("system message: {fields}", "系统消息：{fields}"),
        "output tokens" => message!("output tokens: {fields}", "输出 token 数：{fields}"),
        _ => message!("prompt: {fields}", "提示词：{fields}"),
    });
    let more = recognised.unused.len().saturating_sub(MOST_FIELDS);
    let more = (more > 0).then(|| {
        message!("not sent: {more} more {more|field|fields}", "不发送：另有 {more} 个字段")
    });
    let unused = recognised.unused.iter().take(MOST_FIELDS).map(|unused| {
        let name = format!("{:?}", unused.field);
        match unused.example.trim().is_empty() {
            true => message!("not sent: {name}, empty", "不发送：{name}，为空"),
            false => message!(
                "not sent: {name}, for example {}",
                "不发送：{name}，例如 {}",
                unused.example
            ),
        }
    });
    let lines: String =
        used.chain(unused).chain(more).map(|line| format!("  {}\n", line.text(language))).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{}\n{lines}", message!("fields", "字段").text(language)),
    }
}

/// A request as it is sent, by roles.
pub fn first(first: &First, estimated: bool, language: Language) -> String {
    let tokens = first.tokens;
    let heading = match estimated {
        true => message!(
            "the first request, about {tokens} {tokens|token|tokens} (estimated)",
            "第一个请求，约 {tokens} 个 token（估计）"
        ),
        false => message!(
            "the first request, {tokens} {tokens|token|tokens}",
            "第一个请求，{tokens} 个 token"
        ),
    };
    let said = |message: &ChatMessage| {
        format!("{}: {}", escape(&message.role, 40), cut(&message.content, language))
    };
    let lines = match &first.content {
        Content::Text(text) => vec![said(&ChatMessage::user(text.clone()))],
        Content::Texts(texts) => {
            texts.all().take(FIRST_MESSAGES).map(|text| cut(text, language)).collect()
        }
        Content::Recorded(prompt) => vec![cut(&prompt.text(), language)],
        Content::Messages(messages) => {
            let end = messages.len().saturating_sub(LAST_MESSAGES).max(FIRST_MESSAGES);
            let shown = |from: usize, to: usize| {
                messages.iter().take(to).skip(from).map(said).collect::<Vec<_>>()
            };
            let mut lines = shown(0, FIRST_MESSAGES);
            if end > FIRST_MESSAGES {
                let more = end - FIRST_MESSAGES;
                lines.push(
                    message!("… {more} more {more|message|messages} …", "……另有 {more} 条消息……")
                        .text(language),
                );
            }
            lines.extend(shown(end, messages.len()));
            lines
        }
        Content::Body(body) => {
            let body = serde_json::Value::Object(body.clone()).to_string();
            vec![
                message!("request body: {}", "请求体：{}", cut(&body, language)).text(language),
                message!(
                    "the run sets model, stream, stream_options, max_tokens and what its flags \
                     name",
                    "测试会设置 model、stream、stream_options、max_tokens 以及参数指定的字段"
                )
                .text(language),
            ]
        }
    };
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("{}\n{lines}", heading.text(language))
}

/// A text on one line, without its middle if it is long: a question may be at its end.
fn cut(text: &str, language: Language) -> String {
    let whole = |text: &str| escape(text, usize::MAX);
    let length = text.chars().count();
    if length <= BEGINNING + END {
        return whole(text);
    }
    let beginning: String = text.chars().take(BEGINNING).collect();
    let end: String = text.chars().skip(length - END).collect();
    let between = length - BEGINNING - END;
    message!(
        "{} … ({between} more {between|character|characters}) … {}",
        "{} …（略去 {between} 个字符）… {}",
        whole(&beginning),
        whole(&end)
    )
    .text(language)
}
