//! guidellm's HTML report. It is refused: what it has is rounded, and made for its own script.

use dyno_model::Diagnostic;
use dyno_words::Problem;

/// Where the first words of a page and the data of the report are.
const HEAD: usize = 1 << 16;

/// What to do with it instead, if it is one.
pub(super) fn refuse(bytes: &[u8]) -> Option<Diagnostic> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let start = head.trim_start_matches('\u{feff}').trim_start();
    let page = start.starts_with("<!doctype html") || start.starts_with("<html");
    let named = ["guidellm", "guide llm", "window.workload_details"]
        .iter()
        .any(|name| start.contains(name));
    (page && named).then(|| Problem::GuidellmPage.into())
}
