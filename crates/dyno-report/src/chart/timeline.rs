//! Single requests over time: which levels, which of their requests, and what they are called.

use super::chosen::{Shown, all, even};
use super::levels::distinct;
use super::numbers;
use super::page::{Chart, Part};
use super::rows::{Row, Rows};
use super::words::{Language, Word};
use crate::detail::{Bar, Became, Detail};
use crate::summary::Summary;

/// The most levels, and the most requests of each.
const LEVELS: usize = 4;
const ROWS: usize = 100;

/// One bar for each request of up to four levels: until it was sent, until its first token, and
/// until its end.
pub(super) fn timeline(summary: &Summary, detail: &Detail, language: Language) -> Option<Chart> {
    let levels = all(summary, detail, |level| !level.bars.kept.is_empty());
    let parts: Vec<Part> =
        interesting(&levels).into_iter().map(|i| Part::Rows(rows(&levels[i], language))).collect();
    (!parts.is_empty()).then(|| Chart {
        name: "timeline".to_owned(),
        title: Word::Timeline.in_language(language).to_owned(),
        columns: parts.len().min(2),
        parts,
        height: 320.0,
    })
}

/// All where there are few; else the first and the last, the one with the most failures, and the
/// first that was not carried.
fn interesting(levels: &[Shown]) -> Vec<usize> {
    if levels.len() <= LEVELS {
        return (0..levels.len()).collect();
    }
    let failed = |i: &usize| levels[*i].level.requests.failed.unwrap_or(0);
    let worst = (0..levels.len()).max_by_key(failed).filter(|i| failed(i) > 0);
    let over = levels.iter().position(|level| level.level.saturated == Some(true));
    let middle = levels.len() / 2;
    let wanted = [Some(0), Some(levels.len() - 1), worst, over, Some(middle)];
    let mut some = distinct(wanted.into_iter().flatten());
    some.truncate(LEVELS);
    some.sort_unstable();
    some
}

fn rows(level: &Shown, language: Language) -> Rows {
    let bars = &level.detail.bars;
    let kept = sample(&bars.kept);
    let count = kept.len() as u64;
    let told = match count < bars.of {
        true => Word::SomeOfRequests
            .in_language(language)
            .replacen("{}", &count.to_string(), 1)
            .replacen("{}", &bars.of.to_string(), 1),
        false => Word::AllRequests.in_language(language).replacen("{}", &count.to_string(), 1),
    };
    Rows {
        title: format!("{}{}", level.name, language.brackets(&told)),
        rows: kept.iter().map(|bar| row(bar, language)).collect(),
    }
}

/// No more than there is room for; failures before others.
fn sample(bars: &[Bar]) -> Vec<&Bar> {
    let is_good = |bar: &&Bar| bar.became == Became::Completed;
    let (good, bad): (Vec<&Bar>, Vec<&Bar>) = bars.iter().partition(is_good);
    let for_bad = (ROWS / 2).max(ROWS.saturating_sub(good.len()));
    let bad: Vec<&Bar> = even(bad.len(), for_bad).into_iter().map(|i| bad[i]).collect();
    let good = even(good.len(), ROWS - bad.len()).into_iter().map(|i| good[i]);
    let mut both: Vec<&Bar> = good.chain(bad.iter().copied()).collect();
    both.sort_by(|a, b| a.due_s.total_cmp(&b.due_s).then(a.index.cmp(&b.index)));
    both
}

fn row(bar: &Bar, language: Language) -> Row {
    let word = |word: Word| word.in_language(language);
    let became = match &bar.became {
        Became::Completed => word(Word::Completed).to_owned(),
        Became::Failed(class) => format!("{}: {class}", word(Word::Failed)),
        Became::Dropped => word(Word::Dropped).to_owned(),
        Became::Censored => word(Word::Censored).to_owned(),
    };
    let time = |time: f64| format!("{} {}", numbers::label(time), word(Word::Seconds));
    let mut about = format!("#{} {became}", bar.index);
    let said = [
        (Word::SentAt, bar.sent_s),
        (Word::FirstAt, bar.first_s),
        (Word::EndedAt, Some(bar.end_s)),
    ];
    for (name, at) in said {
        if let Some(at) = at {
            about += &format!("{}{} {}", language.comma(), word(name), time(at));
        }
    }
    Row {
        due: bar.due_s,
        sent: bar.sent_s,
        first: bar.first_s,
        end: bar.end_s,
        whole: bar.became == Became::Completed,
        about,
    }
}
