//! Shows a running benchmark: progress on a separate thread, messages through the printer.

use crate::commands::RUNS;
use crate::printer::Printer;
use dyno_live::{Live, Progress, ProgressStyle, Terminal as _};
use dyno_model::fleet::AgentSeen;
use dyno_model::frame::LevelEnd;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::{Diagnostic, Language, Message, message};
use dyno_net::Clock;
use dyno_run::{LevelBegins, Observer, RunObserver, ServerSink, one_line};
use dyno_words::InLanguage;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Shows a run through a printer.
pub(super) struct ProgressObserver<'a> {
    printer: &'a Printer,
    full_screen: bool,
    language: Language,
    live: OnceCell<Arc<Live>>,
    progress: RefCell<Option<Progress>>,
    alternates: Cell<bool>,
}

impl<'a> ProgressObserver<'a> {
    /// Nothing is shown before the run begins.
    pub(super) fn new(printer: &'a Printer, full_screen: bool, language: Language) -> Self {
        Self {
            printer,
            full_screen,
            language,
            live: OnceCell::new(),
            progress: RefCell::default(),
            alternates: Cell::new(false),
        }
    }

    /// Whether a line is printed for each level.
    fn prints_lines(&self) -> bool {
        !self.full_screen && self.printer.progress_style() != ProgressStyle::Hidden
    }

    fn with_live(&self, update: impl FnOnce(&Live)) {
        if let Some(live) = self.live.get() {
            update(live);
        }
    }
}

/// Lists a run outside of the directory of runs there, from its start: one that is killed must be found by
/// its name, too.
fn remember(dir: &Path) {
    let runs = Path::new(RUNS);
    // For a run in another place altogether, no directory is made here. An error does not
    // matter: the working directory may be read-only.
    if !dir.starts_with(runs) && (runs.is_dir() || dir.is_relative()) {
        let _ = dyno_record::remember_run(runs, dir);
    }
}

impl Observer for ProgressObserver<'_> {
    fn in_flight(&self, count: usize) {
        self.with_live(|live| live.in_flight.store(count as u64, Relaxed));
    }

    fn tokens_received(&self, total: u64) {
        self.with_live(|live| live.tokens_received(total));
    }

    fn ended(&self, record: &RequestRecord) {
        self.with_live(|live| live.ended(record));
    }

    fn agents(&self, seen: &[AgentSeen]) {
        self.with_live(|live| live.agents(seen));
    }
}

impl RunObserver for ProgressObserver<'_> {
    fn begins(&self, plan: &Plan, dir: &Path, clock: Clock) {
        remember(dir);
        self.alternates.set(plan.course.versus.is_some());
        self.printer.event(|| {
            let side = plan.course.versus.as_ref().map(|versus| versus.side.to_string());
            let mut event = serde_json::json!({
                "event": "run_begins",
                "schema": "dyno.progress/1",
                "target": plan.target.to_string(),
                "model": plan.request.model,
                "levels": plan.levels.len(),
                "more_levels": plan.course.search.is_some(),
            });
            if let Some(side) = side {
                event["side"] = side.into();
            }
            event
        });
        self.live.get_or_init(|| Arc::new(Live::of(plan, clock, self.language)));
    }

    fn side_begins(&self) {
        if let Some(live) = self.live.get() {
            let progress =
                Progress::start(Arc::clone(live), Arc::new(self.printer.clone()), self.full_screen);
            self.progress.replace(Some(progress));
        }
    }

    fn side_ends(&self) {
        drop(self.progress.take());
    }

    fn levels_known(&self, levels: &[LevelPlan]) {
        self.with_live(|live| live.expect(levels, true));
    }

    fn rests(&self, time: Duration) {
        self.with_live(|live| live.rests(time));
    }

    fn level_begins(&self, level: LevelBegins<'_>) {
        let LevelBegins { index, known, plan, planned } = level;
        self.with_live(|live| live.begin_level(index, known, plan, planned));
    }

    fn server_metrics(&self) -> Option<ServerSink> {
        let live = Arc::clone(self.live.get()?);
        Some(Box::new(move |sample| live.server_sampled(sample)))
    }

    fn level_ends(&self, end: &LevelEnd) {
        self.with_live(|live| live.end_level(end));
    }

    fn time_left(&self, after: usize, of: usize, time: Duration) {
        let estimate = left(after, of, time);
        let note = match self.alternates.get() {
            true => message!("{estimate} for this side", "{estimate}（仅此一侧）"),
            false => estimate,
        };
        // The line of the level that it follows is printed by the thread that shows progress.
        match self.live.get().filter(|_| self.prints_lines()) {
            Some(live) => live.note(Message::of(note)),
            None => self.printer.note(&note),
        }
    }

    fn remark(&self, what: &Diagnostic) {
        self.printer.note(&Message::each(|language| one_line(&what.in_language(language).what)));
    }

    fn warn(&self, words: &Message) {
        self.printer.warn(words);
    }

    fn error(&self, words: &Message) {
        self.printer.error(words);
    }
}

/// The estimated remaining time, to two digits.
fn left(after: usize, of: usize, time: Duration) -> Message {
    let seconds = time.as_secs_f64();
    let time = match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        100.0..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    };
    match after {
        0 => message!(
            "estimated from the first response: about {time} for {of} levels",
            "根据首个响应估计：{of} 级约需 {time}"
        ),
        _ => message!(
            "{after} of {of} levels done; about {time} left",
            "已完成 {after}/{of} 级；约剩 {time}"
        ),
    }
}
