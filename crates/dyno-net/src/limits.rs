//! The limit of open files: a load generator wants all it may have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one; the limit then in force, or nothing if unlimited.
pub fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, wanted);
    }
    open_files_limit()
}

/// The limit in force, or nothing if unlimited.
pub fn open_files_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
