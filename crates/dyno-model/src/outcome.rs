//! How a request ended: exactly one outcome per arrival, and a failure always has a class.

use crate::message::{Message, message};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The end of one arrival.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "why")]
pub enum Outcome {
    /// A complete, valid response.
    Completed,
    /// It ended with neither a finish reason nor the requested number of tokens: it may have been cut
    /// off. It counts like a failure, and its metrics are not used.
    Unconfirmed,
    /// A missing, malformed or incomplete response, by class.
    Failed(FailureClass),
    /// Refused because the server is overloaded: 429, 503, or the same inside a 200, by class.
    Shed(FailureClass),
    /// It could not be sent, and why.
    Dropped(String),
    /// Still running when the run had to stop; its times so far are kept.
    Censored,
}

impl Outcome {
    /// The name of [`Outcome::Unconfirmed`] among the classes of failures.
    pub const UNCONFIRMED: &str = "unconfirmed";
    /// Why a request of a tree is dropped whose prompt and output are longer than the server's context.
    pub const OVERFLOW: &str = "longer than the context";

    /// How reports name a failure or a refusal: its class. Absent for what completed, was not sent or
    /// did not end.
    pub fn class(&self) -> Option<String> {
        match self {
            Self::Failed(class) | Self::Shed(class) => Some(class.to_string()),
            Self::Unconfirmed => Some(Self::UNCONFIRMED.to_owned()),
            Self::Completed | Self::Dropped(_) | Self::Censored => None,
        }
    }

    /// Whether it was not sent because it is longer than the server's context: no fault of the client.
    pub fn is_overflow(&self) -> bool {
        matches!(self, Self::Dropped(why) if why == Self::OVERFLOW)
    }

    /// Whether the request was sent and got a response or a failure.
    pub fn is_ended(&self) -> bool {
        !matches!(self, Self::Dropped(_) | Self::Censored)
    }
}

/// The ways in which a request fails. The textual names are part of the file formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureClass {
    /// The connection could not be opened.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// No connection within `--timeout-connect`.
    TimeoutConnect,
    /// No output within `--timeout-first-token`.
    TimeoutFirstToken,
    /// No bytes for `--timeout-idle` after the stream had begun.
    TimeoutIdle,
    /// Not complete within `--timeout-total`.
    TimeoutTotal,
    /// An HTTP status other than 200.
    Http(u16),
    /// An error event inside a 200.
    StreamError,
    /// Bytes that do not follow HTTP, SSE or the dialect.
    StreamMalformed,
    /// The connection broke before the response was complete.
    StreamReset,
    /// The body ended without terminal event and without finish reason, or in mid-event.
    StreamTruncated,
    /// Complete, but without any output.
    StreamEmpty,
    /// Fewer tokens than requested with a field that the server accepted.
    OutputShort,
    /// An internal error of this program.
    Client,
}

const NAMES: &[(FailureClass, &str)] = &[
    (FailureClass::Connect, "connect"),
    (FailureClass::Tls, "tls"),
    (FailureClass::TimeoutConnect, "timeout.connect"),
    (FailureClass::TimeoutFirstToken, "timeout.first_token"),
    (FailureClass::TimeoutIdle, "timeout.idle"),
    (FailureClass::TimeoutTotal, "timeout.total"),
    (FailureClass::StreamError, "stream.error"),
    (FailureClass::StreamMalformed, "stream.malformed"),
    (FailureClass::StreamReset, "stream.reset"),
    (FailureClass::StreamTruncated, "stream.truncated"),
    (FailureClass::StreamEmpty, "stream.empty"),
    (FailureClass::OutputShort, "output.short"),
    (FailureClass::Client, "client"),
];

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Http(status) = self {
            return write!(f, "http.{status}");
        }
        let name = NAMES.iter().find(|(class, _)| class == self).map_or("client", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for FailureClass {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        if let Some(status) = text.strip_prefix("http.").and_then(|s| s.parse().ok()) {
            return Ok(Self::Http(status));
        }
        NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(class, _)| *class)
            .ok_or_else(|| message!("`{text}` is not a failure class", "`{text}` 不是失败类别"))
    }
}

impl Serialize for FailureClass {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FailureClass {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_one_name_and_reads_back() {
        for (class, name) in NAMES {
            assert_eq!(class.to_string(), *name);
            assert_eq!(name.parse::<FailureClass>(), Ok(*class));
        }
        assert_eq!("http.503".parse::<FailureClass>(), Ok(FailureClass::Http(503)));
        assert!("http.x".parse::<FailureClass>().is_err());
    }
}
