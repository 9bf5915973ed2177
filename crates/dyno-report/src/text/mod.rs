//! The terminal summary. Its end is the answer: details of levels come first where they are wanted,
//! then the table, what was found, and the result of a search.

mod agents;
mod cache;
mod findings;
mod grid;
mod grouped;
mod level;
pub(crate) mod overload;
mod paint;
mod plot;
mod predicted;
mod repeats;
mod search;
mod server;
pub(crate) mod server_times;
mod slices;
mod slo;
mod table;
mod trees;
mod turns;

use crate::messages::{Label, Say};
use crate::selection::ReportSelection;
use dyno_draw::banners::cautions;
use dyno_model::Language;
use dyno_model::summary::{LevelSummary, Origin, RunSummary, Summary};
use dyno_words::InLanguage;
use dyno_words::columns::left;
pub(crate) use dyno_words::columns::{ABSENT, cut_middle, number, whole, width, wrap};
use dyno_words::escape::escape;
pub(crate) use grouped::names as level_names;
pub(crate) use level::exactness;
pub(crate) use search::{answer, highest_met, load, middle, tried, unit_text as capacity_unit};
pub(crate) use slo::{outcome_word, remarks};
pub(crate) use table::{bursts, offered, shows_edges};

/// How to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal, or of the file; at least 40 are used.
    pub width: usize,
    /// The width is that of a terminal, which the user can make wider.
    pub terminal: bool,
    /// Verdicts and headings in colour.
    pub color: bool,
    /// The language of everything but names.
    pub language: Language,
    /// The columns that the user asked for.
    pub selection: ReportSelection,
    /// Also what only some readers need: every level with its details, all notes.
    pub details: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            width: FILE_WIDTH,
            terminal: false,
            color: false,
            language: Language::default(),
            selection: ReportSelection::default(),
            details: false,
        }
    }
}

impl TextOptions {
    /// Columns for everything but the table of levels: long lines of text are hard to read.
    fn prose(&self) -> usize {
        self.width.clamp(MIN_WIDTH, MOST_PROSE)
    }

    /// Columns for the table of levels. A file has room for all that was asked for.
    fn table_room(&self) -> usize {
        match self.terminal || self.selection.is_default() {
            true => self.width.max(MIN_WIDTH),
            false => usize::MAX,
        }
    }
}

/// What a file gets, whatever the terminal.
const FILE_WIDTH: usize = 80;
const MIN_WIDTH: usize = 40;
const MOST_PROSE: usize = 120;
const LONGEST: usize = 300;

/// The summary for a terminal. Text from servers and users is escaped, so that it cannot control
/// the terminal. A level that is the only one is shown with its details.
pub fn render_text(summary: &Summary, options: &TextOptions) -> String {
    rendered(summary, options.details || summary.levels.len() == 1, options)
}

/// The same, with details of levels only where they are asked for.
pub fn render_brief(summary: &Summary, options: &TextOptions) -> String {
    rendered(summary, options.details, options)
}

/// `blocks`: the levels with their details.
fn rendered(summary: &Summary, blocks: bool, options: &TextOptions) -> String {
    let summary = &*summary.in_language(options.language);
    let inputs = summary.levels.iter().any(LevelSummary::has_inputs);
    let mut out = header(&summary.run, inputs, options);
    if summary.levels.is_empty() {
        out.push_str(&format!("\n{}\n", Label::NoLevel.text(options.language)));
    } else {
        for level in summary.levels.iter().filter(|_| blocks) {
            out.push_str(&level::level(level, &summary.run, options));
        }
        out.push_str(&plot::plot(&summary.levels, options));
        out.push('\n');
        out.push_str(&table::table(summary, blocks, options));
        out.push_str(&repeats::repeats(&summary.repeats, options));
        out.push_str(&predicted::predicted(&summary.levels, options));
        out.push_str(&slo::slo(summary, options));
    }
    out.push_str(&findings::findings(summary, options));
    out.push_str(&search::search(summary, options));
    out
}

/// `inputs`: texts are embedded or ranked, and there is no output to count.
fn header(run: &RunSummary, inputs: bool, options: &TextOptions) -> String {
    let language = options.language;
    let target = match (&run.target, &run.engine) {
        (target, _) if run.origin.is_some() => target.clone().unwrap_or_default(),
        (Some(url), Some(engine)) => {
            [url.clone(), Say::EngineNamed.with(language, &[engine])].join(language.comma())
        }
        (Some(url), None) => url.clone(),
        (None, Some(twin)) if run.predicted => Say::PredictionOf.with(language, &[twin]),
        (None, Some(script)) => Say::EngineNamed.with(language, &[script]),
        (None, None) => Label::EmbeddedEngine.text(language).to_owned(),
    };
    let by = |source: &Option<String>, known: Label, unknown: Say| match source {
        Some(source) => known.with(language, &[source]),
        None => unknown.text(language).to_owned(),
    };
    let input = by(&run.token_source.input, Label::InputBy, Say::InputUnknown);
    let output = || by(&run.token_source.output, Label::OutputBy, Say::OutputUnknown);
    let sources = match inputs {
        true => input,
        false => [input, output()].join(language.comma()),
    };
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
            let name = left(name.text(language), language.choose([9, 11]));
            out.push_str(&wrap(&name, &escape(&text, LONGEST), options.prose()));
        }
    }
    for caution in cautions(run) {
        out.push_str(&wrap("", caution.text(language), options.prose()));
    }
    out
}
