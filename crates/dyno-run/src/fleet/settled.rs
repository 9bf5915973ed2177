//! What the coordinator's preflight settled, in a form that agents understand.

use crate::tokenize::CountedBy;
use crate::workload::{Attempt, Workload};
use dyno_model::environment::{Address, Preflight, Server};
use dyno_model::{Message, message};
use dyno_wire::dialect::{About, Shape};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything that an agent needs besides the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AgreedWorkload {
    model: String,
    stream: bool,
    /// The optional fields that are sent.
    fields: Vec<String>,
    temperature: Option<f64>,
    stop: Vec<String>,
    extra: Map<String, Value>,
    forced: bool,
    /// The target's addresses by number.
    pub(crate) addresses: Vec<Address>,
    /// What the coordinator knows of the server besides.
    #[serde(default)]
    pub(super) server: Server,
    #[serde(default)]
    pub(super) preflight: Preflight,
    /// How a server counts tokens, where prompts depend on it.
    pub(crate) counting: Option<CountedBy>,
    pub(crate) attempt: Attempt,
}

impl AgreedWorkload {
    pub(crate) fn new(
        shape: &Shape,
        addresses: Vec<Address>,
        (server, preflight): (&Server, &Preflight),
        workload: &Workload,
    ) -> Self {
        Self {
            model: shape.model.clone(),
            stream: shape.stream,
            fields: shape.fields.iter().map(|field| (*field).to_owned()).collect(),
            temperature: shape.temperature,
            stop: shape.stop.clone(),
            extra: shape.extra.clone(),
            forced: shape.forced,
            addresses,
            server: server.clone(),
            preflight: preflight.clone(),
            counting: workload.counting().filter(|_| workload.asks_for_counts()).cloned(),
            attempt: workload.attempt(),
        }
    }

    /// The form of requests. A field that this version does not know is an error.
    pub(crate) fn shape(&self, about: &About) -> Result<Shape, Message> {
        let known = |name: &String| {
            let field = about.optional.iter().find(|field| field.name == name);
            field.map(|field| field.name).ok_or_else(|| {
                message!(
                    "the API {} has no optional field {name}",
                    "API {} 没有可选字段 {name}",
                    about.name,
                )
            })
        };
        Ok(Shape {
            model: self.model.clone(),
            stream: self.stream,
            fields: self.fields.iter().map(known).collect::<Result<_, _>>()?,
            temperature: self.temperature,
            stop: self.stop.clone(),
            extra: self.extra.clone(),
            forced: self.forced,
        })
    }
}
