//! The formats of agentic traffic, and how a record shows of which it is: by what it contains, never by the name of its
//! file or the order of its fields.

use std::fmt;

use serde_json::{Map, Value};

use super::fields::{array, text};
use super::{aiperf, claude, codex, dynamo, mlperf, mooncake, otel, swe_agent, tracelab, weka};

/// A format of agentic traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgenticFormat {
    /// WEKA's traces of coding agents, as AgentX replays them: an object is a tree.
    Weka,
    /// MLPerf's agentic data sets: a row is a message.
    Mlperf,
    /// OpenTelemetry's spans of generative AI.
    Otel,
    /// Dynamo's request traces with sessions.
    Dynamo,
    /// TraceLab's rounds.
    TraceLab,
    /// The workload of TraceLab's replayer: a row is a round.
    TraceLabWorkload,
    /// The logs of Claude Code.
    ClaudeCode,
    /// The logs of Codex.
    Codex,
    /// Trajectories of SWE-agent.
    SweAgent,
    /// AIPerf's conversations that branch.
    AiperfDag,
    /// AIPerf's conversations that do not branch.
    AiperfMultiTurn,
    /// Mooncake's rows with `wait_for`, as Dynamo writes them.
    Mooncake,
    /// Generated trees, which are in no file.
    Generated,
}

impl AgenticFormat {
    /// Its name, for people and for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weka => "weka",
            Self::Mlperf => "mlperf",
            Self::Otel => "otel",
            Self::Dynamo => "dynamo",
            Self::TraceLab => "tracelab",
            Self::TraceLabWorkload => "tracelab-workload",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::SweAgent => "swe-agent",
            Self::AiperfDag => "aiperf-dag",
            Self::AiperfMultiTurn => "aiperf-multi-turn",
            Self::Mooncake => "mooncake",
            Self::Generated => "generated",
        }
    }

    /// Whether the file says which sessions are sub-agents, or that there are none.
    pub fn tells_sessions(self) -> bool {
        self != Self::Otel
    }

    /// Whether its files would be read as single prompts, if nobody looked.
    pub(crate) fn looks_like_prompts(self) -> bool {
        matches!(self, Self::SweAgent | Self::ClaudeCode | Self::Codex)
    }

    /// The format of which this is a record. Rows that any log may have are none by themselves.
    pub(crate) fn of(record: &Value) -> Option<Self> {
        let object = record.as_object()?;
        type Is = fn(&Map<String, Value>) -> bool;
        let is: [(Is, Self); 12] = [
            (weka::is_tree, Self::Weka),
            (dynamo::is_request, Self::Dynamo),
            (otel::is_record, Self::Otel),
            (mlperf::is_message, Self::Mlperf),
            (tracelab::is_round, Self::TraceLab),
            (tracelab::is_row, Self::TraceLabWorkload),
            (claude::is_row, Self::ClaudeCode),
            (codex::is_row, Self::Codex),
            (swe_agent::is_trajectory, Self::SweAgent),
            (aiperf::is_branching, Self::AiperfDag),
            (aiperf::is_conversation, Self::AiperfMultiTurn),
            (mooncake::is_row, Self::Mooncake),
        ];
        is.into_iter().find(|(is, _)| is(object)).map(|(_, format)| format)
    }
}

impl fmt::Display for AgenticFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Weka => "WEKA",
            Self::Mlperf => "MLPerf",
            Self::Otel => "OpenTelemetry",
            Self::Dynamo => "Dynamo",
            Self::TraceLab => "TraceLab",
            Self::TraceLabWorkload => "TraceLab workload",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::SweAgent => "SWE-agent",
            Self::AiperfDag => "AIPerf DAG",
            Self::AiperfMultiTurn => "AIPerf multi-turn",
            Self::Mooncake => "Mooncake",
            Self::Generated => "generated",
        })
    }
}

/// The first object of a list that an object has.
pub(super) fn first_of<'a>(
    object: &'a Map<String, Value>,
    name: &str,
) -> Option<&'a Map<String, Value>> {
    array(object, name)?.first().and_then(Value::as_object)
}

/// Whether an object has a text of one of some values.
pub(super) fn says(object: &Map<String, Value>, name: &str, values: &[&str]) -> bool {
    text(object, name).is_some_and(|value| values.contains(&value))
}
