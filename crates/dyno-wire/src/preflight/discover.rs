//! Finds out which API a server has, by cheap GETs that generate nothing: the signs of each dialect,
//! and the list of paths that many servers publish.

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
/// How much such a list weighs. Servers that list several APIs get the first in the table.
const LISTED: u8 = 50;

/// What was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The dialect to use; the default if nothing was found.
    pub dialect: &'static dyn Dialect,
    /// Why: what the server is, or what it lists; absent if nothing was found.
    pub why: Option<String>,
    /// The paths that were asked, with the status of each response.
    pub asked: Vec<(&'static str, Option<u16>)>,
}

/// Asks a server what it is. At most a second after its first response, the answer is there.
pub fn discover(
    client: &mut Client,
    endpoint: &Endpoint,
    stop: &StopSignal,
) -> Result<Found, PreflightError> {
    let mut found = Found { dialect: DIALECTS[0], why: None, asked: Vec::new() };
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
        let fetched = client.fetch_up_to(&endpoint.beside(path), LARGEST, within, stop)?;
        if fetched.unreachable() {
            let why = fetched.words(&client.rules().redactor.clone());
            return Err(PreflightError::Unreachable(format!(
                "the target cannot be reached: {why}"
            )));
        }
        let status = fetched.record.status;
        until = until.or_else(|| status.map(|_| client.clock().now() + REST_WITHIN));
        found.asked.push((path, status));
        let own_engine = |head: &&crate::http::Head| head.header("server") == Some("dyno-engine");
        if fetched.head.as_deref().filter(own_engine).is_some() {
            found.why = Some("Dyno's engine, which has every API".to_owned());
            return Ok(found);
        }
        let Some(status) = status else { break };
        let json: Option<Value> = serde_json::from_slice(&fetched.body).ok();
        let seen = Seen { status, json: json.as_ref(), body: &fetched.body };
        if let Some((dialect, weight, why)) = judge(path, &seen)
            && weight > best
        {
            (best, found.dialect, found.why) = (weight, dialect, Some(why));
        }
    }
    Ok(found)
}

/// The paths that tell something, each once, with the most that a response there can weigh; the
/// weightiest first.
fn paths() -> Vec<(&'static str, u8)> {
    let mut paths = vec![(PATHS, LISTED)];
    for sign in DIALECTS.iter().flat_map(|dialect| dialect.about().signs) {
        match paths.iter_mut().find(|(path, _)| *path == sign.path) {
            Some((_, weight)) => *weight = sign.weight.max(*weight),
            None => paths.push((sign.path, sign.weight)),
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

    #[test]
    fn every_path_is_asked_once() {
        let mut paths: Vec<&str> = paths().into_iter().map(|(path, _)| path).collect();
        assert!(paths.contains(&PATHS));
        let count = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), count);
    }
}
