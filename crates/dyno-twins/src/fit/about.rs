//! What a twin's file says of the system and of where the twin is from.

use crate::measured::MeasuredRun;
use dyno_engine::twin::Twin;

/// What the user says of the system.
#[derive(Debug, Clone, Default)]
pub struct AboutTwin {
    /// The inference engine.
    pub engine: Option<String>,
    /// The model; else that of the runs.
    pub model: Option<String>,
    /// The hardware.
    pub hardware: Option<String>,
}

impl AboutTwin {
    pub(super) fn write(&self, twin: &mut Twin, runs: &[MeasuredRun]) {
        let model = runs.iter().find_map(|run| run.summary.run.model.clone());
        twin.model = self.model.clone().or(model);
        twin.hardware = self.hardware.clone();
        twin.engine = self.engine.clone().unwrap_or_else(|| "not stated".to_owned());
        let ids: Vec<&str> = runs.iter().map(|run| run.summary.run.id.as_str()).collect();
        let simulated = runs.iter().any(|run| run.summary.run.simulated);
        let imported = runs.iter().any(|run| run.summary.run.origin.is_some());
        let source = match (simulated, imported) {
            (true, _) => "runs of an embedded engine",
            (_, true) => "imported results",
            _ => "runs of dyno",
        };
        twin.provenance = format!("fitted to {source}: {}", ids.join(", "));
    }
}
