//! The flags of `dyno engine`.

use clap::Args;
use dyno_engine::{Fault, Script};

/// `dyno engine`.
#[derive(Debug, Args)]
#[command(after_help = "\
Answers come on an exact schedule, so that the truth of a measurement is known beforehand: chat and
completions, streamed or not, /v1/models and /health. With --fault it misbehaves in a chosen way.

Examples:
  dyno engine --scripted ttft=100ms,itl=20ms,tokens=128 --port 8000
  dyno engine --port 0                          any free port; the address is printed on stdout
  dyno engine --fault stall:every=10            every 10th answer stops in mid-stream
  dyno engine --list-faults                     what can be made to go wrong")]
pub(crate) struct EngineArgs {
    /// Timing and length of every answer
    #[arg(long, value_name = "SPEC", default_value = DEFAULT_SCRIPT)]
    pub(crate) scripted: Script,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", value_parser = port, allow_hyphen_values = true, default_value = "8000")]
    pub(crate) port: u16,
    /// Address to listen on; anything but loopback can be reached from other machines
    #[arg(long, value_name = "ADDRESS", value_parser = host, default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// Go wrong in this way, in every answer or in every Nth; may be repeated
    #[arg(long, value_name = "KIND[:every=N]")]
    pub(crate) fault: Vec<Fault>,
    /// Name of the served model
    #[arg(long, value_name = "NAME", value_parser = super::values::some_text, default_value = "dyno-scripted")]
    pub(crate) model: String,
    /// List the kinds of faults and end
    #[arg(long)]
    pub(crate) list_faults: bool,
    /// End when standard input closes, so that no process stays behind its starter
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}

/// What the embedded engine does unless told otherwise.
pub(crate) const DEFAULT_SCRIPT: &str = "ttft=40ms,itl=5ms,tokens=64";

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
