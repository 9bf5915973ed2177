//! What is seen of a run while it goes on: its progress on a thread of its own, and what it has to
//! say through the printer.

use crate::printer::Printer;
use dyno_live::{Live, Progress};
use dyno_model::frame::LevelEnd;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::{Diagnostic, Language};
use dyno_net::Clock;
use dyno_run::{LevelBegins, Observer, ServerSink};
use dyno_words::InLanguage;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Shows a run by a printer.
pub(super) struct Seen<'a> {
    printer: &'a Printer,
    full_screen: bool,
    language: Language,
    live: OnceCell<Arc<Live>>,
    progress: RefCell<Option<Progress>>,
    takes_turns: Cell<bool>,
}

impl<'a> Seen<'a> {
    /// Nothing is shown before the run begins.
    pub(super) fn new(printer: &'a Printer, full_screen: bool, language: Language) -> Self {
        Self {
            printer,
            full_screen,
            language,
            live: OnceCell::new(),
            progress: RefCell::default(),
            takes_turns: Cell::new(false),
        }
    }

    fn tell(&self, tell: impl FnOnce(&Live)) {
        if let Some(live) = self.live.get() {
            tell(live);
        }
    }
}

impl Observer for Seen<'_> {
    fn begins(&self, plan: &Plan, clock: Clock) {
        self.takes_turns.set(plan.course.versus.is_some());
        self.live.get_or_init(|| Arc::new(Live::of(plan, clock, self.language)));
    }

    fn turn_begins(&self) {
        if let Some(live) = self.live.get() {
            let progress =
                Progress::start(Arc::clone(live), Arc::new(self.printer.clone()), self.full_screen);
            self.progress.replace(Some(progress));
        }
    }

    fn turn_ends(&self) {
        drop(self.progress.take());
    }

    fn levels_known(&self, levels: &[LevelPlan]) {
        self.tell(|live| live.expect(levels, true));
    }

    fn level_begins(&self, level: LevelBegins<'_>) {
        let LevelBegins { index, known, plan, planned } = level;
        self.tell(|live| live.begin_level(index, known, plan, planned));
    }

    fn in_flight(&self, count: usize) {
        self.tell(|live| live.in_flight.store(count as u64, Relaxed));
    }

    fn tokens_received(&self, total: u64) {
        self.tell(|live| live.tokens_received(total));
    }

    fn ended(&self, record: &RequestRecord) {
        self.tell(|live| live.ended(record));
    }

    fn server_metrics(&self) -> Option<ServerSink> {
        let live = Arc::clone(self.live.get()?);
        Some(Box::new(move |sample| live.server_sampled(sample)))
    }

    fn level_ends(&self, end: &LevelEnd) {
        self.tell(|live| live.end_level(end));
    }

    fn time_left(&self, after: usize, of: usize, time: Duration) {
        let both = if self.takes_turns.get() { ", not counting the other target" } else { "" };
        self.printer.note(left(after, of, time) + both);
    }

    fn remark(&self, what: &Diagnostic) {
        self.printer.note(&what.in_language(self.language).what);
    }

    fn note(&self, words: &str) {
        self.printer.note(words);
    }

    fn warn(&self, words: &str) {
        self.printer.warn(words);
    }

    fn error(&self, words: &str) {
        self.printer.error(words);
    }
}

/// How long it will take, to two digits.
fn left(after: usize, of: usize, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let time = match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        100.0..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    };
    match after {
        0 => format!("estimated from the first response: about {time} for {of} levels"),
        _ => format!("{after} of {of} levels done; about {time} left"),
    }
}
