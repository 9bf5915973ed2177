//! `dyno data show` of a trace: when its requests arrive, how long they are, what they share.

use super::in_spec;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_model::plan::DataPlan;
use dyno_model::{Localized, Message, message};
use dyno_run::workload::{limits, not_truncated};
use dyno_words::InLanguage;
use dyno_workload::data::{DataError, DataKind, DataSet, DataSpec};
use dyno_workload::trace::{
    SessionTraceProfile, Starts, ToldOfTrace, Trace, TraceProfile, TraceSessions, TraceTally,
};

/// Whether a specification names a trace or recorded sessions, or a file that is one by its shape.
pub(super) fn is_named(spec: &DataSpec) -> bool {
    let by_shape = || {
        let found = DataSet::new(spec);
        matches!(found, Err(DataError::Elsewhere { kind: DataKind::Trace, .. }))
    };
    match spec.kind {
        Some(DataKind::Trace) => true,
        Some(DataKind::Session) => TraceSessions::named_by(spec).is_some(),
        None => by_shape(),
        Some(_) => false,
    }
}

pub(super) fn show(
    spec: &DataSpec,
    plan: &DataPlan,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    if plan.shuffle {
        let message = message!(
            "a trace is replayed in the order of its times; remove it",
            "流量记录按其时间顺序重放；请去掉"
        );
        return Err(UsageError::new("--order", message));
    }
    if TraceSessions::named_by(spec).is_some() {
        return sessions(spec, plan, printer);
    }
    let trace = Trace::open(spec, &limits(plan)).map_err(in_spec)?;
    let said = (trace.recognised(), TraceProfile::of(&trace));
    Ok(printer.result(&with_notes(said, trace.tally(), printer)))
}

fn sessions(spec: &DataSpec, plan: &DataPlan, printer: &Printer) -> Result<Exit, UsageError> {
    if plan.truncate {
        return Err(UsageError::new("--truncate", not_truncated()));
    }
    let open = |starts| TraceSessions::open(spec, &limits(plan), starts);
    let sessions = match spec.kind {
        Some(DataKind::Session) => open(Starts::Given),
        Some(_) => open(Starts::Recorded),
        // Nobody has said how they are to be started.
        None => open(Starts::Recorded).or_else(|_| open(Starts::Given)),
    };
    let sessions = sessions.map_err(in_spec)?;
    let said = (sessions.recognised(), SessionTraceProfile::of(&sessions));
    Ok(printer.result(&with_notes(said, sessions.tally(), printer)))
}

/// A description in the user's language, and what was left out or changed.
fn with_notes(
    (recognised, profile): (&Message, impl Localized),
    tally: TraceTally,
    printer: &Printer,
) -> String {
    let language = printer.language();
    let notes: String = tally.told().iter().map(|told| described(told, printer)).collect();
    format!("{}\n{}{notes}", recognised.text(language), profile.text(language))
}

fn described(told: &ToldOfTrace, printer: &Printer) -> String {
    let note = told.note.with([told.count]);
    let note = note.in_language(printer.language());
    let stop = printer.language().semicolon();
    let advice = note.advice.as_ref().map(|advice| format!("{stop}{advice}")).unwrap_or_default();
    format!("{}{advice}\n", note.what)
}
