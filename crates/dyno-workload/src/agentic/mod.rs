//! The traffic of coding agents: files of every format that is read ([`AgenticFormat`]), as trees of sessions ([`Tree`])
//! one after another ([`Trees`]), trees without a recording ([`GeneratedTrees`]), and what they hold ([`AgenticProfile`]).
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
mod generated;
mod generated_options;
mod generated_session;
mod growth;
mod ideal;
mod key;
mod load;
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

pub use folder::files_at;
pub use format::AgenticFormat;
pub use generated::GeneratedTrees;
pub use generated_options::AgenticOptions;
pub use growth::{growth_of, kept_tokens};
pub use load::{AgenticLoad, TakenTrees, TreeSelection};
pub use notes::{AgenticNotes, AgenticRemark, LeftOutCount, LeftOutKind};
pub use profile::AgenticProfile;
pub(crate) use reader::format_in;
pub use reader::{TreeDetail, Trees};
pub use tree::{PromptMessage, PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
