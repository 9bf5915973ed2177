//! What the server did over the time of the run, level after level.

use super::chosen::{Shown, all};
use super::levels::remark;
use super::page::{Chart, Part};
use super::panel::{Marked, Panel, Ticks};
use super::series::{Point, Series};
use super::theme::STYLES;
use super::words::{Language, Word};
use crate::detail::{Bucket, Course, Detail};
use crate::summary::Summary;

/// The most stretches that are drawn: of one level, and of a run.
const MOST: (usize, usize) = (60, 600);
/// Stretches are so long that as many requests complete in one, in the mean.
const COMPLETED: u64 = 5;

/// Completed requests and output tokens per second over the time of the run.
pub(super) fn throughput(summary: &Summary, detail: &Detail, language: Language) -> Option<Chart> {
    let begun = |level: &crate::detail::LevelDetail| !level.course.buckets.is_empty();
    let levels = all(summary, detail, begun);
    let completed = |buckets: &[Bucket]| {
        Some(buckets.iter().map(|bucket| bucket.completed).sum::<u64>() as f64)
    };
    let tokens = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.output_tokens).sum();
    (!levels.is_empty()).then(|| Chart {
        name: "throughput".to_owned(),
        title: Word::OverTime.in_language(language).to_owned(),
        parts: vec![
            Part::Plot(panel(&levels, Word::CompletedPerSecond, &completed, language)),
            Part::Plot(panel(&levels, Word::OutputPerSecond, &tokens, language)),
        ],
        columns: 2,
        height: 290.0,
    })
}

/// How many stretches are drawn as one.
fn together(course: &Course, most: usize) -> usize {
    let count = course.buckets.len();
    let completed: u64 = course.buckets.iter().map(|bucket| bucket.completed).sum();
    let wanted = (completed / COMPLETED).clamp(1, most as u64) as usize;
    count.div_ceil(wanted).max(1)
}

fn points(level: &Shown, most: usize, sum: &dyn Fn(&[Bucket]) -> Option<f64>) -> Vec<Point> {
    let course = &level.detail.course;
    let each = together(course, most);
    let long = each as f64 * course.every_s;
    let start = level.detail.started_s;
    let point = |(i, stretch): (usize, &[Bucket])| {
        let from = i as f64 * long;
        Point {
            x: start + from + long / 2.0,
            y: sum(stretch).map(|sum| sum / long),
            interval: None,
            trust: level.trust,
            label: format!("{}, {}", level.name, super::numbers::time(from)),
            remark: remark(level.level),
        }
    };
    course.buckets.chunks(each).enumerate().map(point).collect()
}

fn panel(
    levels: &[Shown],
    title: Word,
    sum: &dyn Fn(&[Bucket]) -> Option<f64>,
    language: Language,
) -> Panel {
    let word = |word: Word| word.in_language(language).to_owned();
    let most = (MOST.1 / levels.len().max(1)).clamp(1, MOST.0);
    let line =
        |level: &Shown| Series { name: level.name.clone(), points: points(level, most, sum) };
    let series: Vec<Series> = match levels.len() <= STYLES {
        true => levels.iter().map(line).collect(),
        false => vec![joined(levels.iter().map(line))],
    };
    Panel {
        title: word(title),
        unit: String::new(),
        over: String::new(),
        x_title: word(Word::TimeOfRun),
        ticks: Ticks::Clock,
        series,
        left_out: 0,
        marks: vec![],
        reach: None,
        diagonal: false,
        named: false,
        marked: Marked::All,
        may_be_log: false,
    }
}

/// More levels than there are colours, as one line that ends with each of them.
fn joined(lines: impl Iterator<Item = Series>) -> Series {
    let mut points = Vec::new();
    for line in lines {
        let end = line.points.last().cloned();
        points.extend(line.points);
        points.extend(end.map(|end| Point { y: None, x: end.x + 1e-6, ..end }));
    }
    Series { name: String::new(), points }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(count: usize, completed: u64) -> Course {
        Course { every_s: 0.1, buckets: vec![Bucket { completed, ..Bucket::default() }; count] }
    }

    #[test]
    fn stretches_are_long_enough_for_their_requests() {
        assert_eq!(together(&course(240, 100), 60), 4, "60 stretches");
        assert_eq!(together(&course(200, 1), 60), 5, "40 stretches of 5 requests");
        assert_eq!(together(&course(200, 0), 60), 200, "nothing completed");
        assert_eq!(together(&course(3, 100), 60), 1);
        assert_eq!(together(&course(240, 100), 3), 80, "many levels");
    }
}
