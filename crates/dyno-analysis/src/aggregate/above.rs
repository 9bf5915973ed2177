//! Rates beside the closed loops of the same run: whether more was offered than a closed loop completed, and for which
//! rates neither that nor the saturation test says whether the server keeps up.

use super::judge::put_in_order;
use dyno_model::load::LoadKind;
use dyno_model::message::joined;
use dyno_model::summary::LevelSummary;
use dyno_model::{Diagnostic, Message, Verdict, message};
use dyno_stats::saturation::More;
use dyno_words::number::digits;
use dyno_words::{Finding, level_value, values};
use std::collections::BTreeMap;

/// Two measured rates differ by less although the server is the same.
const MORE: f64 = 1.02;
/// A closed loop that completed so many times what was offered shows that the server keeps up.
const ENOUGH: f64 = 1.25;
/// Findings that say more of why less was completed than offered, or that it may have been.
const SAID: [&str; 6] = [
    "no_steady_window",
    "past_capacity",
    "behind_offered",
    "nothing_completed",
    "failures",
    "overloaded",
];
/// Rates that are named before the others are only counted.
const NAMED: usize = 6;

/// The most that a closed loop of the run completed per second.
struct Closed {
    label: String,
    in_flight: f64,
    per_s: f64,
    lengths: [Option<u32>; 2],
}

impl Closed {
    fn of(level: &LevelSummary) -> Option<Self> {
        let in_flight = level.load.of(LoadKind::Concurrency)?;
        let counts = level.verdict != Verdict::Invalid && !level.superseded;
        let per_s = level.steady.filter(|_| counts)?.throughput.requests_per_s?;
        let label = level.label.clone();
        Some(Self { label, in_flight, per_s, lengths: [level.input_length, level.output_length] })
    }
}

/// Levels at rates whose saturation test is inconclusive, by index, with how much longer it needs. Those that offered
/// more than a closed loop completed get a finding; the note is about the others.
pub(super) fn judge(
    levels: &mut [LevelSummary],
    unclear: &BTreeMap<u32, Option<More>>,
) -> Option<Diagnostic> {
    let closed: Vec<Closed> = levels.iter().filter_map(Closed::of).collect();
    let mut open = Vec::new();
    for level in levels {
        let (Some(more), Some(offered)) = (unclear.get(&level.index), level.offered_per_s) else {
            continue;
        };
        let known = |finding: &Diagnostic| SAID.contains(&&*finding.code);
        let lengths = [level.input_length, level.output_length];
        let like = || closed.iter().filter(|closed| closed.lengths == lengths);
        let most = like().max_by(|a, b| a.per_s.total_cmp(&b.per_s));
        // What a server completes rises with what is in flight, so with no more of it than a closed loop had, this
        // rate is not what it can sustain.
        let flight = level.concurrency.map_or(f64::INFINITY, |flight| flight.mean);
        let above = like()
            .filter(|closed| closed.in_flight >= flight && offered > MORE * closed.per_s)
            .max_by(|a, b| a.per_s.total_cmp(&b.per_s));
        if let Some(closed) = above {
            let values =
                values![digits(offered, 2), level_value(&closed.label), digits(closed.per_s, 2)];
            if !level.reasons.iter().any(known) {
                level.notes.retain(|note| note.code != "behind_offered");
                level.reasons.push(Finding::AboveThroughput.with(values));
                put_in_order(&mut level.reasons);
                level.verdict = level.verdict.max(Verdict::Suspect);
            }
        } else if !most.is_some_and(|most| most.per_s >= ENOUGH * offered)
            && !level.reasons.iter().chain(&level.notes).any(known)
        {
            open.push(needed(&level.label, *more));
        }
    }
    let others = open.len().saturating_sub(NAMED);
    open.truncate(NAMED);
    if others > 0 {
        open.push(message!("{others} more", "另有 {others} 个档位"));
    }
    (!open.is_empty()).then(|| Finding::KeepsUpUnclear.with(values![joined(open, [", ", "、"])]))
}

/// A level with what its test needs.
fn needed(label: &str, more: Option<More>) -> Message {
    match more {
        Some(more) => {
            let seconds = digits(more.seconds.ceil().max(1.0), 0);
            message!(
                "{} (about {} more requests, {seconds} s)",
                "{}（约再需 {} 个请求，{seconds} s）",
                level_value(label),
                more.arrivals
            )
        }
        None => level_value(label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::summary::{Concurrency, LoadSummary, Steady, Throughput};

    fn level(index: u32, kind: LoadKind, value: f64, per_s: f64) -> LevelSummary {
        let throughput = Throughput { requests_per_s: Some(per_s), ..Throughput::default() };
        LevelSummary {
            index,
            label: format!("{kind} {value}"),
            load: LoadSummary { kind, value: Some(value) },
            verdict: Verdict::Valid,
            steady: Some(Steady { window_s: 9.0, throughput }),
            throughput,
            offered_per_s: (kind == LoadKind::Rate).then_some(value),
            concurrency: Some(Concurrency { mean: 40.0, peak: 60, growth: None }),
            ..LevelSummary::default()
        }
    }

    /// 17.1 req/s were offered, the same run found 15.9 to be the most, and the level was valid without a word.
    #[test]
    fn a_rate_above_the_throughput_of_the_same_run_is_suspect() {
        let rates = [8.0, 14.0, 17.1];
        let mut levels = vec![level(0, LoadKind::Concurrency, 200.0, 15.9)];
        levels.extend((1..).zip(rates).map(|(i, rate)| level(i, LoadKind::Rate, rate, 14.6)));
        let more = Some(More { arrivals: 700, seconds: 41.2 });
        let unclear: BTreeMap<u32, Option<More>> = (1..4).map(|index| (index, more)).collect();
        let before = levels.clone();
        let note = judge(&mut levels, &unclear).unwrap();
        assert_eq!(levels[..3], before[..3]);
        assert_eq!((levels[3].verdict, levels[3].reasons.len()), (Verdict::Suspect, 1));
        let said = &levels[3].reasons[0];
        assert!(
            ["17.10 req/s", "15.90", "concurrency 200"].iter().all(|of| said.what.contains(of))
        );
        // 8 of 15.9 are kept up with; 14 may be.
        assert_eq!(note.code, "saturation_unclear");
        let expected =
            "inconclusive whether the server keeps up: rate 14 (about 700 more requests, 42 s)";
        assert_eq!(note.what, expected);
        // Fewer in flight complete less than more of them can.
        let mut levels = before.clone();
        levels[0].load.value = Some(8.0);
        judge(&mut levels, &unclear);
        assert_eq!(levels[1..], before[1..]);
        // A test with a result needs no other.
        let mut levels = before.clone();
        assert_eq!(judge(&mut levels, &BTreeMap::new()), None);
        assert_eq!(levels, before);
    }
}
