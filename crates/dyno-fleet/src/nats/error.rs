//! What can be wrong with a bus, or with what was said about it. Nothing here contains a secret.

use dyno_model::message::{clauses, list};
use dyno_model::{Localized, Message, message};
use std::path::PathBuf;

/// Why a bus cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum BusError {
    /// The address of the bus is none.
    #[message("`{given}` is not a valid NATS URL: {why}", "`{given}` 不是有效的 NATS 地址：{why}")]
    Address {
        /// What was given, without user and password.
        given: String,
        /// What is wrong with it.
        why: Message,
    },
    /// A setting of the bus is wrong.
    #[message("{flag} {why}", "{flag} {why}")]
    Setting {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        why: Message,
    },
    /// A file cannot be used.
    #[message("{flag}: `{}`: {why}", "{flag}：`{}`：{why}", file.display())]
    File {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: Message,
    },
    /// Nobody is there.
    #[message("cannot reach the bus at {servers}: {why}", "无法连接总线 {servers}：{why}")]
    Unreachable {
        /// Where it was looked for.
        servers: String,
        /// What went wrong.
        why: Message,
    },
    /// The server does not let us in.
    #[message(
        "the bus at {servers} does not let Dyno in: {why}",
        "总线 {servers} 拒绝 Dyno 接入：{why}"
    )]
    Denied {
        /// The servers.
        servers: String,
        /// What it said.
        why: Message,
    },
    /// Messages are not allowed to be large enough.
    #[message(
        "the bus at {servers} takes messages of at most {allowed} bytes: set max_payload of nats-server to \
         {needed} or more",
        "总线 {servers} 最多接受 {allowed} 字节的消息：请将 nats-server 的 max_payload 设为 {needed} 或更大"
    )]
    SmallPayload {
        /// The servers.
        servers: String,
        /// What it allows.
        allowed: usize,
        /// What is needed.
        needed: usize,
    },
    /// Not enough agents came.
    #[message(transparent)]
    TooFew(Box<TooFew>),
    /// This machine did not allow something.
    #[message("cannot use a bus: {0}", "无法使用总线：{0}")]
    Own(Message),
    /// The user stopped it.
    #[message("interrupted", "已中断")]
    Interrupted,
}

/// Who came when agents were called for.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
#[message("{}", "{}", self.said())]
pub struct TooFew {
    /// How many were called for.
    pub wanted: usize,
    /// How long was waited.
    pub seconds: u64,
    /// The servers.
    pub servers: String,
    /// The coordinator's version.
    pub ours: String,
    /// Those that were free.
    pub free: Vec<String>,
    /// Those that were busy, and with which run.
    pub busy: Vec<(String, String)>,
    /// Those of another version.
    pub other: Vec<(String, String)>,
}

/// How many names are listed.
const LISTED: usize = 20;

impl TooFew {
    fn said(&self) -> impl Localized {
        let Self { wanted, seconds, servers, ours, free, .. } = self;
        let found = free.len();
        let came = message!(
            "{found} of {wanted} agents came within {seconds} s to the bus at {servers}",
            "{seconds} 秒内有 {found}/{wanted} 个压测端来到总线 {servers}"
        );
        let mut parts = vec![match found {
            0 => came,
            _ => message!("{came}: {}", "{came}：{}", listed(free.iter().map(Message::quoted))),
        }];
        if !self.busy.is_empty() {
            let with = |(name, run): &(String, String)| {
                message!("{name} with run {run}", "{name}（测试 {run}）")
            };
            parts.push(message!("busy: {}", "忙碌：{}", listed(self.busy.iter().map(with))));
        }
        if !self.other.is_empty() {
            let is = |(name, theirs): &(String, String)| {
                message!("{name} is Dyno {theirs}", "{name} 为 Dyno {theirs}")
            };
            parts.push(message!(
                "of another version than {ours}: {}",
                "版本与 {ours} 不同：{}",
                listed(self.other.iter().map(is))
            ));
        }
        clauses(parts)
    }
}

fn listed(names: impl ExactSizeIterator<Item = Message>) -> Message {
    let more = names.len().saturating_sub(LISTED);
    let shown = list(names.take(LISTED));
    match more {
        0 => Message::of(shown),
        more => message!("{shown} and {more} more", "{shown}，另有 {more} 个"),
    }
}
