//! `--versus`: two targets, measured alternately level by level, each with its own run.

use super::outcome::conclude;
use super::progress::ProgressObserver;
use crate::commands::compare;
use crate::commands::show::text_options;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::{Resolved, Showing};
use crate::why::Status;
use dyno_model::plan::Plan;
use dyno_model::versus::Side;
use dyno_model::{Summary, message};
use dyno_report::plan::{Around, Data};
use dyno_report::render_brief;
use dyno_run::{FinishedRun, Order, RunError};
use serde_json::json;

/// The plan as text, with both targets.
pub(crate) fn plan(resolved: &Resolved) -> String {
    let language = resolved.showing.language;
    let order = &resolved.order;
    let data = order.workload.as_ref().map(|workload| Data {
        conversations: workload.is_session(),
        requests: workload.trace_length(),
        lasts: workload.trace_lasts(),
    });
    let around = Around {
        data: data.unwrap_or_default(),
        dry_run: resolved.dry_run,
        finished: order.past().map(|past| past.indices()).unwrap_or_default(),
        versus: resolved.versus.is_some(),
    };
    let mut text = dyno_report::plan::plan(&order.plan, &around, language);
    if let Some(rival) = &resolved.versus {
        text.push_str(&format!(
            "{}\n  A  {}\n  B  {}\n",
            dyno_report::plan::Say::Alternating.text(language),
            resolved.order.plan.target,
            rival.plan.target
        ));
    }
    text
}

/// Measures both alternately, and shows one after the other.
pub(super) fn measure(
    orders: [Order; 2],
    showing: &Showing,
    printer: &Printer,
) -> Result<Exit, RunError> {
    let printers = [printer.about(Side::A), printer.about(Side::B)];
    let seen =
        printers.each_ref().map(|printer| ProgressObserver::new(printer, false, showing.language));
    let runs = dyno_run::in_turns(orders, [&seen[0], &seen[1]])?;
    let mut shown = Shown { showing, printer, summaries: Vec::new() };
    let mut exit = Status::from(Exit::Fine);
    for ((run, side), printer) in runs.iter().zip([Side::A, Side::B]).zip(&printers) {
        let mut show = |summary: &Summary| shown.take(side, &run.plan, summary);
        exit = exit.and(conclude(run, showing, printer, &mut show));
    }
    Ok(exit.and(shown.end()).and(compared(&runs, showing, printer)).told(printer))
}

/// Prints one summary after the other, or both in one JSON document.
struct Shown<'a> {
    showing: &'a Showing,
    printer: &'a Printer,
    summaries: Vec<(Side, Summary)>,
}

impl Shown<'_> {
    fn take(&mut self, side: Side, plan: &Plan, summary: &Summary) -> Exit {
        if self.showing.json {
            self.summaries.push((side, summary.clone()));
            return Exit::Fine;
        }
        let Showing { language, selection, details, .. } = self.showing;
        let options = text_options(*language, selection, *details, self.printer);
        let text = render_brief(summary, &options);
        self.printer.result(&format!("{side}: {}\n\n{text}\n", plan.target))
    }

    fn end(&self) -> Exit {
        if !self.showing.json {
            return Exit::Fine;
        }
        let of = |side| self.summaries.iter().find(|(of, _)| *of == side).map(|(_, s)| s);
        let both = json!({"schema": "dyno.versus/1", "a": of(Side::A), "b": of(Side::B)});
        self.printer.result(&format!("{both:#}\n"))
    }
}

/// Compares both runs, once they are as complete as they will be.
fn compared(runs: &[FinishedRun; 2], showing: &Showing, printer: &Printer) -> Exit {
    let paths = runs.each_ref().map(|run| run.dir.path());
    let mut exit = Exit::Fine;
    if !showing.json
        && let Some(table) =
            compare::alternating(paths, ["A", "B"], showing.language, printer.terminal_width())
    {
        exit = printer.result(&table);
    }
    let [a, b] = paths.map(|path| path.display().to_string());
    printer.remark(&message!(
        "to compare again: dyno compare {a} {b}",
        "再次对比：dyno compare {a} {b}"
    ));
    exit
}
