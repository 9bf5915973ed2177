//! What turns wait for: the order within sessions, the rule of times, gaps from the latest end that a turn waits for, and
//! that nothing waits for what is absent or for itself.

use dyno_model::{Message, Nanos, message};

use super::tree::{Tree, TurnAt, Wait, Why};

/// What was found while gaps were filled in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundGaps {
    /// Turns that were sent before what they wait for had ended.
    pub(super) overlapping: u64,
    /// Turns whose gap contains the response before them.
    pub(super) with_response: u64,
}

/// Lets every turn wait for the one before it in its session, unless the rule of times has said what it waits for: that
/// contains it.
pub(super) fn in_sessions(tree: &mut Tree) {
    for (session, of) in tree.sessions.iter_mut().enumerate() {
        for (turn, one) in of.turns.iter_mut().enumerate().skip(1) {
            let on = TurnAt { session, turn: turn - 1 };
            if one.waits.iter().any(|wait| matches!(wait.why, Why::Time | Why::Text)) {
                continue;
            }
            if !one.waits.iter().any(|wait| wait.on == on) {
                one.waits.insert(0, Wait { on, why: Why::Session });
            }
        }
    }
}

/// Fills in the gaps that the file does not say.
pub(super) fn gaps(tree: &mut Tree) -> FoundGaps {
    let mut found = FoundGaps::default();
    let mut filled = Vec::new();
    for (at, turn) in tree.all() {
        let Some(sent) = turn.sent.filter(|_| turn.gap.is_none() && !turn.waits.is_empty()) else {
            continue;
        };
        let ends = turn.waits.iter().filter_map(|wait| tree.turn(wait.on));
        let ends = ends.filter_map(|on| Some((on.ended.or(on.sent)?, on.ended.is_none())));
        let Some((end, unsaid)) = ends.max() else { continue };
        found.overlapping += u64::from(end > sent);
        found.with_response += u64::from(unsaid);
        filled.push((at, sent.saturating_sub(end)));
    }
    for (at, gap) in filled {
        tree.sessions[at.session].turns[at.turn].gap = Some(gap);
    }
    found
}

/// Why a tree cannot be replayed: a turn waits for what is not there, or for itself.
pub(super) fn fault(tree: &Tree) -> Option<Message> {
    if tree.sessions.iter().any(|session| session.turns.is_empty()) {
        return Some(message!("a session has no requests", "有会话没有请求"));
    }
    let mut first = Vec::with_capacity(tree.sessions.len());
    let mut count = 0;
    for session in &tree.sessions {
        first.push(count);
        count += session.turns.len();
    }
    let place = |at: TurnAt| first[at.session] + at.turn;
    let mut waiting = vec![0_u32; count];
    let mut next: Vec<(usize, usize)> = Vec::new();
    for (at, turn) in tree.all() {
        for wait in &turn.waits {
            if tree.turn(wait.on).is_none() {
                return Some(message!(
                    "request {at} waits for request {}, which is not there",
                    "请求 {at} 等待的请求 {} 不存在",
                    wait.on
                ));
            }
            waiting[place(at)] += 1;
            next.push((place(wait.on), place(at)));
        }
    }
    next.sort_unstable();
    let mut free: Vec<usize> = (0..count).filter(|one| waiting[*one] == 0).collect();
    let mut done = 0;
    while let Some(one) = free.pop() {
        done += 1;
        let from = next.partition_point(|(before, _)| *before < one);
        for (_, after) in next[from..].iter().take_while(|(before, _)| *before == one) {
            waiting[*after] -= 1;
            if waiting[*after] == 0 {
                free.push(*after);
            }
        }
    }
    (done < count).then(|| {
        message!(
            "{} of its requests wait for each other in a cycle",
            "其中 {} 个请求循环等待",
            count - done
        )
    })
}

/// For requests with a start and an end each: those that each waits for by the rule of times, which is every one that
/// ended before it began, less those that precede another of these.
pub(super) fn by_time(times: &[(Nanos, Nanos)]) -> Vec<Vec<usize>> {
    let mut by_end: Vec<usize> = (0..times.len()).collect();
    by_end.sort_by_key(|one| (times[*one].1, times[*one].0, *one));
    // The latest start among the requests that ended first, up to each of them.
    let mut latest: Vec<(Nanos, usize)> = Vec::with_capacity(times.len());
    for one in &by_end {
        let start = times[*one].0;
        latest.push(latest.last().copied().filter(|(at, _)| *at >= start).unwrap_or((start, *one)));
    }
    let before = |one: usize| -> Vec<usize> {
        let start = times[one].0;
        let mut ended = by_end.partition_point(|other| times[*other].1 <= start);
        // A request that takes no time has ended when it begins, and does not wait for itself.
        while ended > 0 && times[by_end[ended - 1]].0 >= start {
            ended -= 1;
        }
        let Some((newest, which)) = ended.checked_sub(1).map(|last| latest[last]) else {
            return Vec::new();
        };
        let mut found: Vec<usize> = by_end[..ended]
            .iter()
            .rev()
            .copied()
            .take_while(|other| times[*other].1 > newest || *other == which)
            .collect();
        if !found.contains(&which) {
            found.push(which);
        }
        found.sort_unstable();
        found
    };
    (0..times.len()).map(before).collect()
}

/// How many of some intervals overlap at most.
pub(super) fn peak(times: &[(Nanos, Nanos)]) -> usize {
    let mut edges: Vec<(Nanos, i32)> = times
        .iter()
        .filter(|(start, end)| end > start)
        .flat_map(|(start, end)| [(*start, 1), (*end, -1)])
        .collect();
    edges.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in edges {
        now += change;
        most = most.max(now);
    }
    usize::try_from(most).unwrap_or(0).max(usize::from(!times.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule as it is written, without any order to help.
    fn plainly(times: &[(Nanos, Nanos)]) -> Vec<Vec<usize>> {
        let ended_before = |a: usize, b: usize| times[a].1 <= times[b].0;
        (0..times.len())
            .map(|one| {
                let before: Vec<usize> = (0..times.len())
                    .filter(|other| *other != one && ended_before(*other, one))
                    .filter(|other| times[*other].0 < times[one].0)
                    .collect();
                let direct = |a: &usize| {
                    !before.iter().any(|b| {
                        b != a && ended_before(*a, *b) && (times[*b], *b) > (times[*a], *a)
                    })
                };
                before.iter().copied().filter(direct).collect()
            })
            .collect()
    }

    #[test]
    fn two_parallel_requests_meet_in_the_next() {
        let times = [(0, 20), (25, 45), (30, 50), (55, 80)];
        assert_eq!(by_time(&times), [vec![], vec![0], vec![0], vec![1, 2]]);
        assert_eq!(peak(&times), 2);
    }

    proptest! {
        #[test]
        fn the_rule_of_times_is_the_one_that_is_written(
            times in prop::collection::vec((0_u64..40, 1_u64..20), 0..24),
        ) {
            let times: Vec<_> = times.into_iter().map(|(start, took)| (start, start + took)).collect();
            prop_assert_eq!(by_time(&times), plainly(&times));
        }

        #[test]
        fn requests_that_take_no_time_do_not_wait_for_themselves(
            times in prop::collection::vec((0_u64..6, 0_u64..3), 0..16),
        ) {
            let times: Vec<_> = times.into_iter().map(|(start, took)| (start, start + took)).collect();
            for (one, before) in by_time(&times).iter().enumerate() {
                for other in before {
                    prop_assert!(times[*other].0 < times[one].0 && times[*other].1 <= times[one].0);
                }
            }
        }
    }
}
