//! Throughput over the time of the run, level after level.

use super::chosen::{Shown, all};
use super::levels::remark;
use super::page::{Chart, PagePart};
use super::panel::{Panel, Ticks};
use super::sweeps::embeds;
use super::words::Word;
use dyno_analysis::detail::{Bucket, CourseOverTime, Detail};
use dyno_chart::{Point, Series, numbers};
use dyno_model::Language;
use dyno_model::summary::Summary;

/// The most buckets that are drawn: of one level, and of a run.
const MOST: (usize, usize) = (24, 600);
/// A drawn bucket is long enough for this many requests to complete in it on average.
const COMPLETED: u64 = 8;

/// Completed requests and output tokens per second over the time of the run.
pub(super) fn throughput(summary: &Summary, detail: &Detail, language: Language) -> Option<Chart> {
    let levels = all(summary, detail, |_, detail| !detail.course.buckets.is_empty());
    let completed = |buckets: &[Bucket]| {
        Some(buckets.iter().map(|bucket| bucket.completed).sum::<u64>() as f64)
    };
    let tokens = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.output_tokens).sum();
    let mut parts =
        vec![PagePart::Plot(panel(&levels, Word::CompletedPerSecond, &completed, language))];
    if !embeds(summary) {
        parts.push(PagePart::Plot(panel(&levels, Word::OutputPerSecond, &tokens, language)));
    }
    (!levels.is_empty()).then(|| Chart {
        title: Word::ThroughputOverTime.in_language(language).to_owned(),
        parts,
        columns: 2,
        height: 290.0,
    })
}

/// How many buckets are drawn as one.
fn together(course: &CourseOverTime, most: usize) -> usize {
    let count = course.buckets.len();
    let completed: u64 = course.buckets.iter().map(|bucket| bucket.completed).sum();
    let wanted = (completed / COMPLETED).clamp(1, most as u64) as usize;
    count.div_ceil(wanted).max(1)
}

/// The buckets that are drawn as one, as ranges. A short rest at the end belongs to the range before.
fn stretches(count: usize, each: usize) -> Vec<(usize, usize)> {
    let starts = (0..count).step_by(each);
    let mut all: Vec<(usize, usize)> = starts.map(|i| (i, (i + each).min(count))).collect();
    if let [.., before, last] = all.as_mut_slice()
        && (last.1 - last.0) * 2 < each
    {
        before.1 = last.1;
        all.pop();
    }
    all
}

fn points(
    level: &Shown,
    most: usize,
    sum: &dyn Fn(&[Bucket]) -> Option<f64>,
    language: Language,
) -> Vec<Point> {
    let course = &level.detail.course;
    let each = together(course, most);
    let start = level.detail.started_s;
    let point = |(from, to): (usize, usize)| {
        let stretch = &course.buckets[from..to];
        let from = from as f64 * course.every_s;
        let long = stretch.len() as f64 * course.every_s;
        Point {
            label: format!("{}, {}", level.name, numbers::time(from)),
            remark: remark(level.level, language),
            ..Point::of(start + from + long / 2.0, sum(stretch).map(|sum| sum / long), level.trust)
        }
    };
    stretches(course.buckets.len(), each).into_iter().map(point).collect()
}

fn panel(
    levels: &[Shown],
    title: Word,
    sum: &dyn Fn(&[Bucket]) -> Option<f64>,
    language: Language,
) -> Panel {
    let most = (MOST.1 / levels.len().max(1)).clamp(1, MOST.0);
    let line = |level: &Shown| Series {
        name: level.name.clone(),
        points: points(level, most, sum, language),
    };
    let over = Word::TimeOfRun.in_language(language).to_owned();
    Panel::of(title, language, over, Ticks::Clock, levels.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(count: usize, completed: u64) -> CourseOverTime {
        CourseOverTime {
            every_s: 0.1,
            buckets: vec![Bucket { completed, ..Bucket::default() }; count],
        }
    }

    #[test]
    fn drawn_buckets_are_long_enough_for_their_requests() {
        assert_eq!(together(&course(240, 100), 24), 10, "24 buckets");
        assert_eq!(together(&course(160, 1), 24), 8, "20 buckets of 8 requests");
        assert_eq!(together(&course(200, 0), 24), 200, "nothing completed");
        assert_eq!(together(&course(3, 100), 24), 1);
        assert_eq!(together(&course(240, 100), 3), 80, "many levels");
    }

    #[test]
    fn a_short_rest_belongs_to_the_bucket_before() {
        assert_eq!(stretches(10, 4), [(0, 4), (4, 8), (8, 10)]);
        assert_eq!(stretches(9, 4), [(0, 4), (4, 9)]);
        assert_eq!(stretches(1, 4), [(0, 1)]);
        assert_eq!(stretches(0, 4), []);
    }
}
