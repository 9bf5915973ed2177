//! What should be known of the data when the figures are read.

use super::source::Source;
use super::{Prepared, Workload, lock};
use dyno_core::environment::Note;
use dyno_workload::data::{Order, Tally};
use dyno_workload::trace::{Told, TracePrompts};

/// Notes in the making.
#[derive(Default)]
struct Notes(Vec<Note>);

impl Notes {
    fn say(&mut self, code: &str, what: impl Into<String>, advice: Option<&str>) {
        let advice = advice.map(str::to_owned);
        self.0.push(Note { code: code.to_owned(), what: what.into(), advice });
    }

    /// Says how many of the data were treated in some way, if any were.
    fn count(&mut self, code: &str, counts: &[(u64, &str)]) {
        for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
            self.say(code, format!("{what}: {count}"), None);
        }
    }
}

impl Workload {
    /// What should be known of the data when reading the figures; `sent` is how many prompts, or
    /// conversations, of each level were.
    pub(crate) fn notes(&self, sent: &[u64]) -> Vec<Note> {
        let mut notes = Notes::default();
        let estimated = match self.source.selection() {
            None => self.tokenizer.is_estimate(),
            Some(s) => self.open_to_server && (s.min_input.is_some() || s.max_input.is_some()),
        };
        if estimated {
            let what = "prompt lengths are estimates: no tokenizer was given";
            let advice = "give the model's folder or tokenizer.json with --tokenizer";
            notes.say("tokenizer_estimate", what, Some(advice));
        }
        self.prepared_notes(sent, &mut notes);
        self.selection_notes(sent, &mut notes);
        notes.0
    }

    fn prepared_notes(&self, sent: &[u64], notes: &mut Notes) {
        let prepared = lock(&self.prepared);
        let wrong = match prepared.as_ref() {
            None => 0,
            Some(Prepared::Random(prompts)) => prompts.checks().wrong,
            Some(Prepared::Made(sessions)) => sessions.wrong(),
            Some(Prepared::Trace(prompts)) => {
                trace_notes(prompts, sent.iter().sum(), notes);
                prompts.checks().wrong
            }
        };
        if wrong > 0 {
            let what = format!("of the prompts that were counted again, {wrong} were off");
            let advice = "please report it with the name of the tokenizer";
            notes.say("prompt_lengths_wrong", what, Some(advice));
        }
    }

    fn selection_notes(&self, sent: &[u64], notes: &mut Notes) {
        let Some(selection) = self.source.selection() else { return };
        let account = lock(&self.account);
        let tallies: Vec<Tally> =
            (0..).zip(sent).filter_map(|(level, sent)| account.after(level, *sent)).collect();
        let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
        notes.count(
            "data_selected",
            &[
                (sum(|t| t.skipped), "records skipped as bad, over all levels"),
                (sum(|t| t.dropped_short), "records left out as too short, over all levels"),
                (sum(|t| t.dropped_long), "records left out as too long, over all levels"),
                (sum(|t| t.truncated), "records cut to the longest allowed, over all levels"),
            ],
        );
        let next_level =
            selection.order == Order::File && sent.iter().filter(|n| **n > 0).count() > 1;
        if !selection.unique_prefix && (sum(|t| t.repeats) > 0 || next_level) {
            let what = match self.source {
                Source::Led(_) => "some conversations were led more than once",
                _ => "some prompts were sent more than once",
            };
            let advice =
                "a prefix cache makes repeated prompts faster than they are; use --unique-prefix";
            notes.say("prompts_repeat", what, Some(advice));
        }
    }
}

fn trace_notes(prompts: &TracePrompts, sent: u64, notes: &mut Notes) {
    let mut told = prompts.trace().tally().told();
    let what = "shorter than the chat template, sent at its length";
    told.push(Told { count: prompts.raised(sent), what, advice: None });
    for Told { count, what, advice } in told.into_iter().filter(|told| told.count > 0) {
        notes.say("trace_selected", format!("requests of the trace {what}: {count}"), advice);
    }
    if prompts.trace().has_hashes() && !prompts.from_pieces() {
        let what = "shared prefixes of the trace are met only about: the tokenizer has too few \
                    words of one token";
        notes.say("trace_prefixes_approximate", what, None);
    }
}
