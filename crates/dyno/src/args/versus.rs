//! The flags for a second server, measured alternately with the first.

use super::target::{TargetUrl, target};
use super::values;
use clap::Args;
use dyno_model::{Message, message};
use std::path::PathBuf;

/// The other side.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Two servers")]
pub(crate) struct VersusArgs {
    /// Measure a second server, alternating with TARGET level by level, so that drift affects both
    /// equally; each gets its own run. twin:NAME is another embedded engine
    #[arg(long, value_name = "URL|twin:NAME", value_parser = rival)]
    pub(crate) versus: Option<RivalArg>,
    /// Model to request from the second server [default: --model, else its only model]
    #[arg(long, value_name = "NAME", value_parser = values::some_text)]
    pub(crate) versus_model: Option<String>,
    /// File whose first line is the second server's API key [default: the same key, or none]
    #[arg(long, value_name = "FILE")]
    pub(crate) versus_api_key_file: Option<PathBuf>,
}

/// What the target is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RivalArg {
    /// A server.
    Url(TargetUrl),
    /// An embedded engine, or a prediction: a twin by its name or file.
    Twin(String),
}

const TWIN: &str = "twin:";

/// `--versus` of `dyno bench`.
fn rival(text: &str) -> Result<RivalArg, Message> {
    match text.trim().strip_prefix(TWIN) {
        Some(name) => values::some_text(name).map(RivalArg::Twin),
        None => target(text).map(RivalArg::Url).map_err(|message| {
            if message.hint().is_some() {
                return message;
            }
            message.with_hint(message!(
                "write a URL such as http://host:8000, or twin:NAME for an embedded engine",
                "请写 URL（例如 http://host:8000），或用 twin:NAME 指定内置引擎"
            ))
        }),
    }
}

/// `--versus` of `dyno predict`, which only takes twins.
pub(crate) fn twin(text: &str) -> Result<RivalArg, Message> {
    let name = text.trim();
    values::some_text(name.strip_prefix(TWIN).unwrap_or(name)).map(RivalArg::Twin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_or_a_twin() {
        assert!(matches!(rival("http://h:1/v1"), Ok(RivalArg::Url(_))));
        assert_eq!(rival("twin:my.toml"), Ok(RivalArg::Twin("my.toml".to_owned())));
        assert_eq!(twin("my.toml"), rival("twin:my.toml"));
        for text in ["", "my.toml", "h:8000", "twin:", "ftp://h"] {
            assert!(rival(text).is_err(), "{text}");
        }
        assert!(rival("my.toml").unwrap_err().to_string().contains("twin:NAME"));
        assert!(!rival("http://me:hush@h").unwrap_err().to_string().contains("hush"));
    }
}
