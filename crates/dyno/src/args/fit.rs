//! The flags of `dyno fit`.

use super::values;
use clap::Args;
use std::path::PathBuf;

/// `dyno fit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Fits the embedded engine to a measured sweep: the client is simulated, discrete settings (policy,
sequence limit, token budget) are tried, the rest is optimised. Skips invalid and partial levels and
levels with random arrivals, and says which: measure request rates with --arrival constant. The more
levels, from one request at a time to beyond the knee, the better the twin. The sequence limit can
rarely be inferred from measurements: pass --max-seqs if you know it.

A fit takes from a few seconds to some minutes, depending on the levels and their requests. A poor
fit is written, too, with a warning and exit status 6.

Examples:
  dyno bench http://localhost:8000 --concurrency 1,2,4,8,16,32,64,128 --requests 500 --out sweep
  dyno bench http://localhost:8000 --sweep --arrival constant --duration 60s --out sweep
  dyno fit sweep --out my-server.toml
  dyno fit sweep --out my-server.toml --engine 'vLLM 0.11' --hardware '1 × L20' --max-seqs 256
  dyno fit 'results.md#Qwen1.5-7B' --out their-server.toml      another tool's results
  dyno predict --twin my-server.toml --rate 6 --output-tokens 512")]
pub(crate) struct FitArgs {
    /// Run directories or imported results whose levels are fitted together
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Twin file to write; must not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Maximum number of sequences in the server's batch, if you know it
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) max_seqs: Option<u32>,
    /// Name of the inference engine, for the twin file
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) engine: Option<String>,
    /// Name of the model, for the twin file [default: the run's]
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) model: Option<String>,
    /// Hardware description, for the twin file
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) hardware: Option<String>,
    /// Print no notes and no progress; only warnings, errors and the result
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) no_progress: bool,
}
