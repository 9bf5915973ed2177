//! What is said on a bus outside of lines: calls for agents, who is there, who is engaged. It is the part
//! that other versions must understand, so unknown fields are skipped and absent ones allowed.

use super::Id;
use crate::message::Hello;
pub(super) use crate::sanitize::clean;
use dyno_model::{Message, message};
use serde::{Deserialize, Serialize};

/// Longer notices are not read.
const MOST: usize = 4 << 10;

/// From a coordinator, to all agents or to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromCoordinator {
    /// Who is there?
    Call(RunNotice),
    /// You are in this run. Repeated until the line is used.
    Engage(RunNotice),
    /// You are not, after all.
    Release(RunNotice),
}

/// A run that needs agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunNotice {
    session: String,
    /// What people call it.
    #[serde(default)]
    pub(super) run: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) protocol: u32,
}

impl RunNotice {
    pub(super) fn new(session: Id, run: &str, version: &str, protocol: u32) -> Self {
        let (session, run) = (session.to_string(), clean(run));
        Self { session, run, version: version.to_owned(), protocol }
    }

    pub(super) fn session(&self) -> Option<Id> {
        Id::read(&self.session)
    }
}

/// An agent that is there. Every version says its name and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Present {
    version: String,
    name: String,
    #[serde(default)]
    protocol: u32,
    #[serde(default)]
    host: String,
    #[serde(default)]
    process: u32,
    #[serde(default)]
    cpus: u32,
    /// The run that it belongs to.
    #[serde(default)]
    busy: Option<RunNotice>,
}

impl Present {
    pub(super) fn new(hello: &Hello, busy: Option<RunNotice>) -> Self {
        Self {
            protocol: hello.protocol,
            version: hello.version.clone(),
            name: clean(&hello.name),
            host: clean(&hello.host),
            process: hello.process,
            cpus: hello.cpus,
            busy,
        }
    }

    pub(super) fn hello(&self) -> Hello {
        Hello {
            protocol: self.protocol,
            version: clean(&self.version),
            name: clean(&self.name),
            host: clean(&self.host),
            process: self.process,
            cpus: self.cpus,
        }
    }

    /// The run that it belongs to: the session, and its name for people.
    pub(super) fn busy(&self) -> Option<(Option<Id>, String)> {
        self.busy.as_ref().map(|run| (run.session(), clean(&run.run)))
    }
}

/// Reads a notice; the reason if it is none.
pub(super) fn read<N: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<N, Message> {
    if bytes.len() > MOST {
        return Err(message!(
            "a notice of {} bytes; at most {MOST} are allowed",
            "通知有 {} 字节；最多允许 {MOST} 字节",
            bytes.len()
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        // It repeats what was said.
        let error = clean(&error.to_string());
        message!("a notice that is not understood: {error}", "无法理解的通知：{error}")
    })
}

/// A notice as bytes.
pub(super) fn written(notice: &impl Serialize) -> Vec<u8> {
    // Texts and numbers can always be written.
    serde_json::to_vec(notice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_notice_is_said_without_its_escapes() {
        let notice = b"{\"\\u001b[2J\\u202e\":{}}";
        let why = read::<FromCoordinator>(notice).unwrap_err().to_string();
        assert!(
            why.starts_with("a notice that is not understood: unknown variant `?[2J?`"),
            "{why}"
        );
    }
}
