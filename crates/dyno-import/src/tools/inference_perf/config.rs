//! `config.yaml` in the folder of a run: the model, the server, and how arrivals were spaced.

use super::run::Settings;
use crate::reading::Reading;
use dyno_form::json::{at, text};
use dyno_model::plan::Arrival;
use dyno_model::summary::Recognised;
use serde_json::Value;

/// It is one by its sections.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let sections = ["load", "server", "report", "data"];
    let known = sections.iter().all(|name| at(value, &[name]).is_some_and(|one| one.is_object()))
        && at(value, &["load", "type"]).is_some();
    known.then(|| Recognised::likely(sections))
}

/// Reads one.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let file = reading.name.clone();
    reading.lifecycle.configured(
        &file,
        line,
        Settings {
            model: text(value, &["server", "model_name"]),
            target: text(value, &["server", "base_url"]),
            arrival: match text(value, &["load", "type"]).as_deref() {
                Some("constant") => Some(Arrival::Constant),
                Some("poisson") => Some(Arrival::Poisson),
                _ => None,
            },
        },
    );
}
