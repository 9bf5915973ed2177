//! Has the linker make the program smaller, where it can, and no slower: about two and a half megabytes.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Folds functions of identical code: generic code is compiled for each type, and much of it comes out the
/// same. Known to lld, gold and mold. GNU ld does not know it.
const FOLD_CODE: &str = "--icf=all";
/// Folds constants of identical bytes, and then functions that differed only in which copy they read. Known
/// to lld and mold. Only what never changes is folded. Two such statics may get one address; wherever the
/// program, or what it depends on, compares addresses of statics, those with the same content mean the same. Not so in
/// mimalloc, which is in the programs for musl: it knows an empty heap by its address, and would allocate nothing.
const FOLD_DATA: &str = "--ignore-data-address-equality";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let musl = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|name| name == "musl");
        for argument in
            [FOLD_CODE, FOLD_DATA].into_iter().filter(|fold| !musl || *fold == FOLD_CODE)
        {
            // Linked by a C compiler, or by a linker itself.
            let spelt = [format!("-Wl,{argument}"), argument.to_owned()];
            if let Some(argument) = spelt.iter().find(|spelt| links(spelt).unwrap_or(false)) {
                println!("cargo::rustc-link-arg-bins={argument}");
            }
        }
    }
}

/// Whether an empty program can be linked with an argument, by the compiler and the linker of this build.
fn links(argument: &str) -> Option<bool> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    fs::write(&source, "fn main() {}").ok()?;
    let mut compiler = Command::new(env::var_os("RUSTC")?);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    compiler.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut given = OsString::from("-Clinker=");
        given.push(linker);
        compiler.arg(given);
    }
    compiler.arg("--target").arg(env::var_os("TARGET")?);
    compiler.arg(format!("-Clink-arg={argument}")).arg("-o").arg(program).arg(source);
    let done = compiler.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Some(done.ok()?.success())
}
