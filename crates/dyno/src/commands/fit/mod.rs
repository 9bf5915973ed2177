//! `dyno fit`: makes a twin of a measured server.

mod imported;
mod progress;
mod table;
mod words;

use super::loaded;
use super::twins::compare;
use crate::args::fit::FitArgs;
use crate::exit::Exit;
use crate::printer::{Manners, Printer};
use crate::resolve::Surroundings;
use crate::usage::UsageError;
use dyno_analysis::{DirSource, level_plans};
use dyno_engine::twin::reference::Figure;
use dyno_fit::{FitOptions, Fitted, Role, Table, fit};
use dyno_model::plan::LevelPlan;
use dyno_model::{Language, Summary};
use dyno_words::columns::left;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use words::Message;

/// The planned levels of a run by index, and its results.
type Measured = (BTreeMap<u32, LevelPlan>, Summary);

/// A leave-one-out error above this many percent means that the twin interpolates badly.
const LARGEST_ERROR: f64 = 30.0;

/// Reads the runs, fits a twin, writes it and reports how close it is.
pub(crate) fn run(args: &FitArgs, printer: &Printer) -> Exit {
    let manners = Manners { quiet: args.quiet, no_progress: args.no_progress, json: false };
    let printer = &printer.with(manners);
    match fitted(args, printer, Surroundings::of_process().language) {
        Ok((text, exit)) => printer.result(&text).and(exit),
        Err(errors) => {
            errors.iter().for_each(|error| printer.error(error));
            errors.iter().map(|error| error.exit).max().unwrap_or(Exit::Usage)
        }
    }
}

/// The report on a new twin file and whether it is a good fit, or everything that prevents one.
fn fitted(
    args: &FitArgs,
    printer: &Printer,
    language: Language,
) -> Result<(String, Exit), Vec<UsageError>> {
    let mut errors: Vec<UsageError> = unwritable(&args.out, language).into_iter().collect();
    let mut runs: Vec<Measured> = Vec::new();
    for path in &args.runs {
        match measured(path, printer) {
            Ok(mut found) => runs.append(&mut found),
            Err(error) => errors.push(error),
        }
    }
    let name = args.out.file_stem().map_or("twin".into(), |stem| stem.to_string_lossy());
    let table = table::table(&name, &runs, args.max_seqs, language);
    left_out(&table, language).into_iter().for_each(|note| printer.note(note));
    if !runs.is_empty() {
        let defects = dyno_fit::defects(&table);
        let error = |defect| UsageError::new("RUN", words::defect(defect, language));
        errors.extend(defects.iter().map(error));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    printer.note(Message::Fitting.with(language, &[table.fitted().count().to_string()]));
    let options = FitOptions::default();
    let line = |elapsed| progress::line(options.progress.state(), elapsed, language);
    let mut found = dyno_live::while_shown(printer, line, || fit(&table, &options))
        .map_err(|error| vec![UsageError::new("RUN", error.to_string())])?;
    describe(&mut found, args, &runs);
    write(args, &found, language).map_err(|error| vec![error])?;
    let warning = warning(&found.leave_one_out, language);
    let exit = if warning.is_some() { Exit::Inconclusive } else { Exit::Fine };
    if let Some(warning) = warning {
        printer.warn(warning);
    }
    Ok((report(&found, args, language), exit))
}

/// Which levels are left out, with one note for each reason.
fn left_out(table: &Table, language: Language) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for level in &table.levels {
        let Role::LeftOut(why) = &level.role else { continue };
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, labels)) => labels.push(&level.label),
            None => reasons.push((why, vec![&level.label])),
        }
    }
    let note = |(why, labels): (&str, Vec<&str>)| match labels.as_slice() {
        [label] => Message::LeftOut.with(language, &[label, why]),
        labels => {
            let names = labels.join(language.choose([", ", "、"]));
            Message::LeftOutSeveral.with(language, &[&labels.len().to_string(), &names, why])
        }
    };
    reasons.into_iter().map(note).collect()
}

/// Why no twin file can be created at `out`, as far as that can be known before fitting.
fn unwritable(out: &Path, language: Language) -> Option<UsageError> {
    let error = |message: Message, path: &Path| {
        UsageError::new("--out", message.with(language, &[path.display().to_string()]))
    };
    if out.exists() {
        return Some(error(Message::Exists, out));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then(|| error(Message::NoDirectory, folder))
}

/// The runs at `path`.
fn measured(path: &Path, printer: &Printer) -> Result<Vec<Measured>, UsageError> {
    let wrong = |error: dyno_record::RecordError| UsageError::new("RUN", error.to_string());
    let all = loaded::all(&[path.to_owned()], "RUN")?;
    all.print_problems(true, printer);
    let with_plans = all.runs.into_iter().map(|run| {
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

fn write(args: &FitArgs, found: &Fitted, language: Language) -> Result<(), UsageError> {
    let unwritable = |error: std::io::Error| {
        let values = [args.out.display().to_string(), error.to_string()];
        UsageError::new("--out", Message::CannotWrite.with(language, &values))
    };
    let mut file = File::create_new(&args.out).map_err(unwritable)?;
    file.write_all(found.twin.to_toml().as_bytes()).map_err(unwritable)
}

/// The warning for a twin that does not predict levels it was not fitted to.
fn warning(leave_one_out: &BTreeMap<Figure, f64>, language: Language) -> Option<String> {
    let large = leave_one_out.iter().filter(|(_, percent)| **percent > LARGEST_ERROR);
    let large: Vec<String> = large
        .map(|(figure, percent)| format!("{} {percent:.0} %", compare::short(*figure, language)))
        .collect();
    let values = [format!("{LARGEST_ERROR:.0}"), large.join(", ")];
    (!large.is_empty()).then(|| Message::PoorFit.with(language, &values))
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
fn report(found: &Fitted, args: &FitArgs, language: Language) -> String {
    let twin = &found.twin;
    let say = |message: Message| message.text(language);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}\n{}",
        compare::rows(&found.report, language),
        compare::errors(&found.report, language)
    );
    if !found.leave_one_out.is_empty() {
        let _ = writeln!(text, "{}", say(Message::LeaveOneOut));
        for (figure, percent) in &found.leave_one_out {
            let _ =
                writeln!(text, "  {} {percent:.1} %", left(&compare::short(*figure, language), 22));
        }
    }
    if !twin.intervals.is_empty() {
        let _ = writeln!(text, "\n{}", say(Message::Ranges));
        for (name, interval) in &twin.intervals {
            let range = Message::To.with(language, &interval.map(compare::number));
            let _ = writeln!(text, "  {name:<22} {range}");
        }
    }
    if !twin.unidentified.is_empty() {
        let _ = writeln!(text, "\n{}", say(Message::Unidentified));
        for parameter in &twin.unidentified {
            let _ = writeln!(text, "  {parameter}");
        }
        let _ = writeln!(text, "{}", say(Message::Advice));
    }
    let out = args.out.display().to_string();
    let _ = writeln!(text, "\n{}", Message::Written.with(language, &[out]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_left_out_for_the_same_reason_share_a_note() {
        let level = |label: &str, why: &str| dyno_fit::Level {
            label: label.to_owned(),
            offer: dyno_fit::Offer::burst(1),
            input: 1.0,
            output: 1.0,
            counted: None,
            timeout_s: None,
            repeated: false,
            metrics: BTreeMap::new(),
            role: if why.is_empty() { Role::Fitted } else { Role::LeftOut(why.to_owned()) },
        };
        let levels = vec![
            level("rate 1", "random"),
            level("rate 2", ""),
            level("rate 3", "partial"),
            level("rate 4", "random"),
        ];
        let (max_seqs, kv_tokens, context) = (None, None, None);
        let name = "twin".to_owned();
        let table = Table { name, levels, max_seqs, kv_tokens, context, varied: false };
        assert_eq!(
            left_out(&table, Language::English),
            ["left out 2 levels (rate 1, rate 4): random", "left out: rate 3: partial"]
        );
    }

    #[test]
    fn only_large_leave_one_out_errors_are_warned_about() {
        assert_eq!(warning(&BTreeMap::from([(Figure::TtftMs, 30.0)]), Language::English), None);
        let errors = BTreeMap::from([(Figure::TtftMs, 44.6), (Figure::LatencyS, 12.0)]);
        let text = warning(&errors, Language::English).unwrap();
        assert!(text.contains("TTFT ms 45 %") && !text.contains("latency"), "{text}");
    }
}
