//! Charts of a run as SVG, pure: the same summary gives the same bytes. Each chart stands by
//! itself, with its style and fonts named inside, and needs nothing else to be looked at.

mod axis;
mod canvas;
mod chosen;
mod compared;
mod course;
mod distributions;
mod frontier;
mod ground;
mod heat;
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
mod theme;
mod timeline;
mod words;

pub(crate) use levels::{Value, statistic};
pub use png::{Picture, PngError};
pub use words::Language;

use dyno_analysis::detail::Detail;
use dyno_model::summary::Summary;
use page::{Chart, page, page_of_several};

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChartOptions {
    /// Of titles and axes.
    pub language: Language,
}

fn all(summary: &Summary, detail: Option<&Detail>, options: &ChartOptions) -> Vec<Chart> {
    let language = options.language;
    let of_requests = detail.map(|detail| {
        [
            distributions::distributions(summary, detail, language),
            course::throughput(summary, detail, language),
            timeline::timeline(summary, detail, language),
        ]
    });
    let sweeps = [
        sweeps::concurrency(summary, language),
        sweeps::rates(summary, language),
        sweeps::bursts(summary, language),
        matrix::matrix(summary, language),
        frontier::frontier(summary, language),
    ];
    let over_time = over_time::over_time(summary, language);
    let of_requests = of_requests.into_iter().flatten().flatten();
    sweeps.into_iter().flatten().chain(over_time).chain(of_requests).collect()
}

/// Every chart that this run has figures for, each with a name that is fit for a file:
/// `concurrency`, `rates`, `bursts`, `matrix`, `frontier`, `over-time`; with `detail` also
/// `distributions`, `throughput`, `timeline`.
pub fn charts(
    summary: &Summary,
    detail: Option<&Detail>,
    options: &ChartOptions,
) -> Vec<(String, String)> {
    let draw = |chart: Chart| {
        let name = chart.name.clone();
        (name, page(&summary.run, &[chart], options.language))
    };
    all(summary, detail, options).into_iter().map(draw).collect()
}

/// Runs over each other, each under its name: requests/s, latency, throughput and failures over the
/// load, TTFT and time between tokens where there are any, and throughput against the speed for
/// each user.
pub fn compared(sides: &[(&str, &Summary)], options: &ChartOptions) -> String {
    let charts = compared::compared(sides, options.language);
    let names: Vec<&str> = sides.iter().map(|(name, _)| *name).collect();
    let runs: Vec<_> = sides.iter().map(|(_, summary)| &summary.run).collect();
    page_of_several(&names, &runs, &charts, options.language)
}

/// All charts of the run, one below the other; a page that says so where there are none.
pub fn svg(summary: &Summary, detail: Option<&Detail>, options: &ChartOptions) -> String {
    page(&summary.run, &all(summary, detail, options), options.language)
}

/// The same page as [`svg`] in pixels, 1,200 wide, drawn with a font that is compiled in.
pub fn png(
    summary: &Summary,
    detail: Option<&Detail>,
    options: &ChartOptions,
) -> Result<Picture, PngError> {
    png::png(&svg(summary, detail, options))
}

/// One of our drawings in pixels, as wide as it is drawn.
pub fn picture(drawing: &str) -> Result<Picture, PngError> {
    png::png(drawing)
}

fn one(summary: &Summary, options: &ChartOptions, chart: Option<Chart>) -> Option<String> {
    chart.map(|chart| page(&summary.run, &[chart], options.language))
}

/// Total time, requests/s, mean latency, output tokens/s, p50 and p90 of the latency over the
/// number in flight; absent where no levels differ in it.
pub fn concurrency(summary: &Summary, options: &ChartOptions) -> Option<String> {
    one(summary, options, sweeps::concurrency(summary, options.language))
}

/// Completed requests, TTFT, ITL and latency over the offered rate, and where the server bends.
pub fn rates(summary: &Summary, options: &ChartOptions) -> Option<String> {
    one(summary, options, sweeps::rates(summary, options.language))
}

/// Duration, TTFT and TPOT over the number of requests at once.
pub fn bursts(summary: &Summary, options: &ChartOptions) -> Option<String> {
    one(summary, options, sweeps::bursts(summary, options.language))
}

/// Heat maps of requests/s, output tokens/s and latency per output token over the lengths of
/// input and output.
pub fn matrix(summary: &Summary, options: &ChartOptions) -> Option<String> {
    one(summary, options, matrix::matrix(summary, options.language))
}

/// Output tokens per second of all users, or of each GPU, over those of each user.
pub fn frontier(summary: &Summary, options: &ChartOptions) -> Option<String> {
    one(summary, options, frontier::frontier(summary, options.language))
}

/// Ramps and soaks over time, all on one page.
pub fn over_time(summary: &Summary, options: &ChartOptions) -> Option<String> {
    let charts = over_time::over_time(summary, options.language);
    (!charts.is_empty()).then(|| page(&summary.run, &charts, options.language))
}
