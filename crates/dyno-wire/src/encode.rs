//! Complete requests as bytes, encoded ahead of time on a separate thread.

use crate::dialect::{self, Auth, Dialect, Shape};
use crate::endpoint::Endpoint;
use dyno_drive::{Payload, RequestedLengths};
use dyno_model::plan::Task;
use dyno_model::prompt::{Content, Item};

/// A header that tells a Dyno engine, and the reader of a server's log, that this request is not
/// measured.
pub(crate) const NOT_MEASURED: &[u8] = b"X-Dyno-Preflight: 1\r\n";

/// Turns prompts into requests for one server.
#[derive(Clone)]
pub struct Encoder {
    dialect: &'static dyn Dialect,
    /// The headers up to the content length.
    head: Vec<u8>,
    shape: Shape,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The headers contain secrets.
        f.debug_struct("Encoder").field("api", &self.dialect.about().name).finish_non_exhaustive()
    }
}

/// Header lines with secrets, which `Debug` does not print.
#[derive(Clone, Default)]
pub struct SecretHeaders(Vec<(String, String)>);

impl std::fmt::Debug for SecretHeaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretHeaders({})", self.0.len())
    }
}

impl SecretHeaders {
    /// The user's headers, the key where the API wants it, and what it needs on every request. A header
    /// of the user's takes the place of the API's.
    pub fn new(
        dialect: &dyn Dialect,
        host: &str,
        api_key: Option<&str>,
        headers: &[(String, String)],
    ) -> Self {
        let mut all: Vec<_> = headers.to_vec();
        if let Some(key) = api_key {
            for auth in dialect.about().auth {
                let (name, value) = match auth {
                    Auth::BearerExcept(other) if is_below(host, other) => continue,
                    Auth::Bearer | Auth::BearerExcept(_) => {
                        ("Authorization", format!("Bearer {key}"))
                    }
                    Auth::Header(name) => (*name, key.to_owned()),
                };
                all.retain(|(theirs, _)| !theirs.eq_ignore_ascii_case(name));
                all.push((name.to_owned(), value));
            }
        }
        for (name, value) in dialect.about().headers {
            if !all.iter().any(|(theirs, _)| theirs.eq_ignore_ascii_case(name)) {
                all.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        Self(all)
    }

    /// Whether a key is among them, in whatever header.
    pub(crate) fn has_key(&self) -> bool {
        let of_key = ["authorization", "x-api-key", "api-key"];
        self.0.iter().any(|(name, _)| of_key.iter().any(|key| name.eq_ignore_ascii_case(key)))
    }

    fn write(&self, head: &mut Vec<u8>) {
        for (name, value) in &self.0 {
            head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
    }
}

/// Whether `host` is `domain`, or below it.
fn is_below(host: &str, domain: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The headers of a request, up to the content length.
pub(crate) fn head(method: &str, path: &str, host: &str, secret: &SecretHeaders) -> Vec<u8> {
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: dyno/{}\r\n\
         Accept: text/event-stream, application/x-ndjson, application/json\r\nAccept-Encoding: identity\r\n",
        env!("CARGO_PKG_VERSION")
    )
    .into_bytes();
    secret.write(&mut head);
    head
}

impl Encoder {
    /// Requests to an endpoint, with the fields that the preflight found.
    pub fn new(
        endpoint: &Endpoint,
        dialect: &'static dyn Dialect,
        shape: Shape,
        secret: &SecretHeaders,
    ) -> Self {
        let mut head = head("POST", &endpoint.path, &endpoint.host_header(), secret);
        head.extend_from_slice(b"Content-Type: application/json\r\n");
        Self { dialect, head, shape }
    }

    /// The same, marked as not measured.
    pub fn for_preflight(mut self) -> Self {
        self.head.extend_from_slice(NOT_MEASURED);
        self
    }

    /// A request for so many tokens, unless the data set their own number.
    pub fn payload(&self, item: &Item, output_tokens: u32) -> Payload<Vec<u8>> {
        let output_tokens = item.output_tokens.unwrap_or(output_tokens);
        let body = dialect::body(self.dialect, &self.shape, &item.content, output_tokens);
        let mut payload = self.request(&[&body], item.input_tokens, output_tokens);
        if !self.dialect.about().task.generates() {
            let fixed = self.dialect.answers_every_text(&self.shape);
            let inputs = Some(inputs(&item.content, self.dialect.about().task));
            payload.lengths = RequestedLengths { output: None, fixed, inputs, ..payload.lengths };
        }
        payload.lengths.characters = characters(&item.content);
        payload
    }

    /// The API.
    pub(crate) fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// The fields of a request besides its messages, as the inside of a JSON object.
    pub(crate) fn options(&self, output_tokens: u32) -> Vec<u8> {
        dialect::options(self.dialect, &self.shape, output_tokens)
    }

    /// A complete request with a body of several parts.
    pub(crate) fn request(
        &self,
        parts: &[&[u8]],
        input: Option<u32>,
        output_tokens: u32,
    ) -> Payload<Vec<u8>> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut bytes = Vec::with_capacity(self.head.len() + length + 32);
        bytes.extend_from_slice(&self.head);
        bytes.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        let fixed = self.shape.fixes_length(self.dialect.about());
        let lengths = RequestedLengths {
            input,
            output: Some(output_tokens),
            fixed,
            ..RequestedLengths::default()
        };
        Payload { lengths, body: bytes }
    }
}

/// Characters of the texts that the server counts; unknown where the body is sent as it is.
fn characters(content: &Content) -> Option<u64> {
    let count = |text: &str| text.chars().count() as u64;
    Some(match content {
        Content::Text(text) => count(text),
        Content::Texts(texts) => {
            texts.query.iter().chain(&texts.texts).map(|text| count(text)).sum()
        }
        Content::Messages(messages) => messages.iter().map(|one| count(&one.content)).sum(),
        Content::Recorded(prompt) => count(&prompt.text()),
        Content::Body(_) => return None,
    })
}

/// The texts of a request that have a result each. Of texts to rank, the query has none.
fn inputs(content: &Content, task: Task) -> u32 {
    let all = match content {
        Content::Texts(texts) if texts.query.is_some() => return texts.texts.len() as u32,
        Content::Texts(texts) => texts.texts.len() as u32,
        Content::Messages(messages) => messages.len() as u32,
        Content::Text(_) | Content::Body(_) | Content::Recorded(_) => 1,
    };
    match task {
        Task::Rank => all.saturating_sub(1).max(1),
        Task::Generate | Task::Embed => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole_and_secrets_do_not_show() {
        let chat = dialect::DIALECTS[0];
        let endpoint = Endpoint::parse("http://h:8000", chat).unwrap();
        let headers = [("Authorization".to_owned(), "old".to_owned())];
        let secret = SecretHeaders::new(chat, "h", Some("sesame"), &headers);
        let shape = Shape { model: "m".into(), ..Shape::default() };
        let encoder = Encoder::new(&endpoint, chat, shape, &secret);
        let text = String::from_utf8(encoder.payload(&Item::text("hi"), 5).body).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\nHost: h:8000\r\n"));
        assert!(head.contains("Authorization: Bearer sesame") && !head.contains("old"));
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        assert!(!format!("{encoder:?} {secret:?}").contains("sesame"));
    }

    #[test]
    fn a_key_goes_where_the_api_and_the_host_want_it() {
        let messages = dialect::of_path("/v1/messages").unwrap();
        let lines = |host: &str, headers: &[(String, String)]| {
            let mut head = Vec::new();
            SecretHeaders::new(messages, host, Some("sesame"), headers).write(&mut head);
            String::from_utf8(head).unwrap()
        };
        let own = lines("gpu-7", &[]);
        assert!(own.contains("x-api-key: sesame\r\n"), "{own}");
        assert!(own.contains("Authorization: Bearer sesame\r\n"), "{own}");
        assert!(own.contains("anthropic-version: 2023-06-01\r\n"), "{own}");
        for cloud in ["api.anthropic.com", "API.Anthropic.com.", "anthropic.com"] {
            let cloud = lines(cloud, &[]);
            assert!(cloud.contains("x-api-key: sesame") && !cloud.contains("Bearer"), "{cloud}");
        }
        assert!(lines("notanthropic.com", &[]).contains("Bearer"));
        let theirs = [("Anthropic-Version".to_owned(), "2099-01-01".to_owned())];
        let chosen = lines("gpu-7", &theirs);
        assert!(chosen.contains("2099-01-01") && !chosen.contains("2023-06-01"), "{chosen}");
    }
}
