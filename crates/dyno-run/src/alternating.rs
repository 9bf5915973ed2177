//! Two runs that alternate level by level: which goes first, and what the end of one means for the
//! other.

use dyno_model::Nanos;
use dyno_model::frame::Ending;
use dyno_model::plan::LevelPlan;
use dyno_model::versus::Side;
use dyno_model::{Diagnostic, DiagnosticValue};
use dyno_words::Note;

/// One of two alternating runs.
pub(crate) trait AlternatingRun {
    /// The time on its clock.
    fn now(&mut self) -> Nanos;

    /// Waits until `time`, when the other run's level was over.
    fn follow(&mut self, time: Nanos);

    /// Runs its next level.
    fn turn(&mut self);

    /// How its last level ended.
    fn ending(&self) -> Ending;

    /// Why it runs no more levels, where a condition asked for that.
    fn enough(&self) -> Option<Diagnostic>;

    /// Runs no more levels, for this reason, although there may be some.
    fn stop_here(&mut self, why: Diagnostic);

    /// Ends early, in this way and for this reason, if there are levels left.
    fn give_up(&mut self, ending: Ending, why: Diagnostic);
}

/// Which run goes first at each level. It alternates from level to level, and from round to round of
/// the same level, so that a steady drift adds the same to both: A B, B A, A B, …
pub(crate) fn first(levels: &[LevelPlan]) -> Vec<Side> {
    let mut seen: Vec<(LevelPlan, Side)> = Vec::new();
    let mut order = Vec::with_capacity(levels.len());
    for level in levels {
        let kind = LevelPlan { label: String::new(), repeat: None, ..level.clone() };
        let first = match seen.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, last)) => {
                *last = last.other();
                *last
            }
            None => {
                let first = if seen.len().is_multiple_of(2) { Side::A } else { Side::B };
                seen.push((kind, first));
                first
            }
        };
        order.push(first);
    }
    order
}

/// Runs both, level by level, until both are over or one cannot continue. A level that one has run,
/// the other runs too, unless that is impossible.
pub(crate) fn alternate<'d>(
    levels: &[LevelPlan],
    a: &mut (dyn AlternatingRun + 'd),
    b: &mut (dyn AlternatingRun + 'd),
) {
    let mut follows = false;
    for first in first(levels) {
        for side in [first, first.other()] {
            let (this, that) = match side {
                Side::A => (&mut *a, &mut *b),
                Side::B => (&mut *b, &mut *a),
            };
            if std::mem::replace(&mut follows, true) {
                this.follow(that.now());
            }
            this.turn();
            let ending = this.ending();
            if !ending.carried_out() {
                let others = match ending {
                    Ending::Interrupted => Ending::Interrupted,
                    _ => Ending::Aborted,
                };
                return that.give_up(others, cut_short(side, ending));
            }
        }
        match (a.enough(), b.enough()) {
            (None, None) => {}
            (Some(why), None) => return b.stop_here(on_other(Side::A, &why)),
            (None, Some(why)) => return a.stop_here(on_other(Side::B, &why)),
            (Some(_), Some(_)) => return,
        }
    }
}

fn cut_short(side: Side, ending: Ending) -> Diagnostic {
    let known = match ending {
        Ending::Interrupted => Note::InterruptedOther,
        Ending::TargetLost => Note::LostOther,
        _ => Note::AbortedOther,
    };
    known.with([side.to_string()])
}

/// The same, for the run that did not meet the condition.
fn on_other(side: Side, why: &Diagnostic) -> Diagnostic {
    let values = std::iter::once(side.to_string().into()).chain(why.values.iter().cloned());
    Note::StoppedOnOther.with::<DiagnosticValue>(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::{Cell, RefCell};

    fn level(concurrency: u32, repeat: Option<u32>) -> LevelPlan {
        LevelPlan {
            label: format!("concurrency {concurrency} {repeat:?}"),
            repeat,
            ..LevelPlan::closed_loop(concurrency, 10)
        }
    }

    fn letters(levels: &[LevelPlan]) -> String {
        first(levels).iter().map(|side| format!("{side}{}", side.other())).collect()
    }

    #[test]
    fn levels_and_rounds_alternate() {
        let of = |loads: &[u32], rounds: u32| -> Vec<LevelPlan> {
            let round = |round| loads.iter().map(move |load| level(*load, Some(round)));
            (1..=rounds).flat_map(round).collect()
        };
        assert_eq!(letters(&of(&[1], 1)), "AB");
        assert_eq!(letters(&of(&[1, 8, 32], 1)), "ABBAAB");
        assert_eq!(letters(&of(&[8], 4)), "ABBAABBA");
        // With an even number of levels, the second round turns everything round.
        assert_eq!(letters(&of(&[1, 8], 2)), "ABBABAAB");
    }

    /// A run that says what it did, and ends its levels as scripted.
    struct Fake<'a> {
        side: Side,
        ran: usize,
        levels: usize,
        /// How the level with this number ends.
        odd: Option<(usize, Ending)>,
        /// After so many levels it is enough.
        enough_after: Option<usize>,
        clock: &'a Cell<Nanos>,
        log: &'a RefCell<Vec<String>>,
        ending: Ending,
        enough: Option<Diagnostic>,
    }

    impl AlternatingRun for Fake<'_> {
        fn now(&mut self) -> Nanos {
            self.clock.get()
        }

        fn follow(&mut self, time: Nanos) {
            assert_eq!(time, self.clock.get());
        }

        fn turn(&mut self) {
            self.log.borrow_mut().push(format!("{}{}", self.side, self.ran));
            self.clock.set(self.clock.get() + 1);
            self.ending = match self.odd {
                Some((level, ending)) if level == self.ran => ending,
                _ => Ending::Requests,
            };
            self.ran += 1;
            if self.enough_after == Some(self.ran) {
                let values = ["errors>5%", "concurrency 1"].map(str::to_owned);
                self.enough = Some(Note::StoppedOn.with(values.to_vec()));
            }
        }

        fn ending(&self) -> Ending {
            self.ending
        }

        fn enough(&self) -> Option<Diagnostic> {
            self.enough.clone()
        }

        fn stop_here(&mut self, why: Diagnostic) {
            self.enough = Some(why);
        }

        fn give_up(&mut self, ending: Ending, why: Diagnostic) {
            if self.ran < self.levels {
                (self.ending, self.enough) = (ending, Some(why));
            }
        }
    }

    /// Three levels: what was run, and how either side ended and why.
    fn played(change: impl Fn(&mut Fake<'_>)) -> (String, [(Ending, Option<Diagnostic>); 2]) {
        let (log, clock) = (RefCell::default(), Cell::new(0));
        let fake = |side| {
            let mut fake = Fake {
                side,
                ran: 0,
                levels: 3,
                odd: None,
                enough_after: None,
                clock: &clock,
                log: &log,
                ending: Ending::Requests,
                enough: None,
            };
            change(&mut fake);
            fake
        };
        let (mut a, mut b) = (fake(Side::A), fake(Side::B));
        alternate(&[level(1, None), level(2, None), level(3, None)], &mut a, &mut b);
        let ends = [(a.ending, a.enough), (b.ending, b.enough)];
        (log.borrow().join(" "), ends)
    }

    #[test]
    fn both_run_every_level() {
        let (log, ends) = played(|_| {});
        assert_eq!(log, "A0 B0 B1 A1 A2 B2");
        assert_eq!(ends, [(Ending::Requests, None), (Ending::Requests, None)]);
    }

    #[test]
    fn when_one_is_lost_the_other_ends_and_says_why() {
        let lost = |side: Side, at| {
            played(move |fake| {
                fake.odd = (fake.side == side).then_some((at, Ending::TargetLost));
            })
        };
        let (log, [_, (ending, why)]) = lost(Side::A, 1);
        assert_eq!((log.as_str(), ending), ("A0 B0 B1 A1", Ending::Aborted));
        assert!(why.unwrap().what.contains("the other target, A, was lost"));
        // Lost in the last turn of all: the other has run everything.
        let (log, [(ending, why), _]) = lost(Side::B, 2);
        assert_eq!((log.as_str(), ending, why), ("A0 B0 B1 A1 A2 B2", Ending::Requests, None));
    }

    #[test]
    fn ctrl_c_ends_both() {
        let (log, [(a, _), (b, _)]) = played(|fake| {
            fake.odd = (fake.side == Side::B).then_some((0, Ending::Interrupted));
        });
        assert_eq!((log.as_str(), a, b), ("A0 B0", Ending::Interrupted, Ending::Interrupted));
    }

    #[test]
    fn enough_for_one_is_enough_for_both_once_both_have_run_the_level() {
        let (log, [(a, _), (b, why)]) = played(|fake| {
            fake.enough_after = (fake.side == Side::A).then_some(1);
        });
        assert_eq!((log.as_str(), a, b), ("A0 B0", Ending::Requests, Ending::Requests));
        let what = "no more levels were run: on A, errors>5% was met at concurrency 1";
        assert_eq!(why.unwrap().what, what);
    }

    proptest! {
        #[test]
        fn in_an_even_number_of_rounds_each_level_is_as_often_first_on_either_side(
            order in Just((0..24_u32).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            // Four rounds of six levels, each round in any order.
            let levels: Vec<LevelPlan> =
                order.iter().map(|n| level(1 + n % 6, Some(1 + n / 6))).collect();
            let first = first(&levels);
            for load in 1..=6 {
                let of = |level: &LevelPlan| level.load.value() == f64::from(load);
                let pairs = levels.iter().zip(&first).filter(|(level, _)| of(level));
                prop_assert_eq!(pairs.filter(|(_, side)| **side == Side::A).count(), 2);
            }
        }
    }
}
