//! The terminal summary: who was measured, one table of levels, then what to know about each.

mod cache;
mod level;
mod paint;
mod plot;
mod repeats;
mod search;
mod server;
mod slices;
mod slo;
mod table;
mod turns;

use crate::messages::{Message, Say};
use dyno_model::Language;
use dyno_model::summary::{Origin, RunSummary, Summary};
use dyno_words::InLanguage;
use dyno_words::columns::left;
pub(crate) use dyno_words::columns::{ABSENT, cut_middle, number, whole, width, wrap};
use dyno_words::escape::escape;
pub(crate) use search::answer;
pub(crate) use slo::{outcome_word, remarks};
pub(crate) use table::offered;

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns; at least 80 are used.
    pub width: usize,
    /// Verdicts and headings in colour.
    pub color: bool,
    /// In which language.
    pub language: Language,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { width: MIN_WIDTH, color: false, language: Language::default() }
    }
}

const MIN_WIDTH: usize = 80;
const LONGEST: usize = 300;

/// The summary for a terminal. Text from servers and users is escaped, so that it cannot do
/// anything but be read.
pub fn render_text(summary: &Summary, options: &TextOptions) -> String {
    let options = &TextOptions { width: options.width.max(MIN_WIDTH), ..*options };
    let language = options.language;
    let summary = &*summary.in_language(language);
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
    let language = options.language;
    let elsewhere = Say::SteadyBrief.text(language);
    above_levels(&summary.in_language(language), options)
        .replace(Say::Steady.text(language), elsewhere)
}

fn above_levels(summary: &Summary, options: &TextOptions) -> String {
    let language = options.language;
    let mut out = header(&summary.run, options);
    out.push_str(&search::search(summary, options));
    if summary.levels.is_empty() {
        out.push_str(&format!("\n{}\n", Message::NoLevel.text(language)));
    } else {
        out.push('\n');
        out.push_str(&table::table(&summary.levels, options));
        out.push_str(&plot::plot(&summary.levels, options));
        out.push_str(&repeats::repeats(&summary.repeats, options));
        out.push_str(&slo::slo(summary, options));
    }
    if !summary.notes.is_empty() {
        out.push_str(&format!("\n{}\n", Message::ToBeKnown.text(language)));
        summary.notes.iter().for_each(|note| out.push_str(&level::reason("·", note, options)));
    }
    out
}

fn header(run: &RunSummary, options: &TextOptions) -> String {
    let language = options.language;
    let target = match (&run.target, &run.engine) {
        (target, _) if run.origin.is_some() => target.clone().unwrap_or_default(),
        (Some(url), Some(engine)) => {
            [url.clone(), Say::EngineNamed.with(language, &[engine])].join(language.comma())
        }
        (Some(url), None) => url.clone(),
        (None, Some(twin)) if run.predicted => Say::PredictionOf.with(language, &[twin]),
        (None, Some(script)) => Say::EngineNamed.with(language, &[script]),
        (None, None) => Message::EmbeddedEngine.text(language).to_owned(),
    };
    let by = |source: &Option<String>, known: Message, unknown: Say| match source {
        Some(source) => known.with(language, &[source]),
        None => unknown.text(language).to_owned(),
    };
    let sources = [
        by(&run.token_source.input, Message::InputBy, Say::InputUnknown),
        by(&run.token_source.output, Message::OutputBy, Say::OutputUnknown),
    ]
    .join(language.comma());
    let plan = run.plan_hash.as_ref().map(|hash| hash.chars().take(12).collect::<String>());
    let when = [
        run.started.clone(),
        Some(format!("dyno {}", run.version)),
        run.seed.map(|seed| Say::Seed.with(language, &[seed.to_string()])),
        plan.map(|plan| Say::Plan.with(language, &[plan])),
    ];
    let when = when.into_iter().flatten().collect::<Vec<_>>().join("  ");
    let lines = [
        (Say::Run, Some(run.id.clone())),
        (Say::Label, run.label.clone()),
        (Say::Note, run.note.clone()),
        (Say::Source, run.origin.as_ref().map(Origin::described)),
        (
            Say::Target,
            Some(format!("{target}  {}", run.api.as_deref().unwrap_or_default()))
                .filter(|target| !target.trim().is_empty()),
        ),
        (Say::Model, run.model.clone()),
        (Say::Started, Some(when).filter(|_| run.origin.is_none() || run.started.is_some())),
        (Say::Tokens, Some(sources).filter(|_| run.origin.is_none())),
    ];
    let mut out = String::new();
    for (name, text) in lines {
        if let Some(text) = text {
            let name = left(name.text(language), language.choose([9, 6]));
            out.push_str(&wrap(&name, &escape(&text, LONGEST), options.width));
        }
    }
    if run.simulated {
        let words = match run.predicted {
            true => Message::Predicted.text(language),
            false => Say::EmbeddedEngine.text(language),
        };
        out.push_str(&wrap("", words, options.width));
    }
    if run.partial {
        out.push_str(&wrap("", Message::Partial.text(language), options.width));
    }
    out
}
