//! Addresses of servers, as NATS users write them: `nats://USER:PASSWORD@HOST:PORT`, several with commas.

use crate::nats::error::BusError;
use dyno_model::{Message, message};
use std::fmt;

const PORT: u16 = 4222;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    tls: bool,
    /// With brackets where it is an IPv6 address.
    host: String,
    port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "tls" } else { "nats" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

type User = (String, Option<String>);

/// The servers of a list, and the user that they name: a word, and a password where there is one.
pub(super) fn servers(list: &str) -> Result<(Vec<Address>, Option<User>), BusError> {
    let mut servers = Vec::new();
    let mut user: Option<User> = None;
    for text in list.split(',').map(str::trim) {
        let (server, named) = address(text)?;
        if user.is_some() && named.is_some() && user != named {
            return Err(wrong(
                text,
                message!(
                    "all servers must have the same user and password",
                    "所有服务器必须使用相同的用户名和密码"
                ),
            ));
        }
        user = user.or(named);
        servers.push(server);
    }
    Ok((servers, user))
}

/// What is wrong with an address, without what may be secret in it.
fn wrong(text: &str, why: Message) -> BusError {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let given = match text.rsplit_once('@') {
        Some((_, host)) if scheme.is_empty() => format!("…@{host}"),
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => text.to_owned(),
    };
    BusError::Address { given, why }
}

fn address(text: &str) -> Result<(Address, Option<User>), BusError> {
    let wrong = |why| wrong(text, why);
    let (tls, rest) = match text.split_once("://") {
        None => (false, text),
        Some(("nats", rest)) => (false, rest),
        Some(("tls", rest)) => (true, rest),
        Some(("ws" | "wss", _)) => {
            return Err(wrong(message!(
                "websockets are not supported: use nats:// or tls://",
                "不支持 WebSocket：请使用 nats:// 或 tls://"
            )));
        }
        Some(_) => {
            return Err(wrong(message!(
                "it must begin with nats:// or tls://",
                "地址必须以 nats:// 或 tls:// 开头"
            )));
        }
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, rest),
    };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let port = port.parse().ok().filter(|port| *port > 0);
            let no_port = || {
                wrong(message!(
                    "the port must be a number from 1 to 65535",
                    "端口必须是 1 到 65535 之间的数字"
                ))
            };
            (host, port.ok_or_else(no_port)?)
        }
        _ => (place, PORT),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let known = match bare {
        Some(bare) => bare.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
            !host.is_empty() && host.bytes().all(plain)
        }
    };
    if !known {
        return Err(wrong(message!(
            "the host must be a name, an address, or an IPv6 address in brackets",
            "主机必须是名称、地址或带方括号的 IPv6 地址"
        )));
    }
    let user =
        match user.map(|user| user.split_once(':').map_or((user, None), |(u, p)| (u, Some(p)))) {
            None => None,
            Some((user, password)) => {
                let clear = |part: &str| {
                    let text = unescaped(part).filter(|text| !text.is_empty());
                    text.ok_or_else(|| {
                        wrong(message!(
                            "user and password must not be empty; write @ as %40 and % as %25",
                            "用户名和密码不能为空；请将 @ 写作 %40，将 % 写作 %25"
                        ))
                    })
                };
                Some((clear(user)?, password.map(clear).transpose()?))
            }
        };
    Ok((Address { tls, host: host.to_owned(), port }, user))
}

/// Text with `%XX` replaced; `None` if it is malformed.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}
