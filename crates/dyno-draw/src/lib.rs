//! Charts of a run as SVG and PNG. The same summary gives the same bytes. Each chart is self-contained,
//! with its style inside. Scales, ticks and series are those of `dyno-chart`; text, tables and the
//! page are in `dyno-report`.
//!
//! `CHARTS` has a row for each chart, with the file that chooses its values. `panel`, `ground`, `heat`, `rows` and
//! `page` draw; `png` makes pixels.

mod arrangement;
mod axis;
pub mod banners;
mod canvas;
mod chosen;
mod compared;
mod course;
mod distributions;
mod frontier;
mod ground;
mod heat;
pub mod lanes;
mod legend;
mod levels;
mod matrix;
pub mod measure;
mod names;
mod over_time;
mod page;
mod panel;
mod png;
mod rows;
mod sketch;
mod sweeps;
mod swim;
mod theme;
mod timeline;
mod trees;
mod words;

pub use arrangement::{Arrangement, ArrangementError};
pub use levels::{LevelValue, ends_of_sweep, statistic};
pub use png::Picture;

use dyno_analysis::detail::Detail;
use dyno_model::summary::Summary;
use dyno_model::{Language, Message};
use dyno_words::InLanguage;
use dyno_words::names::elided;
use page::{Chart, arranged, document, heading, heading_of_several};

/// The longest name of a run in legends, in characters.
const LONGEST_NAME: usize = 40;

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChartOptions {
    /// Of all texts.
    pub language: Language,
}

/// What a chart chooses its series from.
enum Source {
    Summary(fn(&Summary, Language) -> Option<Chart>),
    /// A chart for each level that has what it takes.
    EachLevel(fn(&Summary, Language) -> Vec<Chart>),
    /// Also single requests.
    Detail(fn(&Summary, &Detail, Language) -> Option<Chart>),
}

/// Every chart, in the order of the page, with the name of its file. A new chart is a file that
/// chooses its series, and a row here.
const CHARTS: [(&str, Source); 10] = [
    ("concurrency", Source::Summary(sweeps::concurrency)),
    ("rates", Source::Summary(sweeps::rates)),
    ("bursts", Source::Summary(sweeps::bursts)),
    ("matrix", Source::Summary(matrix::matrix)),
    ("frontier", Source::Summary(frontier::frontier)),
    ("over-time", Source::EachLevel(over_time::over_time)),
    ("distributions", Source::Detail(distributions::distributions)),
    ("throughput", Source::Detail(course::throughput)),
    ("trees", Source::Detail(trees::trees)),
    ("timeline", Source::Detail(timeline::timeline)),
];

fn all(summary: &Summary, detail: Option<&Detail>, language: Language) -> Vec<(String, Chart)> {
    let mut named = Vec::new();
    for (name, source) in CHARTS {
        let found = match source {
            Source::Summary(choose) => choose(summary, language).into_iter().collect(),
            Source::EachLevel(choose) => choose(summary, language),
            Source::Detail(choose) => {
                detail.and_then(|detail| choose(summary, detail, language)).into_iter().collect()
            }
        };
        let several = found.len() > 1;
        for (chart, i) in found.into_iter().zip(1..) {
            named.push((if several { format!("{name}-{i}") } else { name.to_owned() }, chart));
        }
    }
    named
}

/// Every chart that this run has data for, each with its name in the table above, numbered where
/// there are several; those of single requests only with `detail`.
pub fn charts(
    summary: &Summary,
    detail: Option<&Detail>,
    options: &ChartOptions,
) -> Vec<(String, String)> {
    let summary = &*summary.in_language(options.language);
    let heading = heading(summary, options.language);
    let draw = |(name, chart)| (name, document(&heading, &[chart], options.language));
    all(summary, detail, options.language).into_iter().map(draw).collect()
}

/// Runs over each other, each under its name: requests/s, latency and throughput over the load, failures, TTFT and
/// time per output token where there are any, and throughput against per-user speed.
pub fn compared(
    sides: &[(&str, &Summary)],
    options: &ChartOptions,
    arrangement: &Arrangement,
) -> Result<String, ArrangementError> {
    let names: Vec<&str> = sides.iter().map(|(name, _)| *name).collect();
    let names = elided(&names, LONGEST_NAME);
    let worded: Vec<_> = sides.iter().map(|(_, side)| side.in_language(options.language)).collect();
    let sides: Vec<(&str, &Summary)> =
        names.iter().map(String::as_str).zip(worded.iter().map(|side| &**side)).collect();
    let charts = compared::compared(&sides, options.language);
    let heading = heading_of_several(&sides, options.language);
    arranged(&heading, &charts, arrangement, options.language)
}

/// The trees of sessions alone, without the name of the run, for a page that has one; nothing where there are none.
pub fn swim_lanes(summary: &Summary, detail: &Detail, options: &ChartOptions) -> Option<String> {
    let chart = trees::trees(summary, detail, options.language)?;
    let charts = [Chart { title: String::new(), ..chart }];
    Some(document(&page::Heading::default(), &charts, options.language))
}

/// All charts of the run, one below the other, or a note that there are none.
pub fn svg(summary: &Summary, detail: Option<&Detail>, options: &ChartOptions) -> String {
    let summary = &*summary.in_language(options.language);
    let charts = all(summary, detail, options.language).into_iter().map(|(_, chart)| chart);
    let charts: Vec<Chart> = charts.collect();
    document(&heading(summary, options.language), &charts, options.language)
}

/// The charts of the run that are chosen, as they are arranged.
pub fn chosen(
    summary: &Summary,
    detail: Option<&Detail>,
    options: &ChartOptions,
    arrangement: &Arrangement,
) -> Result<String, ArrangementError> {
    let summary = &*summary.in_language(options.language);
    let all = all(summary, detail, options.language);
    arranged(&heading(summary, options.language), &all, arrangement, options.language)
}

/// An SVG of this crate as PNG, at its own size, drawn with a font that is compiled in.
pub fn picture(drawing: &str) -> Result<Picture, Message> {
    png::png(drawing)
}
