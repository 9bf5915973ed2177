//! The fields of a request that depend on what the server accepts and on the user, but not on the
//! prompt.

use super::about::{About, Does};
use serde_json::{Map, Value};

/// What all requests of a run have in common.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// Model name.
    pub model: String,
    /// Ask for a stream.
    pub stream: bool,
    /// The optional fields that are sent, by name.
    pub fields: Vec<&'static str>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Stop strings.
    pub stop: Vec<String>,
    /// Additional fields set by the user.
    pub extra: Map<String, Value>,
    /// The server was seen to obey the field that fixes the length.
    pub forced: bool,
}

impl Shape {
    /// Whether the optional field is sent.
    pub fn sends(&self, field: &str) -> bool {
        self.fields.contains(&field)
    }

    /// Sends the first optional field for each purpose.
    pub fn send_all(&mut self, about: &About, wanted: impl Fn(Does) -> bool) {
        self.fields.clear();
        for field in about.optional {
            let alternative = field.does != Does::Other
                && about.that(field.does).any(|other| self.sends(other.name));
            if wanted(field.does) && !alternative {
                self.fields.push(field.name);
            }
        }
    }

    /// A response shorter than requested is a failure of the server. Stop strings, and length fields
    /// set by the user, allow it to end early.
    pub fn fixes_length(&self, about: &About) -> bool {
        const FREE: [&str; 2] = ["stop", "stop_token_ids"];
        // Some APIs have their sampling in an object inside the body.
        let inside = |field: &str| {
            self.extra
                .values()
                .filter_map(Value::as_object)
                .any(|object| object.contains_key(field))
        };
        let theirs = |field: &str| self.extra.contains_key(field) || inside(field);
        self.forced
            && about.that(Does::FixLength).any(|field| self.sends(field.name))
            && self.stop.is_empty()
            && !FREE.into_iter().any(theirs)
            && !about.that(Does::FixLength).any(|field| theirs(field.name))
    }

    /// Writes temperature and stop strings.
    pub(super) fn put_sampling(&self, fields: &mut Map<String, Value>) {
        if let Some(temperature) = self.temperature {
            fields.insert("temperature".into(), temperature.into());
        }
        if !self.stop.is_empty() {
            fields.insert("stop".into(), self.stop.clone().into());
        }
    }

    /// Writes the user's fields, which replace others. They come last.
    pub(super) fn put_extra(&self, fields: &mut Map<String, Value>) {
        fields.extend(self.extra.clone());
    }

    /// Writes an object with further fields into a body, and then the user's fields: those in an object
    /// of the same name go into that one. Fields of the object that the body has already are kept.
    pub(super) fn put_all(
        &self,
        fields: &mut Map<String, Value>,
        name: &str,
        inside: Map<String, Value>,
    ) {
        let mut object = match fields.remove(name) {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        };
        object.extend(inside);
        for (key, value) in &self.extra {
            match value {
                Value::Object(theirs) if key == name => object.extend(theirs.clone()),
                value => drop(fields.insert(key.clone(), value.clone())),
            }
        }
        fields.insert(name.into(), object.into());
    }
}
