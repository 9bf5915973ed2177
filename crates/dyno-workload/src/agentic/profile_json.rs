//! The description of agentic traffic as JSON.

use dyno_model::SEC;
use serde_json::{Value, json};

use super::notes::LeftOutKind;
use super::profile::AgenticProfile;
use crate::data::DataSpread;

impl AgenticProfile {
    /// Everything that was counted, with null for what the files do not say.
    pub fn json(&self) -> Value {
        let formats: Vec<&str> = self.formats.iter().map(|format| format.name()).collect();
        let share = |share: Option<f64>| share.map(|share| (share * 1e6).round() / 1e6);
        let seconds = |millis: Option<u32>| millis.map(|millis| f64::from(millis) / 1e3);
        let gaps = (self.gaps.total() > 0).then(|| {
            json!({
                "count": self.gaps.total(),
                "p50": seconds(self.gaps.percentile(50)),
                "p90": seconds(self.gaps.percentile(90)),
                "max": seconds(self.gaps.max()),
            })
        });
        let left: Vec<Value> = self
            .notes
            .left_out()
            .map(|(kind, left)| {
                let what = match kind {
                    LeftOutKind::Files => "files",
                    LeftOutKind::Trees => "trees",
                    LeftOutKind::Records => "records",
                };
                let first: Vec<&str> = left.first.iter().map(|why| why.texts()[0]).collect();
                json!({ "what": what, "count": left.count, "requests": left.requests, "first": first })
            })
            .collect();
        let remarks = self.notes.remarks();
        let remarks: Vec<Value> = remarks
            .map(|(remark, count)| {
                json!({ "code": remark.name(), "count": count, "text": remark.said(count).texts()[0] })
            })
            .collect();
        json!({
            "format": formats.join(", "),
            "files": self.files,
            "trees": self.trees,
            "sessions": self.sessions,
            "subagents": self.subagents,
            "background": self.background,
            "requests": self.requests,
            "joins": self.joins,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "ideal_cache_share": share(self.ideal_cache_share),
            "ideal_with_responses": share(self.ideal_with_responses),
            "recorded_cache_share": share(self.recorded_cache_share),
            "unit": self.unit,
            "responses_trimmed": self.responses_trimmed,
            "histories_cut": self.histories_cut,
            "tool_calls": self.tool_calls,
            "tool_turns": self.tool_results.0,
            "tool_results": self.tool_results.1,
            "tool_events": self.tool_events,
            "gaps_s": (self.gaps.total() > 0).then(|| self.gaps_total as f64 / SEC as f64),
            "gap_s": gaps,
            "peak_parallel": self.peak_parallel,
            "copies": self.copies,
            "turns": spread(&self.turns),
            "input_tokens_of_a_request": spread(&self.input),
            "output_tokens_of_a_request": spread(&self.output),
            "models": self.models,
            "left_out": left,
            "notes": remarks,
        })
    }
}

fn spread(of: &DataSpread) -> Option<Value> {
    (of.total() > 0).then(|| {
        json!({
            "min": of.min(),
            "p50": of.percentile(50),
            "p90": of.percentile(90),
            "max": of.max(),
        })
    })
}
