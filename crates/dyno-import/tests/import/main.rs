//! Results of other tools.

mod files;
mod published;
mod text;
