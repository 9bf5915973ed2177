//! `dyno gate`: passes, fails, or is inconclusive; for CI.

use super::baseline::one;
use super::compare::{baseline, names, side_by_side, terms};
use super::report::language;
use super::{cannot_write, shown_json};
use crate::args::compare::GateArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use crate::why::Status;
use dyno_analysis::compare::{ComparisonTerms, GateAnswer, Gated, gated};
use dyno_model::message;
use dyno_report::gate::{junit, markdown, text};

/// Compares the run with the baseline.
pub(crate) fn run(args: &GateArgs, printer: &Printer) -> Exit {
    gate(args, printer).unwrap_or_else(|error| {
        printer.error(&error);
        error.exit
    })
}

fn gate(args: &GateArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let path = baseline(&args.baseline, &args.baselines);
    let first = one(Some(&path), "--baseline").map_err(|error| {
        let kept = args.baselines.display();
        match error.message.hint() {
            Some(_) => error,
            None => error.hint(message!(
                "saved baselines are in `{kept}`: dyno baseline list",
                "已保存的基线在 `{kept}` 中：dyno baseline list"
            )),
        }
    })?;
    let runs = [first, one(args.run.as_ref(), "RUN")?];
    let mut names = names(&runs);
    // A saved baseline is known by its name, not by its file.
    if path != args.baseline && runs[0].summary.run.label.is_none() {
        names[0] = args.baseline.display().to_string();
    }
    let sides: Vec<&_> = runs.iter().collect();
    let called: Vec<&str> = names.iter().map(String::as_str).collect();
    let terms = ComparisonTerms { asked: args.metric.clone(), ..terms(&args.terms, &sides) };
    let comparison = side_by_side(&called, &sides, &terms);
    let found = gated(&comparison, &args.metric, args.max_regression);
    let language = language(args.language);
    if let Some(path) = &args.junit {
        std::fs::write(path, junit(&found, language))
            .map_err(|error| UsageError::new("--junit", cannot_write(path, &error)))?;
    }
    let printed = if args.json {
        match shown_json(&found) {
            Ok(json) => json + "\n",
            Err(error) => {
                printer.error(&error);
                return Ok(Exit::Bug);
            }
        }
    } else if args.github {
        markdown(&comparison, &found, language)
    } else {
        text(&comparison, &found, language)
    };
    let status = Status::from(printer.result(&printed)).and(status(&found));
    Ok(status.told(&printer.speaking(language)))
}

/// The exit status, and why it is not 0.
fn status(found: &Gated) -> Status {
    let exit = match found.answer {
        GateAnswer::Pass => return Exit::Fine.into(),
        GateAnswer::Fail => Exit::RequirementMissed,
        GateAnswer::Inconclusive => Exit::Inconclusive,
    };
    let count = found.checks.iter().filter(|check| check.answer == found.answer).count();
    let all = found.checks.len();
    let checks = match found.answer {
        GateAnswer::Fail => message!(
            "{count} of {all} {all|check|checks} failed",
            "{all} 项检查中有 {count} 项未通过"
        ),
        _ => message!(
            "{count} of {all} {all|check|checks} {count|is|are} inconclusive",
            "{all} 项检查中有 {count} 项无法判定"
        ),
    };
    let missing = found.missing.len();
    let missing = (missing > 0).then(|| {
        message!(
            "{missing} {missing|load|loads} of the baseline {missing|is|are} missing",
            "缺少基线中的 {missing} 个负载"
        )
    });
    let why = (count > 0).then_some(checks).into_iter().chain(missing);
    why.map(|why| exit.because(why))
        .reduce(Status::and)
        .unwrap_or_else(|| exit.because(message!("there was nothing to check", "没有可检查的内容")))
}
