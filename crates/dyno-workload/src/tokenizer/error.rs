//! Why a tokenizer could not be read or could not count.

use dyno_model::{Localized, Message};
use std::path::PathBuf;

/// A tokenizer that could not be read, or text that it could not count.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum TokenizerError {
    /// The path does not exist, or cannot be read.
    #[message(
        "{}: {why}; give a Hugging Face tokenizer.json or a model's folder",
        "{}：{why}；请给出 Hugging Face 的 tokenizer.json 或模型目录",
        path.display()
    )]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        why: Message,
    },
    /// A folder without a `tokenizer.json`.
    #[message(
        "{}: no tokenizer.json in this folder; {hint}",
        "{}：该目录中没有 tokenizer.json；{hint}",
        path.display()
    )]
    NoTokenizerJson {
        /// The folder.
        path: PathBuf,
        /// What would help.
        hint: Message,
    },
    /// The file is not a `tokenizer.json`.
    #[message(
        "{}: not a Hugging Face tokenizer.json: {why}",
        "{}：不是 Hugging Face 的 tokenizer.json：{why}",
        path.display()
    )]
    NotATokenizer {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        why: Message,
    },
    /// A file next to the tokenizer is malformed.
    #[message("{}: {why}; fix the file or remove it", "{}：{why}；请修正或删除该文件", path.display())]
    BadConfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Message,
    },
    /// The chat template cannot be compiled.
    #[message("chat template of {}: {why}", "{} 的对话模板：{why}", path.display())]
    BadTemplate {
        /// The file that holds the template.
        path: PathBuf,
        /// Line and reason.
        why: Message,
    },
    /// The chat template does not take these messages.
    #[message("chat template: {why}", "对话模板：{why}")]
    Render {
        /// Line and reason.
        why: Message,
    },
    /// The tokenizer could not encode a text.
    #[message("tokenizer: {why}; the text begins {text:?}", "分词器：{why}；文本开头为 {text:?}")]
    Encode {
        /// The tokenizer's error.
        why: Message,
        /// How the text begins.
        text: String,
    },
    /// The server's `/tokenize` did not return a count.
    #[message("server's /tokenize: {0}", "服务器的 /tokenize：{0}")]
    Ask(Message),
    /// A request body without anything to count.
    #[message(
        "request body without `messages` or `prompt`: its input tokens cannot be counted",
        "请求体没有 `messages` 或 `prompt`：无法计算其输入 token 数"
    )]
    NothingToCount,
}
