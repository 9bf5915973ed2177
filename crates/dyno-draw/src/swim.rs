//! Trees of sessions as swim lanes: a band for each tree, a row for each session, a bar for each request. Thin lines are
//! gaps, in which a session waits.

use super::axis;
use super::canvas::{Anchor, Canvas, Text};
use super::legend::{self, Entry, Swatch};
use super::measure::cut;
use super::rows::{ALL, DECODE, PREFILL, Row, WAIT};
use super::words::Word;
use dyno_chart::{Axis, Scale, bounds, drawable};
use dyno_model::Language;

/// How a request of a tree ended, where not by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It ended by itself, also by a failure.
    None,
    /// The level ended first.
    Cut,
    /// It is longer than the server's context.
    TooLong,
}

/// One request; times in seconds.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Its bar.
    pub(super) row: Row,
    /// When all that it waits for had ended.
    pub(super) ready: f64,
    pub(super) joins: bool,
    pub(super) warms: bool,
    pub(super) stop: Stop,
}

/// One tree.
#[derive(Debug, Clone)]
pub(super) struct Band {
    pub(super) name: String,
    /// What became of it, where it is not whole.
    pub(super) fate: Option<Word>,
    /// The requests of each session that is shown, the root first.
    pub(super) sessions: Vec<Vec<Turn>>,
}

/// Trees to draw.
#[derive(Debug, Clone)]
pub(super) struct Swim {
    pub(super) title: String,
    pub(super) bands: Vec<Band>,
}

const RIGHT: f64 = 14.0;
const BELOW: f64 = 38.0;
const NAMES: f64 = 92.0;
/// Between two bands, and above and below the rows within one.
const APART: f64 = 6.0;
const PADDING: f64 = 3.0;
/// The largest height of a row.
const HIGHEST: f64 = 15.0;
/// What stands above the bands.
const ABOVE: f64 = 30.0;

impl Swim {
    fn lanes(&self) -> usize {
        self.bands.iter().map(|band| band.sessions.len()).sum()
    }

    /// How high it wants to be.
    pub(super) fn height(&self, wide: f64, language: Language) -> f64 {
        let bands = self.bands.len() as f64 * (APART + 2.0 * PADDING);
        let legend = legend::height(&self.entries(language), wide);
        ABOVE + legend + self.lanes() as f64 * HIGHEST + bands + BELOW
    }

    fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.bands
            .iter()
            .flat_map(|band| &band.sessions)
            .flatten()
            .filter(|turn| turn.is_drawable())
    }

    /// Draws it into a place: left, top, width, height.
    pub(super) fn draw(&self, canvas: &mut Canvas, place: [f64; 4], language: Language) {
        let [left, top, wide, high] = place;
        axis::title(canvas, place, &self.title);
        axis::title_below(canvas, place, Word::TimeOfLevel.in_language(language));
        let ends = bounds(self.turns().flat_map(|turn| [turn.begins(), turn.row.end]));
        let [low, end] = ends.unwrap_or([0.0, 0.0]);
        let entries = self.entries(language);
        legend::draw(canvas, &entries, [left, top + 22.0], wide);
        let frame = [
            left + NAMES,
            top + ABOVE + legend::height(&entries, wide),
            left + wide - RIGHT,
            top + high - BELOW,
        ];
        let axis = Axis::clock(low, if end > low { end } else { low + 1.0 });
        let x = axis.on([frame[0], frame[2]]);
        let ticks = axis.placed(&x);
        let bands = self.bands.len() as f64 * (APART + 2.0 * PADDING);
        let room = (frame[3] - frame[1] - bands) / self.lanes().max(1) as f64;
        let step = room.clamp(1.0, HIGHEST);
        let mut y = frame[1];
        for band in &self.bands {
            let bottom = y + band.sessions.len() as f64 * step + 2.0 * PADDING;
            band.ground(canvas, &x, [y, bottom]);
            y = bottom + APART;
        }
        for tick in &ticks {
            canvas.line("dc-grid", [tick.at, frame[1]], [tick.at, frame[3]]);
        }
        axis::below(canvas, &ticks, frame[3] + 17.0, [left, left + wide]);
        let mut y = frame[1];
        for band in &self.bands {
            let (from, lanes) = (y + PADDING, band.sessions.len() as f64);
            let rows = from..from + lanes * step;
            band.name(canvas, left, (&rows, step), language);
            for (lane, session) in band.sessions.iter().enumerate() {
                let top = from + lane as f64 * step;
                draw_session(canvas, &x, session, [top, top + step]);
            }
            y = rows.end + PADDING + APART;
        }
        canvas.line("dc-axis", [frame[0], frame[3]], [frame[2], frame[3]]);
    }

    fn entries(&self, language: Language) -> Vec<Entry> {
        let any = |is: &dyn Fn(&Turn) -> bool| self.turns().any(is);
        let bar = |turn: &Turn| !turn.warms && turn.row.sent.is_some();
        let first = |turn: &Turn| bar(turn) && turn.row.first.is_some();
        let failed = |turn: &Turn| !turn.row.whole && !turn.row.shed;
        let all = [
            (any(&|turn| turn.waits_for_a_slot()), Swatch::Bar(WAIT), Word::UntilSent),
            (any(&first), Swatch::Bar(PREFILL), Word::UntilFirst),
            (any(&first), Swatch::Bar(DECODE), Word::UntilEnd),
            (any(&|turn| bar(turn) && !first(turn)), Swatch::Bar(ALL), Word::NoFirst),
            (any(&|turn| turn.warms), Swatch::Bar(ALL), Word::Warms),
            (any(&|turn| turn.begins() < turn.row.due), Swatch::Gap, Word::GapLine),
            (any(&|turn| turn.joins), Swatch::Join, Word::Join),
            (any(&failed), Swatch::Cross, Word::NotWhole),
            (any(&|turn| turn.row.shed), Swatch::Plus, Word::Shed),
            (any(&|turn| turn.stop == Stop::TooLong), Swatch::TooLong, Word::TooLong),
            (any(&|turn| turn.stop == Stop::Cut), Swatch::Cut, Word::CutOff),
        ];
        let entry = |(_, swatch, word): (bool, Swatch, Word)| Entry {
            swatch,
            name: word.in_language(language).to_owned(),
        };
        all.into_iter().filter(|(used, ..)| *used).map(entry).collect()
    }
}

impl Band {
    /// A pale ground for as long as the tree is at work.
    fn ground(&self, canvas: &mut Canvas, x: &Scale, [top, bottom]: [f64; 2]) {
        let turns = self.sessions.iter().flatten().filter(|turn| turn.is_drawable());
        let ends = bounds(turns.flat_map(|turn| [turn.begins(), turn.row.end]));
        if let Some([from, to]) = ends.map(|ends| ends.map(|at| x.at(at))) {
            canvas.rect("dc-tree", [from, top, (to - from).max(1.0), bottom - top]);
        }
    }

    /// Its name beside the first row, and what became of it below, or beside it where there is one row.
    fn name(
        &self,
        canvas: &mut Canvas,
        left: f64,
        (rows, step): (&std::ops::Range<f64>, f64),
        language: Language,
    ) {
        let size = axis::SIZE.min(step.max(8.0));
        let mut text = |class: &str, y: f64, text: &str| {
            let text = &cut(text, size, false, NAMES - 8.0);
            let (x, anchor) = (left + NAMES - 8.0, Anchor::End);
            canvas.text(&Text { class, x, y, anchor, size, bold: false, text });
        };
        let first = rows.start + step / 2.0 + size * 0.36;
        let fate = self.fate.map(|fate| fate.in_language(language));
        let room = rows.end - rows.start >= 2.0 * size;
        match fate {
            Some(fate) if !room => {
                text("dc-ink", first, &format!("{}{}{fate}", self.name, language.comma()))
            }
            _ => text("dc-ink", first, &self.name),
        }
        if let Some(fate) = fate.filter(|_| room) {
            text("dc-muted", first + step.max(size), fate);
        }
    }
}

impl Turn {
    fn is_drawable(&self) -> bool {
        let times = [
            Some(self.ready),
            Some(self.row.due),
            self.row.sent,
            self.row.first,
            Some(self.row.end),
        ];
        times.into_iter().flatten().all(|time| drawable(time).is_some())
    }

    /// When its session begins to wait for it.
    fn begins(&self) -> f64 {
        self.ready.min(self.row.due)
    }

    /// By so much that it can be seen.
    fn waits_for_a_slot(&self) -> bool {
        self.row.sent.unwrap_or(self.row.end) - self.row.due > 0.1
    }
}

/// The gaps, then the bars, then the marks of a session.
fn draw_session(canvas: &mut Canvas, x: &Scale, turns: &[Turn], [top, bottom]: [f64; 2]) {
    let gap = ((bottom - top) * 0.16).min(2.0);
    let middle = (top + bottom) / 2.0;
    let turns = || turns.iter().filter(|turn| turn.is_drawable());
    let mut before = None;
    for turn in turns() {
        let ready = x.at(turn.begins());
        canvas.line("dc-gap", [ready, middle], [x.at(turn.row.due), middle]);
        if let Some(before) = before.filter(|before| turn.joins && *before < ready) {
            canvas.line("dc-gap dc-all", [before, middle], [ready, middle]);
        }
        before = Some(x.at(turn.row.end));
    }
    for turn in turns() {
        turn.row.draw(canvas, x, [top + gap, bottom - gap]);
    }
    for turn in turns() {
        let end = [x.at(turn.row.end), middle];
        match turn.stop {
            Stop::None => {}
            Stop::Cut => cut_off(canvas, end, &turn.row.about),
            Stop::TooLong => too_long(canvas, end, &turn.row.about),
        }
        if turn.joins {
            join(canvas, [x.at(turn.ready), middle], &turn.row.about);
        }
    }
}

/// The mark of a request that waited for several sessions.
pub(super) fn join(canvas: &mut Canvas, [x, y]: [f64; 2], about: &str) {
    const HALF: f64 = 4.0;
    let corners = [[x - HALF, y], [x, y - HALF], [x + HALF, y], [x, y + HALF]];
    canvas.path("dc-join", &corners, true, about);
}

/// The mark of a request that was in flight when the level ended.
pub(super) fn cut_off(canvas: &mut Canvas, [x, y]: [f64; 2], about: &str) {
    const HALF: f64 = 4.0;
    for back in [2.5, -1.0] {
        let x = x - back;
        canvas.path("dc-cut", &[[x - 1.5, y + HALF], [x + 1.5, y - HALF]], false, about);
    }
}

/// The mark of a request that is longer than the server's context.
pub(super) fn too_long(canvas: &mut Canvas, [x, y]: [f64; 2], about: &str) {
    const HALF: f64 = 3.0;
    let corners =
        [[x - HALF, y - HALF], [x + HALF, y - HALF], [x + HALF, y + HALF], [x - HALF, y + HALF]];
    canvas.path("dc-cross", &corners, true, about);
}
