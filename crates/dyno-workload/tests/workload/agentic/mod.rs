//! The recorded traffic of coding agents. The files are of our own making, in `fuzz/seeds/agentic_reader`: those of
//! AIPerf, of Mooncake with `wait_for` and of vLLM's spans after the documentation of these tools, the others after files
//! that were seen.

mod bad;
mod counts;
mod generated;
mod generated_options;
mod replay;
mod seeds;
mod seen;
mod trees;

use dyno_workload::agentic::{Tree, TreeDetail, Trees};

/// The bytes of a file of our own.
pub(crate) fn seed(name: &str) -> Vec<u8> {
    std::fs::read(crate::seeds::folder("agentic_reader").join(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All trees of a file of our own.
pub(crate) fn trees(name: &str) -> Vec<Tree> {
    Trees::from_bytes(name, &seed(name), TreeDetail::Texts).collect()
}

/// The only tree of a file of our own.
pub(crate) fn tree(name: &str) -> Tree {
    let mut trees = trees(name);
    assert_eq!(trees.len(), 1, "{name}");
    trees.remove(0)
}
