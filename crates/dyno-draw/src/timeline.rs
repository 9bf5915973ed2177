//! Single requests over time: which levels, and which of their requests.

use super::chosen::{Shown, all, even};
use super::lanes;
use super::levels::distinct;
use super::page::{Chart, PagePart};
use super::rows::{Row, Rows};
use super::words::Word;
use dyno_analysis::detail::{Bar, Became, Detail, LevelDetail};
use dyno_chart::numbers;
use dyno_model::Language;
use dyno_model::summary::{LevelSummary, Summary};

/// The most levels, and the most requests of each.
const LEVELS: usize = 4;
const ROWS: usize = 100;
/// A level this many times longer than its requests is not shown whole.
const SHORT: f64 = 25.0;

/// Requests of up to four levels in lanes: until sent, until the first token, and until the end.
pub(super) fn timeline(summary: &Summary, detail: &Detail, language: Language) -> Option<Chart> {
    let has = |level: &LevelSummary, detail: &LevelDetail| {
        // Past capacity, waiting times depend on the length of the level, not on the server.
        let past = level.reasons.iter().any(|reason| reason.code == "past_capacity");
        !past && !detail.bars.kept.is_empty()
    };
    let levels = all(summary, detail, has);
    let parts: Vec<PagePart> = interesting(&levels)
        .into_iter()
        .map(|i| PagePart::Rows(rows(&levels[i], language)))
        .collect();
    (!parts.is_empty()).then(|| Chart {
        title: Word::Timeline.in_language(language).to_owned(),
        columns: parts.len().min(2),
        parts,
        height: 320.0,
    })
}

/// All levels where there are few; else the first and the last, the one with the most failures, the
/// first saturated one, and some between.
pub(super) fn interesting(levels: &[Shown]) -> Vec<usize> {
    if levels.len() <= LEVELS {
        return (0..levels.len()).collect();
    }
    let failed = |i: &usize| levels[*i].level.requests.refused().unwrap_or(0);
    let worst = (0..levels.len()).max_by_key(failed).filter(|i| failed(i) > 0);
    let over = levels.iter().position(|level| level.level.saturated == Some(true));
    let last = levels.len() - 1;
    let wanted = [Some(0), Some(last), worst, over, Some(last / 2), Some(last * 3 / 4)];
    let mut some = distinct(wanted.into_iter().flatten());
    some.truncate(LEVELS);
    some.sort_unstable();
    some
}

fn rows(level: &Shown, language: Language) -> Rows {
    let word = |word: Word| word.in_language(language);
    let bars = &level.detail.bars;
    let (kept, part_of_time) = chosen(&bars.kept);
    let lanes = lanes::lanes(kept);
    let [count, of] = [lanes.requests() as u64, bars.of].map(|count| count.to_string());
    let mut caption = match count == of {
        true => Word::AllRequests.with(language, &[count]),
        false => Word::SomeOfRequests.with(language, &[count, of]),
    };
    if part_of_time {
        caption += language.comma();
        caption += word(Word::PartOfTime);
    }
    let lane = |(lane, bars): (usize, &Vec<&Bar>)| -> Vec<Row> {
        bars.iter().map(|bar| row(bar, lane, language)).collect()
    };
    Rows {
        title: format!("{}{}", level.name, language.brackets(&caption)),
        rows: lanes.shown.iter().enumerate().flat_map(lane).collect(),
        lanes: lanes.shown.len(),
    }
}

/// As many as fit: a sample of the whole level, or consecutive requests where a sample would be too
/// short to be seen. The second is whether they cover only a part of the level.
fn chosen(bars: &[Bar]) -> (Vec<&Bar>, bool) {
    if bars.len() <= ROWS {
        return (bars.iter().collect(), false);
    }
    let from = bars.iter().map(|bar| bar.due_s).fold(f64::INFINITY, f64::min);
    let to = bars.iter().map(|bar| bar.end_s).fold(f64::NEG_INFINITY, f64::max);
    let mean = bars.iter().map(|bar| bar.end_s - bar.due_s).sum::<f64>() / bars.len() as f64;
    match mean * SHORT < to - from {
        true => (window(bars), true),
        false => (sample(bars), false),
    }
}

fn is_whole(bar: &Bar) -> bool {
    bar.became == Became::Completed
}

/// Consecutive requests: where most failed, else from the middle.
fn window(bars: &[Bar]) -> Vec<&Bar> {
    let failed =
        |from: &usize| bars[*from..from + ROWS].iter().filter(|bar| !is_whole(bar)).count();
    let middle = (bars.len() - ROWS) / 2;
    let best = (0..=bars.len() - ROWS)
        .max_by_key(|from| (failed(from), usize::MAX - from.abs_diff(middle)));
    bars.iter().skip(best.unwrap_or(0)).take(ROWS).collect()
}

/// A sample of the whole level; failures first.
fn sample(bars: &[Bar]) -> Vec<&Bar> {
    let (good, bad): (Vec<&Bar>, Vec<&Bar>) = bars.iter().partition(|bar| is_whole(bar));
    let for_bad = (ROWS / 2).max(ROWS.saturating_sub(good.len()));
    let bad: Vec<&Bar> = even(bad.len(), for_bad).into_iter().map(|i| bad[i]).collect();
    let good = even(good.len(), ROWS - bad.len()).into_iter().map(|i| good[i]);
    let mut both: Vec<&Bar> = good.chain(bad.iter().copied()).collect();
    both.sort_by(|a, b| a.due_s.total_cmp(&b.due_s).then(a.index.cmp(&b.index)));
    both
}

pub(super) fn row(bar: &Bar, lane: usize, language: Language) -> Row {
    let word = |word: Word| word.in_language(language);
    let became = match &bar.became {
        Became::Completed => word(Word::Completed).to_owned(),
        Became::Failed(class) => format!("{}: {class}", word(Word::Failed)),
        Became::Shed(class) => format!("{}: {class}", word(Word::Shed)),
        Became::Dropped => word(Word::Dropped).to_owned(),
        Became::Censored => word(Word::Censored).to_owned(),
    };
    let time = |time: f64| format!("{} {}", numbers::label(time), word(Word::Seconds));
    let mut about = format!("#{} {became}", bar.index);
    let times = [
        (Word::SentAt, bar.sent_s),
        (Word::FirstAt, bar.first_s),
        (Word::EndedAt, Some(bar.end_s)),
    ];
    for (name, at) in times {
        if let Some(at) = at {
            about += &format!("{}{} {}", language.comma(), word(name), time(at));
        }
    }
    Row {
        lane,
        due: bar.due_s,
        sent: bar.sent_s,
        first: bar.first_s,
        end: bar.end_s,
        again: bar.retries > 0,
        whole: is_whole(bar),
        shed: matches!(bar.became, Became::Shed(_)),
        about,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    fn bars(count: u64, every: f64, long: f64) -> Vec<Bar> {
        let bar = |index: u64| {
            let due_s = index as f64 * every;
            Bar {
                index,
                warmup: false,
                due_s,
                sent_s: Some(due_s),
                first_s: None,
                end_s: due_s + long,
                output: None,
                retries: 0,
                became: Became::Completed,
            }
        };
        (0..count).map(bar).collect()
    }

    #[test]
    fn long_requests_are_thinned_and_short_ones_cut_out() {
        let all = bars(80, 1.0, 1.0);
        assert_eq!(chosen(&all).0.len(), 80);
        let long = bars(500, 0.1, 10.0);
        let (some, part) = chosen(&long);
        assert_eq!((some.len(), part, some[0].index, some[99].index), (100, false, 0, 499));
        let short = bars(500, 1.0, 1.0);
        let (some, part) = chosen(&short);
        assert_eq!((some.len(), part, some[0].index, some[99].index), (100, true, 200, 299));
    }

    #[test]
    fn refusals_and_the_waits_between_are_not_time_to_the_first_token() {
        let mut both = bars(2, 10.0, 5.0);
        both.iter_mut().for_each(|bar| bar.first_s = Some(bar.due_s + 4.0));
        let drawn = |bars: &[Bar]| {
            let rows = bars.iter().map(|bar| row(bar, 0, Language::English)).collect();
            let rows = Rows { title: String::new(), rows, lanes: 1 };
            let mut canvas = Canvas::default();
            rows.draw(&mut canvas, [0.0, 0.0, 600.0, 200.0], Language::English);
            canvas.document([600.0, 200.0], 1.0, "", "")
        };
        let count = |svg: &str, text: &str| svg.matches(text).count();
        let (waiting, again) = ("waiting for the first token", "refused, then sent again");
        let plain = drawn(&both);
        assert_eq!((count(&plain, waiting), count(&plain, again)), (1, 0));
        both[1].retries = 2;
        let mixed = drawn(&both);
        assert_eq!((count(&mixed, waiting), count(&mixed, again)), (1, 1));
        // A bar and a swatch of each colour.
        assert_eq!((count(&mixed, "dc-part dc-b1"), count(&mixed, "dc-part dc-b3")), (2, 2));
    }

    #[test]
    fn failures_are_shown_before_others() {
        let mut long = bars(500, 0.1, 10.0);
        long[123].became = Became::Failed("stall".to_owned());
        assert!(chosen(&long).0.iter().any(|bar| bar.index == 123));
        let mut short = bars(500, 1.0, 1.0);
        short[450].became = Became::Censored;
        assert!(chosen(&short).0.iter().any(|bar| bar.index == 450));
    }
}
