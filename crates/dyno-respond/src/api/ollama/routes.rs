//! The list of models and the version, as Ollama's clients ask for them.

use crate::api::route::{Page, Place, Route};
use dyno_model::when::utc;
use serde_json::{Value, json};

pub(super) const ROUTES: &[Route] = &[
    Route { methods: &["GET"], path: "/api/tags", needs_key: true, answer: tags },
    Route { methods: &["GET"], path: "/api/ps", needs_key: true, answer: loaded },
    Route { methods: &["GET"], path: "/api/version", needs_key: false, answer: version },
];

fn tags(place: &Place<'_>, _body: &[u8]) -> Option<Page> {
    let mut model = model(place);
    model["modified_at"] = time(place).into();
    Some(Page::json(json!({"models": [model]}).to_string()))
}

fn loaded(place: &Place<'_>, _body: &[u8]) -> Option<Page> {
    let mut model = model(place);
    // It is loaded as long as the engine runs.
    model["expires_at"] = "2318-12-31T23:59:59Z".into();
    model["size_vram"] = 0.into();
    model["context_length"] = place.context.into();
    Some(Page::json(json!({"models": [model]}).to_string()))
}

fn version(_place: &Place<'_>, _body: &[u8]) -> Option<Page> {
    let version = concat!("dyno-engine ", env!("CARGO_PKG_VERSION"));
    Some(Page::json(json!({"version": version}).to_string()))
}

fn model(place: &Place<'_>) -> Value {
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

fn time(place: &Place<'_>) -> String {
    utc(place.started * 1_000_000_000)
}
