//! `dyno fit`: fits a twin to a measured server.

mod imported;
mod table;

use super::loaded;
use super::twins::compare;
use crate::args::fit::FitArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::{DirSource, level_plans};
use dyno_fit::{FitOptions, Fitted, Role, fit};
use dyno_model::Summary;
use dyno_model::plan::LevelPlan;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

/// The plans of a run's levels, by index, and its summary.
type Measured = (BTreeMap<u32, LevelPlan>, Summary);

/// Reads the runs, fits and writes the twin, and prints its error.
pub(crate) fn run(args: &FitArgs, printer: &Printer) -> Exit {
    match fitted(args, printer) {
        Ok(text) => printer.result(&text),
        Err(error) => {
            printer.error(error);
            Exit::Usage
        }
    }
}

fn fitted(args: &FitArgs, printer: &Printer) -> Result<String, UsageError> {
    let unwritable = |error: std::io::Error| {
        UsageError::new("--out", format!("cannot write `{}`: {error}", args.out.display()))
    };
    if args.out.exists() {
        return Err(UsageError::new(
            "--out",
            format!("`{}` exists; name another file", args.out.display()),
        ));
    }
    let mut runs: Vec<Measured> = Vec::new();
    for run in loaded::all(&args.runs, "RUN")?.runs {
        let wrong = |error: dyno_record::RecordError| UsageError::new("RUN", error.to_string());
        let plans = match &run.dir {
            Some(dir) => {
                let plan = dir.read_plan().map_err(wrong)?;
                level_plans(&plan, &DirSource::open(dir).map_err(wrong)?)
            }
            None => imported::plans(&run.summary),
        };
        runs.push((plans, run.summary));
    }
    let name = args.out.file_stem().map_or("twin".into(), |stem| stem.to_string_lossy());
    let table = table::table(&name, &runs, args.max_seqs);
    for level in &table.levels {
        if let Role::LeftOut(why) = &level.role {
            printer.note(format_args!("skipped: {} ({why})", level.label));
        }
    }
    printer.note("fitting; this takes some seconds");
    let mut found = fit(&table, &FitOptions::default())
        .map_err(|error| UsageError::new("RUN", error.to_string()))?;
    describe(&mut found, args, &runs);
    let mut file = File::create_new(&args.out).map_err(unwritable)?;
    file.write_all(found.twin.to_toml().as_bytes()).map_err(unwritable)?;
    Ok(report(&found, args))
}

fn describe(found: &mut Fitted, args: &FitArgs, runs: &[Measured]) {
    let twin = &mut found.twin;
    let model = runs.iter().find_map(|(_, summary)| summary.run.model.clone());
    twin.model = args.model.clone().or(model);
    twin.hardware = args.hardware.clone();
    twin.engine = args.engine.clone().unwrap_or_else(|| "not stated".to_owned());
    let ids: Vec<&str> = runs.iter().map(|(_, summary)| summary.run.id.as_str()).collect();
    let simulated = runs.iter().any(|(_, summary)| summary.run.simulated);
    let imported = runs.iter().any(|(_, summary)| summary.run.origin.is_some());
    let what = match (simulated, imported) {
        (true, _) => "runs of an embedded engine",
        (_, true) => "imported results",
        _ => "runs of dyno",
    };
    twin.provenance = format!("fitted to {what}: {}", ids.join(", "));
}

fn report(found: &Fitted, args: &FitArgs) -> String {
    let twin = &found.twin;
    let mut text = String::new();
    let _ = writeln!(text, "{}\n{}", compare::rows(&found.report), compare::errors(&found.report));
    if !found.leave_one_out.is_empty() {
        let _ = writeln!(text, "leave-one-out error:");
        for (figure, percent) in &found.leave_one_out {
            let _ = writeln!(text, "  {:<22} {percent:.1} %", figure.name());
        }
    }
    if !twin.intervals.is_empty() {
        let _ = writeln!(text, "\nconfidence intervals:");
        for (name, [low, high]) in &twin.intervals {
            let (low, high) = (compare::number(*low), compare::number(*high));
            let _ = writeln!(text, "  {name:<22} {low} to {high}");
        }
    }
    if !twin.unidentified.is_empty() {
        let _ = writeln!(
            text,
            "\nnot identifiable from this data: {}\n  predictions outside the measured range \
             depend on them; measure beyond the knee, or give --max-seqs",
            twin.unidentified.join(", ")
        );
    }
    let _ = writeln!(text, "\nwritten to {}", args.out.display());
    text
}
