//! Which bus, and how to be let in: from flags, files and the environment. Secrets are read here and shown
//! nowhere.

use super::Subjects;
use super::error::BusError;
use address::Address;
use dyno_model::{Message, message};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

mod address;

/// The prefix of subjects unless another is given.
pub(super) const PREFIX: &str = "dyno";
/// The largest file with a secret.
const FILE: u64 = 64 << 10;
const PREFIX_LENGTH: usize = 60;

/// What the user said about the bus, as in the flags.
#[derive(Clone, Default)]
pub struct Given {
    /// `--bus`: servers, separated by commas.
    pub bus: String,
    /// `--bus-prefix`: what subjects begin with.
    pub prefix: Option<String>,
    /// `--bus-creds`: a file with a JWT and a seed.
    pub creds: Option<PathBuf>,
    /// `--bus-nkey`: a file with the seed of an NKey.
    pub nkey: Option<PathBuf>,
    /// `--bus-token`: a file with a token.
    pub token: Option<PathBuf>,
    /// `--bus-ca`: certificates of authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// `--bus-cert`: Dyno's own certificate.
    pub cert: Option<PathBuf>,
    /// `--bus-key`: its key.
    pub key: Option<PathBuf>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may have a password in it.
        f.write_str("Given")
    }
}

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn told(&self) -> String {
        self.0.clone()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// How to be let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Open,
    User(String, Secret),
    Token(Secret),
    Nkey(Secret),
    Creds(Secret, PathBuf),
}

/// A bus and how to be let in, checked as far as that goes without connecting.
#[derive(Debug, Clone)]
pub struct BusOptions {
    servers: Vec<Address>,
    pub(super) prefix: String,
    pub(super) entry: Entry,
    pub(super) ca: Option<PathBuf>,
    pub(super) client: Option<(PathBuf, PathBuf)>,
    visible: bool,
}

impl BusOptions {
    /// Settles which bus is meant. Whatever was given comes before the environment, of which
    /// `DYNO_BUS_TOKEN`, `DYNO_BUS_USER` and `DYNO_BUS_PASSWORD` are asked for.
    pub fn new(
        given: &Given,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, BusError> {
        let (servers, user) = address::servers(&given.bus)?;
        let environment = |name: &str| environment(name).filter(|text| !text.is_empty());
        let prefix = given.prefix.clone().unwrap_or_else(|| PREFIX.to_owned());
        check_prefix(&prefix)?;
        let client = match (&given.cert, &given.key) {
            (None, None) => None,
            (Some(cert), Some(key)) => Some((cert.clone(), key.clone())),
            (Some(_), None) => return Err(alone("--bus-cert", "--bus-key")),
            (None, Some(_)) => return Err(alone("--bus-key", "--bus-cert")),
        };
        let files =
            [("--bus-ca", &given.ca), ("--bus-cert", &given.cert), ("--bus-key", &given.key)];
        for (flag, file) in files {
            if let Some(file) = file {
                check_pem(flag, file)?;
            }
        }
        let named = user.is_some();
        let entry = entry(given, user, environment)?;
        // A user whose password is in the environment is no secret.
        let visible = match &entry {
            Entry::User(_, password) => {
                named && environment("DYNO_BUS_PASSWORD").as_ref() != Some(&password.0)
            }
            Entry::Token(_) => named,
            Entry::Open | Entry::Nkey(_) | Entry::Creds(..) => false,
        };
        Ok(Self { servers, prefix, entry, ca: given.ca.clone(), client, visible })
    }

    /// Whether a password or a token was part of the address, where others may see it.
    pub fn has_visible_secret(&self) -> bool {
        self.visible
    }

    /// The servers, for people.
    pub fn shown(&self) -> String {
        self.servers.iter().map(Address::to_string).collect::<Vec<_>>().join(",")
    }

    pub(super) fn urls(&self) -> impl Iterator<Item = String> {
        self.servers.iter().map(Address::to_string)
    }

    pub(super) fn subjects(&self) -> Subjects {
        Subjects { prefix: self.prefix.clone() }
    }
}

fn alone(flag: &'static str, other: &'static str) -> BusError {
    BusError::Setting { flag, why: message!("needs {other}, too", "还需要 {other}") }
}

/// A prefix becomes part of subjects, where dots separate names, and `*` and `>` mean others.
fn check_prefix(prefix: &str) -> Result<(), BusError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let names = prefix.split('.').all(|name| !name.is_empty() && name.bytes().all(plain));
    if names && prefix.len() <= PREFIX_LENGTH {
        return Ok(());
    }
    let why = message!(
        "must be names of letters, digits, - and _, separated by dots, in at most {PREFIX_LENGTH} characters",
        "必须是由字母、数字、- 和 _ 组成、以点分隔的名称，最多 {PREFIX_LENGTH} 个字符"
    );
    Err(BusError::Setting { flag: "--bus-prefix", why })
}

/// The one way in that was given.
fn entry(
    given: &Given,
    user: Option<(String, Option<String>)>,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Entry, BusError> {
    let mut ways: Vec<(&str, Entry)> = Vec::new();
    if let Some(file) = &given.creds {
        ways.push(("--bus-creds", creds(file)?));
    }
    if let Some(file) = &given.nkey {
        ways.push(("--bus-nkey", nkey(file)?));
    }
    if let Some(file) = &given.token {
        let token = read("--bus-token", file)?.trim().to_owned();
        if token.is_empty() {
            return Err(unfit(
                "--bus-token",
                file,
                message!("there is no token in it", "其中没有令牌"),
            ));
        }
        ways.push(("--bus-token", Entry::Token(Secret(token))));
    }
    match user {
        Some((user, Some(password))) => {
            ways.push(("--bus USER:PASSWORD@", Entry::User(user, Secret(password))));
        }
        // One word before the host is a token, unless there is a password for it.
        Some((word, None)) => ways.push(match environment("DYNO_BUS_PASSWORD") {
            Some(password) => ("--bus USER@", Entry::User(word, Secret(password))),
            None => ("--bus TOKEN@", Entry::Token(Secret(word))),
        }),
        None => {}
    }
    if let [(first, _), (second, _), ..] = &ways[..] {
        let why = message!(
            "{first} and {second} are two ways in: give one",
            "{first} 和 {second} 是两种登录方式：请只给出一种"
        );
        return Err(BusError::Setting { flag: "--bus:", why });
    }
    if let Some((_, entry)) = ways.pop() {
        return Ok(entry);
    }
    if let Some(token) = environment("DYNO_BUS_TOKEN") {
        return Ok(Entry::Token(Secret(token)));
    }
    match (environment("DYNO_BUS_USER"), environment("DYNO_BUS_PASSWORD")) {
        (Some(user), Some(password)) => Ok(Entry::User(user, Secret(password))),
        (Some(_), None) => Err(incomplete("DYNO_BUS_USER", "DYNO_BUS_PASSWORD")),
        (None, Some(_)) => Err(incomplete("DYNO_BUS_PASSWORD", "DYNO_BUS_USER")),
        (None, None) => Ok(Entry::Open),
    }
}

fn incomplete(flag: &'static str, other: &str) -> BusError {
    BusError::Setting {
        flag, why: message!("is set without {other}", "已设置，但缺少 {other}")
    }
}

fn unfit(flag: &'static str, file: &Path, why: Message) -> BusError {
    BusError::File { flag, file: file.to_owned(), why }
}

fn read(flag: &'static str, path: &Path) -> Result<String, BusError> {
    let wrong = |error: std::io::Error| unfit(flag, path, Message::of(error));
    let file = File::open(path).map_err(wrong)?;
    let mut text = String::new();
    let count = file.take(FILE + 1).read_to_string(&mut text).map_err(wrong)?;
    if count as u64 > FILE {
        return Err(unfit(flag, path, message!("it is too large", "文件过大")));
    }
    Ok(text)
}

fn check_pem(flag: &'static str, path: &Path) -> Result<(), BusError> {
    // A bundle of authorities may be larger than a secret.
    let wrong = |error: std::io::Error| unfit(flag, path, Message::of(error));
    let text = std::fs::read(path).map_err(wrong)?;
    let begin = b"-----BEGIN ";
    if text.windows(begin.len()).any(|part| part == begin) {
        return Ok(());
    }
    Err(unfit(flag, path, message!("it is no PEM file", "不是 PEM 文件")))
}

/// A word with the form of a user's seed.
fn is_seed(word: &str) -> bool {
    word.len() == 58
        && word.starts_with("SU")
        && word.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'))
}

fn nkey(path: &Path) -> Result<Entry, BusError> {
    let text = read("--bus-nkey", path)?;
    let seed = text.split_whitespace().find(|word| is_seed(word));
    let missing = || {
        message!(
            "there is no seed of a user in it: a word of 58 characters that begins with SU",
            "其中没有用户种子：应为以 SU 开头的 58 个字符"
        )
    };
    let seed = seed.ok_or_else(|| unfit("--bus-nkey", path, missing()))?;
    Ok(Entry::Nkey(Secret(seed.to_owned())))
}

/// What is wrong with a file that should have them.
pub(super) fn no_credentials() -> Message {
    message!(
        "it is no credentials file: it must have a JWT and a seed of a user",
        "不是凭据文件：其中必须有 JWT 和用户种子"
    )
}

fn creds(path: &Path) -> Result<Entry, BusError> {
    let text = read("--bus-creds", path)?;
    if !text.split_whitespace().any(is_seed) || !text.contains("BEGIN NATS USER JWT") {
        return Err(unfit("--bus-creds", path, no_credentials()));
    }
    Ok(Entry::Creds(Secret(text), path.to_owned()))
}

#[cfg(test)]
mod tests;
