//! How fast a folder of other tools' results is imported: the fixtures of `dyno-import`, again and again
//! with other values, so that none is a copy of another.

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use xtask::lab::{build, scratch};

/// Seconds that it may take.
const BAR: f64 = 10.0;
const FILES: usize = 1_000;

/// Writes the folder, imports it three times, and prints the time and the last lines of the table.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let fixtures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno-import/tests/fixtures/files");
    let root = arguments.first().map_or(fixtures, PathBuf::from);
    let originals = originals(&root)?;
    let folder = scratch();
    let mut bytes = 0;
    for number in 0..FILES {
        let original = &originals[number % originals.len()];
        let to = folder
            .join(format!("{}", number / originals.len()))
            .join(original.strip_prefix(&root)?);
        std::fs::create_dir_all(to.parent().unwrap_or(&folder))?;
        let text = std::fs::read(original)?;
        let changed = changed(&String::from_utf8_lossy(&text), number);
        bytes += changed.len();
        std::fs::write(to, changed)?;
    }
    let dyno = build()?;
    let kinds = originals.len();
    println!(
        "dyno import of {FILES} files of {kinds} kinds, {:.1} MB: wall seconds (bar {BAR} s)",
        bytes as f64 / 1e6
    );
    for round in 1..=3 {
        let start = Instant::now();
        let output = Command::new(&dyno).arg("import").arg(&folder).output()?;
        println!("{round:>4} {:>7.2}", start.elapsed().as_secs_f64());
        if !output.status.success() {
            bail!("the import failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        if round == 3 {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let totals = printed
                .lines()
                .filter(|line| line.contains(" files: ") || line.contains(" in total"));
            totals.for_each(|line| println!("{line}"));
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// The files of a folder, to be multiplied.
fn originals(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            match path.extension().and_then(|end| end.to_str()) {
                _ if path.is_dir() => open.push(path),
                None | Some("db") => {}
                _ => found.push(path),
            }
        }
    }
    found.sort();
    if found.is_empty() {
        bail!("there are no files");
    }
    Ok(found)
}

/// The text with each third decimal of its numbers replaced.
fn changed(text: &str, number: usize) -> String {
    let (mut out, mut decimals) = (String::with_capacity(text.len()), None);
    for c in text.chars() {
        decimals = match (c, decimals) {
            ('.', _) => Some(0),
            ('0'..='9', Some(before)) => Some(before + 1),
            _ => None,
        };
        let other = char::from_digit((number % 10) as u32, 10).filter(|_| decimals == Some(3));
        out.push(other.unwrap_or(c));
    }
    out
}
