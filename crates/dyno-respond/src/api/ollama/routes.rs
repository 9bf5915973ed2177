//! The list of models and the version, as Ollama's clients ask for them.

use crate::api::route::{Route, RoutePlace, ServedPage};
use dyno_model::when::utc;
use serde_json::{Value, json};

pub(super) const ROUTES: &[Route] = &[
    Route { methods: &["GET"], path: "/api/tags", needs_key: true, answer: tags },
    Route { methods: &["GET"], path: "/api/ps", needs_key: true, answer: loaded },
    Route { methods: &["GET"], path: "/api/version", needs_key: false, answer: version },
];

fn tags(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    let mut model = model(place);
    model["modified_at"] = time(place).into();
    Some(ServedPage::json(json!({"models": [model]}).to_string()))
}

fn loaded(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    let mut model = model(place);
    // It is loaded as long as the engine runs.
    model["expires_at"] = "2318-12-31T23:59:59Z".into();
    model["size_vram"] = 0.into();
    model["context_length"] = place.context.into();
    Some(ServedPage::json(json!({"models": [model]}).to_string()))
}

fn version(_place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    let version = concat!("dyno-engine ", env!("CARGO_PKG_VERSION"));
    Some(ServedPage::json(json!({"version": version}).to_string()))
}

fn model(place: &RoutePlace<'_>) -> Value {
    let mut model = json!({
        "name": place.model,
        "model": place.model,
        "size": 0,
        "digest": "",
        "details": {"family": "dyno", "parameter_size": "", "quantization_level": ""},
        "dyno_simulated": true,
    });
    model[place.brain] = place.brain_name.as_str().into();
    model
}

fn time(place: &RoutePlace<'_>) -> String {
    utc(place.started * 1_000_000_000)
}
