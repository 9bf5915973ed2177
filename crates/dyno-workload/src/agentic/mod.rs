//! The recorded traffic of coding agents: files of every format that is read ([`AgenticFormat`]), as trees of sessions
//! ([`Tree`]) one after another ([`Trees`]), and what a file or a folder of them holds ([`AgenticProfile`]).
//!
//! A module for each format knows its fields and nothing else: it makes trees. What turns wait for is in `waits`, how
//! prompts follow each other in `growth`, what a cache could hold in `ideal`. A tree is used whole or not at all; what
//! is left out is counted in [`AgenticNotes`].

mod aiperf;
mod aiperf_dag;
mod claude;
mod claude_tree;
mod codex;
mod copies;
mod dynamo;
mod family;
mod fields;
mod folder;
mod format;
mod gathered;
mod growth;
mod ideal;
mod key;
mod messages;
mod mlperf;
mod mooncake;
mod notes;
mod otel;
mod otel_message;
mod otel_tree;
mod profile;
mod profile_json;
mod profile_text;
mod reader;
pub mod replay;
mod swe_agent;
mod tracelab;
mod tree;
mod waits;
mod weka;

pub use format::AgenticFormat;
pub use growth::{growth_of, kept_tokens};
pub use notes::{AgenticNotes, AgenticRemark, LeftOutCount, LeftOutKind};
pub use profile::AgenticProfile;
pub(crate) use reader::format_in;
pub use reader::{TreeDetail, Trees};
pub use tree::{PromptMessage, PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
