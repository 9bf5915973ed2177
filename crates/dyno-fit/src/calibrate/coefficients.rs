//! The coefficients of a calibrated engine, by their names in a twin file.

use super::Calibrated;
use crate::parameters::Parameter;

/// Those that a fit to records may change, in the order of a twin file.
const ALL: [Parameter; 12] = [
    Parameter::Base,
    Parameter::PrefillToken,
    Parameter::Attention,
    Parameter::Decode,
    Parameter::Kv,
    Parameter::LaunchPrefill,
    Parameter::LaunchLarge,
    Parameter::LaunchSequence,
    Parameter::FrontEnd,
    Parameter::FrontRequest,
    Parameter::FrontInput,
    Parameter::FrontChunk,
];

impl Calibrated {
    /// The coefficients that were fitted, in the units of a twin file.
    pub fn coefficients(&self) -> Vec<(&'static str, f64)> {
        let fitted = ALL.into_iter().filter(|one| self.intervals.contains_key(one.name()));
        fitted.map(|parameter| (parameter.name(), self.model.get(parameter))).collect()
    }
}
