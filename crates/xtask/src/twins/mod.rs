//! Studies of `dyno fit`.

mod terms;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments.first().map(String::as_str) {
        Some("terms") => terms::run(&arguments[1..]),
        _ => bail!("which one? `terms`"),
    }
}
