//! Charts on a page: the title of the run, the panels in rows, and what their marks mean.

use super::canvas::{Anchor, Canvas, Text, clean};
use super::heat::Heat;
use super::levels::distinct;
use super::measure::cut;
use super::panel::Panel;
use super::rows::Rows;
use super::theme::{INKS, css};
use super::words::Word;
use crate::banners::{Banner, Kind, banners, heads};
use dyno_chart::{Point, Trust};
use dyno_model::Language;
use dyno_model::summary::{RunSummary, Summary};

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 24.0;
const GUTTER: f64 = 28.0;

/// A plot, a heat map, or bars one below the other.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Plot(Panel),
    Heat(Heat),
    Rows(Rows),
}

/// Panels that belong together.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) parts: Vec<Part>,
    pub(super) columns: usize,
    /// Height of each panel.
    pub(super) height: f64,
}

impl Part {
    fn draw(&self, canvas: &mut Canvas, place: [f64; 4], language: Language) {
        match self {
            Self::Plot(panel) => panel.draw(canvas, place, language),
            Self::Heat(heat) => heat.draw(canvas, place, language),
            Self::Rows(rows) => rows.draw(canvas, place, language),
        }
    }
}

/// The marks that are used.
#[derive(Debug, Default)]
struct Used {
    bad: bool,
    doubtful: bool,
    bands: bool,
    gaps: bool,
}

impl Used {
    fn note(&mut self, trust: Trust, known: bool) {
        self.gaps |= !known;
        self.bad |= known && trust == Trust::Bad;
        self.doubtful |= known && trust == Trust::Doubtful;
    }

    fn of(charts: &[Chart]) -> Self {
        let mut used = Self::default();
        for part in charts.iter().flat_map(|chart| &chart.parts) {
            match part {
                Part::Plot(panel) => {
                    let points: Vec<&Point> =
                        panel.series.iter().flat_map(|one| &one.points).collect();
                    let any = points.iter().any(|point| point.y.is_some());
                    for point in points.into_iter().filter(|_| any) {
                        used.note(point.trust, point.y.is_some());
                        used.bands |= point.y.is_some() && point.interval.is_some();
                    }
                }
                Part::Heat(heat) => {
                    let cells = heat.cells.iter().flatten().flatten();
                    cells.for_each(|cell| used.note(cell.trust, cell.value.is_some()));
                }
                Part::Rows(_) => {}
            }
        }
        used
    }

    fn words(&self) -> Vec<Word> {
        let all = [
            (self.bands, Word::Bands),
            (self.doubtful, Word::Suspect),
            (self.bad, Word::Invalid),
            (self.gaps, Word::Gaps),
        ];
        all.into_iter().filter(|(used, _)| *used).map(|(_, word)| word).collect()
    }
}

struct Page {
    canvas: Canvas,
    y: f64,
}

impl Page {
    fn line(&mut self, class: &str, size: f64, bold: bool, text: &str) {
        self.y += size * 1.5;
        self.canvas.text(&Text {
            class,
            x: MARGIN,
            y: self.y - size * 0.4,
            anchor: Anchor::Start,
            size,
            bold,
            text: &cut(text, size, bold, WIDTH - 2.0 * MARGIN),
        });
    }

    fn chart(&mut self, chart: &Chart, language: Language) {
        self.y += 14.0;
        self.line("dc-ink", 16.0, true, &chart.title);
        self.y += 6.0;
        let columns = chart.columns.max(1);
        let wide = (WIDTH - 2.0 * MARGIN + GUTTER) / columns as f64 - GUTTER;
        for row in chart.parts.chunks(columns) {
            for (i, part) in row.iter().enumerate() {
                let left = MARGIN + i as f64 * (wide + GUTTER);
                part.draw(&mut self.canvas, [left, self.y, wide, chart.height], language);
            }
            self.y += chart.height + 18.0;
        }
    }
}

/// The name of the run.
fn name(run: &RunSummary) -> String {
    let called = run.label.as_ref().or(run.model.as_ref());
    clean(called.unwrap_or(&run.id))
}

fn origin(run: &RunSummary) -> String {
    let model = run.label.as_ref().and(run.model.as_ref());
    let target = run.target.as_ref().or(run.engine.as_ref());
    let parts = [model, target, run.started.as_ref(), Some(&run.id)];
    let version = format!("dyno {}", run.version);
    let parts = parts.into_iter().flatten().chain([&version]).map(|part| clean(part));
    let name = name(run);
    distinct(parts.filter(|part| *part != name)).join(" · ")
}

/// The whole document of one run.
pub(super) fn page(summary: &Summary, charts: &[Chart], language: Language) -> String {
    let banners = banners(summary, language);
    document(&name(&summary.run), &origin(&summary.run), &banners, charts, language)
}

/// The whole document of several runs.
pub(super) fn page_of_several(
    sides: &[(&str, &Summary)],
    charts: &[Chart],
    language: Language,
) -> String {
    let title: Vec<String> = sides.iter().map(|(name, _)| clean(name)).collect();
    let origins: Vec<String> = sides.iter().map(|(_, side)| origin(&side.run)).collect();
    let named = |(name, side): &(&str, &Summary)| {
        let of_side = |banner: Banner| Banner {
            text: format!("{}{}{}", clean(name), language.colon(), banner.text),
            ..banner
        };
        banners(side, language).into_iter().map(of_side).collect::<Vec<_>>()
    };
    let banners: Vec<Banner> = sides.iter().flat_map(named).collect();
    document(&title.join(" / "), &origins.join(" / "), &banners, charts, language)
}

/// The title carries what must not be overlooked, because an image is often passed on without the
/// text below it.
fn marked(title: &str, banners: &[Banner]) -> String {
    let marks: String = heads(banners).iter().map(|head| format!("{head} · ")).collect();
    format!("{marks}{title}")
}

fn document(
    title: &str,
    origin: &str,
    banners: &[Banner],
    charts: &[Chart],
    language: Language,
) -> String {
    let word = |word: Word| word.in_language(language);
    let title = &marked(title, banners);
    let mut page = Page { canvas: Canvas::default(), y: 14.0 };
    page.line("dc-ink", 20.0, true, title);
    page.line("dc-muted", 12.0, false, origin);
    for Banner { kind, head, text } in banners {
        let class = if *kind == Kind::Invalid { "dc-fault" } else { "dc-ink" };
        page.line(class, 12.0, true, &format!("{head}{}{text}", language.colon()));
    }
    charts.iter().for_each(|chart| page.chart(chart, language));
    if charts.is_empty() {
        page.line("dc-muted", 12.0, false, word(Word::NothingToDraw));
    }
    let notes: Vec<&str> = Used::of(charts).words().into_iter().map(word).collect();
    page.line("dc-muted", 11.0, false, &notes.join("  ·  "));
    let size = [WIDTH, page.y + 12.0];
    let mut whole = Canvas::default();
    whole.rect("dc-paper", [0.0, 0.0, size[0], size[1]]);
    whole.append(page.canvas);
    let titles = charts.iter().map(|chart| chart.title.as_str());
    let about: Vec<String> =
        std::iter::once(title.to_owned()).chain(titles.map(str::to_owned)).collect();
    whole.document(size, &(css() + INKS), &about.join(" · "))
}
