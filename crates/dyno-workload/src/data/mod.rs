//! Prompts from data files: the specification ([`DataSpec`]), what the file was recognised as
//! ([`RecognisedData`]), its records one at a time ([`DataSet`]), what was checked before a run
//! ([`CheckedData`]), which records are sent and in which order ([`PromptSelection`]), a description
//! ([`Profile`]) and a conversion ([`convert()`]). Files are streamed, never loaded; standard input is kept.

mod at;
mod builtin;
mod check;
mod conversation;
mod convert;
mod csv;
mod dataset;
mod edit;
mod error;
mod fields;
mod header;
mod layout;
mod lines;
mod order;
#[cfg(feature = "parquet")]
mod parquet_group;
#[cfg(feature = "parquet")]
mod parquet_read;
#[cfg(feature = "parquet")]
mod parquet_write;
mod pick;
mod profile;
mod prompt_in;
mod raw;
mod recognise;
mod recognised;
mod record;
mod requests;
mod select;
pub mod shown;
mod source;
mod spec;
mod spec_error;
mod split;
mod spread;
mod stdin;
mod texts;
mod unused;
mod zstd;

pub use at::At;
pub use check::{CheckedData, RestOfFile};
pub use convert::{Format, convert};
pub use dataset::{Conversations, DataReading, DataSet};
pub use error::DataError;
pub(crate) use error::{correct_it, remove_the_record};
pub use fields::FieldPath;
pub(crate) use fields::{described, listed, whole};
pub use order::{DataOrder, MAX_WINDOW_BYTES, MAX_WINDOW_ITEMS};
pub use profile::{Profile, profile};
pub(crate) use profile::{outputs, sample, samples};
pub(crate) use raw::Raw;
pub use recognised::RecognisedData;
pub(crate) use select::limit_is_0;
pub use select::{Count, DataTally, Outside, PromptSelection, Selected};
pub use source::Compression;
pub use spec::{DataKind, DataSpec, Mapping, Turns};
pub(crate) use spec::{FIELD_KEYS, true_or_false};
pub use spread::DataSpread;
pub use unused::UnusedFields;
