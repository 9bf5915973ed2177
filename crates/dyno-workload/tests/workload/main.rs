//! What is sent: data files, conversations, traces, random prompts.

mod agentic;
mod agentic_bytes;
mod chinese;
mod data_bad;
mod data_convert;
mod data_mutated;
mod data_overlooked;
mod data_read;
mod data_select;
mod data_sets;
mod data_spec;
mod lengths_only;
mod never_twice;
mod seeds;
mod sessions;
mod tokenizer;
mod tokenizer_random;
mod trace;
mod trace_bad;
mod trace_bytes;
mod trace_fields;
mod trace_prompts;
mod trace_seeds;
mod trace_sessions;
mod traces_made;
