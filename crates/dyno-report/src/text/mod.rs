//! The terminal summary: who was measured, one table of levels, then what to know about each.

mod layout;
mod level;
mod paint;
mod repeats;
mod search;
mod server;
mod slices;
mod slo;
mod table;
mod turns;

use crate::escape::escape;
use crate::summary::{RunSummary, Summary};
use layout::wrap;
pub use layout::{ABSENT, cut, cut_middle, millis, number, whole, width};

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns; at least 80 are used.
    pub width: usize,
    /// Verdicts and headings in colour.
    pub color: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { width: MIN_WIDTH, color: false }
    }
}

const MIN_WIDTH: usize = 80;
const LONGEST: usize = 300;

/// The summary for a terminal. Text from servers and users is escaped, so that it cannot do
/// anything but be read.
pub fn render_text(summary: &Summary, options: &TextOptions) -> String {
    let options = &TextOptions { width: options.width.max(MIN_WIDTH), ..*options };
    let mut out = above_levels(summary, options);
    summary
        .levels
        .iter()
        .for_each(|level| out.push_str(&level::level(level, &summary.run, options)));
    out
}

/// Renders the tables and the notes, without a section for each level.
pub fn render_brief(summary: &Summary, options: &TextOptions) -> String {
    let options = &TextOptions { width: options.width.max(MIN_WIDTH), ..*options };
    let elsewhere = "* over the steady window; `dyno report` has the whole run\n";
    above_levels(summary, options).replace(table::STEADY, elsewhere)
}

fn above_levels(summary: &Summary, options: &TextOptions) -> String {
    let mut out = header(&summary.run, options);
    out.push_str(&search::search(summary, options));
    if summary.levels.is_empty() {
        out.push_str("\nNo level was begun.\n");
    } else {
        out.push('\n');
        out.push_str(&table::table(&summary.levels, options));
        out.push_str(&repeats::repeats(&summary.repeats, options));
        out.push_str(&slo::slo(summary, options));
    }
    if !summary.notes.is_empty() {
        out.push_str("\nTo be known:\n");
        summary.notes.iter().for_each(|note| out.push_str(&level::reason("·", note, options)));
    }
    out
}

fn header(run: &RunSummary, options: &TextOptions) -> String {
    let target = match (&run.target, &run.engine) {
        (Some(url), _) => url.clone(),
        (None, Some(twin)) if run.predicted => format!("prediction of {twin}"),
        (None, Some(script)) => format!("embedded engine ({script})"),
        (None, None) => "embedded engine".to_owned(),
    };
    let by = |source: &Option<String>| {
        source.as_ref().map_or_else(|| "unknown".to_owned(), |source| format!("by {source}"))
    };
    let sources =
        format!("input {}, output {}", by(&run.token_source.input), by(&run.token_source.output));
    let plan = run.plan_hash.as_ref().map(|hash| hash.chars().take(12).collect::<String>());
    let when = [
        run.started.clone(),
        Some(format!("dyno {}", run.version)),
        run.seed.map(|seed| format!("seed {seed}")),
        plan.map(|plan| format!("plan {plan}")),
    ];
    let when = when.into_iter().flatten().collect::<Vec<_>>().join("  ");
    let lines = [
        ("run", Some(run.id.clone())),
        ("label", run.label.clone()),
        ("note", run.note.clone()),
        ("target", Some(format!("{target}  {}", run.api.as_deref().unwrap_or_default()))),
        ("model", run.model.clone()),
        ("started", Some(when)),
        ("tokens", Some(sources)),
    ];
    let mut out = String::new();
    for (name, text) in lines {
        if let Some(text) = text {
            out.push_str(&wrap(&format!("{name:<8} "), &escape(&text, LONGEST), options.width));
        }
    }
    if run.simulated {
        let words = match run.predicted {
            true => "SIMULATED: a twin answered in virtual time; nothing was measured.",
            false => "These are the figures of the embedded engine, not of a real model.",
        };
        out.push_str(&wrap("", words, options.width));
    }
    if run.partial {
        out.push_str(&wrap(
            "",
            "PARTIAL: the records end before the run did; only what had finished is here.",
            options.width,
        ));
    }
    out
}
