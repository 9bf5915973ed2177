//! Dyno's own table for documents: what was measured, one row per level with its verdict, invalid rows
//! struck through, and the reasons below it. No footnotes of Markdown: wikis do not know them.

use super::cells::{markdown as safe, row};
use super::remarks::{explained, of_run};
use super::{answers, name};
use crate::marks::Marks;
use crate::messages::{Label, Say};
use crate::selection::{LevelColumn, ReportSelection};
use crate::text::{ABSENT, bursts, number, offered, shows_edges};
use dyno_model::metric::{Metric, Place, Statistic};
use dyno_model::summary::{Basis, LevelSummary, RunSummary, Summary};
use dyno_model::{Language, Verdict};
use dyno_words::escape::escape;

/// The whole text of a run.
pub(super) fn markdown(
    summary: &Summary,
    selection: &ReportSelection,
    language: Language,
) -> String {
    let run = &summary.run;
    let inputs = summary.levels.iter().any(LevelSummary::has_inputs);
    let mut out = format!("### {}\n\n{}\n", safe(&name(run)), header(run, inputs, language));
    for text in of_run(summary, language) {
        out.push_str(&format!("**{text}**\n\n"));
    }
    out.push_str(&answers::search(summary, language));
    if !summary.levels.is_empty() {
        out.push_str(&table(summary, selection, language));
        out.push_str(&answers::repeats(summary, language));
        out.push_str(&answers::slo(summary, language));
        out.push_str(&answers::trees(summary, language));
    }
    if !summary.notes.is_empty() {
        out.push_str(&format!("\n{}\n\n", Label::Notes.text(language)));
        for note in &summary.notes {
            out.push_str(&format!("- {}\n", safe(&note.what)));
        }
    }
    out
}

/// `inputs`: texts are embedded or ranked, and there is no output to count.
fn header(run: &RunSummary, inputs: bool, language: Language) -> String {
    let comma = language.comma();
    let named = |say: Say, name: &str| say.with(language, &[safe(name)]);
    let target = match (&run.target, &run.engine) {
        (target, _) if run.origin.is_some() => target.as_deref().map(safe).unwrap_or_default(),
        (Some(url), Some(engine)) => [safe(url), named(Say::EngineNamed, engine)].join(comma),
        (Some(url), None) => safe(url),
        (None, Some(twin)) if run.predicted => named(Say::PredictionOf, twin),
        (None, Some(script)) => named(Say::EngineNamed, script),
        (None, None) => Label::EmbeddedEngine.text(language).to_owned(),
    };
    let by = |message: Label, source: &Option<String>| {
        message.with(language, &[&source.as_deref().map_or_else(|| ABSENT.to_owned(), safe)])
    };
    let input = by(Label::InputBy, &run.token_source.input);
    let sources = match inputs {
        true => input,
        false => [input, by(Label::OutputBy, &run.token_source.output)].join(comma),
    };
    let joined =
        |parts: [Option<String>; 2]| parts.into_iter().flatten().collect::<Vec<_>>().join(comma);
    let lines = [
        // Without a label, the name in the title is the run's.
        (Label::Run, Some(safe(&run.id)).filter(|id| *id != safe(&name(run)))),
        (Label::RunName, run.label.as_deref().map(safe)),
        (Label::Note, run.note.as_deref().map(safe)),
        (Label::Source, run.origin.as_ref().map(|origin| safe(&origin.described()))),
        (
            Label::Target,
            Some(joined([Some(target), run.api.as_deref().map(safe)]))
                .filter(|target| !target.is_empty()),
        ),
        (Label::Model, run.model.as_deref().map(safe)),
        (
            Label::Started,
            Some(joined([
                run.started.as_deref().map(safe),
                Some(format!("dyno {}", safe(&run.version))),
            ])),
        ),
        (Label::Command, run.command.as_deref().map(code)),
        (Label::TokenCounts, Some(sources).filter(|_| run.origin.is_none())),
    ];
    let shown = lines.into_iter().filter_map(|(message, text)| {
        Some(format!("- {}{}{}\n", message.text(language), language.colon(), text?))
    });
    shown.collect()
}

/// Text as code, whatever backticks it has.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", escape(text, usize::MAX))
}

/// The columns between label and verdict: those that were asked for, or the usual ones.
fn columns(levels: &[LevelSummary], selection: &ReportSelection) -> Vec<LevelColumn> {
    if let Some(chosen) = selection.chosen(levels, &[Statistic::P50, Statistic::P99]) {
        let each = |column: LevelColumn| match column {
            LevelColumn::Requests => counts(levels),
            column => vec![column],
        };
        return chosen.into_iter().flat_map(each).collect();
    }
    let mut columns = counts(levels);
    columns.extend(offered(levels).then_some(LevelColumn::Value(Metric::Offered)));
    columns.extend(bursts(levels).then_some(LevelColumn::Value(Metric::Duration)));
    let inputs = levels.iter().any(LevelSummary::has_inputs);
    let rates: &[Metric] = match inputs {
        true => &[Metric::RequestRate, Metric::InputRate, Metric::InputTokenRate],
        false => &[Metric::RequestRate, Metric::OutputRate],
    };
    columns.extend(rates.iter().copied().map(LevelColumn::Value));
    if Basis::of(levels).is_steady() {
        columns.extend(rates.iter().copied().map(LevelColumn::Whole));
    }
    for (time, usual) in Place::Document.times(levels) {
        // One request has a mean, and no percentiles.
        let lone = |level: &LevelSummary| {
            level.times[time].as_ref().is_some_and(|times| times.p50.is_none())
        };
        let mean = levels.iter().any(lone).then_some(Statistic::Mean);
        let statistics: Vec<Statistic> = match &selection.statistics {
            Some(asked) => asked.clone(),
            None => mean.into_iter().chain(usual.iter().copied()).collect(),
        };
        columns.extend(statistics.into_iter().map(|which| LevelColumn::Statistic(time, which)));
    }
    let cached = LevelColumn::Value(Metric::CachedShare);
    columns.extend(cached.is_known(levels).then_some(cached));
    columns
}

/// How requests ended; those that were unconfirmed or shed where there are any.
fn counts(levels: &[LevelSummary]) -> Vec<LevelColumn> {
    let shed = levels.iter().any(|level| level.requests.shed > Some(0)).then_some(Metric::Shed);
    let open = levels.iter().any(|level| level.requests.unconfirmed > Some(0));
    let open = open.then_some(Metric::Unconfirmed);
    let counted = [Metric::Completed, Metric::Failed].into_iter().chain(open).chain(shed);
    counted.map(LevelColumn::Value).collect()
}

fn table(summary: &Summary, selection: &ReportSelection, language: Language) -> String {
    let levels = &summary.levels;
    let columns = columns(levels, selection);
    let mut headings = vec![Label::Level.text(language).to_owned()];
    headings.extend(columns.iter().map(|column| column.title(language)));
    headings.push(Label::Verdict.text(language).to_owned());
    let last = headings.len() - 1;
    let rules = (0..headings.len()).map(|i| if i == 0 || i == last { ":---" } else { "---:" });
    let mut out = row(&headings) + &row(&rules.map(str::to_owned).collect::<Vec<_>>());
    let mut marks = Marks::default();
    let basis = Basis::of(levels);
    let explained = explained(levels, language);
    let mark = |number: usize| format!("({})", number + 1);
    for level in levels {
        let mut cells = vec![safe(&level.label)];
        let values =
            columns.iter().map(|column| column.cell(level, basis, &mut marks, "\\*", number));
        cells.extend(values);
        if level.verdict == Verdict::Invalid {
            cells = cells.into_iter().map(|cell| format!("~~{cell}~~")).collect();
        }
        let mut verdict = level.verdict.name(language).to_owned();
        let same = |of: &&LevelSummary| std::ptr::eq(*of, level);
        if let Some(number) = explained.iter().position(|note| note.levels.iter().any(same)) {
            verdict = format!("{verdict} {}", mark(number));
        }
        cells.push(verdict);
        out.push_str(&row(&cells));
    }
    let lines = marks.used(|mark, message| {
        format!("{}{mark} {}  \n", if mark == "*" { "\\" } else { "" }, message.text(language))
    });
    let mut lines = lines.concat();
    if shows_edges(levels) {
        lines = format!("{}  \n{lines}", Say::WholeLevels.text(language));
    }
    let gap = if lines.is_empty() { "" } else { "\n" };
    let reasons: String = (0..)
        .zip(&explained)
        .map(|(number, note)| {
            format!("\n{} {}\n", mark(number), note.text(levels.len(), language).markdown())
        })
        .collect();
    format!("{out}{gap}{lines}{reasons}")
}
