//! The flags of `dyno engine`.

use clap::Args;
use dyno_engine::{Fault, Script, SlowDown};

/// `dyno engine`.
#[derive(Debug, Args)]
#[command(after_help = "\
An OpenAI-compatible server that needs no GPU: chat and completions, streamed or not, /v1/models,
/tokenize, /health and Prometheus /metrics. It behaves like a twin of a real system (batching, queues,
a KV cache that fills up), or keeps an exact schedule with --scripted. Prompts count in words. With
--fault it misbehaves in a chosen way.

Examples:
  dyno engine                                   the default twin on port 8000
  dyno engine --twin qwen1-5-7b-8x910b4-mindie  a system that was measured; `dyno twins` lists them
  dyno engine --scripted ttft=100ms,itl=20ms,tokens=128 --port 0
      every answer alike; any free port, whose address is printed on stdout
  dyno engine --fault stall:every=10            every 10th answer stops in mid-stream
  dyno engine --die-after 200                   the service that dies under load
  dyno engine --slow-down 10%/min               after ten minutes everything takes twice as long
  dyno engine --list-faults                     what can be made to go wrong")]
pub(crate) struct EngineArgs {
    /// Behave like this twin: the name of a shipped one, or a file [default: a general one]
    #[arg(long, value_name = "NAME|FILE", value_parser = super::values::some_text, conflicts_with = "scripted")]
    pub(crate) twin: Option<String>,
    /// Answer on an exact schedule instead, whatever the load: ttft=40ms,itl=5ms,tokens=64
    #[arg(long, value_name = "SPEC")]
    pub(crate) scripted: Option<Script>,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", value_parser = port, allow_hyphen_values = true, default_value = "8000")]
    pub(crate) port: u16,
    /// Address to listen on; anything but loopback can be reached from other machines
    #[arg(long, value_name = "ADDRESS", value_parser = host, default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// Go wrong in this way: in every answer, every Nth, a share of them, or these; may be repeated
    #[arg(long, value_name = "KIND[:every=N|rate=P|at=N,N…]")]
    pub(crate) fault: Vec<Fault>,
    /// Get slower by this share of the time at the start: 10%/min, 1%/s or 50%/h
    #[arg(long, value_name = "SHARE/TIME")]
    pub(crate) slow_down: Option<SlowDown>,
    /// Die after N answers: the port closes and all connections are reset
    #[arg(long, value_name = "N", value_parser = super::values::requests, allow_hyphen_values = true)]
    pub(crate) die_after: Option<u64>,
    /// Hang after N answers: connections are taken and never answered
    #[arg(long, value_name = "N", value_parser = super::values::requests, allow_hyphen_values = true)]
    pub(crate) hang_after: Option<u64>,
    /// Do not report cached prompt tokens in usage, as a server without that option
    #[arg(long)]
    pub(crate) no_cache_report: bool,
    /// Name of the served model [default: the twin's own, or dyno-scripted]
    #[arg(long, value_name = "NAME", value_parser = super::values::some_text)]
    pub(crate) model: Option<String>,
    /// Seed of the engine's noise and of its words
    #[arg(long, value_name = "N", value_parser = super::values::seed, allow_hyphen_values = true, default_value = "0")]
    pub(crate) seed: u64,
    /// List the kinds of faults and end
    #[arg(long)]
    pub(crate) list_faults: bool,
    /// Keep when requests came and tokens went, as JSON lines
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) ledger: Option<std::path::PathBuf>,
    /// End when standard input closes, so that no process stays behind its starter
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}

fn port(text: &str) -> Result<u16, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a port; write a number from 0 (any free) to 65535"))
}

fn host(text: &str) -> Result<std::net::IpAddr, String> {
    if text == "localhost" {
        return Ok(std::net::Ipv4Addr::LOCALHOST.into());
    }
    text.parse().map_err(|_| {
        format!(
            "`{text}` is not an IP address; write 127.0.0.1, ::1, or 0.0.0.0 for all interfaces"
        )
    })
}
