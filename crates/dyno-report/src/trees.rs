//! The trees of a level in lines and tables, for the terminal, documents and the page alike.

use crate::marks::Marks;
use crate::messages::TreeText;
use crate::selection::which_name;
use dyno_model::Language;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{
    Concurrency, Distribution, GroupedBy, Interactivity, LevelSummary, RequestGroup, Tokens, Trees,
};
use dyno_words::columns::{ABSENT, millis, number};
use dyno_words::number::percent;

/// A column: its upper head, which neighbours may share, its lower one, and how much it is needed (0 most).
pub(crate) type Head = (String, String, u8);

/// A small table: the name of each row, and a cell for each head.
pub(crate) struct TreeTable {
    pub(crate) title: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

/// Named lines about the trees of a level: how they ended, what was alive, how closely the recording was followed, and
/// what a cache could have held.
pub(crate) fn lines(level: &LevelSummary, language: Language) -> Vec<(&'static str, String)> {
    let Some(trees) = &level.trees else { return vec![] };
    let all = [
        (TreeText::Trees, Some(outcomes(trees, language))),
        (TreeText::Live, load(trees, language)),
        (TreeText::Interactivity, level.interactivity.and_then(|of| speed(&of, language))),
        (TreeText::Fidelity, fidelity(trees, language)),
        (TreeText::Ideal, ideal(level, trees, language)),
    ];
    let named = |(name, text): (TreeText, Option<String>)| Some((name.text(language), text?));
    all.into_iter().filter_map(named).collect()
}

fn outcomes(trees: &Trees, language: Language) -> String {
    let count = |text: TreeText, count: u64| text.with(language, &[count.to_string()]);
    let some = |text: TreeText, of: u64| Some(count(text, of)).filter(|_| of > 0);
    let ended = [
        Some(count(TreeText::Started, trees.started)),
        Some(count(TreeText::Completed, trees.completed)),
        some(TreeText::Failed, trees.failed),
        some(TreeText::Overflowed, trees.overflowed),
        some(TreeText::Cut, trees.cut),
    ];
    let ended: Vec<String> = ended.into_iter().flatten().collect();
    let sessions = [trees.sessions, trees.subagents].map(|count| count.to_string());
    let mean = |tokens: Option<Tokens>| tokens.map(|tokens| number(tokens.mean));
    let tokens = mean(trees.input_tokens).zip(mean(trees.output_tokens));
    let parts = [
        Some(ended.join(language.comma())),
        Some(TreeText::Sessions.with(language, &sessions)),
        some(TreeText::SessionsFailed, trees.sessions_failed),
        some(TreeText::Cancelled, trees.cancelled),
        Some(TreeText::TurnsMean.with(language, &[number(trees.turns_mean)])),
        tokens.map(|(input, output)| TreeText::TreeTokens.with(language, &[input, output])),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(language.semicolon())
}

fn load(trees: &Trees, language: Language) -> Option<String> {
    let with = |text: TreeText, of: Option<Concurrency>| {
        of.map(|of| text.with(language, &[number(of.mean), of.peak.to_string()]))
    };
    joined(
        [with(TreeText::MeanPeak, trees.live), with(TreeText::Parallel, trees.parallel)],
        language,
    )
}

/// How fast users see output.
pub(crate) fn speed(of: &Interactivity, language: Language) -> Option<String> {
    let pair = |text: TreeText, speed: dyno_model::summary::Slowest| {
        let half = number(speed.p50?);
        let both = match speed.p90 {
            Some(most) => TreeText::HalfAndMost.with(language, &[half, number(most)]),
            None => TreeText::Half.with(language, &[half]),
        };
        Some(text.with(language, &[both]))
    };
    let parts = [
        pair(TreeText::Decoding, of.decoding),
        pair(TreeText::WholeRequest, of.request),
        of.overall.map(|speed| TreeText::Overall.with(language, &[number(speed)])),
    ];
    joined(parts, language)
}

fn fidelity(trees: &Trees, language: Language) -> Option<String> {
    let of = trees.fidelity;
    let count =
        |text: TreeText, count: u64| (count > 0).then(|| text.with(language, &[count.to_string()]));
    let seconds = |text: TreeText, s: f64| (s > 0.0).then(|| text.with(language, &[number(s)]));
    let parts = [
        of.gap_error_ms
            .map(|late| TreeText::Late.with(language, &[late.p50, late.p99].map(number))),
        seconds(TreeText::Skipped, of.skipped_s),
        seconds(TreeText::IdleSkipped, of.idle_skipped_s),
        count(TreeText::Trimmed, of.trimmed),
        count(TreeText::Rewritten, of.cut),
        of.output_kept.map(|kept| TreeText::OutputKept.with(language, &[percent(kept)])),
    ];
    joined(parts, language)
}

fn ideal(level: &LevelSummary, trees: &Trees, language: Language) -> Option<String> {
    let ideal = trees.ideal_cache?;
    let [prompts, responses] = [ideal.of_prompts, ideal.with_responses].map(percent);
    Some(match level.cache.as_ref().and_then(|cache| cache.share) {
        Some(share) => TreeText::IdealShares.with(language, &[prompts, responses, percent(share)]),
        None => TreeText::IdealUnmeasured.with(language, &[prompts, responses]),
    })
}

fn joined<const N: usize>(parts: [Option<String>; N], language: Language) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(language.semicolon()))
}

const SPREAD: [(Statistic, u8); 4] =
    [(Statistic::P50, 0), (Statistic::P90, 2), (Statistic::Mean, 1), (Statistic::Max, 3)];

/// How long whole trees took; nothing where none is.
pub(crate) fn whole(
    level: &LevelSummary,
    marks: &mut Marks,
    language: Language,
) -> Option<TreeTable> {
    let trees = level.trees.as_ref()?;
    trees.duration.as_ref()?;
    let seconds: fn(f64) -> String = |ms| number(ms / 1e3);
    let ratio: fn(f64) -> String = number;
    let all = [
        (TreeText::Duration, &trees.duration, seconds),
        (TreeText::Active, &trees.active, seconds),
        (TreeText::Idle, &trees.idle, seconds),
        (TreeText::JoinWait, &trees.join_wait, seconds),
        (TreeText::Stretch, &trees.stretch, ratio),
    ];
    let mut row = |(name, of, show): (TreeText, &Option<Distribution>, fn(f64) -> String)| {
        let of = of.as_ref()?;
        let cells = SPREAD.map(|(which, _)| marks.statistic(Some(of), which, show));
        Some((name.text(language).to_owned(), cells.to_vec()))
    };
    Some(TreeTable {
        title: TreeText::WholeTrees.with(language, &[trees.completed.to_string()]),
        heads: SPREAD
            .map(|(which, rank)| (String::new(), which_name(which, language), rank))
            .to_vec(),
        rows: all.into_iter().filter_map(&mut row).collect(),
    })
}

const COLUMNS: [(Time, Statistic, u8); 6] = [
    (Time::Ttft, Statistic::P50, 0),
    (Time::Ttft, Statistic::P90, 3),
    (Time::Tpot, Statistic::P50, 1),
    (Time::Tpot, Statistic::P90, 5),
    (Time::Latency, Statistic::P50, 2),
    (Time::Latency, Statistic::P90, 6),
];

/// Requests in groups; nothing where there are no trees.
pub(crate) fn groups(
    level: &LevelSummary,
    marks: &mut Marks,
    language: Language,
) -> Option<TreeTable> {
    let trees = level.trees.as_ref().filter(|trees| !trees.groups.is_empty())?;
    let mut heads = vec![
        (String::new(), TreeText::Count.text(language).to_owned(), 1),
        (String::new(), TreeText::TokensIn.text(language).to_owned(), 4),
    ];
    let time = |time: Time| language.choose(Metric::Time(time).info().short).to_owned();
    heads.extend(COLUMNS.map(|(of, which, rank)| (time(of), which_name(which, language), rank)));
    let mut row = |group: &RequestGroup| {
        let times = |time: Time| match time {
            Time::Ttft => group.ttft.as_ref(),
            Time::Tpot => group.tpot.as_ref(),
            _ => group.latency.as_ref(),
        };
        let tokens = group.input_tokens.map_or_else(|| ABSENT.to_owned(), |of| number(of.mean));
        let mut cells = vec![group.requests.to_string(), tokens];
        let cell = |(time, which, _)| marks.statistic(times(time), which, millis);
        cells.extend(COLUMNS.map(cell));
        (name(group, language), cells)
    };
    let title = TreeText::Requests.text(language).to_owned();
    Some(TreeTable { title, heads, rows: trees.groups.iter().map(&mut row).collect() })
}

/// What a group is called.
fn name(group: &RequestGroup, language: Language) -> String {
    let RequestGroup { by, from, below, .. } = *group;
    let to = below.map(|below| below.saturating_sub(1));
    let with = |text: TreeText, values: &[String]| text.with(language, values);
    let thousands = |tokens: u64| match tokens % 1_000 {
        0 => format!("{}k", tokens / 1_000),
        _ => tokens.to_string(),
    };
    match (by, to, below) {
        (GroupedBy::Turn, Some(to), _) if to == from => with(TreeText::Turn, &[from.to_string()]),
        (GroupedBy::Turn, Some(to), _) => {
            with(TreeText::Turns, &[from, to].map(|turn| turn.to_string()))
        }
        (GroupedBy::Turn, None, _) => with(TreeText::TurnsFrom, &[from.to_string()]),
        (GroupedBy::Context, _, Some(below)) if from == 0 => {
            with(TreeText::InputBelow, &[thousands(below)])
        }
        (GroupedBy::Context, _, Some(below)) => {
            with(TreeText::InputBetween, &[from, below].map(thousands))
        }
        (GroupedBy::Context, ..) => with(TreeText::InputFrom, &[thousands(from)]),
        (GroupedBy::Session, ..) if from == 0 => TreeText::Root.text(language).to_owned(),
        (GroupedBy::Session, ..) => TreeText::SubAgents.text(language).to_owned(),
        (GroupedBy::Cached, Some(0), _) => TreeText::NothingCached.text(language).to_owned(),
        (GroupedBy::Cached, _, Some(below)) if from <= 1 => {
            with(TreeText::CachedBelow, &[below.to_string()])
        }
        (GroupedBy::Cached, _, Some(below)) => {
            with(TreeText::CachedBetween, &[from, below].map(|share| share.to_string()))
        }
        (GroupedBy::Cached, ..) => with(TreeText::CachedFrom, &[from.to_string()]),
    }
}
