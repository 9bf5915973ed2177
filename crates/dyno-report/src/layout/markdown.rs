//! Dyno's own table for documents: who was measured, one row a level with its verdict, invalid rows
//! struck, and the reasons as footnotes.

use super::cells::{markdown as safe, row, whole};
use super::{answers, name, of_run, reasons};
use crate::marks::Marks;
use crate::messages::Message;
use crate::text::{ABSENT, number, offered};
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::metric::{Metric, Place, Statistic, Time};
use dyno_model::summary::{LevelSummary, RunSummary, Summary};

/// The whole text of a run.
pub(super) fn markdown(summary: &Summary, language: Language) -> String {
    let run = &summary.run;
    let mut out = format!("### {}\n\n{}\n", safe(&name(run)), header(run, language));
    for message in of_run(summary) {
        out.push_str(&format!("**{}**\n\n", message.text(language)));
    }
    out.push_str(&answers::search(summary, language));
    if !summary.levels.is_empty() {
        out.push_str(&table(summary, language));
        out.push_str(&answers::repeats(summary, language));
        out.push_str(&answers::slo(summary, language));
    }
    if !summary.notes.is_empty() {
        out.push_str(&format!("\n{}\n\n", Message::ToBeKnown.text(language)));
        for note in &summary.notes {
            out.push_str(&format!("- {}\n", safe(&note.what)));
        }
    }
    out
}

fn header(run: &RunSummary, language: Language) -> String {
    let engine = Message::EmbeddedEngine.text(language);
    let target = match (&run.target, &run.engine) {
        (target, _) if run.origin.is_some() => target.as_deref().map(safe).unwrap_or_default(),
        (Some(url), Some(which)) => format!("{}, {engine} ({})", safe(url), safe(which)),
        (Some(url), None) => safe(url),
        (None, Some(which)) => format!("{engine} ({})", safe(which)),
        (None, None) => engine.to_owned(),
    };
    let by = |message: Message, source: &Option<String>| {
        message.with(language, &[&source.as_deref().map_or_else(|| ABSENT.to_owned(), safe)])
    };
    let sources = format!(
        "{}, {}",
        by(Message::InputBy, &run.token_source.input),
        by(Message::OutputBy, &run.token_source.output)
    );
    let lines = [
        (Message::Run, Some(safe(&run.id))),
        (Message::Label, run.label.as_deref().map(safe)),
        (Message::Note, run.note.as_deref().map(safe)),
        (Message::Source, run.origin.as_ref().map(|origin| safe(&origin.described()))),
        (
            Message::Target,
            Some(joined([Some(target), run.api.as_deref().map(safe)]))
                .filter(|target| !target.is_empty()),
        ),
        (Message::Model, run.model.as_deref().map(safe)),
        (
            Message::Started,
            Some(joined([
                run.started.as_deref().map(safe),
                Some(format!("dyno {}", safe(&run.version))),
            ])),
        ),
        (Message::TokenCounts, Some(sources).filter(|_| run.origin.is_none())),
    ];
    let shown = lines
        .into_iter()
        .filter_map(|(message, text)| Some(format!("- {}: {}\n", message.text(language), text?)));
    shown.collect()
}

fn table(summary: &Summary, language: Language) -> String {
    let levels = &summary.levels;
    let times = Place::Document.times(levels);
    let mut headings: Vec<String> = [Message::Level, Message::Completed, Message::Failed]
        .map(|message| message.text(language).to_owned())
        .to_vec();
    let open = offered(levels);
    let rates =
        [open.then_some(Metric::Offered), Some(Metric::RequestRate), Some(Metric::OutputRate)];
    let titles = rates.iter().flatten().map(|rate| language.choose(rate.info().title).to_owned());
    headings.extend(titles);
    for (time, statistics) in &times {
        let title = language.choose(time.info().title);
        headings.extend(statistics.iter().map(|which| format!("{title} {} (ms)", which.name())));
    }
    let cached = Metric::CachedShare;
    let tells_cached = levels.iter().any(|level| cached.value(level).is_some());
    if tells_cached {
        let title = language.choose(cached.info().title);
        headings.push(format!("{title} ({})", cached.info().unit.name()));
    }
    headings.push(Message::Verdict.text(language).to_owned());
    let last = headings.len() - 1;
    let rules = (0..headings.len()).map(|i| if i == 0 || i == last { ":---" } else { "---:" });
    let mut out = row(&headings) + &row(&rules.map(str::to_owned).collect::<Vec<_>>());
    let mut marks = Marks::default();
    let mut footnotes = String::new();
    let mut number_of_note = 0;
    for level in levels {
        let mut cells = cells(level, open, &times, &mut marks);
        if tells_cached {
            cells.push(cached.value(level).map_or_else(|| marks.absent(), number));
        }
        if level.verdict == Verdict::Invalid {
            cells = cells.into_iter().map(|cell| format!("~~{cell}~~")).collect();
        }
        let mut verdict = level.verdict.name(language).to_owned();
        if let Some(message) = explained(level.verdict) {
            number_of_note += 1;
            // Two runs in one document must not share a footnote.
            let mark = format!("[^{}-{number_of_note}]", anchor(&summary.run.id));
            verdict.push_str(&mark);
            let words =
                message.with(language, &[&safe(&level.label), &safe(&reasons(level, language))]);
            footnotes.push_str(&format!("\n{mark}: {words}\n"));
        }
        cells.push(verdict);
        out.push_str(&row(&cells));
    }
    let lines = marks.used(|mark, message| {
        format!("{}{mark} {}  \n", if mark == "*" { "\\" } else { "" }, message.text(language))
    });
    let lines = lines.concat();
    let gap = if lines.is_empty() { "" } else { "\n" };
    format!("{out}{gap}{lines}{footnotes}")
}

/// What there is, with commas between.
fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn cells(
    level: &LevelSummary,
    open: bool,
    times: &[(Time, &[Statistic])],
    marks: &mut Marks,
) -> Vec<String> {
    let steady = level.steady.map(|steady| steady.throughput).unwrap_or_default();
    let done = level.throughput;
    let mut cells =
        vec![safe(&level.label), whole(level.requests.completed), whole(level.requests.failed)];
    if open {
        cells.push(level.offered_per_s.map_or_else(|| marks.absent(), number));
    }
    let work = [
        (Metric::RequestRate, [steady.requests_per_s, done.requests_per_s]),
        (Metric::OutputRate, [steady.output_tokens_per_s, done.output_tokens_per_s]),
    ];
    for (metric, values) in work {
        let figure = marks.rate(values, "\\*", number);
        cells.push(marks.sure(level, metric, None, figure, number));
    }
    for (time, statistics) in times {
        cells.extend(statistics.iter().map(|which| marks.time(level, *time, *which, number)));
    }
    cells
}

/// What a footnote says of a verdict that needs one.
fn explained(verdict: Verdict) -> Option<Message> {
    match verdict {
        Verdict::Valid | Verdict::Unjudged => None,
        Verdict::Suspect => Some(Message::LevelSuspect),
        Verdict::Invalid => Some(Message::LevelInvalid),
    }
}

/// The letters and digits of a name, for a footnote's mark.
fn anchor(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).take(40).collect()
}
