//! Why a run cannot start, and what the user can do about it.

use crate::client::Interrupted;
use crate::encode::SecretHeaders;
use crate::tls::TlsFault;
use dyno_drive::TransportError;
use dyno_model::{Localized, Message, message};

/// Why the run cannot start.
#[derive(Debug, Localized)]
pub enum PreflightError {
    /// The target is down, refuses requests, or does not have the model.
    #[message(transparent)]
    Target(Message),
    /// It does not have the API: nothing is at the path of its requests.
    #[message(transparent)]
    NoSuchApi(Message),
    /// It refuses requests, and another API has the same path.
    #[message("{message}", "{message}")]
    Other {
        /// What it says.
        message: Message,
        /// The other.
        other: &'static str,
    },
    /// Nothing answers at its address.
    #[message("the target cannot be reached: {why}", "无法连接目标：{why}")]
    Unreachable {
        /// Why.
        why: Message,
        /// The same, where it is for reasons of TLS.
        tls: Option<Box<TlsFault>>,
    },
    /// The user has to choose.
    #[message("--model: {0}", "--model：{0}")]
    Model(Message),
    /// Ctrl-C.
    #[message("interrupted", "已中断")]
    Interrupted,
    /// An internal error.
    #[message(transparent)]
    Client(#[source] TransportError),
}

impl From<Interrupted> for PreflightError {
    fn from(error: Interrupted) -> Self {
        match error {
            Interrupted::Stopped => Self::Interrupted,
            Interrupted::Transport(error) => Self::Client(error),
        }
    }
}

/// What to do where the server wants a key.
pub(super) fn about_key(headers: &SecretHeaders) -> Message {
    match headers.has_key() {
        true => message!(
            "the server refuses the key that was given with --api-key-file or DYNO_API_KEY",
            "服务器拒绝了由 --api-key-file 或 DYNO_API_KEY 提供的密钥"
        ),
        false => message!(
            "pass a key with --api-key-file or DYNO_API_KEY",
            "请用 --api-key-file 或 DYNO_API_KEY 提供密钥"
        ),
    }
}

/// The test request failed.
pub(super) fn failed(detail: &Message) -> PreflightError {
    PreflightError::Target(message!("the test request failed: {detail}", "预检请求失败：{detail}"))
}

/// The server refused a request.
pub(super) fn returned(status: u16, hint: Option<Message>, message: &Message) -> Message {
    match (hint, message.texts()) {
        (None, ["", _]) => {
            message!("the server returned HTTP {status}", "服务器返回 HTTP {status}")
        }
        (None, _) => message!(
            "the server returned HTTP {status}: {message}",
            "服务器返回 HTTP {status}：{message}"
        ),
        (Some(hint), ["", _]) => message!(
            "the server returned HTTP {status}; {hint}",
            "服务器返回 HTTP {status}；{hint}"
        ),
        (Some(hint), _) => message!(
            "the server returned HTTP {status}; {hint}: {message}",
            "服务器返回 HTTP {status}（{message}）；{hint}"
        ),
    }
}
