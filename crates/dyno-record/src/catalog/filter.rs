//! Which runs of a list are wanted.

use dyno_model::Verdict;
use dyno_model::run_entry::RunEntry;

/// Conditions that a run must all meet; by default there are none.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// It has all of these tags.
    pub tags: Vec<String>,
    /// Its label contains this, in any case.
    pub label: Option<String>,
    /// Its model contains this, in any case.
    pub model: Option<String>,
    /// It started at or after this time, in nanoseconds since 1970.
    pub since_unix_ns: Option<u64>,
    /// Its worst verdict is this one.
    pub verdict: Option<Verdict>,
    /// Each of these words is in its name, id, label, tags, model or target, in any case.
    pub words: Vec<String>,
}

impl RunFilter {
    /// Whether `run` meets all conditions. What is not known of a run meets none.
    pub fn matches(&self, run: &RunEntry) -> bool {
        let text = searched_text(run);
        self.tags.iter().all(|tag| run.tags.contains(tag))
            && contains(run.label.as_deref(), self.label.as_deref())
            && contains(run.model.as_deref(), self.model.as_deref())
            && self.since_unix_ns.is_none_or(|since| run.started_unix_ns >= Some(since))
            && self.verdict.is_none_or(|verdict| run.verdict == Some(verdict))
            && self.words.iter().all(|word| text.contains(&word.to_lowercase()))
    }
}

fn contains(text: Option<&str>, part: Option<&str>) -> bool {
    part.is_none_or(|part| {
        text.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
    })
}

fn searched_text(run: &RunEntry) -> String {
    let optional = [&run.id, &run.label, &run.model, &run.target].map(|text| text.as_deref());
    let tags = run.tags.iter().map(String::as_str);
    let all = std::iter::once(run.name.as_str()).chain(optional.into_iter().flatten()).chain(tags);
    // A line break between them, so that no word matches across two.
    all.collect::<Vec<_>>().join("\n").to_lowercase()
}
