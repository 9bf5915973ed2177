//! Where the server is asked for its own figures: `--metrics URL|none`.

use super::target::{TargetUrl, target};
use super::values::with_hint;
use clap::Args;

/// Where the server's own figures are.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server's own figures")]
pub(crate) struct MetricsArgs {
    /// Where the server tells of itself in Prometheus' form, asked every second; `none` to ask
    /// nowhere [default: the target's /metrics, if it has that]
    #[arg(long, value_name = "URL|none", value_parser = metrics)]
    pub(crate) metrics: Option<MetricsArg>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MetricsArg {
    /// Nobody is asked.
    Off,
    /// Asked there.
    At(TargetUrl),
}

impl MetricsArg {
    /// Fit to be saved and printed.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Off => "none".to_owned(),
            Self::At(url) => url.shown(),
        }
    }
}

/// `--metrics`.
pub(crate) fn metrics(text: &str) -> Result<MetricsArg, String> {
    match text.trim() {
        "none" => Ok(MetricsArg::Off),
        url => target(url).map(MetricsArg::At).map_err(|words| {
            let hint = "write a URL such as http://host:8000/metrics, or none";
            if words.contains("hint: ") { words } else { with_hint(words, hint) }
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
            assert!(metrics(text).unwrap_err().contains("hint"), "{text}");
        }
    }
}
