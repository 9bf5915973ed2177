//! Finding the server's own figures, before the first level.

use super::order::{MetricsFrom, Reach};
use super::target::{OpenTarget, redactor};
use dyno_drive::StopSignal;
use dyno_model::server::ServerSample;
use dyno_model::{Nanos, SEC};
use dyno_wire::client::{Client, ClientOptions, Interrupted};
use dyno_wire::encode::SecretHeaders;
use dyno_wire::endpoint::Endpoint;
use dyno_wire::figures::sample;
use dyno_wire::tls::TlsSettings;
use dyno_wire::url::TargetUrl;

/// A server that takes longer to tell of itself has no figures, as far as a run is concerned.
const FOUND_WITHIN: Nanos = 2 * SEC;
/// During a run: a busy server may be slow, and nobody waits for it.
const ASKED_WITHIN: Nanos = 5 * SEC;
/// Larger answers are refused.
const LARGEST: usize = 4 << 20;

/// A server that tells of itself, on a connection of its own.
pub(crate) struct Metrics {
    client: Client,
    path: String,
    /// What it said when it was found.
    pub(crate) first: ServerSample,
}

/// Why there was no sample.
pub(crate) enum Unanswered {
    /// The wish to stop came first.
    Stopped,
    /// In words, without secrets.
    Why(String),
}

impl Metrics {
    /// Asks once.
    pub(crate) fn ask(&mut self, stop: &StopSignal) -> Result<ServerSample, Unanswered> {
        ask(&mut self.client, &self.path, ASKED_WITHIN, stop)
    }
}

fn ask(
    client: &mut Client,
    path: &str,
    within: Nanos,
    stop: &StopSignal,
) -> Result<ServerSample, Unanswered> {
    let fetched = client.fetch_up_to(path, LARGEST, within, stop).map_err(|error| match error {
        Interrupted::Stopped => Unanswered::Stopped,
        Interrupted::Transport(error) => Unanswered::Why(error.to_string()),
    })?;
    let Some(body) = fetched.ok() else {
        return Err(Unanswered::Why(fetched.words(&client.rules().redactor)));
    };
    let text = String::from_utf8_lossy(body);
    sample(&text, fetched.record.end).map_err(|error| Unanswered::Why(error.to_string()))
}

/// The server's own figures, if it has any. Only where they were asked for by name is their
/// absence worth words.
pub(crate) fn find(
    target: &OpenTarget,
    reach: &Reach,
    stop: &StopSignal,
) -> Result<Option<Metrics>, String> {
    match &reach.metrics {
        MetricsFrom::Nowhere => Ok(None),
        MetricsFrom::Target => {
            let path = target.endpoint.beside("/metrics");
            Ok(open(target.client.options().clone(), path, target, stop).ok())
        }
        MetricsFrom::Url(url) => {
            let shown = url.shown();
            let found = elsewhere(target, url, reach).and_then(|(options, path)| {
                open(options, path, target, stop)
                    .map_err(|why| why.map(|why| format!("{shown}: {why}")))
            });
            match found {
                Ok(metrics) => Ok(Some(metrics)),
                Err(why) => why.map_or(Ok(None), Err),
            }
        }
    }
}

/// A client of its own that has asked once; no words where the wish to stop came first.
fn open(
    options: ClientOptions,
    path: String,
    target: &OpenTarget,
    stop: &StopSignal,
) -> Result<Metrics, Option<String>> {
    let mut client =
        Client::new(options, target.client.clock()).map_err(|error| Some(error.to_string()))?;
    match ask(&mut client, &path, FOUND_WITHIN, stop) {
        Ok(first) => Ok(Metrics { client, path, first }),
        Err(Unanswered::Stopped) => Err(None),
        Err(Unanswered::Why(why)) => Err(Some(why)),
    }
}

/// How an address that was given by name is reached, and the path there.
fn elsewhere(
    target: &OpenTarget,
    url: &TargetUrl,
    reach: &Reach,
) -> Result<(ClientOptions, String), Option<String>> {
    let options = target.client.options();
    let endpoint = Endpoint::new(url, options.rules.api);
    let address = endpoint.resolve().map_err(|error| Some(error.to_string()))?;
    let trusted = is_trusted(&target.endpoint, &endpoint);
    let mut rules = options.rules.clone();
    rules.redactor = redactor(&reach.secrets, Some(url));
    let headers = if trusted { target.headers.clone() } else { SecretHeaders::default() };
    let client_cert = reach.tls.client_cert.clone().filter(|_| trusted);
    let tls = TlsSettings { client_cert, ..reach.tls.clone() };
    let path = path_of(url);
    let (timeouts, stamps) = (options.timeouts, options.stamps);
    Ok((ClientOptions { endpoint, address, tls, timeouts, stamps, rules, headers }, path))
}

/// The path and the query of a URL; where it has no path, the usual one.
fn path_of(url: &TargetUrl) -> String {
    let query = url.query().unwrap_or_default();
    let path = match url.path() {
        "" | "/" => "/metrics",
        path => path,
    };
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Keys and certificates go to the target's own host alone, and never in the clear where the
/// target gets them encrypted.
fn is_trusted(target: &Endpoint, other: &Endpoint) -> bool {
    target.host.eq_ignore_ascii_case(&other.host) && (other.tls || !target.tls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Api;

    #[test]
    fn a_url_without_a_path_has_the_usual_one() {
        let path_of = |url| path_of(&TargetUrl::parse(url).unwrap());
        assert_eq!(path_of("http://gpu:8000"), "/metrics");
        assert_eq!(path_of("http://gpu:8000/"), "/metrics");
        assert_eq!(path_of("http://gpu:8000?token=x"), "/metrics?token=x");
        assert_eq!(path_of("http://gpu:8000/stats?token=x&a=/b"), "/stats?token=x&a=/b");
    }

    #[test]
    fn keys_go_to_the_targets_host_alone() {
        let endpoint = |url| Endpoint::parse(url, Api::OpenAiChat).unwrap();
        let trusted = |target, other| is_trusted(&endpoint(target), &endpoint(other));
        assert!(trusted("http://gpu:8000/v1", "http://gpu:8000/metrics"));
        assert!(trusted("http://gpu:1025", "http://GPU:1027/metrics"));
        assert!(trusted("http://gpu:8000", "https://gpu/metrics"));
        assert!(trusted("https://gpu", "https://gpu:9090/metrics"));
        assert!(!trusted("https://gpu", "http://gpu:9090/metrics"));
        assert!(!trusted("http://gpu:8000", "http://gpu.example:8000/metrics"));
        assert!(!trusted("http://10.0.0.1", "http://10.0.0.2/metrics"));
    }
}
