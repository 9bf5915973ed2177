//! The table of levels, one line each, within 80 columns.

use super::TextOptions;
use super::paint::{struck, verdict};
use super::slices::slices;
use super::turns::turns;
use crate::marks::Marks;
use crate::messages::{Message, Say};
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::metric::{Metric, Place, Statistic, Time};
use dyno_model::summary::LevelSummary;
use dyno_words::columns::{cut_middle, left, millis, number, right, whole, width, wrap};
use dyno_words::escape::escape;

const LABEL: usize = 40;
const LONGEST_WORDS: usize = 300;

/// Statistics of a time, `120/480`.
fn cell(level: &LevelSummary, time: Time, statistics: &[Statistic], marks: &mut Marks) -> String {
    if level.times[time].is_none() {
        return marks.absent();
    }
    let one = |which: &Statistic| marks.time(level, time, *which, millis);
    statistics.iter().map(one).collect::<Vec<_>>().join("/")
}

/// What the marks mean; the steady window is where the whole run stands below.
fn legend(marks: &Marks, language: Language) -> String {
    let lines = marks.used(|mark, message| {
        let words = match message {
            Message::Steady => Say::Steady.text(language),
            message => message.text(language),
        };
        format!("{mark} {words}\n")
    });
    lines.concat()
}

/// Some level is an open loop at a rate, so that a table shows the rate that was offered.
pub(crate) fn offered(levels: &[LevelSummary]) -> bool {
    levels.iter().any(|level| level.offered_per_s.is_some())
}

/// The heads of the first columns, in two lines. Beside the rate that was asked for, which is what an
/// open loop is called, stands the one that was offered; to have room for it, heads are broken.
fn leading(open: bool, language: Language) -> (Vec<String>, Vec<String>) {
    let short = |metric: Metric| language.choose(metric.info().short).to_owned();
    let [level, ended] = [Say::Level, Say::OkFailed].map(|say| say.text(language).to_owned());
    let [done, output] = [Metric::RequestRate, Metric::OutputRate].map(short);
    if !open {
        return (vec![level, ended, done, output], vec![String::new(); 4]);
    }
    let (ok, failed) = ended.split_once('/').unwrap_or((&ended, ""));
    let (out, tokens) = output.split_once(' ').unwrap_or((&output, ""));
    let completed = Say::Done.text(language).to_owned();
    let first = vec![level, format!("{ok}/"), short(Metric::Offered), completed, out.to_owned()];
    let second = vec![String::new(), failed.to_owned(), done.clone(), done, tokens.to_owned()];
    (first, second)
}

/// The table with its footnotes.
pub(super) fn table(levels: &[LevelSummary], options: &TextOptions) -> String {
    let language = options.language;
    let mut marks = Marks::narrow();
    let times = Place::Terminal.times(levels);
    let open = offered(levels);
    let (mut head, mut below) = leading(open, language);
    for (time, statistics) in &times {
        head.push(format!("{} ms", language.choose(time.info().short)));
        below.push(statistics.iter().map(|which| which.name()).collect::<Vec<_>>().join("/"));
    }
    let cached = Metric::CachedShare;
    let tells_cached = levels.iter().any(|level| cached.value(level).is_some());
    if tells_cached {
        head.push(language.choose(cached.info().short).to_owned());
        below.push(cached.info().unit.name().to_owned());
    }
    head.push(Say::Verdict.text(language).to_owned());
    below.push(String::new());
    let mut rows = vec![head, below];
    for level in levels {
        let steady = level.steady.map(|steady| steady.throughput).unwrap_or_default();
        let done = level.throughput;
        let mut row = vec![
            String::new(),
            format!("{}/{}", whole(level.requests.completed), whole(level.requests.failed)),
        ];
        if open {
            row.push(level.offered_per_s.map_or_else(|| marks.absent(), number));
        }
        let work = [
            (Metric::RequestRate, [steady.requests_per_s, done.requests_per_s]),
            (Metric::OutputRate, [steady.output_tokens_per_s, done.output_tokens_per_s]),
        ];
        for (metric, values) in work {
            let figure = marks.rate(values, "*", number);
            row.push(marks.sure(level, metric, None, figure, number));
        }
        for (time, statistics) in &times {
            row.push(cell(level, *time, statistics, &mut marks));
        }
        if tells_cached {
            row.push(cached.value(level).map_or_else(|| marks.absent(), number));
        }
        row.push(level.verdict.name(language).to_owned());
        rows.push(row);
    }
    // The marks of what stands below the table are explained here, too.
    for level in levels {
        drop(turns(level, &mut marks, language) + &slices(level, &mut marks, language));
    }
    let mut widths = widths(&rows);
    let others = widths.iter().sum::<usize>() - widths[0] + widths.len() - 1;
    let labels = Labels::of(levels, options.width.saturating_sub(others));
    widths[0] = widths[0].max(labels.width);
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let level = i.checked_sub(2).and_then(|i| Some((levels.get(i)?, labels.own.get(i)?)));
        if i == 2 {
            out.extend(labels.shared.as_ref().map(|shared| format!("{shared}\n")));
        }
        let label = match level {
            Some((_, label)) if width(label) > widths[0] => {
                out.push_str(&format!("{}\n", cut_middle(label, options.width)));
                ""
            }
            Some((_, label)) => label,
            None => &row[0],
        };
        let mut figures = String::new();
        for (text, columns) in row.iter().zip(&widths).take(row.len() - 1).skip(1) {
            figures.push_str(&format!(" {}", right(text, *columns)));
        }
        let last = match level {
            Some((level, _)) => verdict(level.verdict, options),
            None => row.last().cloned().unwrap_or_default(),
        };
        if level.is_some_and(|(level, _)| level.verdict == Verdict::Invalid) {
            figures = struck(&figures, options);
        }
        let line = format!("{}{figures} {last}", left(label, widths[0]));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out + &legend(&marks, language) + &invalid(levels, options)
}

/// Why levels are invalid, where several stand in the table.
fn invalid(levels: &[LevelSummary], options: &TextOptions) -> String {
    let bad = levels.iter().filter(|level| level.verdict == Verdict::Invalid && levels.len() > 1);
    let lines = bad.filter_map(|level| {
        let why = level.reasons.first()?;
        let colon = options.language.colon();
        let words = [escape(&level.label, LABEL), escape(&why.what, LONGEST_WORDS)].join(colon);
        Some(wrap("✗ ", &words, options.width))
    });
    lines.collect()
}

/// What levels are called in the table: where there is no room for it, the words that all begin
/// with stand above them once, and what is too long even so stands on a line of its own.
struct Labels {
    shared: Option<String>,
    own: Vec<String>,
    /// Columns of those that have room.
    width: usize,
}

impl Labels {
    fn of(levels: &[LevelSummary], room: usize) -> Self {
        let mut own: Vec<String> = levels.iter().map(|level| escape(&level.label, LABEL)).collect();
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

/// Bytes of the whole words that all labels begin with.
fn shared_words(first: &str, labels: &[String]) -> usize {
    let ends = first.match_indices(' ').map(|(at, _)| at + 1);
    let shared =
        ends.take_while(|end| labels.iter().all(|label| label.starts_with(&first[..*end])));
    shared.last().unwrap_or_default()
}

/// Columns as wide as their content.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (column, text) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(text));
        }
    }
    widths
}
