//! Finds out which API a server has, by cheap GETs that generate nothing: the signs of each dialect,
//! whether its path takes another method, and the list of paths that many servers publish.

use super::PreflightError;
use crate::client::Client;
use crate::dialect::{DIALECTS, Dialect, Seen};
use crate::endpoint::Endpoint;
use dyno_drive::StopSignal;
use dyno_model::{Nanos, SEC};
use serde_json::Value;

/// The wait for the first response; a server that takes longer is not asked further.
const FIRST_WITHIN: Nanos = 10 * SEC;
/// The time for everything after the first response.
const REST_WITHIN: Nanos = SEC;
/// Largest response that is looked at: lists of paths are long.
const LARGEST: usize = 4 << 20;
/// Where servers that are written with FastAPI, and others, list their paths.
const PATHS: &str = "/openapi.json";
/// How much such a list weighs, or a path that takes another method. Servers that have several APIs
/// get the first in the table.
const LISTED: u8 = 50;
/// The status of a GET to a path that takes only a POST.
const ANOTHER_METHOD: u16 = 405;

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The dialect to use; the default if nothing was found.
    pub dialect: &'static dyn Dialect,
    /// Why: what the server is, or what it lists; absent if nothing was found.
    pub why: Option<String>,
    /// The server says that it has this API; otherwise that is only likely.
    pub sure: bool,
    /// The paths that were asked, with the status of each response.
    pub asked: Vec<(String, Option<u16>)>,
}

/// Asks a server what it is. At most a second after its first response, the answer is there.
pub fn discover(
    client: &mut Client,
    endpoint: &Endpoint,
    stop: &StopSignal,
) -> Result<Found, PreflightError> {
    let mut found = Found { dialect: DIALECTS[0], why: None, sure: false, asked: Vec::new() };
    let (mut best, mut until) = (0, None);
    for (path, most) in paths() {
        if best >= most {
            break;
        }
        let now = client.clock().now();
        let within = until.map_or(FIRST_WITHIN, |until: Nanos| until.saturating_sub(now));
        if within == 0 {
            break;
        }
        let fetched = client.fetch_up_to(&endpoint.beside(&path), LARGEST, within, stop)?;
        if fetched.unreachable() {
            let why = fetched.words(&client.rules().redactor.clone());
            return Err(PreflightError::Unreachable(format!(
                "the target cannot be reached: {why}"
            )));
        }
        let status = fetched.record.status;
        until = until.or_else(|| status.map(|_| client.clock().now() + REST_WITHIN));
        // What is not there is not worth telling of every API.
        if most != LISTED || path == PATHS || status != Some(404) {
            found.asked.push((path.clone(), status));
        }
        let own_engine = |head: &&crate::http::Head| head.header("server") == Some("dyno-engine");
        if fetched.head.as_deref().filter(own_engine).is_some() {
            (found.why, found.sure) = (Some("Dyno's engine, which has every API".to_owned()), true);
            return Ok(found);
        }
        let Some(status) = status else { break };
        let json: Option<Value> = serde_json::from_slice(&fetched.body).ok();
        let seen = Seen { status, json: json.as_ref(), body: &fetched.body };
        if let Some((dialect, weight, why)) = judge(&path, &seen)
            && weight > best
        {
            (best, found.dialect, found.why) = (weight, dialect, Some(why));
            found.sure = weight >= LISTED || !dialect.about().task.generates();
        }
    }
    Ok(found)
}

/// The paths that tell something, each once, with the most that a response there can weigh; the
/// weightiest first.
///
/// The list of paths is last of its weight: vLLM and other servers make it when it is asked for the
/// first time, which takes seconds in which they do nothing else.
fn paths() -> Vec<(String, u8)> {
    let of_apis = DIALECTS.iter().map(|dialect| (dialect.about().whole_path(), LISTED));
    let mut paths: Vec<(String, u8)> = of_apis.chain([(PATHS.to_owned(), LISTED)]).collect();
    for sign in DIALECTS.iter().flat_map(|dialect| dialect.about().signs) {
        match paths.iter_mut().find(|(path, _)| *path == sign.path) {
            Some((_, weight)) => *weight = sign.weight.max(*weight),
            None => paths.push((sign.path.to_owned(), sign.weight)),
        }
    }
    paths.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    paths
}

/// The dialect that a response speaks for, how much, and why.
fn judge(path: &str, seen: &Seen<'_>) -> Option<(&'static dyn Dialect, u8, String)> {
    if path == PATHS {
        let listed = seen.json?.get("paths")?.as_object()?;
        let has =
            |dialect: &&&'static dyn Dialect| listed.contains_key(&dialect.about().whole_path());
        let dialect = DIALECTS.iter().find(has)?;
        let why = format!("{PATHS} lists {}", dialect.about().whole_path());
        return Some((*dialect, LISTED, why));
    }
    let at = |dialect: &&&'static dyn Dialect| dialect.about().whole_path() == path;
    if seen.status == ANOTHER_METHOD
        && let Some(dialect) = DIALECTS.iter().find(at)
    {
        return Some((
            *dialect,
            LISTED,
            format!("{path} is there: it takes another method than GET"),
        ));
    }
    let mut best: Option<(&'static dyn Dialect, u8, String)> = None;
    for dialect in DIALECTS {
        for sign in dialect.about().signs {
            let heavier = best.as_ref().is_none_or(|(_, weight, _)| sign.weight > *weight);
            if sign.path == path && heavier && (sign.shows)(seen) {
                best = Some((*dialect, sign.weight, format!("{path} is that of {}", sign.server)));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn listing(paths: Value) -> Option<&'static str> {
        let json = json!({"openapi": "3.1.0", "paths": paths});
        let seen = Seen { status: 200, json: Some(&json), body: b"" };
        judge(PATHS, &seen).map(|(dialect, ..)| dialect.about().name)
    }

    #[test]
    fn the_first_of_the_table_that_a_server_lists() {
        let both = json!({"/v1/completions": {}, "/v1/chat/completions": {}});
        assert_eq!(listing(both), Some(DIALECTS[0].about().name));
        let text = DIALECTS.iter().find(|d| d.about().whole_path() == "/v1/completions");
        assert_eq!(listing(json!({"/v1/completions": {}})), text.map(|d| d.about().name));
        assert_eq!(listing(json!({"/login": {}})), None);
        assert_eq!(listing(json!([])), None);
    }

    /// As vLLM does, which makes its list of paths for seconds.
    #[test]
    fn a_path_that_takes_another_method_is_there() {
        for dialect in DIALECTS {
            let path = dialect.about().whole_path();
            let told = |status| judge(&path, &Seen { status, json: None, body: b"" });
            let name = |found: (&'static dyn Dialect, u8, String)| found.0.about().name;
            assert_eq!(told(405).map(name), Some(dialect.about().name));
            assert!(told(404).is_none() && told(200).is_none() && told(401).is_none());
        }
        let elsewhere = Seen { status: 405, json: None, body: b"" };
        assert!(judge("/v1/models", &elsewhere).is_none());
        let order: Vec<String> = paths().into_iter().map(|(path, _)| path).collect();
        let place = |path: &str| order.iter().position(|asked| asked == path).unwrap();
        for dialect in DIALECTS {
            assert!(place(&dialect.about().whole_path()) < place(PATHS));
        }
    }

    #[test]
    fn every_path_is_asked_once() {
        let mut paths: Vec<String> = paths().into_iter().map(|(path, _)| path).collect();
        assert!(paths.iter().any(|path| path == PATHS));
        let count = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), count);
    }
}
