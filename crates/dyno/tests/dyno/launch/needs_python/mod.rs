//! What runs in the Python that `scripts/test` installs.

mod manifests;
mod module;
