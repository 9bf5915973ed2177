//! One plot: title, legend, axes, lines.

use super::axis;
use super::canvas::{Anchor, Canvas};
use super::ground::Ground;
use super::legend::{self, Entry, Swatch};
use super::levels::in_seconds;
use super::measure::width;
use super::names;
use super::theme::DISTINCT;
use super::words::Word;
pub(super) use dyno_chart::Ticks;
use dyno_chart::{Axis, Point, Scale, Series, Spacing, bounds, drawable, numbers, ordered};
use dyno_model::Language;

/// Which points have a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// All.
    All,
    /// Those at 50, 90 and 99 percent.
    Percentiles,
}

impl Marked {
    fn has(self, point: &Point) -> bool {
        let near = |y: f64| [50.0, 90.0, 99.0].iter().any(|share| (y - share).abs() < 1e-6);
        self == Self::All || point.y.is_some_and(near)
    }
}

/// A highlighted range of the horizontal axis; a single place where both ends are the same.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) name: String,
}

/// A plot to draw.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// What `--charts` calls it.
    pub(super) name: &'static str,
    pub(super) title: String,
    /// The unit of the values; may be empty.
    pub(super) unit: String,
    /// The time that they are over; may be empty.
    pub(super) over: String,
    pub(super) x_title: String,
    pub(super) ticks: Ticks,
    pub(super) series: Vec<Series>,
    /// The style of each line, where it is not that of its place.
    pub(super) styles: Vec<usize>,
    /// What the legend says besides names.
    pub(super) notes: Vec<String>,
    /// Lines that there was no room for.
    pub(super) left_out: usize,
    pub(super) marks: Vec<Mark>,
    /// The horizontal axis reaches at least this value.
    pub(super) reach: Option<f64>,
    /// Draw the line on which the value equals the load.
    pub(super) diagonal: bool,
    /// Write the names of levels beside their points.
    pub(super) named: bool,
    pub(super) marked: Marked,
    /// Values far apart may be drawn on a logarithmic axis.
    pub(super) may_be_log: bool,
    /// Drawn only if it is asked for by its name.
    pub(super) only_on_request: bool,
}

/// Between the frame of a plot and its outermost points.
const INSET: f64 = 14.0;
/// Between a plot and the end of its place: half a tick label must fit.
const RIGHT: f64 = 14.0;
const BELOW: f64 = 38.0;
/// More points than this have small marks.
const CROWDED: usize = 100;

impl Panel {
    /// Lines over an axis, and nothing else.
    pub(super) fn of(
        title: Word,
        language: Language,
        x_title: String,
        ticks: Ticks,
        series: Vec<Series>,
    ) -> Self {
        Self {
            name: title.panel_name(),
            title: title.in_language(language).to_owned(),
            unit: String::new(),
            over: String::new(),
            x_title,
            ticks,
            series,
            styles: vec![],
            notes: vec![],
            left_out: 0,
            marks: vec![],
            reach: None,
            diagonal: false,
            named: false,
            marked: Marked::All,
            may_be_log: false,
            only_on_request: false,
        }
    }

    /// The same for times in milliseconds: shown as seconds where they are long.
    pub(super) fn of_times(mut self, language: Language) -> Self {
        let unit = if in_seconds(&mut self.series) { Word::Seconds } else { Word::Milliseconds };
        Self { unit: unit.in_language(language).to_owned(), may_be_log: true, ..self }
    }

    /// Draws it into a place: left, top, width, height.
    pub(super) fn draw(&self, canvas: &mut Canvas, place: [f64; 4], language: Language) {
        let [left, top, wide, high] = place;
        let series: Vec<Series> = self.series.iter().cloned().map(Series::drawable).collect();
        let known = bounds(series.iter().flat_map(Series::values));
        let places = series.iter().flat_map(|one| one.points.iter().map(|point| point.x));
        let loads = ordered(places.filter_map(drawable));
        let offered = loads.iter().copied().filter(|_| self.diagonal);
        let figures = known.and_then(|known| bounds(known.into_iter().chain(offered)));
        let marks = self.drawable_marks();
        let upright = Axis::upright(figures.unwrap_or([0.0, 1.0]), self.may_be_log);
        self.head(canvas, place, upright.spacing, language);

        let entries = self.entries(&series, &marks, language);
        legend::draw(canvas, &entries, [left, top + 22.0], wide);
        let labels = upright.ticks.iter().map(|tick| width(&tick.label, axis::SIZE, false));
        let widest = labels.fold(0.0, f64::max);
        let frame = [
            left + widest + 8.0,
            top + 30.0 + legend::height(&entries, wide),
            left + wide - RIGHT,
            top + high - BELOW,
        ];
        let y = upright.on([frame[3], frame[1]]);
        let marked = marks.iter().flat_map(|mark| [mark.from, mark.to]);
        let beyond: Vec<f64> = marked.chain(self.reach.and_then(drawable)).collect();
        let across = Axis::across(self.ticks, &loads, &beyond);
        let x = across.on([frame[0] + INSET, frame[2] - INSET]);
        if figures.is_none() {
            canvas.line("dc-axis", [frame[0], frame[3]], [frame[2], frame[3]]);
            let [x, y] = [(frame[0] + frame[2]) / 2.0, (frame[1] + frame[3]) / 2.0];
            axis::muted(canvas, x, y, Anchor::Middle, Word::NoFigures.in_language(language));
            return;
        }
        let ticks = upright.placed(&y);
        for tick in &ticks {
            canvas.line("dc-grid", [frame[0], tick.at], [frame[2], tick.at]);
        }
        axis::beside(canvas, &ticks, frame[0] - 6.0, [frame[1] - 8.0, frame[3] + 8.0]);
        let ticks = across.placed(&x);
        for tick in &ticks {
            canvas.line("dc-axis", [tick.at, frame[3]], [tick.at, frame[3] + 4.0]);
        }
        if self.ticks == Ticks::Decades {
            for tick in &ticks {
                canvas.line("dc-grid", [tick.at, frame[1]], [tick.at, frame[3]]);
            }
        }
        axis::below(canvas, &ticks, frame[3] + 17.0, [left, left + wide]);
        draw_marks(canvas, &marks, &x, frame);
        if self.diagonal {
            let end = x.high.min(y.high);
            let start = x.low.max(y.low).min(end);
            canvas.line("dc-all", [x.at(start), y.at(start)], [x.at(end), y.at(end)]);
        }
        let crowded = series.iter().map(|one| one.points.len()).sum::<usize>() > CROWDED;
        let crowded = crowded && self.marked == Marked::All;
        let ground = Ground { x: &x, y: &y, crowded };
        for (place, one) in series.iter().enumerate() {
            let style = self.style(place);
            ground.band(canvas, style, one);
        }
        for (place, one) in series.iter().enumerate() {
            let style = self.style(place);
            match self.marked {
                Marked::All => ground.line(canvas, style, one),
                Marked::Percentiles => ground.curve(canvas, style, one),
            }
        }
        if self.named {
            let room = [frame[0], frame[1], left + wide, frame[3]];
            names::draw(canvas, &series, &x, &y, room);
        }
        for (place, one) in series.iter().enumerate() {
            let style = self.style(place);
            let mut one = one.clone();
            one.points.retain(|point| self.marked.has(point));
            ground.points(canvas, style, &one, &|point, value| {
                self.about(&one, point, value, language)
            });
        }
        canvas.line("dc-axis", [frame[0], frame[3]], [frame[2], frame[3]]);
    }

    fn style(&self, place: usize) -> usize {
        self.styles.get(place).copied().unwrap_or(place)
    }

    fn head(&self, canvas: &mut Canvas, place: [f64; 4], spacing: Spacing, language: Language) {
        let log = Word::LogScale.in_language(language);
        let spacing = if spacing == Spacing::Log { log } else { "" };
        let mut units = vec![self.unit.as_str(), self.over.as_str(), spacing];
        units.retain(|unit| !unit.is_empty());
        let title = match units.is_empty() {
            true => self.title.clone(),
            false => self.title.clone() + &language.brackets(&units.join(language.comma())),
        };
        axis::title(canvas, place, &title);
        axis::title_below(canvas, place, &self.x_title);
    }

    fn entries(&self, series: &[Series], marks: &[Mark], language: Language) -> Vec<Entry> {
        let mut entries = Vec::new();
        let line = |(i, one): (usize, &Series)| {
            let name = if one.name.is_empty() { &self.title } else { &one.name };
            (Swatch::Line(self.style(i)), name.clone())
        };
        match series.len() <= DISTINCT {
            true => entries.extend(series.iter().enumerate().map(line)),
            // More lines than can be told apart are levels one after the other.
            false => {
                let count = series.len().to_string();
                entries.push((Swatch::None, Word::LevelsInOrder.with(language, &[count])));
            }
        }
        if self.diagonal {
            entries.push((Swatch::All, Word::AllCompleted.in_language(language).to_owned()));
        }
        entries.extend(marks.iter().map(|mark| (Swatch::Mark, mark.name.clone())));
        entries.extend(self.notes.iter().map(|note| (Swatch::None, note.clone())));
        if self.left_out > 0 {
            let count = self.left_out.to_string();
            entries.push((Swatch::None, Word::MoreNotDrawn.with(language, &[count])));
        }
        entries.into_iter().map(|(swatch, name)| Entry { swatch, name }).collect()
    }

    fn drawable_marks(&self) -> Vec<Mark> {
        let good = |mark: &&Mark| drawable(mark.from).is_some() && drawable(mark.to).is_some();
        self.marks.iter().filter(good).cloned().collect()
    }

    /// The tooltip of a point.
    fn about(&self, series: &Series, point: &Point, value: f64, language: Language) -> String {
        if self.marked == Marked::Percentiles {
            let gap = if point.remark.is_empty() { "" } else { "; " };
            return format!("{}{gap}{}", point.label, point.remark);
        }
        let name = if self.series.len() > 1 { &series.name } else { &self.title };
        let mut text = format!("{}: {name} {}", point.label, numbers::label(value));
        if let Some([low, high]) = point.interval {
            text += &format!(" [{}, {}]", numbers::label(low), numbers::label(high));
        }
        if !self.unit.is_empty() {
            text += &format!(" {}", self.unit);
        }
        if !self.over.is_empty() {
            text += &language.brackets(&self.over);
        }
        if !point.remark.is_empty() {
            text += &format!("; {}", point.remark);
        }
        text
    }
}

fn draw_marks(canvas: &mut Canvas, marks: &[Mark], x: &Scale, frame: [f64; 4]) {
    for mark in marks {
        let (from, to) = (x.at(mark.from), x.at(mark.to));
        match to - from > 1.0 {
            true => canvas.rect("dc-mark", [from, frame[1], to - from, frame[3] - frame[1]]),
            false => canvas.line("dc-edge", [from, frame[1]], [from, frame[3]]),
        }
    }
}
