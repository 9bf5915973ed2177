//! Charts on a page: the title of the run, the panels in rows, and what their marks mean.

use super::arrangement::{Arrangement, ArrangementError};
use super::canvas::{Anchor, Canvas, Text, clean};
use super::heat::Heat;
use super::levels::distinct;
use super::measure::wrap;
use super::panel::Panel;
use super::rows::Rows;
use super::swim::Swim;
use super::theme::{INKS, css};
use super::words::Word;
use crate::banners::{Banner, BannerKind, banners, banners_of_several, heads};
use dyno_chart::{Point, Trust};
use dyno_model::Language;
use dyno_model::summary::{RunSummary, Summary};

/// Of a page whose size was not chosen. A wider one is the same, enlarged; on a narrower one there is less beside
/// each other, and letters keep their size.
const WIDTH: f64 = 1200.0;
/// A panel below this width or height cannot be read.
const NARROWEST: f64 = 220.0;
const LOWEST: f64 = 150.0;
const MARGIN: f64 = 24.0;
const GUTTER: f64 = 28.0;
/// A longer text above the charts is cut.
const MOST_LINES: usize = 6;

/// A plot, a heat map, bars one below the other, or trees of them.
#[derive(Debug, Clone)]
pub(super) enum PagePart {
    Plot(Panel),
    Heat(Heat),
    Rows(Rows),
    Swim(Swim),
}

/// Panels that belong together.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) parts: Vec<PagePart>,
    pub(super) columns: usize,
    /// Height of each panel.
    pub(super) height: f64,
}

impl PagePart {
    /// What `--charts` calls it; bars of single requests have no name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Plot(panel) => panel.name,
            Self::Heat(heat) => heat.name,
            Self::Rows(_) | Self::Swim(_) => "",
        }
    }

    /// Drawn only if it is asked for by its name.
    pub(super) fn only_on_request(&self) -> bool {
        matches!(self, Self::Plot(panel) if panel.only_on_request)
    }

    fn draw(&self, canvas: &mut Canvas, place: [f64; 4], language: Language) {
        match self {
            Self::Plot(panel) => panel.draw(canvas, place, language),
            Self::Heat(heat) => heat.draw(canvas, place, language),
            Self::Rows(rows) => rows.draw(canvas, place, language),
            Self::Swim(swim) => swim.draw(canvas, place, language),
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
                PagePart::Plot(panel) => {
                    let points: Vec<&Point> =
                        panel.series.iter().flat_map(|one| &one.points).collect();
                    let any = points.iter().any(|point| point.y.is_some());
                    for point in points.into_iter().filter(|_| any) {
                        used.note(point.trust, point.y.is_some());
                        used.bands |= point.y.is_some() && point.interval.is_some();
                    }
                }
                PagePart::Heat(heat) => {
                    let cells = heat.cells.iter().flatten().flatten();
                    cells.for_each(|cell| used.note(cell.trust, cell.value.is_some()));
                }
                PagePart::Rows(_) | PagePart::Swim(_) => {}
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
    width: f64,
    y: f64,
}

impl Page {
    /// A line of text, or as many as it takes.
    fn line(&mut self, class: &str, size: f64, bold: bool, text: &str) {
        for line in wrap(text, size, bold, self.width - 2.0 * MARGIN, MOST_LINES) {
            self.y += size * 1.5;
            let (y, anchor) = (self.y - size * 0.4, Anchor::Start);
            self.canvas.text(&Text { class, x: MARGIN, y, anchor, size, bold, text: &line });
        }
    }

    fn chart(&mut self, chart: &Chart, language: Language) {
        self.y += 14.0;
        if !chart.title.is_empty() {
            self.line("dc-ink", 16.0, true, &chart.title);
        }
        self.y += 6.0;
        let columns = chart.columns.max(1);
        let wide = panel_width(self.width, columns);
        for row in chart.parts.chunks(columns) {
            for (i, part) in row.iter().enumerate() {
                let left = MARGIN + i as f64 * (wide + GUTTER);
                part.draw(&mut self.canvas, [left, self.y, wide, chart.height], language);
            }
            self.y += chart.height + 18.0;
        }
    }
}

fn panel_width(page: f64, columns: usize) -> f64 {
    (page - 2.0 * MARGIN + GUTTER) / columns as f64 - GUTTER
}

/// How large a page is drawn, and by how much it is enlarged.
struct Sheet {
    width: f64,
    height: Option<f64>,
    zoom: f64,
}

impl Sheet {
    fn of(size: Option<(u32, Option<u32>)>) -> Self {
        let Some((width, height)) = size else {
            return Self { width: WIDTH, height: None, zoom: 1.0 };
        };
        let zoom = (f64::from(width) / WIDTH).max(1.0);
        let height = height.map(|height| f64::from(height) / zoom);
        Self { width: f64::from(width) / zoom, height, zoom }
    }

    /// Fewer panels beside each other where there is no room for more; a chosen grid stays as it is.
    fn narrowed(&self, chart: &Chart, chosen: bool) -> Chart {
        let fit = (1..=chart.columns.max(1)).rev();
        let wide = |columns: &usize| panel_width(self.width, *columns) >= NARROWEST * 1.3;
        let columns = if chosen { chart.columns } else { fit.into_iter().find(wide).unwrap_or(1) };
        Chart { columns, ..chart.clone() }
    }

    /// The picture that would just have room.
    fn too_small(&self, charts: &[Chart], drawn: f64) -> ArrangementError {
        let columns = charts.iter().map(|chart| chart.columns).max().unwrap_or(1) as f64;
        let wide = (columns * (NARROWEST + GUTTER) - GUTTER + 2.0 * MARGIN).max(self.width);
        let lowest = charts.iter().map(|chart| chart.height).fold(f64::INFINITY, f64::min);
        let panels = panels_height(charts);
        // One part in a thousand more, so that rounding does not refuse what was advised.
        let high = drawn - panels + panels * (LOWEST / lowest) * 1.001;
        let high = high.max(self.height.filter(|_| wide > self.width).unwrap_or(high));
        ArrangementError::TooSmall { least: [wide, high].map(|of| (of * self.zoom).ceil() as u32) }
    }
}

/// What the panels take of the height of a page.
fn panels_height(charts: &[Chart]) -> f64 {
    let rows = |chart: &Chart| chart.parts.len().div_ceil(chart.columns.max(1)) as f64;
    charts.iter().map(|chart| rows(chart) * chart.height).sum()
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

/// What stands above the charts.
#[derive(Default)]
pub(super) struct Heading {
    title: String,
    origin: String,
    banners: Vec<Banner>,
}

/// Above the charts of one run.
pub(super) fn heading(summary: &Summary, language: Language) -> Heading {
    let (title, origin) = (name(&summary.run), origin(&summary.run));
    Heading { title, origin, banners: banners(summary, language) }
}

/// Above the charts of several runs.
pub(super) fn heading_of_several(sides: &[(&str, &Summary)], language: Language) -> Heading {
    let title: Vec<String> = sides.iter().map(|(name, _)| clean(name)).collect();
    let origins: Vec<String> = sides.iter().map(|(_, side)| origin(&side.run)).collect();
    let banners = banners_of_several(sides, language);
    Heading { title: title.join(" / "), origin: origins.join(" / "), banners }
}

/// The title carries what must not be overlooked, because an image is often passed on without the
/// text below it.
fn marked(title: &str, banners: &[Banner]) -> String {
    let marks: String = heads(banners).iter().map(|head| format!("{head} · ")).collect();
    format!("{marks}{title}")
}

/// The whole document, as large as it becomes.
pub(super) fn document(heading: &Heading, charts: &[Chart], language: Language) -> String {
    let drawn = draw(heading, charts, WIDTH, language);
    whole(drawn, heading, charts, 1.0)
}

/// The whole document, arranged as requested.
pub(super) fn arranged(
    heading: &Heading,
    all: &[(String, Chart)],
    arrangement: &Arrangement,
    language: Language,
) -> Result<String, ArrangementError> {
    let sheet = Sheet::of(arrangement.size);
    let chosen = arrangement.apply(all)?;
    let narrowed = |chart: &Chart| sheet.narrowed(chart, arrangement.grid.is_some());
    let mut charts: Vec<Chart> = chosen.iter().map(narrowed).collect();
    let mut drawn = draw(heading, &charts, sheet.width, language);
    let narrow = |chart: &Chart| panel_width(sheet.width, chart.columns.max(1)) < NARROWEST;
    if charts.iter().any(narrow) {
        return Err(sheet.too_small(&charts, drawn.y));
    }
    if let Some(height) = sheet.height.filter(|_| !charts.is_empty()) {
        let panels = panels_height(&charts);
        let factor = 1.0 + (height - drawn.y) / panels;
        if charts.iter().any(|chart| chart.height * factor < LOWEST) {
            return Err(sheet.too_small(&charts, drawn.y));
        }
        charts.iter_mut().for_each(|chart| chart.height *= factor);
        drawn = draw(heading, &charts, sheet.width, language);
    }
    Ok(whole(drawn, heading, &charts, sheet.zoom))
}

/// Everything on a page of this width.
fn draw(heading: &Heading, charts: &[Chart], width: f64, language: Language) -> Page {
    let word = |word: Word| word.in_language(language);
    let Heading { title, origin, banners } = heading;
    let mut page = Page { canvas: Canvas::default(), width, y: 14.0 };
    if !title.is_empty() {
        page.line("dc-ink", 20.0, true, &marked(title, banners));
        page.line("dc-muted", 12.0, false, origin);
    }
    for Banner { kind, head, text } in banners {
        let class = if *kind == BannerKind::Invalid { "dc-fault" } else { "dc-ink" };
        page.line(class, 12.0, true, &format!("{head}{}{text}", language.colon()));
    }
    charts.iter().for_each(|chart| page.chart(chart, language));
    if charts.is_empty() {
        page.line("dc-muted", 12.0, false, word(Word::NothingToDraw));
    }
    let notes: Vec<&str> = Used::of(charts).words().into_iter().map(word).collect();
    page.line("dc-muted", 11.0, false, &notes.join("  ·  "));
    page.y += 12.0;
    page
}

fn whole(page: Page, heading: &Heading, charts: &[Chart], zoom: f64) -> String {
    let size = [page.width, page.y];
    let mut whole = Canvas::default();
    whole.rect("dc-paper", [0.0, 0.0, size[0], size[1]]);
    whole.append(page.canvas);
    let title = marked(&heading.title, &heading.banners);
    let titles = charts.iter().map(|chart| chart.title.clone()).filter(|title| !title.is_empty());
    let about: Vec<String> = std::iter::once(title).chain(titles).collect();
    whole.document(size, zoom, &(css() + INKS), &about.join(" · "))
}
