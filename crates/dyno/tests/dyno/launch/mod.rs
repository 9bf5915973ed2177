//! The launchers in `launch/`: manifests against the schemas of what reads them, scripts by shellcheck and by
//! running them. `stand_in/` has the programs that take the place of dyno, ssh and srun; the bus is a real
//! nats-server. `scripts/test` installs what is needed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod action;
mod flags;
mod needs_nats;
mod needs_python;
mod needs_shellcheck;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn stand_in() -> PathBuf {
    root().join("crates/dyno/tests/dyno/launch/stand_in")
}
