//! Why a tokenizer could not be read or could not count.

use std::path::PathBuf;

/// A tokenizer that could not be read, or text that it could not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerError {
    /// The path does not exist, or cannot be read.
    #[error(
        "--tokenizer {}: {why}; give a Hugging Face tokenizer.json or a model's folder",
        path.display()
    )]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        why: String,
    },
    /// A folder without a `tokenizer.json`.
    #[error("--tokenizer {}: no tokenizer.json in this folder; {hint}", path.display())]
    NoTokenizerJson {
        /// The folder.
        path: PathBuf,
        /// What would help.
        hint: String,
    },
    /// The file is not a `tokenizer.json`.
    #[error("--tokenizer {}: not a Hugging Face tokenizer.json: {why}", path.display())]
    NotATokenizer {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        why: String,
    },
    /// A file next to the tokenizer is malformed.
    #[error("{}: {why}; fix the file or remove it", path.display())]
    BadConfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The chat template cannot be compiled.
    #[error("chat template of {}: {why}", path.display())]
    BadTemplate {
        /// The file that holds the template.
        path: PathBuf,
        /// Line and reason.
        why: String,
    },
    /// The chat template does not take these messages.
    #[error("chat template: {why}")]
    Render {
        /// Line and reason.
        why: String,
    },
    /// The tokenizer could not encode a text.
    #[error("tokenizer: {why}; the text begins {text:?}")]
    Encode {
        /// The tokenizer's error.
        why: String,
        /// How the text begins.
        text: String,
    },
    /// The server's `/tokenize` did not return a count.
    #[error("server's /tokenize: {0}")]
    Ask(String),
    /// A request body without anything to count.
    #[error("request body without `messages` or `prompt`: its input tokens cannot be counted")]
    NothingToCount,
}
