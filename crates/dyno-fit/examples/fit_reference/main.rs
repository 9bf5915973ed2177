//! Fits twins to reference tables and writes them to the `twins/` of dyno-engine.
//!
//! `cargo run --release -p dyno-fit --example fit_reference -- [--dry] NAME…`, or `all`.

mod facts;

use dyno_engine::twin::reference::Reference;
use dyno_fit::{FitOptions, Table, fit};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let dry = names.iter().any(|name| name == "--dry");
    names.retain(|name| name != "--dry");
    if names == ["all"] {
        names = Reference::names().map(str::to_owned).collect();
    }
    for name in names {
        let reference = Reference::named(&name)?.ok_or(format!("no reference called {name}"))?;
        if let Some(reason) = &reference.unusable {
            println!("{name}: {reason}");
            continue;
        }
        let started = Instant::now();
        let mut table = Table::from(&reference);
        let mut options = FitOptions::default();
        facts::apply(&reference, &mut table, &mut options);
        let fitted = match fit(&table, &options) {
            Ok(fitted) => fitted,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let mut twin = fitted.twin;
        twin.model = reference.model.clone();
        twin.hardware = reference.hardware.clone();
        twin.engine = reference.engine.clone();
        twin.provenance = format!("fitted to {}", reference.source);
        twin.reference = Some(name.clone());
        println!("\n{name}  {:.1} s", started.elapsed().as_secs_f64());
        let scheduler = &twin.scheduler;
        println!(
            "  {:?}, {} sequences, {} tokens, prefix cache {}",
            scheduler.policy, scheduler.max_seqs, scheduler.token_budget, scheduler.prefix_cache
        );
        for (name, [low, high]) in &twin.intervals {
            println!("  {name} {low:.4} to {high:.4}");
        }
        for (figure, error) in &twin.errors.fitted {
            let held_out = twin.errors.held_out.get(figure);
            let left = fitted.leave_one_out.get(figure);
            println!("  {:20} {error:6.2} {held_out:?} one out {left:?}", figure.name());
        }
        for level in &fitted.report.levels {
            print!("  {:8.8} {:16}", format!("{:?}", level.role), level.label);
            for (figure, (measured, simulated)) in &level.metrics {
                print!(" {} {measured:.2} {:.2}", figure.name(), simulated.unwrap_or(f64::NAN));
            }
            println!();
        }
        if !dry {
            let path = format!("{}/../dyno-engine/twins/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(&path, twin.to_toml())?;
            println!("  written to {path}");
        }
    }
    Ok(())
}
