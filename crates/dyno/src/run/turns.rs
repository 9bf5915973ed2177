//! Two runs that take turns, level by level: who goes first, and what the end of one means for the
//! other.

use dyno_core::Nanos;
use dyno_core::frame::Ending;
use dyno_core::plan::LevelPlan;
use dyno_core::versus::Side;

/// One of two runs that take turns.
pub(crate) trait Player {
    /// The time on its clock.
    fn now(&mut self) -> Nanos;

    /// Its next level comes after something that was over at `time`, and not before.
    fn follow(&mut self, time: Nanos);

    /// Runs its next level.
    fn turn(&mut self);

    /// How its last level ended.
    fn ending(&self) -> Ending;

    /// Why it runs no more levels, where that was wanted.
    fn enough(&self) -> Option<String>;

    /// Runs no more levels, for this reason, although there may be some.
    fn stop_here(&mut self, why: String);

    /// Ends before its time, in this way and for this reason, if there are levels left.
    fn give_up(&mut self, ending: Ending, why: String);
}

/// Who goes first at each level. It alternates from level to level, and from round to round of the
/// same level, so that what rises or falls steadily adds the same to both: A B, B A, A B, …
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

/// Runs both, level by level, until both are over or one cannot go on. A level that one has run,
/// the other runs too, unless that is impossible.
pub(crate) fn take<'d>(levels: &[LevelPlan], a: &mut (dyn Player + 'd), b: &mut (dyn Player + 'd)) {
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
            (Some(why), None) => return b.stop_here(format!("on {}, {why}", Side::A)),
            (None, Some(why)) => return a.stop_here(format!("on {}, {why}", Side::B)),
            (Some(_), Some(_)) => return,
        }
    }
}

fn cut_short(side: Side, ending: Ending) -> String {
    match ending {
        Ending::Interrupted => "interrupted".to_owned(),
        Ending::TargetLost => format!("{side}, which took turns with it, was lost"),
        _ => format!("{side}, which took turns with it, could not go on"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_core::plan::{LengthSpec, Load};
    use proptest::prelude::*;

    fn level(concurrency: u32, repeat: Option<u32>) -> LevelPlan {
        LevelPlan {
            label: format!("concurrency {concurrency} {repeat:?}"),
            load: Load::Concurrency { concurrency },
            requests: Some(10),
            duration_ns: None,
            warmup: None,
            drain_ns: 0,
            input_tokens: LengthSpec::fixed(8),
            output_tokens: LengthSpec::fixed(8),
            capacity: None,
            repeat,
            until: None,
            soak: false,
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
