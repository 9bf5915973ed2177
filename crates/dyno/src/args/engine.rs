//! The flags of `dyno engine`.

use clap::Args;
use dyno_engine::{Fault, Script, SlowDown};
use dyno_model::{Message, message};

/// `dyno engine`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/engine.txt"))]
pub(crate) struct EngineArgs {
    /// Twin to simulate: a shipped one by name (`dyno twins`), or a file [default: a general one]
    #[arg(long, value_name = "NAME|FILE", value_parser = super::values::some_text, conflicts_with = "scripted")]
    pub(crate) twin: Option<String>,
    /// Respond on an exact schedule instead, regardless of load: ttft=40ms,itl=5ms,tokens=64
    #[arg(long, value_name = "SPEC", value_parser = super::values::parsed::<Script>)]
    pub(crate) scripted: Option<Script>,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", value_parser = port, allow_hyphen_values = true, default_value = "8000")]
    pub(crate) port: u16,
    /// Address to listen on; addresses other than loopback are reachable from other machines
    #[arg(long, value_name = "ADDRESS", value_parser = host, default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// Inject a fault: into every response, every Nth, a share of them, or these; may be repeated
    #[arg(long, value_name = "KIND[:every=N|rate=P|at=N,N…][:retry-after=TIME]", value_parser = super::values::parsed::<Fault>)]
    pub(crate) fault: Vec<Fault>,
    /// Slow down gradually, by this share of the initial time: 10%/min, 1%/s or 50%/h
    #[arg(long, value_name = "SHARE/TIME", value_parser = super::values::parsed::<SlowDown>)]
    pub(crate) slow_down: Option<SlowDown>,
    /// Crash after N responses: the port closes and all connections are reset
    #[arg(long, value_name = "N", value_parser = super::values::requests, allow_hyphen_values = true)]
    pub(crate) die_after: Option<u64>,
    /// Hang after N responses: connections are accepted, but get no response
    #[arg(long, value_name = "N", value_parser = super::values::requests, allow_hyphen_values = true)]
    pub(crate) hang_after: Option<u64>,
    /// Do not report cached prompt tokens in usage, like a server without that option
    #[arg(long)]
    pub(crate) no_cache_report: bool,
    /// Size of the vectors in responses to requests for embeddings
    #[arg(long, value_name = "N", value_parser = dimensions, allow_hyphen_values = true, default_value = "1024")]
    pub(crate) dimensions: u32,
    /// Name of the served model [default: the twin's own, or dyno-scripted]
    #[arg(long, value_name = "NAME", value_parser = super::values::some_text)]
    pub(crate) model: Option<String>,
    /// Seed of the engine's noise and its output text
    #[arg(long, value_name = "N", value_parser = super::values::seed, allow_hyphen_values = true, default_value = "0")]
    pub(crate) seed: u64,
    /// List the faults and exit
    #[arg(long)]
    pub(crate) list_faults: bool,
    /// Log request arrivals and token writes as JSON lines
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) ledger: Option<std::path::PathBuf>,
    /// Exit when standard input closes, so that the engine does not outlive its parent
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}

fn port(text: &str) -> Result<u16, Message> {
    text.parse().map_err(|_| {
        message!(
            "`{text}` is not a port; write a number from 0 (any free) to 65535",
            "`{text}` 不是端口；请写 0（任一空闲端口）到 65535 的数"
        )
    })
}

fn dimensions(text: &str) -> Result<u32, Message> {
    match text.parse() {
        Ok(size @ 1..=65_536) => Ok(size),
        _ => Err(message!(
            "`{text}` is not a size of vectors; write a number from 1 to 65536",
            "`{text}` 不是向量的维数；请写 1 到 65536 的数"
        )),
    }
}

fn host(text: &str) -> Result<std::net::IpAddr, Message> {
    if text == "localhost" {
        return Ok(std::net::Ipv4Addr::LOCALHOST.into());
    }
    text.parse().map_err(|_| {
        message!(
            "`{text}` is not an IP address; write 127.0.0.1, ::1, or 0.0.0.0 for all interfaces",
            "`{text}` 不是 IP 地址；请写 127.0.0.1、::1，或用 0.0.0.0 表示所有网络接口"
        )
    })
}
