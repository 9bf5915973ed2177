//! How `--slo` is read.

use dyno_core::slo::Slo;

/// `--slo`.
pub(crate) fn slo(text: &str) -> Result<Slo, String> {
    text.parse().map_err(|error: dyno_core::slo::SloError| error.to_string())
}
