//! A run from its first level to its end, one level at a time, so that two can take turns.

use super::course::Course;
use super::estimate::{Estimate, Glance};
use super::levels::{Done, Lost, News, Run, RunOutcome};
use super::recording::{LastSuccess, Watched};
use super::turns::Player;
use crate::progress::Progress;
use dyno_drive::Stop;
use dyno_model::Diagnostic;
use dyno_model::Nanos;
use dyno_model::frame::{Ending, Frame, LevelChosen, RunEnd};
use dyno_model::plan::{LevelPlan, Plan};
use std::cell::{Cell, RefCell};

/// A run that is under way.
pub(crate) struct Journey<'a, 'p, 'n> {
    run: Run<'a>,
    /// Shows the progress of the run for as long as what it gives is held.
    show: Option<&'a dyn Fn() -> Progress>,
    plan: &'p Plan,
    course: Course<'p, 'n>,
    outcome: RunOutcome,
    last_success: Cell<Option<LastSuccess>>,
    estimate: Estimate,
    /// The levels, as far as they are known.
    known: Vec<LevelPlan>,
    /// Something ran before, so that there is something to rest from.
    follows: bool,
    /// Why no more levels are run although there are some.
    enough: Option<Diagnostic>,
}

impl<'a, 'p, 'n> Journey<'a, 'p, 'n> {
    /// Nothing has been run.
    pub(crate) fn new(
        run: Run<'a>,
        show: Option<&'a dyn Fn() -> Progress>,
        plan: &'p Plan,
        course: Course<'p, 'n>,
    ) -> Self {
        if plan.course.search.is_some() {
            run.live.expect(&plan.levels, true);
        }
        Self {
            run,
            show,
            plan,
            course,
            outcome: RunOutcome {
                ending: Ending::Requests,
                sent: Vec::new(),
                lost: None,
                error: None,
            },
            last_success: Cell::new(None),
            estimate: Estimate::default(),
            known: plan.levels.clone(),
            follows: false,
            enough: None,
        }
    }

    /// Runs all levels, or as many as the target, the user and this machine allow.
    pub(crate) fn all(&mut self) {
        let _shown = self.show.map(|show| show());
        while self.step() {}
    }

    /// Runs the next level; `false` if there is none, or if it was the last that is run.
    fn step(&mut self) -> bool {
        let Some(leg) = self.course.next() else { return false };
        if std::mem::replace(&mut self.follows, true)
            && let Err(words) = self.run.between(self.plan)
        {
            (self.outcome.ending, self.outcome.lost) = match self.run.stop.get() {
                Stop::No => {
                    let at = self.now();
                    let last_success = self.last_success.take();
                    (Ending::TargetLost, Some(Lost { at, words, last_success }))
                }
                _ => (Ending::Interrupted, None),
            };
            return false;
        }
        if leg.chosen {
            self.known.push(leg.plan.clone());
            self.run.live.expect(&self.known, true);
            let chosen = LevelChosen { level: leg.index, plan: leg.plan.clone() };
            (self.run.sink)(Frame::LevelChosen(Box::new(chosen)));
        }
        let kept = self.course.wants_results().then(RefCell::default);
        let glance = Cell::default();
        let news = self.run.news;
        let to_come = self.course.to_come();
        let told = |first: &Glance| {
            if let Some(time) = Estimate::by_first_answer(&leg.plan, first, to_come) {
                news(News::Left { after: 0, of: 1 + to_come.len(), time });
            }
        };
        let watched = Watched {
            kept: kept.as_ref(),
            last_success: &self.last_success,
            glance: &glance,
            first: self.estimate.is_empty().then_some(&told),
        };
        match self.run.level(self.plan, &leg, self.course.known(), &watched) {
            Ok(Done { ending, sent, lost }) => {
                self.outcome.ending = ending;
                self.outcome.sent.push(sent);
                self.outcome.lost = lost;
            }
            Err(error) => {
                self.outcome.ending = Ending::Aborted;
                self.outcome.error = Some(error);
            }
        }
        if !self.outcome.ending.carried_out() {
            return false;
        }
        if let Some(time) = self.estimate.news(&leg.plan, &glance.get(), to_come) {
            let of = self.course.known();
            news(News::Left { after: of - to_come.len(), of, time });
        }
        let summary = kept.and_then(|kept| self.run.sum_up(self.plan, &leg, kept.into_inner()));
        if let Some(summary) = summary {
            let enough = self.course.enough(&summary);
            self.course.learn(summary);
            if let Some(why) = enough {
                self.stop_here(why);
                return false;
            }
        }
        true
    }

    /// The end of the run.
    pub(crate) fn end(mut self) -> RunOutcome {
        let ended = self.now();
        (self.run.sink)(Frame::RunEnd(RunEnd { ended, ending: self.outcome.ending }));
        self.outcome
    }
}

impl Player for Journey<'_, '_, '_> {
    fn now(&mut self) -> Nanos {
        self.run.bench.transport().now()
    }

    fn follow(&mut self, time: Nanos) {
        self.follows = true;
        let now = self.now();
        if time > now {
            self.run.bench.rest(time - now, self.run.stop);
        }
    }

    fn turn(&mut self) {
        let _shown = self.show.map(|show| show());
        self.step();
    }

    fn ending(&self) -> Ending {
        self.outcome.ending
    }

    fn enough(&self) -> Option<Diagnostic> {
        self.enough.clone()
    }

    fn stop_here(&mut self, why: Diagnostic) {
        (self.run.news)(News::Enough(&why));
        self.enough = Some(why);
    }

    fn give_up(&mut self, ending: Ending, why: Diagnostic) {
        if self.course.has_more() {
            self.outcome.ending = ending;
            self.stop_here(why);
        }
    }
}
