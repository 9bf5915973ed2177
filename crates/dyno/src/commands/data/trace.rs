//! `dyno data show` of a trace: when its requests arrive, how long they are, what they share.

use super::{in_spec, spoken};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_model::Language;
use dyno_model::plan::DataPlan;
use dyno_run::workload::limits;
use dyno_words::InLanguage;
use dyno_workload::data::{DataError, DataSet, DataSpec, Kind};
use dyno_workload::trace::{Told, Trace, TraceProfile};

/// Whether a specification names a trace, or a file that is one by its shape.
pub(super) fn is_named(spec: &DataSpec) -> bool {
    let by_shape = || {
        let found = DataSet::new(spec);
        matches!(found, Err(DataError::Elsewhere { kind: Kind::Trace, .. }))
    };
    spec.kind == Some(Kind::Trace) || (spec.kind.is_none() && by_shape())
}

pub(super) fn show(
    spec: &DataSpec,
    plan: &DataPlan,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    if plan.shuffle {
        let message = "a trace is replayed in the order of its times; remove it";
        return Err(UsageError::new("--order", message));
    }
    let trace = Trace::open(spec, &limits(plan)).map_err(in_spec)?;
    let notes: String = trace.tally().told().iter().map(|told| described(told, printer)).collect();
    let profile = TraceProfile::of(&trace);
    let shown = format!("{}\n{profile}", trace.recognised());
    Ok(printer.result(&format!("{}{notes}", spoken(&shown, printer.language()))))
}

fn described(told: &Told, printer: &Printer) -> String {
    let note = told.note.with([told.count]);
    let note = note.in_language(printer.language());
    let stop = if printer.language() == Language::Chinese { "；" } else { "; " };
    let advice = note.advice.as_ref().map(|advice| format!("{stop}{advice}")).unwrap_or_default();
    format!("{}{advice}\n", note.what)
}
