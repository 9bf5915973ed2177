//! A JSON object whose fields stay in the order in which they were added, as the tools write them.

use dyno_model::summary::Distribution;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Object(Vec<(String, Value)>);

impl Object {
    /// Adds a field; an absent value is null.
    pub(super) fn put(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.push((name.into(), value.into()));
    }

    /// Adds mean, median, deviation and percentiles of a metric, as in `p99_ttft_ms`.
    pub(super) fn put_distribution(&mut self, name: &str, figure: &Option<Distribution>) {
        let of = |value: fn(&Distribution) -> Option<f64>| figure.as_ref().and_then(value);
        self.put(format!("mean_{name}_ms"), of(|d| d.mean));
        self.put(format!("median_{name}_ms"), of(|d| d.p50));
        self.put(format!("std_{name}_ms"), of(|d| d.std));
        self.put(format!("p90_{name}_ms"), of(|d| d.p90));
        self.put(format!("p95_{name}_ms"), of(|d| d.p95));
        self.put(format!("p99_{name}_ms"), of(|d| d.p99));
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
