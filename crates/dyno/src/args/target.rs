//! The target as typed.

use dyno_model::{Message, message};
pub(crate) use dyno_run::TargetUrl;
use dyno_run::UrlError;

/// Reads `http://host:port/path?query`.
pub(crate) fn target(text: &str) -> Result<TargetUrl, Message> {
    TargetUrl::parse(text).map_err(|error| match error {
        UrlError::Credentials => Message::of(error).with_hint(message!(
            "give it with --header Authorization:… or --api-key-file FILE",
            "请用 --header Authorization:… 或 --api-key-file FILE 提供"
        )),
        _ => Message::of(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_have_their_own_flag() {
        let error = target("http://me:hush@host/v1").unwrap_err().to_string();
        assert!(error.contains("remove it\n  hint: give it with --header"), "{error}");
        assert!(!error.contains("hush"), "{error}");
    }
}
