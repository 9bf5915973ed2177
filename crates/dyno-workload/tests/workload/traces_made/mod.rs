//! Small traces in the three published forms, and ways to open them.

#![allow(clippy::expect_used, dead_code)]

use dyno_workload::data::{DataError, DataSpec};
use dyno_workload::trace::{Trace, TraceLimits};

/// Six requests over 27 seconds, of 655 to 1,300 tokens in blocks of 512.
pub(crate) const MOONCAKE: &str = r#"{"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 0, "input_length": 1300, "output_length": 26, "hash_ids": [46, 48, 49]}
{"timestamp": 3052, "input_length": 1100, "output_length": 0, "hash_ids": [46, 48, 50]}
{"timestamp": 10535, "input_length": 672, "output_length": 26, "hash_ids": [46, 47]}
{"timestamp": 15000, "input_length": 700, "output_length": 7}
{"timestamp": 27482, "input_length": 655, "output_length": 52, "hash_ids": [51, 52]}
"#;

/// Three requests as Azure wrote them in 2023 and in 2024, the second one out of order.
pub(crate) const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
    2023-11-16 18:17:03.9799600,4808,10\r\n\
    2023-11-16 18:17:04.9799601+00:00,110,27\r\n\
    2023-11-16T18:17:04.0319600,3180,8\r\n";

/// Three requests of which one failed.
pub(crate) const BURST_GPT: &str = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
    5,ChatGPT,472,18,490,Conversation log\n\
    45.25,ChatGPT,1087,0,1087,Conversation log\n\
    118,GPT-4,417,276,693,API log\n";

pub(crate) fn opened(text: &str, spec: &str, limits: TraceLimits) -> Result<Trace, DataError> {
    let spec: DataSpec = spec.parse().expect("a good specification");
    let path = spec.path.as_ref().and_then(|path| path.to_str()).expect("a path");
    Trace::from_bytes(path, text.as_bytes(), &spec, &limits)
}

pub(crate) fn trace(text: &str, spec: &str) -> Trace {
    opened(text, spec, TraceLimits::default()).expect("a good trace")
}
