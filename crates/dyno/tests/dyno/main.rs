//! The real binary as people run it, and what holds of the whole repository. Tests in a module whose name begins
//! with `needs_` take more than Rust and a shell: `scripts/test quick` leaves them out.

mod architecture;
mod bench;
mod cli;
mod docs;
mod formats;
mod launch;
mod needs_chromium {
    mod page;
}
