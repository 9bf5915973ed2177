//! The target as typed.

use dyno_model::Message;
pub(crate) use dyno_run::TargetUrl;

/// Reads `http://host:port/path?query`.
pub(crate) fn target(text: &str) -> Result<TargetUrl, Message> {
    TargetUrl::parse(text)
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
