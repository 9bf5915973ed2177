//! What plans and summaries say.

mod slo;
