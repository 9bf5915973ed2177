//! Which columns the tables of levels show: what `--columns` and `--percentiles` may say, by the
//! names of the registry of metrics, and the heads and cells of such columns. How columns are
//! placed side by side belongs to the renderers.

use crate::marks::Marks;
use crate::messages::{Head, Label, Say};
use crate::text::{offered, whole};
use dyno_model::metric::{Metric, Statistic, Time, Unit};
use dyno_model::nearest::nearest;
use dyno_model::slo::{Slo, Term};
use dyno_model::summary::{Basis, LevelSummary};
use dyno_model::{Language, Message, message};
use dyno_words::columns::number;
use std::sync::LazyLock;

/// A column of a table of levels, beside the level's label and its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelColumn {
    /// Completed requests, and failed and unconfirmed ones, `240/3`; where some were shed, these as well: `240/3/50`.
    Requests,
    /// A metric that is one number.
    Value(Metric),
    /// One statistic of a time.
    Statistic(Time, Statistic),
    /// A time, with the statistics that the table shows of every time.
    Time(Time),
    /// A rate over the whole level, beside the one over the steady window.
    Whole(Metric),
}

/// What a user asked a table of levels to show; by default, nothing in particular.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportSelection {
    /// `--columns`: these columns, in this order.
    pub columns: Option<Vec<LevelColumn>>,
    /// `--percentiles`: these statistics of each time, in this order.
    pub statistics: Option<Vec<Statistic>>,
}

/// What tables always show, so that asking for it changes nothing.
const ALWAYS: [Say; 2] = [Say::Level, Say::Verdict];
const REQUESTS: &str = "requests";
/// The rates that tables may show over the whole level, too.
const WHOLE: [Metric; 3] = [Metric::RequestRate, Metric::OutputRate, Metric::InputRate];
const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

impl ReportSelection {
    /// Nothing was asked for.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The columns of `--columns`, with every time as its statistics. Of several under one head, those that
    /// no level has are left out.
    pub(crate) fn chosen(
        &self,
        levels: &[LevelSummary],
        default: &[Statistic],
    ) -> Option<Vec<LevelColumn>> {
        let statistics = self.statistics.as_deref().unwrap_or(default);
        let each = |column: &LevelColumn| match *column {
            LevelColumn::Time(time) => {
                statistics.iter().map(|which| LevelColumn::Statistic(time, *which)).collect()
            }
            LevelColumn::Whole(_) if !column.is_known(levels) => vec![],
            column => vec![column],
        };
        Some(self.columns.as_ref()?.iter().flat_map(each).collect())
    }
}

/// Reads one name of `--columns`: a metric (`ttft`, `throughput`), a statistic of a time
/// (`latency.p95`), `requests`, or the head of a column. Nothing for what every table shows anyway;
/// several columns where they share a head.
pub fn parse_column(text: &str) -> Result<Vec<LevelColumn>, Message> {
    let name = text.trim().to_lowercase();
    let always = |say: Say| LANGUAGES.iter().any(|language| say.text(*language) == name);
    if ALWAYS.into_iter().any(always) {
        return Ok(vec![]);
    }
    if name == REQUESTS {
        return Ok(vec![LevelColumn::Requests]);
    }
    if let Some(metric) = metric_named(&name) {
        return Ok(vec![metric.time().map_or(LevelColumn::Value(metric), LevelColumn::Time)]);
    }
    for (at, _) in name.match_indices('.') {
        let (metric, statistic) = (&name[..at], &name[at + 1..]);
        let Some(metric) = metric_named(metric) else { continue };
        let Some(time) = metric.time() else {
            let name = metric.name();
            return Err(message!(
                "`{text}`: {name} is one number and has no statistics; write `{name}`",
                "`{text}`：{name} 只有一个数值，没有统计量；请写 `{name}`",
            ));
        };
        return Ok(vec![LevelColumn::Statistic(time, parse_statistic(statistic)?)]);
    }
    let wanted = plain(&name);
    // With its unit it may be the head of one column, without of several.
    for way in [0, 1] {
        let headed = HEADS.iter().filter(|(_, head)| head[way] == wanted[way]);
        let mut columns: Vec<LevelColumn> = headed.map(|(column, _)| *column).collect();
        columns.dedup();
        if !columns.is_empty() {
            return Ok(columns);
        }
    }
    let known = column_names();
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let meant = nearest(&name, &known).or_else(|| nearest(stem, &known));
    let unknown = match meant {
        Some(name) => message!(
            "there is no column `{text}`; did you mean `{name}`?",
            "没有列 `{text}`；是否想写 `{name}`？",
        ),
        None => message!("there is no column `{text}`", "没有列 `{text}`"),
    };
    Err(unknown.with_hint(message!(
        "columns are {}; a time may name a statistic, as in ttft.p95",
        "可用的列：{}；时间类的列可以指定统计量，例如 ttft.p95",
        known.join(", "),
    )))
}

/// Reads one name of `--percentiles`: `50`, `p99.9`, `mean`, `min`, `max` or `std`.
pub fn parse_statistic(text: &str) -> Result<Statistic, Message> {
    let name = text.trim().to_lowercase();
    let digits = name.strip_prefix('p').unwrap_or(&name).replace('_', ".");
    let number = digits.parse::<f64>().ok();
    let matches = |which: &Statistic| match which.name().strip_prefix('p') {
        Some(of) => number.is_some() && of.parse::<f64>().ok() == number,
        None => which.name() == name,
    };
    Statistic::ALL.into_iter().find(matches).ok_or_else(|| {
        let names = Statistic::ALL.map(Statistic::name);
        let missing = match (number, nearest(&name, &names)) {
            (Some(_), _) => message!(
                "there is no percentile `{text}` in a summary",
                "汇总中没有分位数 `{text}`",
            ),
            (None, Some(name)) => message!(
                "there is no statistic `{text}` in a summary; did you mean `{name}`?",
                "汇总中没有统计量 `{text}`；是否想写 `{name}`？",
            ),
            (None, None) => message!(
                "there is no statistic `{text}` in a summary",
                "汇总中没有统计量 `{text}`",
            ),
        };
        missing.with_hint(message!(
            "available are {}; `dyno report --format csv --per-request` has every request",
            "可用：{}；`dyno report --format csv --per-request` 包含每个请求",
            names.join(", "),
        ))
    })
}

/// The names that `--columns` takes, each metric by the name that SLO terms use.
pub fn column_names() -> Vec<&'static str> {
    std::iter::once(REQUESTS).chain(Metric::all().map(column_name)).collect()
}

/// The name of a metric in `--columns`.
pub fn column_name(metric: Metric) -> &'static str {
    // Failures and Errors share a name, which stands for the latter.
    if metric == Metric::Failures { metric.info().id } else { metric.name() }
}

/// The heads of all columns, as [`plain`] text.
static HEADS: LazyLock<Vec<(LevelColumn, [String; 2])>> = LazyLock::new(|| {
    let of = |column: LevelColumn| column.heads().map(move |head| (column, plain(&head)));
    LevelColumn::all().flat_map(of).collect()
});

/// The words of a head, however they are spaced and broken into lines: with units, and without where
/// other words remain.
fn plain(head: &str) -> [String; 2] {
    static UNITS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let names = Metric::all().flat_map(|metric| metric.unit().names());
        names.map(str::to_lowercase).collect()
    });
    let head = head.to_lowercase().replace('-', "");
    let ends = |letter: char| letter.is_whitespace() || "()（）_".contains(letter);
    let words = head.split(ends).filter(|word| !word.is_empty());
    let whole: String = words.clone().collect();
    let bare: String = words.filter(|word| !UNITS.iter().any(|unit| unit == word)).collect();
    let bare = if bare.is_empty() { whole.clone() } else { bare };
    [whole, bare]
}

fn metric_named(name: &str) -> Option<Metric> {
    let by = |is: fn(&Metric) -> &'static str| Metric::all().find(|metric| is(metric) == name);
    by(|metric| metric.info().id).or_else(|| by(|metric| metric.name()))
}

impl LevelColumn {
    /// Every column that a table may have.
    fn all() -> impl Iterator<Item = Self> {
        let of_metric = |metric: Metric| match metric.time() {
            Some(time) => {
                let each = Statistic::ALL.into_iter().map(|which| Self::Statistic(time, which));
                std::iter::once(Self::Time(time)).chain(each).collect()
            }
            None => vec![Self::Value(metric)],
        };
        let metrics = Metric::all().flat_map(of_metric);
        std::iter::once(Self::Requests).chain(metrics).chain(WHOLE.map(Self::Whole))
    }

    /// Its heads in terminals and documents.
    fn heads(self) -> impl Iterator<Item = String> {
        let of_tables = LANGUAGES.into_iter().flat_map(move |language| {
            let both = [false, true].map(|rare| self.head_where(rare, rare, language).join(" "));
            both.into_iter().chain([self.title(language)])
        });
        of_tables.filter(|head| !head.trim().is_empty())
    }

    /// Its head in a terminal, in two lines; the first may span several columns.
    pub(crate) fn head(self, levels: &[LevelSummary], language: Language) -> [String; 2] {
        let shed = levels.iter().any(|level| level.requests.shed > Some(0));
        self.head_where(offered(levels), shed, language)
    }

    /// The same where the table has offered rates, and levels where requests were shed.
    fn head_where(self, offered: bool, shed: bool, language: Language) -> [String; 2] {
        let both = |[above, below]: [&str; 2]| [above.to_owned(), below.to_owned()];
        let short = |metric: Metric| language.choose(metric.info().short);
        match self {
            Self::Requests => {
                let ended = if shed { Say::OkFailedShed } else { Say::OkFailed }.text(language);
                let (ok, failed) = ended.split_once('/').unwrap_or((ended, ""));
                [format!("{ok}/"), failed.to_owned()]
            }
            Self::Statistic(time, which) => {
                [time_head(time, language), which_name(which, language)]
            }
            Self::Time(time) => [time_head(time, language), String::new()],
            Self::Whole(metric) => {
                let head = short(metric);
                let unit = head.rsplit_once(' ').map_or(head, |(_, unit)| unit);
                [Say::WholeLevel.text(language).to_owned(), unit.to_owned()]
            }
            Self::Value(Metric::RequestRate) => {
                let done = if offered { Say::Done.text(language) } else { "" };
                both([done, short(Metric::RequestRate)])
            }
            Self::Value(Metric::Offered) => {
                both([short(Metric::Offered), short(Metric::RequestRate)])
            }
            Self::Value(
                metric @ (Metric::OutputRate
                | Metric::TotalRate
                | Metric::InputRate
                | Metric::InputTokenRate),
            ) => {
                let head = match metric {
                    Metric::TotalRate => Head::TotalRate.text(language),
                    _ => short(metric),
                };
                both(head.split_once(' ').unwrap_or(("", head)).into())
            }
            Self::Value(Metric::CachedShare) => both([short(Metric::CachedShare), "%"]),
            Self::Value(metric) => match Head::of(metric) {
                Some(head) => {
                    let head = head.text(language);
                    both(head.split_once('\n').unwrap_or(("", head)).into())
                }
                None => both([metric.name(), metric.unit().name()]),
            },
        }
    }

    /// The metrics that decide whether an SLO is met.
    pub(crate) fn of_slo(slo: Option<&str>) -> Vec<Self> {
        let slo = slo.and_then(|text| text.parse::<Slo>().ok());
        let terms = slo.iter().flat_map(|slo| slo.terms());
        let column = |term: &Term| match (term.metric.time(), term.statistic) {
            (Some(time), Some(which)) => Self::Statistic(time, which),
            _ => Self::Value(term.metric),
        };
        terms.map(column).collect()
    }

    /// The time that it shows.
    pub(crate) fn time(self) -> Option<Time> {
        match self {
            Self::Statistic(time, _) | Self::Time(time) => Some(time),
            Self::Requests | Self::Value(_) | Self::Whole(_) => None,
        }
    }

    /// How wide its cells usually are, at most.
    pub(crate) fn usual_width(self) -> usize {
        use Statistic::{Mean, Min, P50, P90};
        match self {
            Self::Statistic(_, Mean | Min | P50 | P90) => 4,
            Self::Requests
            | Self::Value(Metric::OutputRate | Metric::TotalRate | Metric::InputTokenRate) => 6,
            Self::Whole(_) => 6,
            _ => 5,
        }
    }

    /// Its head in a document.
    pub(crate) fn title(self, language: Language) -> String {
        let named = |metric: Metric| {
            let info = metric.info();
            let title = language.choose(info.title);
            if title.is_empty() { language.choose(info.label) } else { title }
        };
        match self {
            Self::Requests => Say::OkFailed.text(language).to_owned(),
            Self::Value(Metric::Completed) => Label::Completed.text(language).to_owned(),
            Self::Value(Metric::Failed) => Label::Failed.text(language).to_owned(),
            Self::Value(metric) => match metric.unit() {
                Unit::Percent | Unit::Seconds | Unit::Milliseconds => {
                    format!("{} ({})", named(metric), metric.unit().name())
                }
                _ => named(metric).to_owned(),
            },
            Self::Statistic(time, which) => {
                format!("{} {} (ms)", named(Metric::Time(time)), which_name(which, language))
            }
            Self::Time(time) => format!("{} (ms)", named(Metric::Time(time))),
            Self::Whole(metric) => {
                let whole = language.brackets(Say::WholeLevel.text(language));
                format!("{}{whole}", named(metric))
            }
        }
    }

    /// Some level has a value for it.
    pub(crate) fn is_known(self, levels: &[LevelSummary]) -> bool {
        levels.iter().any(|level| match self {
            Self::Requests => true,
            Self::Value(metric) => metric.value(level).is_some(),
            Self::Statistic(time, which) => {
                level.times[time].as_ref().is_some_and(|times| times.get(which).is_some())
            }
            Self::Time(time) => level.times[time].is_some(),
            Self::Whole(metric) => Basis::Whole.rate(level, metric).is_some(),
        })
    }

    /// Its cell for a level. Rates are over what they are over in all levels; over steady windows they have the mark
    /// `star`.
    pub(crate) fn cell(
        self,
        level: &LevelSummary,
        basis: Basis,
        marks: &mut Marks,
        star: &str,
        millis: fn(f64) -> String,
    ) -> String {
        match self {
            Self::Requests => {
                let requests = &level.requests;
                let shed = requests.shed.filter(|shed| *shed > 0);
                let shed = shed.map(|shed| format!("/{shed}")).unwrap_or_default();
                format!(
                    "{}/{}{shed}",
                    whole(requests.completed),
                    whole(requests.failed_or_unconfirmed())
                )
            }
            Self::Value(
                metric @ (Metric::RequestRate
                | Metric::OutputRate
                | Metric::TotalRate
                | Metric::InputRate
                | Metric::InputTokenRate
                | Metric::BodyRate),
            ) => marks.rate(level, (metric, basis), star, number),
            Self::Whole(metric) => marks.rate(level, (metric, Basis::Whole), star, number),
            Self::Value(Metric::Completed) => count(level.requests.completed, marks),
            Self::Value(Metric::Failed) => count(level.requests.failed, marks),
            Self::Value(Metric::Unconfirmed) => count(level.requests.unconfirmed, marks),
            Self::Value(Metric::Shed) => count(level.requests.shed, marks),
            Self::Value(Metric::TreesCompleted) => {
                count(level.trees.as_ref().map(|trees| trees.completed), marks)
            }
            Self::Value(metric) => metric.value(level).map_or_else(|| marks.absent(), number),
            Self::Statistic(time, which) => marks.time(level, time, which, millis),
            Self::Time(time) => marks.time(level, time, Statistic::Mean, millis),
        }
    }
}

fn count(value: Option<u64>, marks: &mut Marks) -> String {
    value.map_or_else(|| marks.absent(), |count| count.to_string())
}

fn time_head(time: Time, language: Language) -> String {
    let short = language.choose(time.info().short);
    let name = if short.is_empty() { time.info().name } else { short };
    format!("{name} ms")
}

/// The name of a statistic in a table.
pub(crate) fn which_name(which: Statistic, language: Language) -> String {
    match which {
        Statistic::Mean => Say::Mean.text(language).to_owned(),
        which => which.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_can_be_a_column() {
        for name in column_names() {
            let column = parse_column(name).unwrap()[0];
            for language in LANGUAGES {
                let head = column.head(&[], language);
                assert!(!head.concat().is_empty(), "{name}");
                assert!(!column.title(language).is_empty(), "{name}");
            }
        }
        let unique: std::collections::BTreeSet<_> = column_names().into_iter().collect();
        assert_eq!(unique.len(), column_names().len());
    }

    #[test]
    fn every_head_of_a_table_can_be_asked_for() {
        for column in LevelColumn::all() {
            for head in column.heads() {
                let found = parse_column(&head).unwrap();
                assert!(found.contains(&column), "{head}: {found:?} and not {column:?}");
                let [_, bare] = plain(&head);
                assert!(parse_column(&bare).is_ok(), "{head}: {bare}");
            }
        }
        assert_eq!(parse_column("Done"), Ok(vec![LevelColumn::Value(Metric::RequestRate)]));
        assert_eq!(parse_column("TTFT p99"), parse_column("ttft.p99"));
        assert_eq!(parse_column("whole level"), Ok(WHOLE.map(LevelColumn::Whole).to_vec()));
        assert_eq!(parse_column("判定"), Ok(vec![]));
    }

    #[test]
    fn times_without_a_statistic_take_those_of_the_table() {
        let selection = ReportSelection {
            columns: Some(vec![
                LevelColumn::Requests,
                LevelColumn::Time(Time::Itl),
                LevelColumn::Whole(Metric::InputRate),
            ]),
            statistics: Some(vec![Statistic::P95]),
        };
        let chosen = selection.chosen(&[], &[Statistic::P50]).unwrap();
        let itl = LevelColumn::Statistic(Time::Itl, Statistic::P95);
        assert_eq!(chosen, [LevelColumn::Requests, itl]);
    }
}
