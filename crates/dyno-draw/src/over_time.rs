//! Ramps and soaks over time.

use super::canvas::clean;
use super::levels::remark;
use super::page::{Chart, PagePart};
use super::panel::{Panel, Ticks};
use super::words::Word;
use dyno_chart::{Point, Series, Trust, numbers};
use dyno_model::Language;
use dyno_model::summary::{LevelSummary, Slice, Summary};

struct Course<'a> {
    level: &'a LevelSummary,
    slices: &'a [Slice],
    language: Language,
}

fn middle(slice: &Slice) -> f64 {
    slice.from_s + (slice.to_s - slice.from_s) / 2.0
}

impl Course<'_> {
    fn say(&self, word: Word) -> &'static str {
        word.in_language(self.language)
    }

    fn line(
        &self,
        name: &str,
        place: fn(&Slice) -> f64,
        metric: fn(&Slice) -> Option<f64>,
        few: fn(&Slice) -> bool,
    ) -> Series {
        let point = |slice: &Slice| {
            let few = if few(slice) { Trust::Doubtful } else { Trust::Good };
            let trust = Trust::from(self.level.verdict).max(few);
            let time = numbers::time(slice.from_s);
            Point {
                label: format!("{}, {time}", clean(&self.level.label)),
                remark: remark(self.level, self.language),
                ..Point::of(place(slice), metric(slice), trust)
            }
        };
        Series { name: name.to_owned(), points: self.slices.iter().map(point).collect() }
    }

    fn panel(&self, title: Word, series: Vec<Series>) -> Panel {
        Panel {
            reach: self.slices.last().map(|slice| slice.to_s),
            ..Panel::of(title, self.language, self.say(Word::Time).to_owned(), Ticks::Clock, series)
        }
    }

    fn times(&self, title: Word, series: Vec<Series>) -> PagePart {
        PagePart::Plot(self.panel(title, series).of_times(self.language))
    }

    fn chart(&self) -> Chart {
        let never = |_: &Slice| false;
        let rates = vec![
            self.line(self.say(Word::OfferedName), middle, |s| Some(s.offered_per_s), never),
            self.line(self.say(Word::Completed), middle, |s| Some(s.completed_per_s), never),
        ];
        let ttft = vec![
            self.line("p50", middle, |s| s.ttft_p50_ms, never),
            self.line("p99", middle, |s| s.ttft_p99_ms, |s| s.ttft_p99_marked),
        ];
        let latency = vec![self.line("p50", middle, |s| s.latency_p50_ms, never)];
        let mut counts = vec![
            self.line(self.say(Word::InFlightNow), |s| s.to_s, |s| Some(s.in_flight as f64), never),
            self.line(self.say(Word::Failed), middle, |s| Some(s.failed as f64), never),
        ];
        if self.slices.iter().any(|slice| slice.shed > 0) {
            let shed = self.line(self.say(Word::Shed), middle, |s| Some(s.shed as f64), never);
            counts.push(shed);
        }
        Chart {
            title: format!("{}: {}", self.say(Word::OverTime), clean(&self.level.label)),
            parts: vec![
                PagePart::Plot(self.panel(Word::RequestsPerSecond, rates)),
                self.times(Word::Ttft, ttft),
                self.times(Word::LatencyP50, latency),
                PagePart::Plot(self.panel(Word::Requests, counts)),
            ],
            columns: 2,
            height: 280.0,
        }
    }
}

/// Four panels for each ramp and soak: offered and completed requests, TTFT, latency, and requests in
/// flight or failed.
pub(super) fn over_time(summary: &Summary, language: Language) -> Vec<Chart> {
    let chart = |level: &LevelSummary| {
        let slices = level.slices.as_deref().filter(|slices| !slices.is_empty())?;
        Some(Course { level, slices, language }.chart())
    };
    summary.levels.iter().filter_map(chart).collect()
}
