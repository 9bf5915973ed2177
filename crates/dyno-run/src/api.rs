//! The APIs as everything above the wire sees them: by their facts, never by their names.

use crate::error::RunError;
use dyno_model::plan::{Api, Plan};
use dyno_wire::dialect::{About, DIALECTS, Dialect, find, of_path};

/// The facts about every API, the default first.
pub fn apis() -> impl Iterator<Item = &'static About> {
    DIALECTS.iter().map(|dialect| dialect.about())
}

/// The facts about the API with this name.
pub fn about(api: &Api) -> Option<&'static About> {
    find(api).map(|dialect| dialect.about())
}

/// The API of a target whose path is a full endpoint.
pub fn api_of_path(path: &str) -> Option<Api> {
    of_path(path).map(|dialect| Api::named(dialect.about().name))
}

/// The dialect of a plan.
pub(crate) fn dialect_of(plan: &Plan) -> Result<&'static dyn Dialect, RunError> {
    find(&plan.target.api).ok_or_else(|| {
        let names: Vec<&str> = apis().map(|about| about.name).collect();
        let (api, known) = (&plan.target.api, names.join(", "));
        RunError::Usage(format!("--api: this version does not know `{api}`; it knows {known}"))
    })
}

/// Whether prompts are sent as messages, so that the server applies its chat template.
pub(crate) fn has_messages(plan: &Plan) -> bool {
    about(&plan.target.api).is_some_and(|about| about.talk.is_some())
}
