//! Results that tools print, alone or pasted into documents.

use crate::Imported;

/// What is read here, in the words of messages.
pub(crate) const KINDS: &[&str] = &[
    "tables of guidellm 0.1",
    "summary blocks and pivot tables of EvalScope perf",
    "serving benchmark blocks of vLLM and SGLang",
    "length matrices (input by output length)",
];

/// Reads a text, if it holds anything of a known kind.
pub(crate) fn recognise(_name: &str, _bytes: &[u8]) -> Option<Imported> {
    None
}
