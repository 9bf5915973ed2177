//! The table of levels with their key metrics, and what its marks mean.

use super::Page;
use super::markup::{Markup, class, tag};
use super::metrics::statistic;
use super::numbers::{counted_or_absent, grouped, shown};
use super::tables::{self, Cell, Row, pill};
use super::words::Word;
use crate::marks::Marks;
use crate::text::offered;
use dyno_model::Verdict;
use dyno_model::metric::{Metric, Place, Statistic, Time};
use dyno_model::summary::{Basis, LevelSummary};

/// The table; nothing without levels.
pub(super) fn table(page: &Page) -> Option<Markup> {
    let levels = &page.summary.levels;
    if levels.is_empty() {
        return None;
    }
    let columns = Place::PageTable.metrics().into_iter();
    let columns: Vec<(Time, &[Statistic])> = columns
        .filter_map(|column| Some((column.metric.time()?, column.statistics)))
        .filter(|(time, _)| levels.iter().any(|level| level.times[*time].is_some()))
        .collect();
    let open = offered(levels);
    let mut marks = Marks::default();
    let mut footnotes: Vec<Footnote> = Vec::new();
    let mut rows = Vec::new();
    for level in levels {
        let note = noted(page, level, &mut footnotes);
        rows.push(row(page, level, open, &columns, &mut marks, note));
    }
    let table = tables::boxed(page.say(Word::Levels), heads(page, open, &columns), rows);
    let notes = footnotes.iter().enumerate().map(|(i, note)| note.markup(page, i + 1));
    let notes = class("ol", "footnotes").adds(notes);
    Some([table, legend(page, &marks), notes.into()].into_iter().collect())
}

/// The rates that have a column.
fn rates(page: &Page) -> &'static [Metric] {
    match page.summary.levels.iter().any(LevelSummary::has_inputs) {
        true => &[Metric::RequestRate, Metric::InputRate, Metric::InputTokenRate],
        false => &[Metric::RequestRate, Metric::OutputRate],
    }
}

/// What they are over; over the whole level beside the steady windows.
fn bases(page: &Page) -> Vec<Basis> {
    let basis = Basis::of(&page.summary.levels);
    if basis.is_steady() { vec![basis, Basis::Whole] } else { vec![basis] }
}

/// Some level knows how much of its prompts was in the server's prefix cache.
fn has_cached(page: &Page) -> bool {
    page.summary.levels.iter().any(|level| Metric::CachedShare.value(level).is_some())
}

/// Some requests were unconfirmed.
fn has_unconfirmed(page: &Page) -> bool {
    page.summary.levels.iter().any(|level| level.requests.unconfirmed > Some(0))
}

/// Some requests were shed.
fn has_shed(page: &Page) -> bool {
    page.summary.levels.iter().any(|level| level.requests.shed > Some(0))
}

/// Two rows: groups of percentiles above their names. `data-column` tells the script which cells a
/// head sorts.
fn heads(page: &Page, open: bool, columns: &[(Time, &[Statistic])]) -> Markup {
    let mut column = 0..;
    let mut head = |text: &str| {
        let column = column.next().unwrap_or_default().to_string();
        tag("th").attr("scope", "col").attr("data-column", &column).text(text)
    };
    let wide = |title: &str, span: usize| {
        let cell = class("th", "group").attr("scope", "colgroup");
        cell.attr("colspan", &span.to_string()).text(title).into()
    };
    let mut first: Vec<Markup> = [
        page.say(Word::Level),
        page.say(Word::Verdict),
        page.say(Word::Completed),
        page.say(Word::Failed),
    ]
    .into_iter()
    .chain(has_unconfirmed(page).then(|| page.language.choose(Metric::Unconfirmed.info().label)))
    .chain(has_shed(page).then(|| page.language.choose(Metric::Shed.info().label)))
    .chain(open.then(|| page.language.choose(Metric::Offered.info().label)))
    .map(|text| head(text).attr("rowspan", "2").into())
    .collect();
    for (number, _) in bases(page).into_iter().enumerate() {
        let over = if number > 0 { page.say(Word::OverWhole) } else { "" };
        let title = |rate: &Metric| format!("{}{over}", page.language.choose(rate.info().title));
        let titles = rates(page).iter().map(title);
        first.extend(titles.map(|title| head(&title).attr("rowspan", "2").into()));
    }
    let mut second: Vec<Markup> = Vec::new();
    for (time, parts) in columns {
        let label = page.language.choose(time.info().label);
        first.push(wide(&format!("{label} (ms)"), parts.len()));
        let names = parts.iter().map(|part| part.name());
        second.extend(names.map(|name| head(name).into()));
    }
    first.push(head(page.say(Word::InFlight)).attr("rowspan", "2").into());
    if has_cached(page) {
        let cached = Metric::CachedShare.info();
        let title = format!("{} (%)", page.language.choose(cached.title));
        first.push(head(&title).attr("rowspan", "2").into());
    }
    [tag("tr").adds(first).into(), tag("tr").adds(second).into()].into_iter().collect()
}

fn row(
    page: &Page,
    level: &LevelSummary,
    open: bool,
    columns: &[(Time, &[Statistic])],
    marks: &mut Marks,
    note: Option<usize>,
) -> Row {
    let kind = match level.verdict {
        Verdict::Valid => "good",
        Verdict::Unjudged => "plain",
        Verdict::Suspect => "unsure",
        Verdict::Invalid => "bad",
    };
    let reasons: Vec<&str> = level.reasons.iter().map(|reason| reason.what.as_str()).collect();
    let reasons = reasons.join(page.language.semicolon());
    let link = note.map(|number| {
        let link = tag("a").attr("href", &format!("#note-{number}"));
        tag("sup").add(link.text(&number.to_string())).into()
    });
    let verdict: Markup =
        tag("span").add(pill(kind, level.verdict.name(page.language))).adds(link).into();
    let failed = Cell::number(&counted_or_absent(level.requests.failed));
    let mut cells = vec![
        Cell::head(&level.label),
        Cell::marked(&verdict).title(&reasons),
        Cell::number(&counted_or_absent(level.requests.completed)),
        failed.kind(if level.requests.failed.is_some_and(|n| n > 0) { "bad" } else { "" }),
    ];
    if has_unconfirmed(page) {
        let open = level.requests.unconfirmed;
        let kind = if open > Some(0) { "bad" } else { "" };
        cells.push(Cell::number(&counted_or_absent(open)).kind(kind));
    }
    if has_shed(page) {
        let shed = level.requests.shed;
        let kind = if shed > Some(0) { "unsure" } else { "" };
        cells.push(Cell::number(&counted_or_absent(shed)).kind(kind));
    }
    if open {
        let offered = level.offered_per_s.map_or_else(|| marks.absent(), grouped);
        cells.push(Cell::number(&offered));
    }
    for basis in bases(page) {
        let rates = rates(page).iter();
        let shown = rates.map(|metric| marks.rate(level, (*metric, basis), "*", grouped));
        cells.extend(shown.map(|rate| Cell::number(&rate)));
    }
    for (time, parts) in columns {
        cells.extend(parts.iter().map(|part| percentile(page, level, (*time, *part), marks)));
    }
    let flight = level.concurrency.map(|flight| flight.mean);
    marks.note(false, flight.is_none());
    cells.push(Cell::number(&shown(flight)));
    if has_cached(page) {
        let cached = Metric::CachedShare.value(level);
        marks.note(false, cached.is_none());
        cells.push(Cell::number(&shown(cached)));
    }
    Row::struck(cells, level.verdict == Verdict::Invalid)
}

fn percentile(
    page: &Page,
    level: &LevelSummary,
    (time, part): (Time, Statistic),
    marks: &mut Marks,
) -> Cell {
    let Some(found) = statistic(level, time, part) else {
        return Cell::number(&marks.absent());
    };
    marks.note(found.few, false);
    let mark = if found.few { "?" } else { "" };
    let interval =
        found.interval.map(|[low, high]| format!("95 %: {} – {} ms", grouped(low), grouped(high)));
    let figure = format!("{}{mark}", grouped(found.value));
    let figure = marks.sure(level, Metric::Time(time), Some(part), figure, grouped);
    let range = level
        .instrument_range(Metric::Time(time), Some(part))
        .map(|[low, high]| page.fill(Word::InstrumentRange, &[&grouped(low), &grouped(high)]));
    let ranges: Vec<String> = [range, interval].into_iter().flatten().collect();
    Cell::number(&figure).title(&ranges.join("; "))
}

fn legend(page: &Page, marks: &Marks) -> Markup {
    let used = marks.used(|mark, message| {
        let mark = tag("b").text(mark);
        tag("span").add(mark).text(" ").text(message.text(page.language)).into()
    });
    class("p", "marks").adds(used).into()
}

/// Why levels are not valid; the same reasons are stated once.
struct Footnote<'a> {
    verdict: Verdict,
    reasons: String,
    levels: Vec<&'a str>,
}

/// The number of the footnote that a level needs.
fn noted<'a>(page: &Page, level: &'a LevelSummary, all: &mut Vec<Footnote<'a>>) -> Option<usize> {
    if level.verdict <= Verdict::Unjudged {
        return None;
    }
    let reasons = level.reasons.iter().map(|reason| match &reason.advice {
        Some(advice) => format!("{} → {advice}", reason.what),
        None => reason.what.clone(),
    });
    let reasons = reasons.collect::<Vec<_>>().join(page.language.semicolon());
    let same = |note: &Footnote| note.verdict == level.verdict && note.reasons == reasons;
    let place = all.iter().position(same).unwrap_or_else(|| {
        all.push(Footnote { verdict: level.verdict, reasons, levels: vec![] });
        all.len() - 1
    });
    all[place].levels.push(&level.label);
    Some(place + 1)
}

impl Footnote<'_> {
    fn markup(&self, page: &Page, number: usize) -> Markup {
        let verdict = match self.verdict {
            Verdict::Invalid => Verdict::Invalid,
            _ => Verdict::Suspect,
        };
        let names = self.levels.join(page.language.comma());
        tag("li")
            .attr("id", &format!("note-{number}"))
            .add(tag("b").text(&names))
            .text(" ")
            .text(verdict.name(page.language))
            .text(page.language.colon())
            .text(&self.reasons)
            .into()
    }
}
