//! Finds out which API a server has, by cheap GETs that generate nothing: the signs of each dialect,
//! whether its path takes another method, and the list of paths that many servers publish.

use super::PreflightError;
use crate::client::Client;
use crate::dialect::{DIALECTS, Dialect, SeenFields};
use crate::endpoint::Endpoint;
use dyno_drive::StopSignal;
use dyno_model::budget::Budget;
use dyno_model::{Message, Nanos, SEC, message};
use serde_json::Value;

/// The wait for the first response; a server that takes longer is not asked further.
const FIRST_WITHIN: Nanos = 10 * SEC;
/// The time for everything after the first response.
const REST_WITHIN: Nanos = SEC;
/// Largest response that is looked at: lists of paths are long.
const LARGEST: usize = 4 << 20;
/// Memory for the values of one.
const MEMORY: usize = 64 << 20;
/// Where servers that are written with FastAPI, and others, list their paths.
const PATHS: &str = "/openapi.json";
/// How much such a list weighs, or a path that takes another method. Servers that have several APIs
/// get the first in the table.
const LISTED: u8 = 50;
/// The status of a GET to a path that takes only a POST.
const ANOTHER_METHOD: u16 = 405;

/// What was found.
#[derive(Debug, Clone)]
pub struct FoundServer {
    /// The dialect to use; the default if nothing was found.
    pub dialect: &'static dyn Dialect,
    /// Why: what the server is, or what it lists; absent if nothing was found.
    pub why: Option<Message>,
    /// The server says that it has this API; otherwise that is only likely.
    pub sure: bool,
    /// Others that it has, where it generates nothing: such servers often have several.
    pub also: Vec<&'static dyn Dialect>,
    /// The paths that were asked, with the status of each response.
    pub asked: Vec<(String, Option<u16>)>,
}

impl FoundServer {
    /// The names of the APIs to choose from.
    pub fn names(&self) -> String {
        let also = self.also.iter().map(|dialect| dialect.about().name);
        let names = std::iter::once(self.dialect.about().name).chain(also);
        names.collect::<Vec<_>>().join(" | ")
    }

    /// Takes note of one that is there, too.
    fn add(&mut self, dialect: &'static dyn Dialect) {
        let name = dialect.about().name;
        let generates = [dialect, self.dialect].iter().any(|d| d.about().task.generates());
        if !generates
            && name != self.dialect.about().name
            && self.also.iter().all(|o| o.about().name != name)
        {
            self.also.push(dialect);
        }
    }
}

/// Asks a server what it is. At most a second after its first response, the answer is there.
pub fn discover(
    client: &mut Client,
    endpoint: &Endpoint,
    stop: &StopSignal,
) -> Result<FoundServer, PreflightError> {
    let (dialect, asked, also) = (DIALECTS[0], Vec::new(), Vec::new());
    let mut found = FoundServer { dialect, why: None, sure: false, also, asked };
    let (mut best, mut until) = (0, None);
    for (path, most) in paths() {
        if best > most || best == most && found.dialect.about().task.generates() {
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
            return Err(PreflightError::Unreachable { why, tls: fetched.tls });
        }
        let status = fetched.record.status;
        until = until.or_else(|| status.map(|_| client.clock().now() + REST_WITHIN));
        // What is not there is not worth telling of every API.
        if most != LISTED || path == PATHS || status != Some(404) {
            found.asked.push((path.clone(), status));
        }
        let own_engine =
            |head: &&crate::http::ResponseHead| head.header("server") == Some("dyno-engine");
        if fetched.head.as_deref().filter(own_engine).is_some() {
            let why = message!("Dyno's engine, which has every API", "Dyno 引擎，支持所有接口");
            (found.why, found.sure) = (Some(why), true);
            return Ok(found);
        }
        let Some(status) = status else { break };
        let json: Option<Value> = Budget::of(MEMORY).json(&fetched.body).ok();
        let seen = SeenFields { status, json: json.as_ref(), body: &fetched.body };
        if let Some((dialect, weight, why)) = judge(&path, &seen)
            && weight > best
        {
            (best, found.dialect, found.why) = (weight, dialect, Some(why));
            found.sure = weight >= LISTED || !dialect.about().task.generates();
        }
        there(&path, &seen).into_iter().for_each(|dialect| found.add(dialect));
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

/// The dialects whose path a response shows to be there.
fn there(path: &str, seen: &SeenFields<'_>) -> Vec<&'static dyn Dialect> {
    let listed = seen.json.and_then(|list| list.get("paths")?.as_object());
    let is_there = |dialect: &&'static dyn Dialect| {
        let own = dialect.about().whole_path();
        match path == PATHS {
            true => listed.is_some_and(|paths| paths.contains_key(&own)),
            false => seen.status == ANOTHER_METHOD && own == path,
        }
    };
    DIALECTS.iter().copied().filter(is_there).collect()
}

/// A dialect, how much speaks for it, and what.
type Judged = (&'static dyn Dialect, u8, Message);

/// The dialect that a response speaks for, how much, and why.
fn judge(path: &str, seen: &SeenFields<'_>) -> Option<Judged> {
    if let Some(dialect) = there(path, seen).first() {
        let whole = dialect.about().whole_path();
        let why = match path == PATHS {
            true => message!("{PATHS} lists {whole}", "{PATHS} 中列有 {whole}"),
            false => message!(
                "{path} is there: it takes another method than GET",
                "{path} 存在：它不接受 GET，但接受其他方法"
            ),
        };
        return Some((*dialect, LISTED, why));
    }
    let mut best: Option<Judged> = None;
    for dialect in DIALECTS {
        for sign in dialect.about().signs {
            let heavier = best.as_ref().is_none_or(|(_, weight, _)| sign.weight > *weight);
            if sign.path == path && heavier && (sign.shows)(seen) {
                let server = sign.server;
                let why = message!("{path} is that of {server}", "{path} 是 {server} 的路径");
                best = Some((*dialect, sign.weight, why));
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
        let seen = SeenFields { status: 200, json: Some(&json), body: b"" };
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
            let told = |status| judge(&path, &SeenFields { status, json: None, body: b"" });
            let name = |found: Judged| found.0.about().name;
            assert_eq!(told(405).map(name), Some(dialect.about().name));
            assert!(told(404).is_none() && told(200).is_none() && told(401).is_none());
        }
        let elsewhere = SeenFields { status: 405, json: None, body: b"" };
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
