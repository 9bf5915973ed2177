//! How `--slo` is read.

use super::values::parsed;
use dyno_model::Message;
use dyno_model::slo::Slo;

/// `--slo`.
pub(crate) fn slo(text: &str) -> Result<Slo, Message> {
    parsed(text)
}
