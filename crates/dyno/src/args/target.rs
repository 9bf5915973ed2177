//! The target as typed.

use super::values::with_hint;
pub(crate) use dyno_wire::url::TargetUrl;
use dyno_wire::url::UrlError;

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
    fn urls_are_taken_apart() {
        let url = target("HTTPS://api.example.com:8443/v1/chat/completions?a=b&token").unwrap();
        assert!(url.is_https());
        assert_eq!(url.path(), "/v1/chat/completions");
        assert_eq!(url.shown(), "https://api.example.com:8443/v1/chat/completions?a=…&…");
        assert!(url.full().ends_with("?a=b&token"));
        assert!(!format!("{url:?}").contains("token"));
        assert_eq!(target("http://[::1]:8000").unwrap().path(), "");
        assert_eq!(target("http://localhost:8000/").unwrap().path(), "/");
    }

    #[test]
    fn what_is_no_sound_url_is_refused() {
        for text in [
            "",
            "localhost:8000",
            "localhost",
            "10.0.0.1/v1",
            "8000",
            "ftp://host",
            "http://",
            "http://:80",
            "http://host:0",
            "http://host:65536",
            "http://host:x",
            "http://a b",
            "http://host/#top",
            "http://[::1",
            "http://::1:80",
            "http://[no]:1",
            "http://héllo",
            "http://user@host",
            "unix:///tmp/socket",
        ] {
            assert!(target(text).is_err(), "{text}");
        }
        assert!(target("localhost:8000").unwrap_err().contains("http://localhost:8000"));
    }

    #[test]
    fn credentials_are_not_repeated() {
        for text in
            ["http://me:hush@host/v1", "me:hush@host:80", "localhost:80?key=hush", "sk-hush"]
        {
            assert!(!target(text).unwrap_err().contains("hush"), "{text}");
        }
    }
}
