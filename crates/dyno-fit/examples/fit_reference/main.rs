//! Fits twins to reference tables and writes them to the `twins/` of dyno-engine, whose README says which
//! rows may be used for what.
//!
//! `cargo run --release -p dyno-fit --example fit_reference -- [FLAG…] NAME…`, or `all`:
//!
//! - `--basic` tries no further terms of the model,
//! - `--blind` does not look at held-out rows, not even to write how far the twin is from them,
//! - `--judge` fits nothing: it looks at the held-out rows and writes that,
//! - `--dry` writes nothing.

mod facts;
mod shown;

use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::Reference;
use dyno_fit::{FitOptions, FitTable, FitTerm, Role, fit, verify};
use dyno_model::Message;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, mut names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let known = ["--basic", "--blind", "--judge", "--dry"];
    if let Some(flag) = flags.iter().find(|flag| !known.contains(&flag.as_str())) {
        return Err(format!("no flag {flag}; there are {}", known.join(", ")).into());
    }
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    if names == ["all"] {
        names = Reference::names().map(str::to_owned).collect();
    }
    for name in names {
        let reference = Reference::named(&name)?.ok_or(format!("no reference called {name}"))?;
        if let Some(reason) = &reference.unusable {
            println!("{name}: {reason}");
            continue;
        }
        let path = path(&name);
        let mut twin = match has("--judge") {
            true => Twin::parse(&std::fs::read_to_string(&path)?, &name)?,
            false => fitted(&reference, has("--basic"))?,
        };
        if !has("--blind") {
            let report = verify(&twin, &reference);
            shown::rows(&report);
            twin.errors = report.errors;
        }
        if !has("--dry") {
            std::fs::write(&path, twin.to_toml())?;
            println!("  written to {}", path.display());
        }
    }
    Ok(())
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../dyno-engine/twins/{name}.toml"))
}

/// A twin that is fitted with nothing but the fitted rows in sight.
fn fitted(reference: &Reference, basic: bool) -> Result<Twin, Box<dyn Error>> {
    let started = Instant::now();
    let table = FitTable::from(reference);
    let mut blind = table.clone();
    for level in &mut blind.levels {
        if level.role == Role::HeldOut {
            level.role = Role::LeftOut(Message::quoted("held out"));
            level.metrics.clear();
        }
    }
    let mut options = FitOptions::default();
    if !basic {
        options.terms = FitTerm::ALL.to_vec();
    }
    facts::apply(reference, &mut blind, &mut options);
    let found = fit(&blind, &options)?;
    println!("\n{}  {:.1} s", reference.name, started.elapsed().as_secs_f64());
    shown::fitted(&found);
    let labels = |wanted: &dyn Fn(&Role) -> bool| {
        let levels = table.levels.iter().filter(|level| wanted(&level.role));
        levels.map(|level| level.label.clone()).collect()
    };
    let mut twin = found.twin;
    twin.rows.held_out = labels(&|role| *role == Role::HeldOut);
    twin.rows.left_out = labels(&|role| matches!(role, Role::LeftOut(_)));
    twin.model = reference.model.clone();
    twin.hardware = reference.hardware.clone();
    twin.engine = reference.engine.clone();
    twin.provenance = format!("fitted to {}", reference.source);
    twin.reference = Some(reference.name.clone());
    Ok(twin)
}
