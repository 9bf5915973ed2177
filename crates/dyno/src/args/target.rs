//! The target as typed: an http or https URL whose parts are known to be sound and that carries
//! no credentials.

use super::values::with_hint;
use std::fmt;

/// A checked base or endpoint URL.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TargetUrl {
    full: String,
    path_at: usize,
    query_at: Option<usize>,
}

impl TargetUrl {
    /// All of it, to connect with.
    pub(crate) fn full(&self) -> &str {
        &self.full
    }

    /// Fit to be saved and printed: the values of the query are left out.
    pub(crate) fn shown(&self) -> String {
        let Some(at) = self.query_at else { return self.full.clone() };
        let hidden: Vec<String> = self.full[at + 1..]
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some((key, _)) => format!("{key}=…"),
                None => "…".to_owned(),
            })
            .collect();
        format!("{}?{}", &self.full[..at], hidden.join("&"))
    }

    /// The path, perhaps empty.
    pub(crate) fn path(&self) -> &str {
        &self.full[self.path_at..self.query_at.unwrap_or(self.full.len())]
    }

    /// Spoken over TLS.
    pub(crate) fn is_https(&self) -> bool {
        self.full.starts_with("https:")
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// Reads `http://host:port/path?query`.
pub(crate) fn target(text: &str) -> Result<TargetUrl, String> {
    let text = text.trim();
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(without_scheme(text));
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err(format!(
            "`{scheme}` is not spoken here; write a URL that begins with http:// or https://"
        ));
    }
    let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(split);
    if authority.contains('@') {
        return Err(with_hint(
            "a URL with a user name or password in it would end up in logs; leave that part out",
            "give it with --header Authorization:… or --api-key-file FILE",
        ));
    }
    if tail.contains('#') {
        return Err("a fragment (`#…`) is never sent to a server; leave it out".to_owned());
    }
    if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(
            "the URL holds blanks, control or non-ASCII characters; write them percent-encoded, \
             and international host names in their xn-- form"
                .to_owned(),
        );
    }
    check_authority(authority)?;
    let full = format!("{scheme}://{authority}{tail}");
    let path_at = full.len() - tail.len();
    let query_at = tail.find('?').map(|at| path_at + at);
    Ok(TargetUrl { full, path_at, query_at })
}

/// Repeats only what is certainly a host: a stray argument may be a key.
fn without_scheme(text: &str) -> String {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
    let like_host = host.contains(['.', ':']) || host == "localhost";
    if like_host && host.len() <= 80 && host.chars().all(plain) {
        let shown = text.split(['?', '#', '@']).next().unwrap_or_default();
        return format!("`{shown}` has no scheme; write http://{shown} or https://{shown}");
    }
    "this is not a URL; write http://host:port, such as http://localhost:8000".to_owned()
}

fn check_authority(authority: &str) -> Result<(), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let Some((host, port)) = rest.split_once(']') else {
                return Err(format!("`{authority}` has no closing bracket; write [::1]:8000"));
            };
            if host.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(format!("`{host}` is not an IPv6 address; write [::1], for example"));
            }
            match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if port.is_empty() => (host, None),
                None => return Err(format!("`{authority}` is no host; write [::1]:8000")),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err("the URL has no host; write http://host:port".to_owned());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    if !host.bytes().all(plain) {
        return Err(format!("`{host}` is not a host name"));
    }
    if port.is_some_and(|port| port.contains(':')) {
        return Err(format!("`{authority}` is no host; write an IPv6 address in brackets: [::1]"));
    }
    match port.map(str::parse::<u16>) {
        None | Some(Ok(1..)) => Ok(()),
        _ => Err(format!(
            "`{}` is not a port; write a number from 1 to 65535",
            port.unwrap_or_default()
        )),
    }
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
