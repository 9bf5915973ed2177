//! The flags that say what refused and failed requests lead to.

use clap::{Args, ValueEnum};
use dyno_model::{Message, message};

/// Refusals by an overloaded server, and failures.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Overload")]
pub(crate) struct OverloadArgs {
    /// What becomes of a request that an overloaded server refuses (429, 503, 529): it is recorded as
    /// shed, or sent again after Retry-After or a growing wait
    #[arg(long, value_name = "ACTION", default_value = "record")]
    pub(crate) on_shed: OnShed,
    /// With --on-shed retry: how often a request is sent again at most [default: 8]
    #[arg(long, value_name = "N", value_parser = retries, allow_hyphen_values = true)]
    pub(crate) max_retries: Option<u32>,
    /// Stop the run after N failed requests; those that an overloaded server refused do not count
    #[arg(long, value_name = "N", value_parser = super::values::requests, allow_hyphen_values = true)]
    pub(crate) max_failures: Option<u64>,
}

/// `--on-shed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnShed {
    #[default]
    Record,
    Retry,
}

/// `--max-retries`.
fn retries(text: &str) -> Result<u32, Message> {
    const MOST: u32 = 1000;
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| {
        message!(
            "`{text}` is not a number of retries; write one from 1 to {MOST}",
            "`{text}` 不是重试次数；请写 1 到 {MOST} 的整数"
        )
    })
}
