//! Tokenizers, templates and the estimate.

mod tokenizer;
