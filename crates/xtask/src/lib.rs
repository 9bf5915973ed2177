//! What benchmarks and studies share: the release binary, an engine on a core of its own, and measured programs on the
//! other. The benchmarks are in the program `xtask`, the studies in `studies/`.

pub mod lab;
