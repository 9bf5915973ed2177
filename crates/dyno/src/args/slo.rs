//! How `--slo` is read.

use dyno_model::slo::Slo;

/// `--slo`.
pub(crate) fn slo(text: &str) -> Result<Slo, String> {
    text.parse().map_err(|error: dyno_model::slo::SloError| error.to_string())
}
