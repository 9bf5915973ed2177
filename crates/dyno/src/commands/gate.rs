//! `dyno gate`: passes, fails, or is inconclusive; for CI.

use super::baseline::one;
use super::compare::{baseline, names, side_by_side, terms};
use super::report::language;
use super::shown_json;
use crate::args::compare::GateArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use crate::why::{Status, Why};
use dyno_analysis::compare::{Answer, Check, Gated, Terms, gated};
use dyno_model::Language;
use dyno_model::metric::Better;
use dyno_report::compared;
use dyno_report::layout::markdown_cell;
use dyno_words::escape::{escape, xml};
use std::path::Path;

/// How many of many inconclusive checks are listed.
const WORST: usize = 5;

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
        match error.hint {
            Some(_) => error,
            None => error.hint(format!("saved baselines are in `{kept}`: dyno baseline list")),
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
    let terms = Terms { asked: args.metric.clone(), ..terms(&args.terms, &sides) };
    let comparison = side_by_side(&called, &sides, &terms);
    let found = gated(&comparison, &args.metric, args.max_regression);
    let language = language(args.language);
    let caveats = compared::caveats(&comparison, language);
    if let Some(path) = &args.junit {
        junit(path, &found, language)?;
    }
    let printed = if args.json {
        match shown_json(&found) {
            Ok(json) => json + "\n",
            Err(error) => {
                printer.error(error);
                return Ok(Exit::Bug);
            }
        }
    } else if args.github {
        let caveats = caveats.iter().map(|caveat| format!("- {}\n", markdown_cell(caveat)));
        markdown(&found, language) + &caveats.collect::<String>()
    } else {
        let caveats = caveats.iter().map(|caveat| format!("  {}\n", escape(caveat, 300)));
        text(&found, language) + &caveats.collect::<String>() + &headline(&found, language) + "\n"
    };
    let status = Status::from(printer.result(&printed)).and(status(&found, language));
    Ok(status.told(&printer.speaking(language)))
}

/// The exit status, and why it is not 0.
fn status(found: &Gated, language: Language) -> Status {
    let exit = match found.answer {
        Answer::Pass => return Exit::Fine.into(),
        Answer::Fail => Exit::BarNotMet,
        Answer::CannotTell => Exit::Inconclusive,
    };
    let count = found.checks.iter().filter(|check| check.answer == found.answer).count();
    let values = [count.to_string(), found.checks.len().to_string()];
    let checks = match found.answer {
        Answer::Fail => Why::GateFailed,
        _ => Why::GateOpen,
    };
    let mut why = Vec::new();
    why.extend((count > 0).then(|| checks.with(language, &values)));
    let missing = found.missing.len();
    why.extend((missing > 0).then(|| Why::LoadsMissing.with(language, &[missing.to_string()])));
    if why.is_empty() {
        why.push(Why::NoChecks.text(language).to_owned());
    }
    Status::because(exit, why.join(language.semicolon()))
}

fn headline(found: &Gated, language: Language) -> String {
    let count = |answer: Answer| found.checks.iter().filter(|c| c.answer == answer).count();
    let [pass, fail, unsure] = [Answer::Pass, Answer::Fail, Answer::CannotTell].map(count);
    let [first, own] = found.sides.each_ref().map(|side| escape(side, 60));
    let most = found.max_regression * 100.0;
    let word = compared::answer(found.answer, language);
    match language {
        Language::English => format!(
            "{word}: {own} against {first}, at most {most} % worse: {pass} passed, {fail} failed, \
             {unsure} inconclusive"
        ),
        Language::Chinese => format!(
            "{word}：{own} 对比 {first}，最多允许变差 {most} %：{pass} 项通过，{fail} 项未通过，\
             {unsure} 项无法判定"
        ),
    }
}

/// The checks that did not pass, worst first; then those that did.
fn sorted(found: &Gated) -> Vec<&Check> {
    let mut checks: Vec<&Check> = found.checks.iter().collect();
    checks.sort_by_key(|check| std::cmp::Reverse(check.answer));
    checks
}

/// The same for a terminal, where the end is read first: those that did not pass stand next to the
/// answer.
fn sorted_for_terminal(found: &Gated) -> Vec<&Check> {
    let mut checks = sorted(found);
    checks.sort_by_key(|check| check.answer);
    checks
}

/// How many checks are listed. Where all are inconclusive, the worst ones are enough.
fn shown(checks: &[&Check]) -> usize {
    let all = checks.iter().all(|check| check.answer == Answer::CannotTell);
    if all && checks.len() > 2 * WORST { WORST } else { checks.len() }
}

/// By how much a metric is worse than in the baseline, as a share.
fn worsening(check: &Check) -> f64 {
    let change = check.change.unwrap_or(0.0);
    match check.metric.metric.info().better {
        Better::Higher => -change,
        Better::Lower | Better::Neither => change,
    }
}

/// The checks, and what is missing; the answer stands below.
fn text(found: &Gated, language: Language) -> String {
    let mut out = String::new();
    let mut checks = sorted_for_terminal(found);
    let shown = shown(&checks);
    if shown < checks.len() {
        checks.sort_by(|a, b| worsening(b).total_cmp(&worsening(a)));
    }
    for check in &checks[..shown] {
        let word = compared::answer(check.answer, language);
        out.push_str(&format!(
            "  {word}{}{}\n",
            language.colon(),
            escape(&compared::check_line(check, language), 300)
        ));
    }
    let hidden = checks.len() - shown;
    if hidden > 0 {
        out.push_str(&match language {
            Language::English => {
                format!("  and {hidden} more, inconclusive as well; --json lists all\n")
            }
            Language::Chinese => format!("  另有 {hidden} 项同样无法判定；--json 列出全部\n"),
        });
    }
    let missing = compared::missing_line(found, language);
    out.extend(missing.map(|message| format!("  {}\n", escape(&message, 300))));
    out
}

fn markdown(found: &Gated, language: Language) -> String {
    let mut out = format!("### {}\n\n", markdown_cell(&headline(found, language)));
    for check in sorted(found) {
        let mark = match check.answer {
            Answer::Pass => "✅",
            Answer::Fail => "❌",
            Answer::CannotTell => "❔",
        };
        out.push_str(&format!(
            "- {mark} {}\n",
            markdown_cell(&compared::check_line(check, language))
        ));
    }
    let missing = compared::missing_line(found, language);
    out.extend(missing.map(|message| format!("- ❔ {}\n", markdown_cell(&message))));
    out
}

/// JUnit XML for CI servers. Inconclusive checks are skipped, not passed.
fn junit(path: &Path, found: &Gated, language: Language) -> Result<(), UsageError> {
    let count = |answer: Answer| found.checks.iter().filter(|c| c.answer == answer).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dyno gate\" tests=\"{}\" \
         failures=\"{}\" skipped=\"{}\">\n",
        found.checks.len() + found.missing.len(),
        count(Answer::Fail),
        count(Answer::CannotTell) + found.missing.len()
    );
    for check in &found.checks {
        let message = xml(&compared::check_line(check, language));
        let inner = match check.answer {
            Answer::Pass => String::new(),
            Answer::Fail => format!("<failure message=\"{message}\"/>"),
            Answer::CannotTell => format!("<skipped message=\"{message}\"/>"),
        };
        let (name, load) = (check.metric.name(), xml(&check.load));
        out.push_str(&format!(
            "  <testcase classname=\"{load}\" name=\"{name}\">{inner}</testcase>\n"
        ));
    }
    let lacks = language.choose(["the run lacks this load", "缺少该负载"]);
    for load in &found.missing {
        let load = xml(load);
        out.push_str(&format!(
            "  <testcase classname=\"{load}\" name=\"load\"><skipped message=\"{lacks}\"/>\
             </testcase>\n"
        ));
    }
    out.push_str("</testsuite>\n");
    std::fs::write(path, out).map_err(|error| {
        UsageError::new("--junit", format!("cannot write `{}`: {error}", path.display()))
    })
}
