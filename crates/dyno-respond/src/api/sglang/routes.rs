//! What SGLang reports about the server, and how its cache is flushed.

use crate::api::route::{Route, RoutePlace, ServedPage};
use serde_json::json;

pub(super) const ROUTES: &[Route] = &[
    Route { methods: &["GET"], path: "/server_info", needs_key: false, answer: server_info },
    Route { methods: &["GET"], path: "/get_server_info", needs_key: false, answer: server_info },
    Route { methods: &["GET"], path: "/model_info", needs_key: false, answer: model_info },
    Route { methods: &["GET"], path: "/get_model_info", needs_key: false, answer: model_info },
    Route { methods: &["GET", "POST"], path: "/flush_cache", needs_key: false, answer: flush },
];

fn server_info(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    let mut info = json!({
        "model_path": place.model,
        "served_model_name": place.model,
        "context_length": place.context,
        "internal_states": [{"num_running_reqs": place.running}],
        "version": concat!("dyno-engine ", env!("CARGO_PKG_VERSION")),
        "dyno_simulated": true,
    });
    info[place.brain] = place.brain_name.as_str().into();
    Some(ServedPage::json(info.to_string()))
}

fn model_info(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    let info = json!({
        "model_path": place.model,
        "tokenizer_path": place.model,
        "is_generation": true,
        "dyno_simulated": true,
    });
    Some(ServedPage::json(info.to_string()))
}

/// Refused while there are requests, as by SGLang. A script has no cache, so it has no such path.
fn flush(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    let text = |status, body: &str| ServedPage {
        status,
        kind: "text/plain; charset=utf-8",
        clears_cache: status == 200,
        ..ServedPage::json(body)
    };
    place.has_engine.then(|| match place.running {
        0 => text(200, "Cache flushed.\n"),
        running => text(400, &format!("{running} requests are running: the cache is kept.\n")),
    })
}
