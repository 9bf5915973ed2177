//! From the levels of a summary to lines: which metric, of which levels, and how trustworthy.

use super::canvas::clean;
use super::theme::{DISTINCT, STYLES};
use dyno_chart::{Point, Series, Trust};
use dyno_model::load::LoadKind;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{LevelSummary, Summary};
use dyno_model::{Language, Verdict};

/// A value with its precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelValue {
    /// The value.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Few samples lie beyond this percentile.
    pub few: bool,
    /// The client could measure it only roughly.
    pub rough: bool,
}

impl LevelValue {
    /// A value without an interval.
    pub(super) fn plain(value: f64) -> Self {
        Self { value, interval: None, few: false, rough: false }
    }
}

/// A metric of a level, where it has a value.
pub(super) type MetricFn<'a> = Box<dyn Fn(&LevelSummary) -> Option<LevelValue> + 'a>;

/// A statistic of a level's time, with its precision.
pub fn statistic(level: &LevelSummary, time: Time, which: Statistic) -> Option<LevelValue> {
    let all = level.times[time].as_ref()?;
    let (interval, few) = (all.interval(which), all.is_marked(which));
    let rough = level.is_uncertain(Metric::Time(time), Some(which));
    Some(LevelValue { value: all.get(which)?, interval, few, rough })
}

/// A statistic of a level's time.
pub(super) fn of(time: Time, which: Statistic) -> MetricFn<'static> {
    Box::new(move |level| statistic(level, time, which))
}

/// The levels of one kind of load whose amount is known, without those that were measured again.
pub(super) fn of_kind(summary: &Summary, kind: LoadKind) -> Vec<&LevelSummary> {
    let is = |level: &&LevelSummary| {
        level.load.kind == kind && level.load.value.is_some() && !level.superseded
    };
    summary.levels.iter().filter(is).collect()
}

/// The amount of load; 0 where it is unknown, which [`of_kind`] leaves out.
pub(super) fn load(level: &LevelSummary) -> f64 {
    level.load.value.unwrap_or_default()
}

/// The closed loops are only the two ends of a sweep over rates.
pub fn ends_of_sweep(summary: &Summary) -> bool {
    let loads =
        distinct(of_kind(summary, LoadKind::Concurrency).iter().map(|level| level.load.value));
    loads.len() < 3 && of_kind(summary, LoadKind::Rate).len() > 1
}

/// Lengths of input and output from the name of a level in a grid: `128→32 @16`, `128→32 burst 16`.
/// Where nothing is generated, the length of a text and how many a request has: `128 tok×32 @16`.
pub(super) fn lengths(level: &LevelSummary) -> Option<[&str; 2]> {
    let (input, rest) = level.label.split_once(sign(level))?;
    let (output, _) = rest.split_once(" @").or_else(|| rest.split_once(" burst "))?;
    Some([input.strip_suffix(" tok").unwrap_or(input), output])
}

/// What stands between the two.
fn sign(level: &LevelSummary) -> char {
    if level.has_inputs() { '×' } else { '→' }
}

/// The distinct values, in order of first appearance.
pub(super) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// The verdict with its reasons; nothing for a valid level.
pub(super) fn remark(level: &LevelSummary, language: Language) -> String {
    if level.verdict <= Verdict::Unjudged {
        return String::new();
    }
    let verdict = level.verdict.name(language);
    let reasons: Vec<&str> = level.reasons.iter().map(|reason| reason.what.as_str()).collect();
    match reasons.is_empty() {
        true => verdict.to_owned(),
        false => {
            let reasons = reasons.join(language.semicolon());
            clean(&format!("{verdict}{}{reasons}", language.colon()))
        }
    }
}

/// One point of a line.
pub(super) fn point(
    level: &LevelSummary,
    x: f64,
    value: Option<LevelValue>,
    language: Language,
) -> Point {
    let doubtful = value.is_some_and(|value| value.few || value.rough);
    let trust = if doubtful { Trust::Doubtful } else { Trust::Good };
    let trust = Trust::from(level.verdict).max(trust);
    Point {
        x,
        y: value.map(|value| value.value),
        interval: value.and_then(|value| value.interval),
        trust,
        label: clean(&level.label),
        remark: remark(level, language),
    }
}

/// Lines of one metric over a load, one for each pair of lengths where there are several.
pub(super) fn lines(
    levels: &[&LevelSummary],
    x: &dyn Fn(&LevelSummary) -> f64,
    name: &str,
    metric: &MetricFn,
    language: Language,
) -> Vec<Series> {
    let grid = distinct(levels.iter().map(|level| lengths(level)));
    let line = |pair: &Option<[&str; 2]>| {
        let mut own: Vec<&LevelSummary> =
            levels.iter().copied().filter(|level| lengths(level) == *pair).collect();
        own.sort_by(|a, b| x(a).total_cmp(&x(b)));
        let name = match pair {
            Some([input, output]) if grid.len() > 1 => {
                let texts = own.first().is_some_and(|level| level.has_inputs());
                let sign = if texts { " tok×" } else { "→" };
                clean(format!("{input}{sign}{output} {name}").trim_end())
            }
            _ => name.to_owned(),
        };
        let points =
            own.iter().map(|level| point(level, x(level), metric(level), language)).collect();
        Series { name, points }
    };
    grid.iter().map(line).collect()
}

/// As many lines as there are colours, some of each metric; of many metrics, one of each as long as lines
/// can be told apart. The second is how many are left out.
pub(super) fn limited(metrics: Vec<Vec<Series>>) -> (Vec<Series>, usize) {
    let all = metrics.iter().map(Vec::len).sum::<usize>();
    let drawn = metrics.iter().filter(|lines| !lines.is_empty()).count();
    let each = (STYLES / drawn.max(1)).max(1);
    let some = metrics.into_iter().flat_map(|lines| lines.into_iter().take(each));
    let some: Vec<Series> = some.take(DISTINCT).collect();
    let left_out = all - some.len();
    (some, left_out)
}

/// Converts long times from milliseconds to seconds. True: the values are seconds now.
pub(super) fn in_seconds(series: &mut [Series]) -> bool {
    let known = series.iter().flat_map(|one| one.points.iter().filter_map(|point| point.y));
    let long = known.filter(|value| value.is_finite()).fold(0.0, f64::max) >= 2000.0;
    if long {
        for point in series.iter_mut().flat_map(|one| &mut one.points) {
            point.y = point.y.map(|value| value / 1e3);
            point.interval = point.interval.map(|ends| ends.map(|end| end / 1e3));
        }
    }
    long
}
