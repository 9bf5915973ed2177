//! The reports that are written beside a run by themselves.

use crate::printer::Printer;
use crate::resolve::Resolved;
use dyno_analysis::{Detail, FrameSource};
use dyno_model::Summary;
use dyno_model::environment::Environment;
use dyno_model::summary::Extras;
use dyno_record::RunDir;
use dyno_report::layout::{Layout, Options, Run};

/// Writes each report that was asked for into the run's directory, and says where it is. A report
/// that cannot be written is a warning: everything is in the records.
pub(super) fn reports(
    dir: &RunDir,
    resolved: &Resolved,
    summary: &Summary,
    environment: Option<Environment>,
    source: &dyn FrameSource,
    printer: &Printer,
) {
    if resolved.reports.is_empty() {
        return;
    }
    let needs = |need: fn(Layout) -> bool| resolved.reports.iter().any(|layout| need(*layout));
    let run = Run {
        summary: summary.clone(),
        extras: match needs(Layout::needs_extras) {
            true => dyno_analysis::extras(&resolved.plan, source),
            false => Extras::default(),
        },
        detail: needs(Layout::needs_detail).then(|| Detail::gather(source)),
        plan: Some(resolved.plan.clone()),
        environment,
    };
    let options = Options { language: resolved.language, ..Options::default() };
    for layout in &resolved.reports {
        let name = layout.file_name();
        let printed = match layout.print(std::slice::from_ref(&run), &options) {
            Ok(printed) => printed,
            Err(error) => {
                printer.warn(format_args!("{name} was not written: {error}"));
                continue;
            }
        };
        match dir.write_report(name, &printed.bytes) {
            Ok(path) => printer.remark(format_args!("report: {}", path.display())),
            Err(error) => printer.warn(format_args!("{name} was not written: {error}")),
        }
    }
}
