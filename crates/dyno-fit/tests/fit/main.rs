//! The shipped twins against their tables.

mod twins;
