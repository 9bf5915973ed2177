//! `--versus`: two targets that take turns, level by level, each with a run of its own.

use super::directory::Identity;
use super::recorded::{self, Kit, Ready};
use super::{Refused, plan_text, prepare};
use crate::commands::compare;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::run::levels::Bench;
use crate::run::turns;
use dyno_drive::StopSignal;
use dyno_model::Language;
use dyno_model::Summary;
use dyno_model::environment::Environment;
use dyno_model::plan::Plan;
use dyno_model::versus::{Side, Versus};
use dyno_net::Clock;
use dyno_record::RunDir;
use dyno_report::{TextOptions, render_brief};
use serde_json::json;

/// One of two that are ready to take turns.
pub(crate) struct Seat<'a> {
    pub(crate) bench: &'a mut dyn Bench,
    pub(crate) kit: Kit<'a>,
    pub(crate) environment: Environment,
}

/// The plan as people read it, and who takes turns.
pub(crate) fn plan(resolved: &Resolved) -> String {
    let mut text = plan_text::plan(&resolved.plan);
    if let Some(rival) = &resolved.versus {
        text.push_str(&format!(
            "Each level is run on both, in turns: A B, then B A, and so on.\n  A  {}\n  B  {}\n",
            target(&resolved.plan),
            target(&rival.plan)
        ));
    }
    text
}

/// Has each of the two plans know the other run.
pub(crate) fn link(a: &mut Plan, b: &mut Plan, clock: &Clock) {
    let name = |side| Identity::of_side(clock, side).name().to_owned();
    let versus =
        |side: Side, other_target| Versus { side, other_run: name(side.other()), other_target };
    let (of_a, of_b) = (target(a), target(b));
    a.course.versus = Some(versus(Side::A, of_b));
    b.course.versus = Some(versus(Side::B, of_a));
}

/// Asks both servers first, then measures them in turns.
pub(super) fn measure(
    mut a: Resolved,
    mut b: Resolved,
    printer: &Printer,
    stop: &StopSignal,
    clock: Clock,
) -> Result<Exit, Refused> {
    link(&mut a.plan, &mut b.plan, &clock);
    let printers = [printer.about(Side::A), printer.about(Side::B)];
    let of = |side: Side| move |(exit, words)| (exit, format!("{side}: {words}"));
    let mut ready_a = prepare(&a, None, &printers[0], stop, clock).map_err(of(Side::A))?;
    // Counted by the same tokenizer, so that the prompts are the same.
    let workload = Some(ready_a.workload.beside());
    let mut ready_b = prepare(&b, workload, &printers[1], stop, clock).map_err(of(Side::B))?;
    let seat_a = ready_a.seat(&a, &printers[0], stop, clock);
    let seat_b = ready_b.seat(&b, &printers[1], stop, clock);
    run(seat_a, seat_b, printer)
}

impl<B: Bench> Ready<B> {
    /// Its place at the table.
    pub(crate) fn seat<'a>(
        &'a mut self,
        resolved: &'a Resolved,
        printer: &'a Printer,
        stop: &'a StopSignal,
        clock: Clock,
    ) -> Seat<'a> {
        let Self { bench, workload, environment } = self;
        let kit = Kit { workload, resolved, printer, stop, clock };
        Seat { bench, kit, environment: environment.clone() }
    }
}

/// Runs both in turns, keeps everything of each, and shows the one after the other.
pub(crate) fn run(a: Seat<'_>, b: Seat<'_>, printer: &Printer) -> Result<Exit, Refused> {
    let (opened_a, opened_b) =
        (recorded::open(&a.kit, &a.environment)?, recorded::open(&b.kit, &b.environment)?);
    let (plan_a, plan_b) = (&a.kit.resolved.plan, &b.kit.resolved.plan);
    let mut over_b = None;
    let over_a = recorded::record(a.bench, &a.kit, opened_a, a.environment, None, |one| {
        let over = recorded::record(b.bench, &b.kit, opened_b, b.environment, None, |other| {
            turns::take(&plan_a.levels, one, other);
        });
        over_b = Some(over);
    });
    let Resolved { json, language, .. } = *a.kit.resolved;
    let mut shown = Shown { json, language, printer, summaries: Vec::new() };
    let dir_a = over_a.dir.clone();
    let mut exit = over_a.conclude(&a.kit, &mut |summary| shown.take(Side::A, plan_a, summary));
    if let Some(over_b) = over_b {
        let dir_b = over_b.dir.clone();
        exit =
            exit.and(over_b.conclude(&b.kit, &mut |summary| shown.take(Side::B, plan_b, summary)));
        exit = exit.and(shown.end()).and(compared([&dir_a, &dir_b], a.kit.resolved, printer));
    }
    Ok(exit)
}

/// Prints one summary after the other, or both in one JSON document.
struct Shown<'a> {
    json: bool,
    language: Language,
    printer: &'a Printer,
    summaries: Vec<(Side, Summary)>,
}

impl Shown<'_> {
    fn take(&mut self, side: Side, plan: &Plan, summary: &Summary) -> Exit {
        if self.json {
            self.summaries.push((side, summary.clone()));
            return Exit::Fine;
        }
        let (width, color) = (self.printer.result_width(), self.printer.result_colour());
        let language = self.language;
        let text = render_brief(summary, &TextOptions { width, color, language });
        self.printer.result(&format!("{side}: {}\n\n{text}\n", target(plan)))
    }

    fn end(&self) -> Exit {
        if !self.json {
            return Exit::Fine;
        }
        let of = |side| self.summaries.iter().find(|(of, _)| *of == side).map(|(_, s)| s);
        let both = json!({"schema": "dyno.versus/1", "a": of(Side::A), "b": of(Side::B)});
        self.printer.result(&format!("{both:#}\n"))
    }
}

/// Both runs are whole, or as whole as they will be: which differences are real.
fn compared(dirs: [&RunDir; 2], resolved: &Resolved, printer: &Printer) -> Exit {
    let paths = dirs.map(RunDir::path);
    let mut exit = Exit::Fine;
    if !resolved.json
        && let Some(table) =
            compare::in_turns(paths, ["A", "B"], resolved.language, printer.result_width())
    {
        exit = printer.result(&table);
    }
    let [a, b] = paths.map(|path| path.display().to_string());
    printer.remark(format_args!("side by side again: dyno compare {a} {b}"));
    exit
}

/// Who is measured.
fn target(plan: &Plan) -> String {
    match (&plan.target.url, &plan.target.embedded) {
        (Some(url), _) => url.clone(),
        (None, Some(twin)) => format!("twin:{twin}"),
        (None, None) => "the embedded engine".to_owned(),
    }
}
