//! `dyno fit`: makes a twin of a measured server.

mod imported;
mod table;

use super::loaded;
use super::twins::compare;
use crate::args::fit::FitArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::{DirSource, level_plans};
use dyno_engine::twin::reference::Figure;
use dyno_fit::{FitOptions, Fitted, Role, fit};
use dyno_model::Summary;
use dyno_model::plan::LevelPlan;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// The planned levels of a run by index, and its results.
type Measured = (BTreeMap<u32, LevelPlan>, Summary);

/// A leave-one-out error above this many percent means that the twin interpolates badly.
const LARGEST_ERROR: f64 = 30.0;

/// Reads the runs, fits a twin, writes it and reports how close it is.
pub(crate) fn run(args: &FitArgs, printer: &Printer) -> Exit {
    match fitted(args, printer) {
        Ok(text) => printer.result(&text),
        Err(errors) => {
            errors.into_iter().for_each(|error| printer.error(error));
            Exit::Usage
        }
    }
}

/// The report on a new twin file, or everything that prevents one.
fn fitted(args: &FitArgs, printer: &Printer) -> Result<String, Vec<UsageError>> {
    let mut errors: Vec<UsageError> = unwritable(&args.out).into_iter().collect();
    let mut runs: Vec<Measured> = Vec::new();
    for path in &args.runs {
        match measured(path, printer) {
            Ok(mut found) => runs.append(&mut found),
            Err(error) => errors.push(error),
        }
    }
    let name = args.out.file_stem().map_or("twin".into(), |stem| stem.to_string_lossy());
    let table = table::table(&name, &runs, args.max_seqs);
    for level in &table.levels {
        if let Role::LeftOut(why) = &level.role {
            printer.note(format_args!("left out: {}: {why}", level.label));
        }
    }
    if !runs.is_empty() {
        let defects = dyno_fit::defects(&table);
        errors.extend(defects.iter().map(|defect| UsageError::new("RUN", defect.to_string())));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    printer.note("fitting; this takes a few seconds");
    let mut found = fit(&table, &FitOptions::default())
        .map_err(|error| vec![UsageError::new("RUN", error.to_string())])?;
    describe(&mut found, args, &runs);
    write(args, &found).map_err(|error| vec![error])?;
    if let Some(warning) = warning(&found.leave_one_out) {
        printer.warn(warning);
    }
    Ok(report(&found, args))
}

/// Why no twin file can be created at `out`, as far as that can be known before fitting.
fn unwritable(out: &Path) -> Option<UsageError> {
    if out.exists() {
        let message = format!("`{}` exists; name another file", out.display());
        return Some(UsageError::new("--out", message));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    let message = || format!("there is no directory `{}`; create it first", folder.display());
    (!folder.is_dir()).then(|| UsageError::new("--out", message()))
}

/// The runs at `path`.
fn measured(path: &Path, printer: &Printer) -> Result<Vec<Measured>, UsageError> {
    let wrong = |error: dyno_record::RecordError| UsageError::new("RUN", error.to_string());
    let loaded::All { runs, problems } = loaded::all(&[path.to_owned()], "RUN")?;
    for (file, problem) in &problems {
        printer.warn(loaded::problem(file, problem));
    }
    let with_plans = runs.into_iter().map(|run| {
        let plans = match &run.dir {
            Some(dir) => {
                let plan = dir.read_plan().map_err(wrong)?;
                level_plans(&plan, &DirSource::open(dir).map_err(wrong)?)
            }
            None => imported::plans(&run.summary),
        };
        Ok((plans, run.summary))
    });
    with_plans.collect()
}

fn write(args: &FitArgs, found: &Fitted) -> Result<(), UsageError> {
    let unwritable = |error: std::io::Error| {
        UsageError::new("--out", format!("cannot write `{}`: {error}", args.out.display()))
    };
    let mut file = File::create_new(&args.out).map_err(unwritable)?;
    file.write_all(found.twin.to_toml().as_bytes()).map_err(unwritable)
}

/// The warning for a twin that does not predict levels it was not fitted to.
fn warning(leave_one_out: &BTreeMap<Figure, f64>) -> Option<String> {
    let large = leave_one_out.iter().filter(|(_, percent)| **percent > LARGEST_ERROR);
    let large: Vec<String> = large
        .map(|(figure, percent)| format!("{} {percent:.0} %", compare::short(*figure)))
        .collect();
    (!large.is_empty()).then(|| {
        format!(
            "POOR FIT: the leave-one-out error is over {LARGEST_ERROR:.0} % ({}). Do not rely on \
             this twin between or beyond the measured levels; measure more levels, at more \
             different loads, and fit again",
            large.join(", ")
        )
    })
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
    let source = match (simulated, imported) {
        (true, _) => "runs of an embedded engine",
        (_, true) => "imported results",
        _ => "runs of dyno",
    };
    twin.provenance = format!("fitted to {source}: {}", ids.join(", "));
}

/// What was fitted, how close it is, and what the data does not show.
fn report(found: &Fitted, args: &FitArgs) -> String {
    let twin = &found.twin;
    let mut text = String::new();
    let _ = writeln!(text, "{}\n{}", compare::rows(&found.report), compare::errors(&found.report));
    if !found.leave_one_out.is_empty() {
        let _ = writeln!(text, "leave-one-out error (each level predicted from the others):");
        for (figure, percent) in &found.leave_one_out {
            let _ = writeln!(text, "  {:<22} {percent:.1} %", figure.name());
        }
    }
    if !twin.intervals.is_empty() {
        let _ = writeln!(text, "\nplausible range of each parameter:");
        for (name, [low, high]) in &twin.intervals {
            let (low, high) = (compare::number(*low), compare::number(*high));
            let _ = writeln!(text, "  {name:<22} {low} to {high}");
        }
    }
    if !twin.unidentified.is_empty() {
        let _ = writeln!(
            text,
            "\nnot identifiable from this data: {}\n  predictions outside the measured range depend \
             on these; measure past the knee, or give --max-seqs",
            twin.unidentified.join(", ")
        );
    }
    let _ = writeln!(text, "\nwritten to {}", args.out.display());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_leave_one_out_errors_are_warned_about() {
        assert_eq!(warning(&BTreeMap::from([(Figure::TtftMs, 30.0)])), None);
        let errors = BTreeMap::from([(Figure::TtftMs, 44.6), (Figure::LatencyS, 12.0)]);
        let text = warning(&errors).unwrap();
        assert!(text.contains("TTFT ms 45 %") && !text.contains("latency"), "{text}");
    }
}
