//! The preflight, before the first level: which model the server has, which optional fields it
//! accepts, and whether it obeys the one that fixes the output length.

mod discover;
mod error;
mod length;
mod patience;
mod probe;
mod refusal;

pub use discover::{FoundServer, discover};
pub use error::PreflightError;
pub use refusal::is_about_length;

use crate::client::{Client, Fetched};
use crate::dialect::{Does, ModelList, Shape, is_overload_status};
use crate::encode::SecretHeaders;
use crate::endpoint::Endpoint;
use crate::redact::Redactor;
use dyno_drive::StopSignal;
use dyno_model::environment::{Preflight, Server, Simulated};
use dyno_model::plan::{Plan, UsageWanted};
use dyno_model::{Diagnostic, Nanos, SEC, message};
use dyno_words::Note;
use dyno_words::escape::escape;
use error::about_key;
use patience::Patience;

/// The longest wait for the list of models.
const MODELS_WITHIN: Nanos = 30 * SEC;

/// What the preflight needs besides a client.
#[derive(Debug)]
pub struct PreflightSetup<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Where requests go.
    pub endpoint: &'a Endpoint,
    /// The user's key and headers.
    pub headers: &'a SecretHeaders,
    /// The signal to stop early.
    pub stop: &'a StopSignal,
}

/// The results of the preflight.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The shape of every request to come.
    pub shape: Shape,
    /// For the run directory.
    pub preflight: Preflight,
    /// The server, as far as it is known.
    pub server: Server,
    /// Notes for the readers of the results.
    pub notes: Vec<Diagnostic>,
    /// The target is a Dyno engine, which reports how late it was.
    pub engine: bool,
}

/// Runs the preflight.
pub fn preflight(
    client: &mut Client,
    setup: &PreflightSetup<'_>,
) -> Result<Settled, PreflightError> {
    let dialect = client.rules().dialect;
    let about = dialect.about();
    let (list, mut fetched) = list_models(client, setup)?;
    let redactor = client.rules().redactor.clone();
    let why = fetched.words(&redactor);
    if fetched.unreachable() {
        return Err(PreflightError::Unreachable { why, tls: fetched.tls.take() });
    }
    let models = fetched.json();
    let mut notes = Vec::new();
    let listed = models.as_ref().map(|models| list.names(models)).unwrap_or_default();
    let model = match &setup.plan.request.model {
        Some(model) => {
            if models.is_none() {
                notes.push(Note::ModelsUnknown.with([why]));
            }
            model.clone()
        }
        None if !about.names_model => {
            let names = models.as_ref().map(|models| list.names(models)).unwrap_or_default();
            names.into_iter().next().unwrap_or_default()
        }
        None => match models.as_ref().map(|models| list.names(models)) {
            Some(names) => only(names, &redactor)?,
            None => {
                let hint = match fetched.record.status {
                    Some(401 | 403) => about_key(setup.headers),
                    Some(404) if !setup.endpoint.base.is_empty() => message!(
                        "check the path of the target, or set the model with --model",
                        "请检查目标的路径，或用 --model 指定模型"
                    ),
                    _ => message!(
                        "if the server is up but lists no models, set the model with --model",
                        "如果服务器已启动但没有列出模型，请用 --model 指定模型"
                    ),
                };
                let text = message!(
                    "listing the server's models failed ({why}); {hint}",
                    "无法获取服务器的模型列表（{why}）；{hint}"
                );
                return Err(match fetched.record.status {
                    // Where its models would be, there is nothing: it may have another API.
                    Some(404 | 405 | 501) => PreflightError::NoSuchApi(text),
                    _ => PreflightError::Target(text),
                });
            }
        },
    };
    let request = &setup.plan.request;
    let mut shape = Shape {
        model: model.clone(),
        stream: request.stream && about.streams(),
        fields: Vec::new(),
        temperature: request.temperature,
        stop: request.stop.clone(),
        extra: request.extra_body.clone().unwrap_or_default(),
        forced: false,
    };
    let stream = shape.stream;
    shape.send_all(about, |does| match does {
        Does::CountChunks => stream && request.usage == UsageWanted::Continuous,
        Does::CountAtEnd => stream && request.usage != UsageWanted::None,
        Does::FixLength | Does::LimitLength | Does::Other => true,
    });
    let mut probe = probe::Probe::new(client, setup, shape);
    probe.run().map_err(|error| with_models(error, &model, &listed, &redactor))?;
    let engine = probe.header("server") == Some("dyno-engine");
    let server = Server {
        headers: probe.shown_headers(),
        simulated: simulated(probe.header("x-dyno-simulated"), models.as_ref(), &redactor),
        models: models.map(|models| redactor.clean_json(shorten(models, list))),
        addresses: Vec::new(),
    };
    let (shape, preflight, more) = probe.into_result();
    notes.extend(more);
    Ok(Settled { shape, preflight, server, notes, engine })
}

/// Names the models that the server has, if that of the request is not among them.
fn with_models(
    error: PreflightError,
    model: &str,
    listed: &[String],
    redactor: &Redactor,
) -> PreflightError {
    match error {
        PreflightError::Target(text) | PreflightError::NoSuchApi(text)
            if !listed.is_empty() && !model.is_empty() && !listed.iter().any(|n| n == model) =>
        {
            let models = names(listed, redactor);
            PreflightError::Target(message!(
                "{text}; --model `{}` is not among the models that it lists: {models}",
                "{text}；--model `{}` 不在它列出的模型之中：{models}",
                escape(model, LONGEST_NAME)
            ))
        }
        error => error,
    }
}

/// The first names of a list of models.
fn names(all: &[String], redactor: &Redactor) -> String {
    let name = |name: &String| redactor.clean_name(name).escape_debug().to_string();
    let shown: Vec<_> = all.iter().take(10).map(|n| format!("`{}`", name(n))).collect();
    let more = if all.len() > 10 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The longest name of a twin or script that is kept.
const LONGEST_NAME: usize = 80;

/// Whether the server is a Dyno engine, by its header or its list of models: a proxy may drop either.
fn simulated(
    header: Option<&str>,
    models: Option<&serde_json::Value>,
    redactor: &Redactor,
) -> Option<Simulated> {
    let listed = || models?.get("data")?.as_array();
    let of = |model: &&serde_json::Value| model["dyno_simulated"] == serde_json::Value::Bool(true);
    let model = listed().and_then(|models| models.iter().find(of));
    let name = model.and_then(|model| model["twin"].as_str().or(model["script"].as_str()));
    let in_header = header.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    (in_header || model.is_some()).then(|| Simulated {
        engine: name.map(|name| escape(&redactor.clean_name(name), LONGEST_NAME)),
    })
}

/// Asks for the models where the API lists them; the first list that the server has, or the last
/// response.
fn list_models(
    client: &mut Client,
    setup: &PreflightSetup<'_>,
) -> Result<(ModelList, Fetched), PreflightError> {
    let mut patience = Patience::new();
    loop {
        let (list, fetched) = ask_for_models(client, setup)?;
        let overloaded = fetched.record.status.is_some_and(is_overload_status);
        // With a model named, the list is not needed.
        let needed = setup.plan.request.model.is_none();
        let told = fetched.head.as_ref().and_then(|head| head.retry_after());
        let now = client.clock().now();
        if !overloaded || !needed || !patience.wait(now, told, setup.stop) {
            return Ok((list, fetched));
        }
    }
}

fn ask_for_models(
    client: &mut Client,
    setup: &PreflightSetup<'_>,
) -> Result<(ModelList, Fetched), PreflightError> {
    let lists = client.rules().dialect.about().models;
    let mut list = lists.first().copied().unwrap_or(ModelList::OPENAI);
    let mut fetched = client.fetch(&setup.endpoint.beside(list.path), MODELS_WITHIN, setup.stop)?;
    for other in lists.iter().skip(1) {
        let locked = matches!(fetched.record.status, Some(401 | 403));
        if fetched.ok().is_some() || fetched.unreachable() || locked {
            break;
        }
        list = *other;
        fetched = client.fetch(&setup.endpoint.beside(list.path), MODELS_WITHIN, setup.stop)?;
    }
    Ok((list, fetched))
}

fn only(mut names: Vec<String>, redactor: &Redactor) -> Result<String, PreflightError> {
    match names.len() {
        1 => Ok(names.remove(0)),
        0 => Err(PreflightError::Model(message!(
            "the server lists no models; name the one to use",
            "服务器没有列出任何模型；请指定要用的模型"
        ))),
        n => {
            let names = self::names(&names, redactor);
            Err(PreflightError::Model(message!(
                "the server has {n} models; choose one of {names}",
                "服务器有 {n} 个模型；请从中选择：{names}"
            )))
        }
    }
}

/// Only the names are kept of a very long list of models.
fn shorten(models: serde_json::Value, list: ModelList) -> serde_json::Value {
    match models.to_string().len() {
        0..=65_536 => models,
        _ => list.names(&models).into_iter().take(100).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn simulated(header: Option<&str>, models: Option<&serde_json::Value>) -> Option<Simulated> {
        super::simulated(header, models, &Redactor::default())
    }

    #[test]
    fn an_engine_is_known_by_its_header_or_its_models() {
        let models = json!({"data": [{"id": "m", "dyno_simulated": true, "twin": "plain"}]});
        let named = Some(Simulated { engine: Some("plain".to_owned()) });
        assert_eq!(simulated(Some("true"), Some(&models)), named);
        assert_eq!(simulated(None, Some(&models)), named);
        assert_eq!(simulated(Some("true"), None), Some(Simulated { engine: None }));
        let real = json!({"data": [{"id": "m", "twin": "plain"}]});
        assert_eq!(simulated(None, Some(&real)), None);
        assert_eq!(simulated(Some("false"), Some(&json!([1]))), None);
        assert_eq!(simulated(None, None), None);
    }

    #[test]
    fn what_an_engine_calls_itself_is_escaped_and_cut() {
        let name = format!("\u{1b}[31m{}", "x".repeat(10_000));
        let models = json!({"data": [{"dyno_simulated": true, "script": name}]});
        let kept =
            simulated(None, Some(&models)).and_then(|found| found.engine).unwrap_or_default();
        assert!(!kept.contains('\u{1b}') && kept.chars().count() <= 120, "{kept}");
    }
}
