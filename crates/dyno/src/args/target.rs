//! The target as typed.

use super::values::with_hint;
pub(crate) use dyno_run::TargetUrl;
use dyno_run::UrlError;

/// Reads `http://host:port/path?query`.
pub(crate) fn target(text: &str) -> Result<TargetUrl, String> {
    TargetUrl::parse(text).map_err(|error| match error {
        UrlError::Credentials => {
            with_hint(error, "give it with --header Authorization:… or --api-key-file FILE")
        }
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_have_their_own_flag() {
        let error = target("http://me:hush@host/v1").unwrap_err();
        assert!(error.contains("remove it\n  hint: give it with --header"), "{error}");
        assert!(!error.contains("hush"), "{error}");
    }
}
