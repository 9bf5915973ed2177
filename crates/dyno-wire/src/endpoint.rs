//! Where requests go: a base URL, with or without the API's prefix (`/v1`), or a full endpoint path.

use crate::dialect::{Dialect, USUAL_PREFIX};
use crate::url::TargetUrl;
use dyno_model::Message;

/// The parts of a target's URL.
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
    /// Path before the API's prefix, for the other endpoints.
    pub base: String,
}

impl Endpoint {
    /// The endpoint of a URL. A path that ends with the API's own is a full endpoint; one that
    /// ends with the API's prefix, `/v1` or something else is a base.
    pub fn new(url: &TargetUrl, dialect: &dyn Dialect) -> Self {
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = url.path().trim_end_matches('/');
        let about = dialect.about();
        let base = path.strip_suffix(about.path).unwrap_or(path);
        let full = path.len() > base.len();
        let root = [about.prefix, USUAL_PREFIX]
            .into_iter()
            .filter(|prefix| !prefix.is_empty())
            .find_map(|prefix| base.strip_suffix(prefix))
            .unwrap_or(base);
        let path = match full {
            true => format!("{path}{query}"),
            false => format!("{root}{}{query}", about.whole_path()),
        };
        Self {
            tls: url.is_https(),
            host: url.host().to_owned(),
            port: url.port(),
            path,
            base: root.to_owned(),
        }
    }

    /// The endpoint of a URL as it was written.
    pub fn parse(url: &str, dialect: &dyn Dialect) -> Result<Self, Message> {
        Ok(Self::new(&TargetUrl::parse(url)?, dialect))
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{DIALECTS, of_path};

    fn path(url: &str) -> String {
        Endpoint::parse(url, DIALECTS[0]).unwrap().path
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
        let full = Endpoint::parse("http://h/g/v1/chat/completions", DIALECTS[0]).unwrap();
        assert_eq!(full.beside("/v1/models"), "/g/v1/models");
        assert_eq!(path("http://h/chat"), "/chat/v1/chat/completions");
        let text = Endpoint::parse("http://h/v1/completions", of_path("/v1/completions").unwrap())
            .unwrap();
        assert_eq!((text.path.as_str(), text.base.as_str()), ("/v1/completions", ""));
    }

    #[test]
    fn hosts_and_ports() {
        let parse = |url| Endpoint::parse(url, DIALECTS[0]);
        let e = parse("https://[::1]:8443/v1").unwrap();
        assert_eq!((e.tls, e.host.as_str(), e.port), (true, "::1", 8443));
        assert_eq!(e.host_header(), "[::1]:8443");
        assert_eq!(parse("https://h").unwrap().host_header(), "h");
        for bad in ["h:8000", "ftp://h", "http://", "http://:80", "http://h:0", "http://u@h"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
