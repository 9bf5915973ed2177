//! What a person adds to a run after it was made: a label and tags, in `annotations.json`. Plan and
//! environment stay as they were recorded, because the plan's hash identifies the run.

use crate::dir::{RunDir, failed};
use crate::error::{Doing, RecordError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::{fs, io};

const ANNOTATIONS: &str = "annotations.json";
const LONGEST_LABEL: usize = 200;
const LONGEST_TAG: usize = 64;

/// The label and the tags of a run, as set later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// `dyno.annotations/1`.
    pub schema: String,
    /// Replaces the label of the plan; empty: the run has no label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Sorted, each once.
    #[serde(default)]
    pub tags: BTreeSet<String>,
}

impl Default for Annotations {
    fn default() -> Self {
        Self { schema: "dyno.annotations/1".to_owned(), label: None, tags: BTreeSet::new() }
    }
}

impl Annotations {
    /// The label that applies, given the one of the plan.
    pub fn label_or(&self, planned: Option<&str>) -> Option<String> {
        let label = self.label.as_deref().or(planned);
        label.filter(|label| !label.trim().is_empty()).map(str::to_owned)
    }

    /// Sets the label; an empty one removes it.
    pub fn set_label(&mut self, label: &str) -> Result<(), RecordError> {
        if label.chars().count() > LONGEST_LABEL || label.chars().any(char::is_control) {
            return Err(RecordError::BadLabel);
        }
        self.label = Some(label.trim().to_owned());
        Ok(())
    }

    /// Adds a tag; `false` if it was there already.
    pub fn add_tag(&mut self, tag: &str) -> Result<bool, RecordError> {
        let allowed = |c: char| c.is_alphanumeric() || "-_.:/=".contains(c);
        let starts_well = tag.starts_with(char::is_alphanumeric);
        if !starts_well || tag.chars().count() > LONGEST_TAG || !tag.chars().all(allowed) {
            return Err(RecordError::BadTag(tag.to_owned()));
        }
        Ok(self.tags.insert(tag.to_owned()))
    }

    /// Removes a tag; `false` if it was not there.
    pub fn remove_tag(&mut self, tag: &str) -> bool {
        self.tags.remove(tag)
    }
}

impl RunDir {
    /// The label and tags that were set later; empty where there are none.
    pub fn read_annotations(&self) -> Result<Annotations, RecordError> {
        let path = self.path().join(ANNOTATIONS);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| RecordError::Json { path: path.clone(), source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Annotations::default()),
            Err(error) => Err(failed(Doing::Read, &path)(error)),
        }
    }

    /// Saves the label and the tags.
    pub fn write_annotations(&self, annotations: &Annotations) -> Result<(), RecordError> {
        self.write_json(ANNOTATIONS, annotations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_label_replaces_the_planned_one() {
        let mut annotations = Annotations::default();
        assert_eq!(annotations.label_or(Some("planned")).as_deref(), Some("planned"));
        annotations.set_label(" later ").unwrap();
        assert_eq!(annotations.label_or(Some("planned")).as_deref(), Some("later"));
        annotations.set_label("").unwrap();
        assert_eq!(annotations.label_or(Some("planned")), None);
        assert!(annotations.set_label("two\nlines").is_err());
    }

    #[test]
    fn tags_are_one_plain_word() {
        let mut annotations = Annotations::default();
        for tag in ["nightly", "gpu:h100", "每晚", "v1.2/rc"] {
            assert!(annotations.add_tag(tag).unwrap());
            assert!(!annotations.add_tag(tag).unwrap());
        }
        for tag in ["", "-old", "+new", "two words", "a\x1b[31m", &"x".repeat(65)] {
            assert!(annotations.add_tag(tag).is_err(), "{tag:?}");
        }
        assert!(annotations.remove_tag("nightly") && !annotations.remove_tag("nightly"));
    }
}
