//! The URL of a server: http or https, every part of it checked, and without credentials. Each mistake
//! has its own message.

use dyno_model::{Message, message};
use std::fmt;
use std::net::Ipv6Addr;

/// A parsed URL. The values of its query may be secret, so it is printed without them.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl {
    full: String,
    host: String,
    port: Option<u16>,
    path_at: usize,
    query_at: Option<usize>,
}

impl TargetUrl {
    /// Reads `http://host:port/path?query`.
    pub fn parse(text: &str) -> Result<Self, Message> {
        let text = text.trim();
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(without_scheme(text));
        };
        if [",http://", ",https://"].iter().any(|next| text.contains(next)) {
            return Err(message!(
                "there is one TARGET; a second server to compare with goes to --versus",
                "TARGET 只能有一个；要对比的另一个服务器请用 --versus 指定",
            ));
        }
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return Err(message!(
                "unsupported scheme `{scheme}`; write a URL that begins with http:// or https://",
                "不支持协议 `{scheme}`；请写以 http:// 或 https:// 开头的 URL",
            ));
        }
        let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(split);
        if authority.contains('@') {
            let wrong = message!(
                "the URL contains a user name or password, which would end up in logs; remove it",
                "URL 中含有用户名或密码，会被写入日志；请去掉",
            );
            return Err(wrong.with_hint(message!(
                "give it with --header Authorization:… or --api-key-file FILE",
                "请用 --header Authorization:… 或 --api-key-file FILE 提供"
            )));
        }
        if tail.contains('#') {
            return Err(message!(
                "a fragment (`#…`) is never sent to a server; remove it",
                "片段（`#…`）不会发送给服务器；请去掉",
            ));
        }
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(message!(
                "the URL contains spaces, control or non-ASCII characters; percent-encode them, \
                 and write international host names in their xn-- form",
                "URL 中含有空格、控制字符或非 ASCII 字符；请用百分号编码，国际化域名请写成 xn-- 形式",
            ));
        }
        let (host, port) = host_and_port(authority)?;
        let full = format!("{scheme}://{authority}{tail}");
        let path_at = full.len() - tail.len();
        let query_at = tail.find('?').map(|at| path_at + at);
        Ok(Self { full, host: host.to_owned(), port, path_at, query_at })
    }

    /// The complete URL, to connect with.
    pub fn full(&self) -> &str {
        &self.full
    }

    /// For saving and printing: without the values of the query.
    pub fn shown(&self) -> String {
        let Some(query) = self.query() else { return self.full.clone() };
        let hidden: Vec<String> = query
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some((key, _)) => format!("{key}=…"),
                None => "…".to_owned(),
            })
            .collect();
        format!("{}?{}", &self.full[..self.path_end()], hidden.join("&"))
    }

    /// Whether both lead to the same server: scheme, host and port.
    pub fn same_server(&self, other: &Self) -> bool {
        let host = self.host.eq_ignore_ascii_case(&other.host);
        host && self.port() == other.port() && self.is_https() == other.is_https()
    }

    /// Host name or address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, by the scheme where none is written.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    /// The path, perhaps empty.
    pub fn path(&self) -> &str {
        &self.full[self.path_at..self.path_end()]
    }

    /// The query, without `?`.
    pub fn query(&self) -> Option<&str> {
        self.query_at.map(|at| &self.full[at + 1..])
    }

    /// Whether it uses TLS.
    pub fn is_https(&self) -> bool {
        self.full.starts_with("https:")
    }

    fn path_end(&self) -> usize {
        self.query_at.unwrap_or(self.full.len())
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// Repeats only what is certainly a host: another argument may be a key.
fn without_scheme(text: &str) -> Message {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
    let like_host = host.contains(['.', ':']) || host == "localhost";
    if like_host && host.len() <= 80 && host.chars().all(plain) {
        let shown = text.split(['?', '#', '@']).next().unwrap_or_default();
        return message!(
            "`{shown}` has no scheme; write http://{shown} or https://{shown}",
            "`{shown}` 没有协议；请写 http://{shown} 或 https://{shown}",
        );
    }
    message!(
        "this is not a URL; write http://host:port, such as http://localhost:8000",
        "这不是 URL；请写 http://主机:端口，例如 http://localhost:8000",
    )
}

fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), Message> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let Some((host, port)) = rest.split_once(']') else {
                return Err(message!(
                    "`{authority}` has no closing bracket; write [::1]:8000",
                    "`{authority}` 缺少右方括号；请写 [::1]:8000",
                ));
            };
            if host.parse::<Ipv6Addr>().is_err() {
                return Err(message!(
                    "`{host}` is not an IPv6 address; write [::1], for example",
                    "`{host}` 不是 IPv6 地址；请写例如 [::1]",
                ));
            }
            match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if port.is_empty() => (host, None),
                None => {
                    return Err(message!(
                        "`{authority}` is not a host; write [::1]:8000",
                        "`{authority}` 不是主机；请写 [::1]:8000",
                    ));
                }
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err(message!(
            "the URL has no host; write http://host:port",
            "URL 没有主机；请写 http://主机:端口",
        ));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    if !host.bytes().all(plain) {
        return Err(message!("`{host}` is not a host name", "`{host}` 不是主机名"));
    }
    let Some(port) = port else { return Ok((host, None)) };
    if port.contains(':') {
        return Err(message!(
            "`{authority}` is not a host; write an IPv6 address in brackets: [::1]",
            "`{authority}` 不是主机；IPv6 地址请加方括号：[::1]",
        ));
    }
    match port.parse() {
        Ok(number @ 1..) => Ok((host, Some(number))),
        _ => Err(message!(
            "`{port}` is not a port; write a number from 1 to 65535",
            "`{port}` 不是端口；请写 1 到 65535 之间的数",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Result<TargetUrl, String> {
        TargetUrl::parse(text).map_err(|error| error.to_string())
    }

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
        for several in ["http://a:1,http://b:2", "http://a/v1,https://b"] {
            assert!(target(several).unwrap_err().contains("--versus"), "{several}");
        }
        let message = "`99999` is not a port; write a number from 1 to 65535";
        assert_eq!(target("http://host:99999").unwrap_err(), message);
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
