//! Finds the server's metrics before the first level.

use super::order::{ConnectionSettings, MetricsFrom};
use super::target::{OpenTarget, redactor};
use dyno_drive::StopSignal;
use dyno_model::server::ServerSample;
use dyno_model::{Message, Nanos, SEC, message};
use dyno_wire::client::{Addresses, Client, ClientOptions, Interrupted, NoAddress, Sources};
use dyno_wire::encode::SecretHeaders;
use dyno_wire::endpoint::Endpoint;
use dyno_wire::server_metrics::sample;
use dyno_wire::tls::TlsSettings;
use dyno_wire::url::TargetUrl;

/// A server that takes longer to respond is treated as one without metrics.
const FOUND_WITHIN: Nanos = 2 * SEC;
/// During a run: a busy server may be slow, and nothing waits for it.
const ASKED_WITHIN: Nanos = 5 * SEC;
/// Larger responses are refused.
const LARGEST: usize = 4 << 20;

/// A server with metrics, on a separate connection.
pub(crate) struct Metrics {
    client: Client,
    path: String,
    /// The first sample.
    pub(crate) first: ServerSample,
}

/// Why a request for metrics gave no sample.
pub(crate) enum PollError {
    /// The run was asked to stop first.
    Stopped,
    /// The reason, without secrets.
    Why(Message),
}

impl Metrics {
    /// Requests one sample.
    pub(crate) fn ask(&mut self, stop: &StopSignal) -> Result<ServerSample, PollError> {
        ask(&mut self.client, &self.path, ASKED_WITHIN, stop)
    }
}

fn ask(
    client: &mut Client,
    path: &str,
    within: Nanos,
    stop: &StopSignal,
) -> Result<ServerSample, PollError> {
    let fetched = client.fetch_up_to(path, LARGEST, within, stop).map_err(|error| match error {
        Interrupted::Stopped => PollError::Stopped,
        Interrupted::Transport(error) => PollError::Why(Message::of(error)),
    })?;
    let Some(body) = fetched.ok() else {
        return Err(PollError::Why(fetched.words(&client.rules().redactor)));
    };
    let text = String::from_utf8_lossy(body);
    sample(&text, fetched.record.end).map_err(|error| PollError::Why(Message::of(error)))
}

/// The server's metrics, if it has any. Their absence is an error only if the user named their URL.
pub(crate) fn find(
    target: &OpenTarget,
    reach: &ConnectionSettings,
    stop: &StopSignal,
) -> Result<Option<Metrics>, Message> {
    match &reach.metrics {
        MetricsFrom::Nowhere => Ok(None),
        MetricsFrom::Target => {
            let path = target.endpoint.beside("/metrics");
            Ok(open(target.client.options().clone(), path, target, stop).ok())
        }
        MetricsFrom::Url(url) => {
            let shown = url.shown();
            let found = elsewhere(target, url, reach, stop).and_then(|(options, path)| {
                open(options, path, target, stop)
                    .map_err(|why| why.map(|why| message!("{shown}: {why}", "{shown}：{why}")))
            });
            match found {
                Ok(metrics) => Ok(Some(metrics)),
                Err(why) => why.map_or(Ok(None), Err),
            }
        }
    }
}

/// A separate client, with the first sample; no reason where the run was asked to stop first.
fn open(
    options: ClientOptions,
    path: String,
    target: &OpenTarget,
    stop: &StopSignal,
) -> Result<Metrics, Option<Message>> {
    let mut client =
        Client::new(options, target.client.clock()).map_err(|error| Some(Message::of(error)))?;
    match ask(&mut client, &path, FOUND_WITHIN, stop) {
        Ok(first) => Ok(Metrics { client, path, first }),
        Err(PollError::Stopped) => Err(None),
        Err(PollError::Why(why)) => Err(Some(why)),
    }
}

/// How the URL that the user named is reached, and its path.
fn elsewhere(
    target: &OpenTarget,
    url: &TargetUrl,
    reach: &ConnectionSettings,
    stop: &StopSignal,
) -> Result<(ClientOptions, String), Option<Message>> {
    let options = target.client.options();
    let endpoint = Endpoint::new(url, options.rules.dialect);
    // Source addresses lead to the target; this may be in another network.
    let sources = Sources::default();
    let found = Addresses::find(&endpoint, &reach.resolver, &sources, FOUND_WITHIN, stop);
    let addresses = found.map_err(|error| match error {
        NoAddress::Interrupted => None,
        error => Some(Message::of(error)),
    })?;
    let trusted = is_trusted(&target.endpoint, &endpoint);
    let mut rules = options.rules.clone();
    rules.redactor = redactor(&reach.secrets, Some(url));
    let headers = if trusted { target.headers.clone() } else { SecretHeaders::default() };
    let client_cert = reach.tls.client_cert.clone().filter(|_| trusted);
    let tls = TlsSettings { client_cert, ..reach.tls.clone() };
    let path = path_of(url);
    let (timeouts, stamps) = (options.timeouts, options.stamps);
    let options =
        ClientOptions { endpoint, addresses, sources, tls, timeouts, stamps, rules, headers };
    Ok((options, path))
}

/// The path and query of a URL; `/metrics` where it has no path.
fn path_of(url: &TargetUrl) -> String {
    let query = url.query().unwrap_or_default();
    let path = match url.path() {
        "" | "/" => "/metrics",
        path => path,
    };
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Keys and certificates are sent only to the target's own host and port, where the target gets them: on
/// another port there may be another user's program. Never unencrypted where the target gets them encrypted.
fn is_trusted(target: &Endpoint, other: &Endpoint) -> bool {
    let host = target.host.eq_ignore_ascii_case(&other.host);
    host && target.port == other.port && (other.tls || !target.tls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_wire::dialect::DIALECTS;

    #[test]
    fn a_url_without_a_path_means_metrics() {
        let path_of = |url| path_of(&TargetUrl::parse(url).unwrap());
        assert_eq!(path_of("http://gpu:8000"), "/metrics");
        assert_eq!(path_of("http://gpu:8000/"), "/metrics");
        assert_eq!(path_of("http://gpu:8000?token=x"), "/metrics?token=x");
        assert_eq!(path_of("http://gpu:8000/stats?token=x&a=/b"), "/stats?token=x&a=/b");
    }

    #[test]
    fn keys_are_sent_only_to_the_targets_host_and_port() {
        let endpoint = |url| Endpoint::parse(url, DIALECTS[0]).unwrap();
        let trusted = |target, other| is_trusted(&endpoint(target), &endpoint(other));
        assert!(trusted("http://gpu:8000/v1", "http://gpu:8000/metrics"));
        assert!(trusted("https://gpu", "https://GPU:443/metrics"));
        assert!(trusted("http://gpu:8443", "https://gpu:8443/metrics"));
        assert!(!trusted("http://gpu:1025", "http://gpu:1027/metrics"));
        assert!(!trusted("http://gpu:8000", "https://gpu/metrics"));
        assert!(!trusted("https://gpu", "https://gpu:9090/metrics"));
        assert!(!trusted("https://gpu", "http://gpu:9090/metrics"));
        assert!(!trusted("http://gpu:8000", "http://gpu.example:8000/metrics"));
        assert!(!trusted("http://10.0.0.1", "http://10.0.0.2/metrics"));
    }
}
