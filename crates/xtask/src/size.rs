//! Placeholder while the measurements are being designed.
use anyhow::Result;
pub(crate) fn run() -> Result<()> {
    Ok(())
}
