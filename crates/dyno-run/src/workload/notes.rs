//! Notes about the data of a run.

use super::account::{DataReport, Used};
use super::source::Source;
use super::{Prepared, Workload, lock};
use crate::identity::on_one_line;
use dyno_model::Diagnostic;
use dyno_model::plan::Task;
use dyno_words::{LoadNote, Note};
use dyno_workload::data::{CheckedData, RestOfFile};
use dyno_workload::trace::{SessionPrompts, ToldOfTrace, TracePrompts};

/// Collects notes.
#[derive(Default)]
struct Notes(Vec<Diagnostic>);

impl Notes {
    fn add(&mut self, note: Note) {
        self.0.push(note.into());
    }

    /// Adds the notes whose count is not zero.
    fn count(&mut self, counts: &[(u64, Note)]) {
        let some = counts.iter().filter(|(count, _)| *count > 0);
        self.0.extend(some.map(|(count, note)| note.with([*count])));
    }
}

impl Workload {
    /// Notes about the data; `sent` is the number of prompts or conversations sent by each level.
    pub(crate) fn notes(&self, sent: &[u64], task: Task) -> Vec<Diagnostic> {
        let mut notes = Notes::default();
        let estimated = match self.source.selection() {
            None if matches!(&self.source, Source::Sessions(sessions) if sessions.have_text()) => {
                false
            }
            None => self.tokenizer.is_estimate(),
            Some(s) => self.open_to_server && (s.min_input.is_some() || s.max_input.is_some()),
        };
        if estimated {
            notes.add(Note::TokenizerEstimate);
        }
        let uncounted = || lock(&self.account).uncounted.clone();
        if let Some(why) = self.failure.get().or_else(uncounted) {
            notes.0.push(Note::TokenizerFailed.with([on_one_line(&why)]));
        }
        self.prepared_notes(sent, &mut notes);
        self.selection_notes(sent, task, &mut notes);
        notes.0
    }

    fn prepared_notes(&self, sent: &[u64], notes: &mut Notes) {
        match lock(&self.prepared).as_ref() {
            Some(Prepared::Trace(prompts)) => trace_notes(prompts, sent.iter().sum(), notes),
            Some(Prepared::Sessions(prompts)) => session_notes(prompts, sent.iter().sum(), notes),
            _ => {}
        }
        let wrong = self.wrong().saturating_add(lock(&self.account).wrong());
        notes.count(&[(wrong, Note::PromptLengthsWrong)]);
    }

    /// Prompts made here with wrong lengths.
    fn wrong(&self) -> u64 {
        match lock(&self.prepared).as_ref() {
            None => 0,
            Some(Prepared::Random(prompts)) => prompts.checks().wrong,
            Some(Prepared::Made(sessions)) => sessions.wrong(),
            Some(Prepared::Trace(prompts)) => prompts.checks().wrong,
            Some(Prepared::Sessions(prompts)) => prompts.checks().wrong,
            Some(Prepared::Trees(_)) => 0,
        }
    }

    /// What a coordinator has to know about the data of a level of which `sent` items were sent.
    pub(crate) fn report(&self, level: u32, sent: u64) -> DataReport {
        let used = lock(&self.account).after(level, sent).unwrap_or_default();
        let uncounted = self.failure.get().map(|why| on_one_line(&why));
        DataReport { used, wrong: self.wrong(), uncounted }
    }

    /// What an agent has reported of a level.
    pub(crate) fn hear(&self, agent: u32, level: u32, report: DataReport) {
        lock(&self.account).hear(agent, level, report);
    }

    fn selection_notes(&self, sent: &[u64], task: Task, notes: &mut Notes) {
        let (selection, trees) = (self.source.selection(), self.source.trees());
        if selection.is_none() && trees.is_none() {
            return;
        }
        let account = lock(&self.account);
        let all: Vec<Used> =
            (0..).zip(sent).filter_map(|(level, sent)| account.after(level, *sent)).collect();
        let sum = |of: fn(&Used) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
        if trees.is_some() {
            notes.count(&[
                (sum(|used| used.skipped), Note::TreesLeftOut),
                (sum(|used| used.long), Note::TreesOutside),
                (sum(|used| used.repeats), Note::TreesRepeat),
            ]);
            let parts = account.parts.iter().map(|(kind, count)| format!("{kind} {count}"));
            let parts = parts.collect::<Vec<_>>().join(", ");
            if !parts.is_empty() {
                notes.0.push(Note::PartsLeftOut.with([parts]));
            }
            return;
        }
        notes.count(&[
            (sum(|used| used.skipped), Note::DataSkipped),
            (sum(|used| used.short), Note::DataShort),
            (sum(|used| used.long), Note::DataLong),
            (sum(|used| used.cut), Note::DataCut),
        ]);
        let unique = selection.is_some_and(|selection| selection.unique_prefix);
        if !unique && sum(|used| used.repeats) > 0 {
            notes.add(match self.source {
                Source::Led(_) => Note::ConversationsRepeat,
                _ if !task.generates() => Note::TextsRepeat,
                _ => Note::PromptsRepeat,
            });
        }
    }
}

/// What was checked of a data file before the run.
pub(super) fn checked(checked: &CheckedData) -> Vec<Diagnostic> {
    let CheckedData { records, skipped, spread, rest } = *checked;
    let what = match (rest, spread) {
        (RestOfFile::Nothing, _) => LoadNote::AllChecked.with([records]),
        (RestOfFile::Beyond, _) => LoadNote::LimitChecked.with([records]),
        (RestOfFile::Later, 0) => LoadNote::FirstChecked.with([records]),
        (RestOfFile::Later, spread) => LoadNote::SampleChecked.with([records, spread]),
    };
    let skipped = (skipped > 0).then(|| LoadNote::UnusableFound.with([skipped]));
    std::iter::once(what).chain(skipped).collect()
}

/// How the requests of a trace were used, and how many of those sent were too short.
fn selected(told: &[ToldOfTrace], raised: u64, notes: &mut Notes) {
    let told = told.iter().map(|told| (told.count, told.note));
    notes.count(&told.chain([(raised, Note::TraceRaised)]).collect::<Vec<_>>());
}

fn session_notes(prompts: &SessionPrompts, sent: u64, notes: &mut Notes) {
    let sessions = prompts.sessions();
    selected(&sessions.tally().told(), prompts.raised(sent), notes);
    if sessions.have_text() && sent > sessions.len() {
        notes.add(Note::ConversationsRepeat);
    }
}

fn trace_notes(prompts: &TracePrompts, sent: u64, notes: &mut Notes) {
    selected(&prompts.trace().tally().told(), prompts.raised(sent), notes);
    if prompts.trace().has_hashes() && !prompts.from_pieces() {
        notes.add(Note::TracePrefixes);
    }
}
