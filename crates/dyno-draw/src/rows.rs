//! Requests as bars in lanes over time: when each was due, sent, got its first token, and ended.

use super::axis;
use super::canvas::Canvas;
use super::legend::{self, Entry, Swatch};
use super::words::Word;
use dyno_chart::{Axis, Scale, bounds, drawable};
use dyno_model::Language;

/// One request; times in seconds.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) lane: usize,
    pub(super) due: f64,
    pub(super) sent: Option<f64>,
    pub(super) first: Option<f64>,
    pub(super) end: f64,
    /// It was refused first, and sent again: most of the time before its first token is not the server's.
    pub(super) again: bool,
    /// It completed.
    pub(super) whole: bool,
    /// An overloaded server refused it.
    pub(super) shed: bool,
    /// Its tooltip.
    pub(super) about: String,
}

/// Lanes to draw.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
    pub(super) lanes: usize,
}

const INSET: f64 = 6.0;
const RIGHT: f64 = 14.0;
const BELOW: f64 = 38.0;
/// The largest height of a bar, and the smallest width of its parts.
const HIGHEST: f64 = 20.0;
const NARROWEST: f64 = 0.8;
/// The part of an axis that is about a pixel.
const SEEN: f64 = 0.002;

impl Rows {
    /// Draws it into a place: left, top, width, height.
    pub(super) fn draw(&self, canvas: &mut Canvas, place: [f64; 4], language: Language) {
        let [left, top, wide, high] = place;
        axis::title(canvas, place, &self.title);
        axis::title_below(canvas, place, Word::TimeOfLevel.in_language(language));
        let rows: Vec<&Row> = self.rows.iter().filter(|row| is_drawable(row)).collect();
        let ends = bounds(rows.iter().flat_map(|row| [row.due, row.end]));
        let [low, end] = ends.unwrap_or([0.0, 0.0]);
        let entries = self.entries((end - low) * SEEN, language);
        legend::draw(canvas, &entries, [left, top + 22.0], wide);
        let frame = [
            left,
            top + 30.0 + legend::height(&entries, wide),
            left + wide - RIGHT,
            top + high - BELOW,
        ];
        let axis = Axis::clock(low, if end > low { end } else { low + 1.0 });
        let x = axis.on([frame[0] + INSET, frame[2] - INSET]);
        let ticks = axis.placed(&x);
        for tick in &ticks {
            canvas.line("dc-grid", [tick.at, frame[1]], [tick.at, frame[3]]);
        }
        axis::below(canvas, &ticks, frame[3] + 17.0, [left, left + wide]);
        let step = ((frame[3] - frame[1]) / self.lanes.max(1) as f64).min(HIGHEST);
        for row in rows {
            let gap = if step > 4.0 { 1.0 } else { step * 0.15 };
            let top = frame[1] + row.lane as f64 * step;
            row.draw(canvas, &x, [top + gap, top + step - gap]);
        }
        canvas.line("dc-axis", [frame[0], frame[3]], [frame[2], frame[3]]);
    }

    /// The legend; waits shorter than `least` cannot be seen and are not in it.
    fn entries(&self, least: f64, language: Language) -> Vec<Entry> {
        let any = |is: fn(&Row) -> bool| self.rows.iter().any(is);
        let waited = |row: &Row| row.sent.unwrap_or(row.end) - row.due > least;
        let all = [
            (self.rows.iter().any(waited), WAIT, Word::UntilSent),
            (any(|row| row.first.is_some() && !row.again), PREFILL, Word::UntilFirst),
            (any(|row| row.again && row.sent.is_some()), AGAIN, Word::SentAgain),
            (any(|row| row.first.is_some()), DECODE, Word::UntilEnd),
            (any(|row| row.whole_bar()), ALL, Word::NotStreamed),
        ];
        let named = |(_, class, word): (bool, &'static str, Word)| Entry {
            swatch: Swatch::Bar(class),
            name: word.in_language(language).to_owned(),
        };
        let mut entries: Vec<Entry> =
            all.into_iter().filter(|(used, ..)| *used).map(named).collect();
        let marks = [
            (any(|row| !row.whole && !row.shed), Swatch::Cross, Word::NotWhole),
            (any(|row| row.shed), Swatch::Plus, Word::Shed),
        ];
        for (_, swatch, word) in marks.into_iter().filter(|(used, ..)| *used) {
            entries.push(Entry { swatch, name: word.in_language(language).to_owned() });
        }
        entries
    }
}

/// Classes of the parts of a bar: until sent, until the first token, refused and sent again until the first
/// token, until the end, and of a request whose first token is unknown.
pub(super) const WAIT: &str = "dc-wait";
pub(super) const PREFILL: &str = "dc-part dc-b1";
const AGAIN: &str = "dc-part dc-b3";
pub(super) const DECODE: &str = "dc-part dc-b0";
pub(super) const ALL: &str = "dc-part dc-b7";

fn is_drawable(row: &Row) -> bool {
    let times = [Some(row.due), row.sent, row.first, Some(row.end)];
    times.into_iter().flatten().all(|time| drawable(time).is_some())
}

impl Row {
    /// It is one bar from when it was sent to its end.
    fn whole_bar(&self) -> bool {
        self.first.is_none() && self.sent.is_some() && !self.again
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, x: &Scale, [top, bottom]: [f64; 2]) {
        let part = |canvas: &mut Canvas, class: &str, from: f64, to: f64| {
            let (from, to) = (x.at(from), x.at(to));
            let wide = (to - from).max(NARROWEST).min(x.to - from).max(0.0);
            canvas.part(class, [from, top, wide, bottom - top], &self.about);
        };
        let sent = self.sent.unwrap_or(self.end);
        if sent > self.due {
            part(canvas, WAIT, self.due, sent);
        }
        match (self.sent, self.first) {
            (Some(sent), Some(first)) => {
                part(canvas, if self.again { AGAIN } else { PREFILL }, sent, first);
                part(canvas, DECODE, first, self.end);
            }
            (Some(sent), None) => {
                part(canvas, if self.again { AGAIN } else { ALL }, sent, self.end);
            }
            (None, _) => {}
        }
        let end = [x.at(self.end), (top + bottom) / 2.0];
        match (self.whole, self.shed) {
            (_, true) => plus(canvas, end, &self.about),
            (false, false) => cross(canvas, end, &self.about),
            (true, false) => {}
        }
    }
}

/// The mark of a request that did not complete.
pub(super) fn cross(canvas: &mut Canvas, [x, y]: [f64; 2], about: &str) {
    const HALF: f64 = 3.0;
    canvas.path("dc-cross", &[[x - HALF, y - HALF], [x + HALF, y + HALF]], false, about);
    canvas.path("dc-cross", &[[x - HALF, y + HALF], [x + HALF, y - HALF]], false, about);
}

/// The mark of a request that an overloaded server refused.
pub(super) fn plus(canvas: &mut Canvas, [x, y]: [f64; 2], about: &str) {
    const HALF: f64 = 3.5;
    canvas.path("dc-edge", &[[x - HALF, y], [x + HALF, y]], false, about);
    canvas.path("dc-edge", &[[x, y - HALF], [x, y + HALF]], false, about);
}
