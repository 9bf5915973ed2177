//! Where server metrics are scraped from: `--metrics URL|none`.

use super::target::{TargetUrl, target};
use clap::Args;
use dyno_model::{Message, message};

/// Where the server metrics are.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server metrics")]
pub(crate) struct MetricsArgs {
    /// URL of the server's Prometheus metrics, scraped every second; `none` to disable [default: the
    /// target's /metrics, if it exists]
    #[arg(long, value_name = "URL|none", value_parser = metrics)]
    pub(crate) metrics: Option<MetricsArg>,
}

/// The value of the flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MetricsArg {
    /// Not scraped.
    Off,
    /// Scraped there.
    At(TargetUrl),
}

impl MetricsArg {
    /// Without secrets, to be saved and printed.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Off => "none".to_owned(),
            Self::At(url) => url.shown(),
        }
    }
}

/// `--metrics`.
pub(crate) fn metrics(text: &str) -> Result<MetricsArg, Message> {
    match text.trim() {
        "none" => Ok(MetricsArg::Off),
        url => target(url).map(MetricsArg::At).map_err(|message| {
            if message.hint().is_some() {
                return message;
            }
            message.with_hint(message!(
                "write a URL such as http://host:8000/metrics, or none",
                "请写 URL（例如 http://host:8000/metrics），或 none"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_or_none() {
        assert_eq!(metrics("none"), Ok(MetricsArg::Off));
        let url = metrics("http://h:8000/metrics?token=hush").unwrap();
        assert_eq!(url.shown(), "http://h:8000/metrics?token=…");
        assert!(!format!("{url:?}").contains("hush"));
        for text in ["", "off", "h:8000", "http://u:p@h/metrics", "ftp://h"] {
            assert!(metrics(text).unwrap_err().to_string().contains("hint"), "{text}");
        }
    }
}
