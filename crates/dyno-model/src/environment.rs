//! The client machine, and what the preflight found out about the server. Saved next to the records,
//! so that a report needs nothing else.

use crate::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// The saved form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// `dyno.environment/1`.
    pub schema: String,
    /// Version of Dyno.
    pub dyno: String,
    /// The client machine.
    pub host: Host,
    /// What is known of the server.
    pub server: Server,
    /// The results of the preflight.
    pub preflight: Option<Preflight>,
    /// Notes on the run.
    pub notes: Vec<Diagnostic>,
    /// How many processes have worked on the run, where it was resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// How the run was made; empty in runs of older versions.
    #[serde(default, skip_serializing_if = "Made::is_empty")]
    pub made: Made,
}

impl Environment {
    /// The most tokens of a prompt with its response: what the list of models says of the one that was used, or of
    /// the only one.
    pub fn context(&self) -> Option<u32> {
        let models = self.server.models.as_ref()?.get("data")?.as_array()?;
        let used = self.preflight.as_ref().map(|preflight| preflight.model.as_str());
        let named = models.iter().find(|model| model.get("id").and_then(|id| id.as_str()) == used);
        let model = named.or(models.first().filter(|_| models.len() == 1))?;
        u32::try_from(model.get("max_model_len")?.as_u64()?).ok()
    }
}

/// How a run was made, and from what.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Made {
    /// The command line, without secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The directory that it was written into: a copy of it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectoryMark>,
    /// The files that its prompts are made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileDigest>,
}

impl Made {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Tells a directory from its copies: that of a copy is not known before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryMark {
    /// Its inode.
    pub inode: u64,
    /// When it was created, in nanoseconds since 1970; absent where the file system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_unix_ns: Option<u64>,
}

/// A file, by its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// What it is for, and its bare name: `data/prompts.jsonl`.
    pub name: String,
    /// In hexadecimal.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
}

/// The client machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Operating system and release.
    pub os: String,
    /// CPU model.
    pub cpu: Option<String>,
    /// Cores this process may use.
    pub cores: usize,
    /// Limit of open files.
    pub open_files: Option<u64>,
    /// The kernel provides receive times; absent where that could not be determined.
    #[serde(default)]
    pub kernel_stamps: Option<bool>,
}

/// What is known of the server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Server {
    /// Response headers of the preflight, without any that could carry a secret.
    pub headers: Vec<(String, String)>,
    /// The response of `/v1/models`, shortened if it is very long.
    pub models: Option<serde_json::Value>,
    /// It identifies itself as Dyno's engine, so there is no real model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
    /// The addresses of a target that is given by name: first those that requests are sent to, in the
    /// order that records refer to, then those that were tried and not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Address>,
}

/// An address of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Address and port.
    pub address: String,
    /// Why no requests were sent to it; absent where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused: Option<String>,
}

/// How Dyno's engine identifies itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Simulated {
    /// Its twin or script, escaped and shortened; absent where a proxy removes it.
    pub engine: Option<String>,
}

/// Which fields the server accepts, and therefore are sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Preflight {
    /// The requested model.
    pub model: String,
    /// `stream_options` is accepted.
    pub stream_options: bool,
    /// Usage came at the end of a stream.
    pub usage: bool,
    /// Usage came with every chunk.
    pub continuous_usage: bool,
    /// `max_tokens` or `max_completion_tokens`.
    pub max_tokens_field: String,
    /// The field that fixes the output length (`ignore_eos`, `min_tokens`), if any.
    pub length_field: Option<String>,
    /// Whether the server was seen to obey that field; `false` where that could not be determined. Absent
    /// in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_forced: Option<bool>,
    /// Optional fields that the server rejected, with its message.
    pub refused: Vec<(String, String)>,
    /// Prompt tokens that every prompt shares, such as the first blocks of a chat template: the prefix
    /// cache hits of a prompt that no run had sent before. Absent where the server does not report
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_tokens: Option<u64>,
    /// Numbers in a vector, of a server that embeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::DiagnosticValue;

    fn saved(notes: &str) -> String {
        format!(
            r#"{{"schema":"dyno.environment/1","dyno":"0.1.0","host":{},"server":{},"preflight":null,"notes":{notes}}}"#,
            serde_json::to_string(&Host::default()).unwrap(),
            serde_json::to_string(&Server::default()).unwrap(),
        )
    }

    #[test]
    fn notes_are_saved_with_their_values() {
        let values = r#"[{"code":"a","what":"1 of 2","advice":"do","values":["1","2"]},{"code":"b","what":"c","advice":null}]"#;
        let read: Environment = serde_json::from_str(&saved(values)).unwrap();
        assert_eq!(read.notes[0].values, ["1", "2"].map(DiagnosticValue::from));
        assert_eq!(read.notes[1], Diagnostic::new("b", "c", None::<String>));
        assert_eq!(serde_json::to_string(&read).unwrap(), saved(values));
    }

    #[test]
    fn notes_of_an_older_version_are_read() {
        let older = saved(r#"[{"code":"a","what":"words"}]"#);
        let read: Environment = serde_json::from_str(&older).unwrap();
        assert_eq!(read.notes, [Diagnostic::new("a", "words", None::<String>)]);
    }
}
