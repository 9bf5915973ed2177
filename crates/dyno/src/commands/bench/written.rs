//! The reports that are written into the run directory.

use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Showing;
use dyno_analysis::Detail;
use dyno_model::summary::Extras;
use dyno_model::{Localized, Message, Summary, message};
use dyno_report::TextOptions;
use dyno_report::layout::{Layout, Options, RunToPrint};
use dyno_run::FinishedRun;

/// Writes each requested report into the run directory, and prints its path. A report that cannot be written
/// can be computed from the records again, but it was asked for: a script that waits for the file must know.
pub(super) fn reports(
    finished: &FinishedRun,
    summary: &Summary,
    showing: &Showing,
    printer: &Printer,
) -> Exit {
    let (Showing { reports, language, .. }, FinishedRun { dir, plan, .. }) = (showing, finished);
    if reports.is_empty() {
        return Exit::Fine;
    }
    let source = match finished.records() {
        Ok(source) => source,
        Err(error) => {
            let why = Message::of(error);
            printer.error(&message!("no report was written: {why}", "未写入报告：{why}"));
            return Exit::Bug;
        }
    };
    let needs = |need: fn(Layout) -> bool| reports.iter().any(|layout| need(*layout));
    let run = RunToPrint {
        summary: summary.clone(),
        extras: match needs(Layout::needs_extras) {
            true => dyno_analysis::extras(plan, &source),
            false => Extras::default(),
        },
        detail: needs(Layout::needs_detail).then(|| Detail::gather(&source)),
        plan: Some(plan.clone()),
        environment: dir.read_environment().ok().flatten(),
    };
    let text = TextOptions {
        selection: showing.selection.clone(),
        details: true,
        ..TextOptions::default()
    };
    let options = Options { language: *language, text, ..Options::default() };
    let mut exit = Exit::Fine;
    for layout in reports {
        let name = layout.file_name();
        let printed = match layout.print(std::slice::from_ref(&run), &options) {
            Ok(printed) => printed,
            Err(error) => {
                printer.error(&unwritten(name, &error));
                exit = Exit::Bug;
                continue;
            }
        };
        match dir.write_report(name, &printed.bytes) {
            Ok(path) => printer.remark(&message!("report: {}", "报告：{}", path.display())),
            Err(error) => {
                printer.error(&unwritten(name, &error));
                exit = Exit::Bug;
            }
        }
    }
    exit
}

fn unwritten(name: &str, error: &impl Localized) -> Message {
    let why = Message::of(error);
    message!("{name} was not written: {why}", "未写入 {name}：{why}")
}
