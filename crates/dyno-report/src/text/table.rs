//! The table of levels, one line each, in as many columns as the terminal has room for.

use super::TextOptions;
use super::grid::{Column, Grid, OPTIONAL};
use super::paint::{struck, verdict};
use super::slices::slices;
use super::trees::trees;
use super::turns::turns;
use crate::marks::Marks;
use crate::messages::{Label, Say};
use crate::selection::LevelColumn;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Metric, Place, Statistic, Time};
use dyno_model::summary::{Basis, LevelSummary};
use dyno_model::{Summary, Verdict};
use dyno_words::columns::{cut_middle, left, millis, width, wrap};
use dyno_words::escape::escape;

const LABEL: usize = 40;
/// Labels up to this width keep their place in the row, even at the cost of a column.
const LABEL_KEPT: usize = 16;
const LABEL_STEP: usize = 4;
/// Filling and draining are mentioned where less than this part of the steady throughput is left.
const MOST_OF: f64 = 0.95;

/// What the marks mean; `above`: the whole levels are there.
fn legend(marks: &Marks, above: bool, options: &TextOptions) -> String {
    let language = options.language;
    let steady = if above { Say::Steady } else { Say::SteadyBrief };
    let lines = marks.used(|mark, message| {
        let text = match message {
            Label::Steady => steady.text(language),
            message => message.text(language),
        };
        wrap(&format!("{mark} "), text, options.prose())
    });
    lines.concat()
}

/// Throughput is over whole levels although a steady window shows that filling and draining are a part of one.
pub(crate) fn shows_edges(levels: &[LevelSummary]) -> bool {
    let edges = |level: &LevelSummary| {
        let steady = level.steady.and_then(|steady| steady.throughput.requests_per_s);
        let rates = steady.zip(level.throughput.requests_per_s);
        level.offered_per_s.is_some()
            && rates.is_some_and(|(steady, whole)| whole < MOST_OF * steady)
    };
    !Basis::of(levels).is_steady() && levels.iter().any(edges)
}

/// Some level is an open loop at a rate, so that a table shows the rate that was offered.
pub(crate) fn offered(levels: &[LevelSummary]) -> bool {
    levels.iter().any(|level| level.offered_per_s.is_some())
}

/// Some level is a burst, so that a table shows how long it took.
pub(crate) fn bursts(levels: &[LevelSummary]) -> bool {
    levels.iter().any(|level| level.load.kind == LoadKind::Burst)
}

/// The columns that a table has by default, in order, each with its rank. Those that no level has a
/// value for are left out. The metrics that decide about an SLO rank before all but the counts.
fn by_default(
    levels: &[LevelSummary],
    statistics: Option<&[Statistic]>,
    deciding: &[LevelColumn],
) -> Vec<(LevelColumn, u8)> {
    let mut all = vec![(LevelColumn::Requests, 0)];
    all.extend(offered(levels).then_some((LevelColumn::Value(Metric::Offered), 7)));
    // How long a backlog takes is what a burst is for.
    all.extend(bursts(levels).then_some((LevelColumn::Value(Metric::Duration), 1)));
    all.push((LevelColumn::Value(Metric::RequestRate), 4));
    let [main, other] = match levels.iter().any(LevelSummary::has_inputs) {
        true => [(Metric::InputRate, 2), (Metric::InputTokenRate, 3)],
        false => [(Metric::OutputRate, 2), (Metric::TotalRate, OPTIONAL + 6)],
    };
    all.extend([main, other].map(|(metric, rank)| (LevelColumn::Value(metric), rank)));
    if Basis::of(levels).is_steady() {
        let beside = [Metric::RequestRate, main.0].map(LevelColumn::Whole);
        all.extend(beside.map(|column| (column, OPTIONAL + 3)));
    }
    let times: Vec<Time> =
        Place::Terminal.times(levels).into_iter().map(|(time, _)| time).collect();
    for time in &times {
        let [first, last, more] = match time {
            Time::Ttft => [3, 5, OPTIONAL],
            Time::Latency => [8, 10, OPTIONAL + 2],
            _ => [6, 9, OPTIONAL + 4],
        };
        let ranked: Vec<(Statistic, u8)> = match statistics {
            // What was asked for comes before what was not.
            Some(asked) => asked.iter().map(|which| (*which, 1)).collect(),
            None => {
                // One request has a mean, and no percentiles.
                let lone = |level: &LevelSummary| {
                    level.times[*time].as_ref().is_some_and(|times| times.p50.is_none())
                };
                let mean = if levels.iter().any(lone) { first } else { more };
                vec![
                    (Statistic::Mean, mean),
                    (Statistic::P50, first),
                    (Statistic::P90, more + 1),
                    (Statistic::P95, more + 10),
                    (Statistic::P99, last),
                ]
            }
        };
        let columns = ranked.into_iter();
        let columns = columns.map(|(which, rank)| (LevelColumn::Statistic(*time, which), rank));
        all.extend(columns.filter(|(column, _)| column.is_known(levels)));
    }
    let other = [Time::Itl, Time::Tpot].into_iter().find(|time| !times.contains(time));
    let other = other.into_iter().flat_map(|time| {
        let both = [Statistic::P50, Statistic::P99].into_iter();
        both.map(move |which| (LevelColumn::Statistic(time, which), OPTIONAL + 9))
    });
    all.extend(other.filter(|(column, _)| column.is_known(levels)));
    let others = [
        (Metric::CachedShare, 11),
        (Metric::TreesCompleted, 12),
        (Metric::TreeDuration, 13),
        (Metric::Goodput, OPTIONAL + 7),
        (Metric::InFlight, OPTIONAL + 8),
    ];
    let others = others.into_iter().map(|(metric, rank)| (LevelColumn::Value(metric), rank));
    all.extend(others.filter(|(column, _)| column.is_known(levels)));
    for term in deciding {
        match all.iter_mut().find(|(column, _)| column == term) {
            Some((_, rank)) => *rank = 1,
            None => {
                let same = |(column, _): &(LevelColumn, u8)| column.time() == term.time();
                let beside = term.time().and_then(|_| all.iter().rposition(same));
                all.insert(beside.map_or(all.len(), |at| at + 1), (*term, 1));
            }
        }
    }
    // Who names percentiles asks for nothing else.
    all.retain(|(_, rank)| statistics.is_none() || *rank < OPTIONAL);
    all
}

/// The columns with their cells, and the marks that each of them uses.
fn columns(
    levels: &[LevelSummary],
    slo: Option<&str>,
    options: &TextOptions,
) -> (Vec<Column>, Vec<Marks>) {
    let selection = &options.selection;
    let chosen: Vec<(LevelColumn, u8)> =
        match selection.chosen(levels, &[Statistic::P50, Statistic::P99]) {
            // Where there is no room for all, the first ones are shown.
            Some(chosen) => {
                let ranks = (0..OPTIONAL).chain(std::iter::repeat(OPTIONAL - 1));
                chosen.into_iter().zip(ranks).collect()
            }
            None => {
                let deciding = LevelColumn::of_slo(slo);
                by_default(levels, selection.statistics.as_deref(), &deciding)
            }
        };
    let basis = Basis::of(levels);
    let column = |(column, rank): (LevelColumn, u8)| {
        let [group, head] = column.head(levels, options.language);
        let mut marks = Marks::narrow();
        let cell = |level| column.cell(level, basis, &mut marks, "*", millis);
        let cells = levels.iter().map(cell).collect();
        (Column { group, head, cells, rank, nominal: column.usual_width() }, marks)
    };
    chosen.into_iter().map(column).unzip()
}

/// The table with its footnotes; `blocks`: the levels are above it, with small tables of their own.
pub(super) fn table(summary: &Summary, blocks: bool, options: &TextOptions) -> String {
    let (language, levels) = (options.language, &summary.levels[..]);
    let (columns, of_columns) = columns(levels, summary.run.slo.as_deref(), options);
    let room = options.table_room();
    let heads = [Say::Level, Say::Verdict].map(|say| say.text(language));
    let verdicts = levels.iter().map(|level| width(level.verdict.name(language)));
    let last = verdicts.chain([width(heads[1])]).max().unwrap_or_default() + 1;
    // In steps, so that columns do not depend on the digits of a load that a search chose.
    let names = Labels::shortest(levels).max(width(heads[0])).next_multiple_of(LABEL_STEP);
    let named = if names > LABEL_KEPT { width(heads[0]) } else { names };
    let full = Labels::longest(levels).next_multiple_of(LABEL_STEP).max(named);
    let grid =
        Grid::fit(columns, 1, room.saturating_sub(last + named), room.saturating_sub(last + full));
    let mut marks = Marks::narrow();
    let used = of_columns.iter().zip(&grid.shown).filter(|(_, shown)| **shown);
    used.for_each(|(of, _)| marks.add(of));
    // The marks of the small tables are explained here, too.
    for level in levels.iter().filter(|_| blocks) {
        drop(turns(level, &mut marks, options) + &slices(level, &mut marks, options));
        drop(trees(level, &mut marks, options));
    }
    let labels = Labels::of(levels, room.saturating_sub(last + grid.width()));
    let first = labels.width.max(width(heads[0]));

    let mut out = String::new();
    let mut push = |line: String| {
        out.push_str(line.trim_end());
        out.push('\n');
    };
    grid.groups().into_iter().for_each(|groups| push(left("", first) + &groups));
    push(format!("{}{} {}", left(heads[0], first), grid.heads(), heads[1]));
    labels.shared.iter().for_each(|shared| push(cut_middle(shared, options.prose())));
    for (row, (level, label)) in levels.iter().zip(&labels.own).enumerate() {
        let mut label = label.clone();
        if width(&label) > first {
            push(cut_middle(&label, options.prose()));
            label.clear();
        }
        let mut values = grid.row(row);
        if level.verdict == Verdict::Invalid {
            values = struck(&values, options);
        }
        push(format!("{}{values} {}", left(&label, first), verdict(level.verdict, options)));
    }
    if grid.hidden > 0 {
        let say = match options.terminal {
            true => Say::ColumnsHiddenHere,
            false => Say::ColumnsHiddenInFile,
        };
        let hidden = say.with(language, &[grid.hidden.to_string()]);
        push(wrap("", &hidden, options.prose()));
    }
    if shows_edges(levels) {
        push(wrap("", Say::WholeLevels.text(language), options.prose()));
    }
    out + &legend(&marks, blocks, options)
}

/// The labels of levels in the table. Where there is no room for them, the words that all start with
/// stand above them once, and a label that is still too long stands on its own line.
struct Labels {
    shared: Option<String>,
    own: Vec<String>,
    /// Width of those that have room.
    width: usize,
}

impl Labels {
    fn whole(levels: &[LevelSummary]) -> Vec<String> {
        levels.iter().map(|level| escape(&level.label, LABEL)).collect()
    }

    /// The width of whole labels.
    fn longest(levels: &[LevelSummary]) -> usize {
        Self::whole(levels).iter().map(|label| width(label)).max().unwrap_or_default()
    }

    /// Their width without what they share.
    fn shortest(levels: &[LevelSummary]) -> usize {
        Self::of(levels, 0).own.iter().map(|label| width(label)).max().unwrap_or_default()
    }

    fn of(levels: &[LevelSummary], room: usize) -> Self {
        let mut own = Self::whole(levels);
        let mut shared = None;
        if own.iter().any(|label| width(label) > room) && own.len() > 1 {
            let begins = own.first().map(|label| shared_words(label, &own)).unwrap_or_default();
            if begins > 0 {
                shared = own.first().map(|label| label[..begins].trim_end().to_owned());
                own.iter_mut().for_each(|label| *label = format!("  {}", &label[begins..]));
            }
        }
        let fitting = own.iter().map(|label| width(label)).filter(|width| *width <= room);
        let width = fitting.max().unwrap_or_default();
        Self { shared, own, width }
    }
}

/// Bytes of the whole words that all labels start with.
fn shared_words(first: &str, labels: &[String]) -> usize {
    let ends = first.match_indices(' ').map(|(at, _)| at + 1);
    let shared =
        ends.take_while(|end| labels.iter().all(|label| label.starts_with(&first[..*end])));
    shared.last().unwrap_or_default()
}
