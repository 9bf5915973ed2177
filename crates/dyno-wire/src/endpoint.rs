//! Where requests go: a base URL, with or without `/v1`, or a full endpoint path.

use dyno_model::plan::Api;
use std::net::{SocketAddr, ToSocketAddrs};
use thiserror::Error;

/// A target that was taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// TLS.
    pub tls: bool,
    /// Host name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query of the generation endpoint.
    pub path: String,
    /// Path before `/v1`, for the other endpoints.
    pub base: String,
}

/// Why a target cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EndpointError {
    /// Not a URL of the kind wanted.
    #[error("`{0}` is not a target; write a URL such as http://localhost:8000")]
    NotAUrl(String),
    /// Name look-up failed.
    #[error("the host `{0}` could not be found: {1}")]
    Unknown(String, String),
}

fn generation_path(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat => "/chat/completions",
        Api::OpenAiCompletions => "/completions",
    }
}

impl Endpoint {
    /// Takes a URL apart. A path that ends with the API's own is a full endpoint; one that ends
    /// with `/v1` or something else is a base.
    pub fn parse(url: &str, api: Api) -> Result<Self, EndpointError> {
        let bad = || EndpointError::NotAUrl(url.to_owned());
        let (tls, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(bad()),
        };
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let (host, port) = split_authority(authority).ok_or_else(bad)?;
        let port = match port {
            Some(text) => text.parse().ok().filter(|port| *port != 0).ok_or_else(bad)?,
            None if tls => 443,
            None => 80,
        };
        if path.bytes().any(|b| b <= b' ' || b == b'#' || b >= 0x7f) {
            return Err(bad());
        }
        let (path, query) = match path.find('?') {
            Some(at) => path.split_at(at),
            None => (path, ""),
        };
        let path = path.trim_end_matches('/');
        let wanted = generation_path(api);
        let base = path.strip_suffix(wanted).unwrap_or(path);
        let full = path.len() > base.len();
        let root = base.strip_suffix("/v1").unwrap_or(base);
        let path = match full {
            true => format!("{path}{query}"),
            false => format!("{root}/v1{wanted}{query}"),
        };
        Ok(Self { tls, host: host.to_owned(), port, path, base: root.to_owned() })
    }

    /// Path of another endpoint on the same server.
    pub fn beside(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Value of the `Host` header.
    pub fn host_header(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        match (self.tls, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// Looks the host up, once for the whole run.
    pub fn resolve(&self) -> Result<SocketAddr, EndpointError> {
        let unknown = |why: String| EndpointError::Unknown(self.host.clone(), why);
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let mut all: Vec<SocketAddr> = found.map_err(|e| unknown(e.to_string()))?.collect();
        // Inference servers mostly listen on IPv4 only.
        all.sort_by_key(SocketAddr::is_ipv6);
        all.first().copied().ok_or_else(|| unknown("no address".into()))
    }
}

fn split_authority(authority: &str) -> Option<(&str, Option<&str>)> {
    if authority.is_empty() || authority.contains('@') {
        return None;
    }
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest {
            "" => Some((host, None)),
            _ => Some((host, Some(rest.strip_prefix(':')?))),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) if !host.is_empty() => Some((host, Some(port))),
        Some(_) => None,
        None => Some((authority, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(url: &str) -> String {
        Endpoint::parse(url, Api::OpenAiChat).unwrap().path
    }

    #[test]
    fn bases_and_full_paths_lead_to_the_same_endpoint() {
        for url in [
            "http://h:8000",
            "http://h:8000/",
            "http://h:8000/v1",
            "http://h:8000/v1/",
            "http://h:8000/v1/chat/completions",
        ] {
            assert_eq!(path(url), "/v1/chat/completions", "{url}");
        }
        assert_eq!(path("http://h/gateway/v1"), "/gateway/v1/chat/completions");
        assert_eq!(path("http://h/x/chat/completions?a=1"), "/x/chat/completions?a=1");
        let full = Endpoint::parse("http://h/g/v1/chat/completions", Api::OpenAiChat).unwrap();
        assert_eq!(full.beside("/v1/models"), "/g/v1/models");
        assert_eq!(path("http://h/chat"), "/chat/v1/chat/completions");
        let text = Endpoint::parse("http://h/v1/completions", Api::OpenAiCompletions).unwrap();
        assert_eq!((text.path.as_str(), text.base.as_str()), ("/v1/completions", ""));
    }

    #[test]
    fn hosts_and_ports() {
        let parse = |url| Endpoint::parse(url, Api::OpenAiChat);
        let e = parse("https://[::1]:8443/v1").unwrap();
        assert_eq!((e.tls, e.host.as_str(), e.port), (true, "::1", 8443));
        assert_eq!(e.host_header(), "[::1]:8443");
        assert_eq!(parse("https://h").unwrap().host_header(), "h");
        for bad in ["h:8000", "ftp://h", "http://", "http://:80", "http://h:0", "http://u@h"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
