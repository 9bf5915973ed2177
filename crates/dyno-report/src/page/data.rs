//! What the script draws from, as JSON within the page: short numbers, and nothing that a browser
//! could interpret as markup.

use super::axes;
use super::metrics::{LevelValue, Metric, metrics};
use super::words::Word;
use dyno_analysis::detail::{Bar, Became, Curve, Detail, LevelDetail};
use dyno_draw::lanes;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::Statistic::{P50, P90, P99};
use dyno_model::metric::{MetricGroup, Place};
use dyno_model::summary::{LevelSummary, SearchSummary, Slice, Summary};
use dyno_words::escape::escape;
use serde_json::{Map, Value, json};

/// The longest label or reason.
const LONGEST: usize = 300;

/// The data of a run, safe within a `script` element.
pub(super) fn data(summary: &Summary, detail: Option<&Detail>, language: Language) -> String {
    let metrics = metrics(summary, language);
    let mut shares = Shares::default();
    let details: Vec<Value> = summary
        .levels
        .iter()
        .map(|level| {
            detail
                .and_then(|all| all.of(level.index))
                .map_or(Value::Null, |own| of_level(own, &mut shares))
        })
        .collect();
    let all = json!({
        "levels": summary.levels.iter().map(|one| level(one, language)).collect::<Vec<_>>(),
        "axes": axes::axes(summary, language),
        "groups": axes::groups(summary, language),
        "metrics": metrics.iter().map(metric).collect::<Vec<_>>(),
        "choices": choices(summary, &metrics, language),
        "marks": marks(summary, language),
        "bounds": bounds(summary),
        "details": details,
        "shares": shares.lists,
        "words": words(summary, language),
    });
    embedded(&all)
}

/// The script's texts. Where nothing is generated, a grid is over the length of a text and how many there
/// are.
fn words(summary: &Summary, language: Language) -> Value {
    let mut words = json!(Word::for_script(language));
    if summary.levels.iter().any(LevelSummary::has_inputs) {
        words["inputAxis"] = Word::TextAxis.text(language).into();
        words["outputAxis"] = Word::InputsAxis.text(language).into();
    }
    words
}

/// JSON without `<`, `>` and `&`, and without the two line separators that only scripts know.
pub(super) fn embedded(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// A number with at most this many digits; whole numbers without a decimal point.
fn short(value: f64, digits: usize) -> Value {
    let rounded: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value);
    match rounded {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => json!(whole as i64),
        other => json!(other),
    }
}

pub(super) fn rounded(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, |value| short(value, 5))
}

pub(super) fn level(level: &LevelSummary, language: Language) -> Value {
    let pair = axes::pair(level);
    let reasons: Vec<String> =
        level.reasons.iter().map(|reason| escape(&reason.what, LONGEST)).collect();
    json!({
        "label": escape(&level.label, LONGEST),
        "name": escape(level.name(), LONGEST),
        "load": load(level, language),
        "pair": pair,
        "trust": level.verdict as u8,
        "why": reasons.join(language.semicolon()),
        "slices": level.slices.as_ref().map(|all| all.iter().map(slice).collect::<Vec<_>>()),
    })
}

/// A stretch of a ramp or soak.
fn slice(slice: &Slice) -> Value {
    json!({
        "from": rounded(Some(slice.from_s)),
        "to": rounded(Some(slice.to_s)),
        "offered": rounded(Some(slice.offered_per_s)),
        "completed": rounded(Some(slice.completed_per_s)),
        "ttft50": rounded(slice.ttft_p50_ms),
        "ttft99": rounded(slice.ttft_p99_ms),
        "latency50": rounded(slice.latency_p50_ms),
    })
}

/// The name of a load; equal loads have equal names.
fn load(level: &LevelSummary, language: Language) -> String {
    let named = axes::LOADS.iter().find(|(kind, _)| *kind == level.load.kind);
    let name = named
        .map_or_else(|| level.load.kind.to_string(), |(_, name)| name.text(language).to_owned());
    match level.load.value {
        Some(value) => format!("{name}{}{}", language.colon(), rounded(Some(value))),
        None => name,
    }
}

fn metric(metric: &Metric) -> Value {
    let mut out = values(metric);
    out.insert("id".into(), json!(metric.id));
    out.insert("name".into(), json!(metric.name));
    out.insert("unit".into(), json!(metric.unit));
    Value::Object(out)
}

/// Whether a value has a mark.
type Has = fn(&LevelValue) -> bool;

/// The values of a metric, level by level.
pub(super) fn values(metric: &Metric) -> Map<String, Value> {
    let column = |which: &dyn Fn(&LevelValue) -> Option<f64>| -> Vec<Value> {
        metric.values.iter().map(|value| rounded(value.as_ref().and_then(which))).collect()
    };
    let mut out = Map::new();
    out.insert("y".into(), json!(column(&|value| Some(value.value))));
    if metric.values.iter().flatten().any(|value| value.interval.is_some()) {
        out.insert("low".into(), json!(column(&|value| value.interval.map(|ends| ends[0]))));
        out.insert("high".into(), json!(column(&|value| value.interval.map(|ends| ends[1]))));
    }
    let marks: [(&str, Has); 2] = [("few", |value| value.few), ("rough", |value| value.rough)];
    for (name, has) in marks {
        let levels = metric.values.iter().enumerate();
        let marked = levels.filter(|(_, value)| value.as_ref().is_some_and(has));
        let marked: Vec<usize> = marked.map(|(i, _)| i).collect();
        if !marked.is_empty() {
            out.insert(name.into(), json!(marked));
        }
    }
    out
}

/// The title of a group of metrics in a list.
pub(super) fn group_name(group: MetricGroup, language: Language) -> &'static str {
    let word = match group {
        MetricGroup::Work => Word::Work,
        MetricGroup::Times => Word::Times,
        MetricGroup::Requests => Word::Requests,
        MetricGroup::Server => Word::Server,
        MetricGroup::Cost => Word::Cost,
    };
    word.text(language)
}

/// What can be picked: single metrics, and the percentiles of a time together.
fn choices(summary: &Summary, metrics: &[Metric], language: Language) -> Vec<Value> {
    let place = |id: &str| metrics.iter().position(|metric| metric.id == id);
    let mut out = Vec::new();
    let groups = [
        MetricGroup::Work,
        MetricGroup::Times,
        MetricGroup::Requests,
        MetricGroup::Server,
        MetricGroup::Cost,
    ];
    for group in groups {
        let mut items: Vec<Value> = Vec::new();
        if group == MetricGroup::Times {
            let times = Place::PageChart.metrics().into_iter().map(|column| column.metric);
            for (metric, time) in times.filter_map(|metric| Some((metric, metric.time()?))) {
                let id = metric.name();
                let shown = summary.charted(time, &[P50, P90, P99]);
                let parts: Vec<usize> = shown
                    .iter()
                    .filter_map(|part| place(&format!("{id}.{}", part.name())))
                    .collect();
                if parts.len() > 1 {
                    let names: Vec<&str> = shown.iter().map(|part| part.label(language)).collect();
                    let name = metric.label_with(&names.join(" · "), language);
                    items.push(json!({"id": id, "name": name, "parts": parts}));
                }
            }
        }
        for (i, metric) in metrics.iter().enumerate().filter(|(_, one)| one.group == group) {
            items.push(json!({"id": metric.id, "name": metric.name, "parts": [i]}));
        }
        if !items.is_empty() {
            out.push(json!({"name": group_name(group, language), "items": items}));
        }
    }
    out
}

/// The result of a search, on the axis that it searched.
fn marks(summary: &Summary, language: Language) -> Vec<Value> {
    let mark = |axis: LoadKind, name: Word, from: f64, to: f64| {
        vec![json!({"axis": axis, "name": name.text(language), "from": from, "to": to})]
    };
    match &summary.search {
        Some(SearchSummary::Capacity { unit, holds, does_not_hold, .. }) => {
            let Some(known) = holds.or(*does_not_hold) else { return vec![] };
            let axis = if unit == "req/s" { LoadKind::Rate } else { LoadKind::Concurrency };
            let (from, to) = (holds.unwrap_or(known), does_not_hold.unwrap_or(known));
            mark(axis, Word::Capacity, from, to)
        }
        Some(SearchSummary::Knee { concurrency, .. }) => {
            mark(LoadKind::Concurrency, Word::Knee, *concurrency, *concurrency)
        }
        None => vec![],
    }
}

/// The bounds of the SLO, by metric.
fn bounds(summary: &Summary) -> Map<String, Value> {
    let mut out = Map::new();
    let terms = summary.levels.iter().filter_map(|level| level.slo.as_ref());
    for term in terms.flat_map(|slo| &slo.verdict.terms) {
        let metric = term.term.split(['<', '>']).next().unwrap_or_default().trim();
        out.insert(metric.to_owned(), short(term.bound, 6));
    }
    out
}

/// Lists of shares that several curves use: the page has each of them once.
#[derive(Debug, Default)]
struct Shares {
    lists: Vec<Vec<f64>>,
}

impl Shares {
    fn curve(&mut self, curve: Option<&Curve>) -> Value {
        let Some(curve) = curve else { return Value::Null };
        let list: Vec<f64> = curve.points.iter().map(|[_, share]| *share).collect();
        let place = self.lists.iter().position(|known| *known == list).unwrap_or_else(|| {
            self.lists.push(list);
            self.lists.len() - 1
        });
        let x: Vec<Value> = curve.points.iter().map(|[ms, _]| short(*ms, 4)).collect();
        json!({"n": curve.count, "s": place, "x": x})
    }
}

fn of_level(detail: &LevelDetail, shares: &mut Shares) -> Value {
    let buckets = &detail.course.buckets;
    let ms = |seconds: f64| short((seconds * 1e4).round() / 10.0, 8);
    let mut classes: Vec<(&str, bool)> = Vec::new();
    let mut bars: Vec<Value> = Vec::new();
    let lanes = lanes::lanes(&detail.bars.kept);
    let numbered = lanes.shown.iter().enumerate();
    let mut shown: Vec<(usize, &Bar)> =
        numbered.flat_map(|(i, lane)| lane.iter().map(move |bar| (i, *bar))).collect();
    shown.sort_by(|(_, a), (_, b)| a.due_s.total_cmp(&b.due_s).then(a.index.cmp(&b.index)));
    for (lane, bar) in shown {
        let became = match &bar.became {
            Became::Completed => 0,
            Became::Dropped => 1,
            Became::Censored => 2,
            Became::Failed(class) | Became::Shed(class) => {
                let class = (class.as_str(), matches!(bar.became, Became::Shed(_)));
                let known = classes.iter().position(|known| *known == class);
                3 + known.unwrap_or_else(|| {
                    classes.push(class);
                    classes.len() - 1
                })
            }
        };
        let sent = bar.sent_s.unwrap_or(bar.due_s);
        bars.push(json!([
            bar.index,
            ms(bar.due_s),
            bar.sent_s.map(|sent| ms(sent - bar.due_s)),
            bar.first_s.map(|first| ms(first - sent)),
            ms(bar.end_s - sent),
            bar.output,
            became,
            u8::from(bar.warmup),
            lane,
            bar.retries,
        ]));
    }
    let (classes, shed): (Vec<String>, Vec<bool>) =
        classes.iter().map(|(class, shed)| (escape(class, LONGEST), *shed)).unzip();
    let mut sheds = buckets.iter().map(|one| one.shed).collect::<Vec<_>>();
    if sheds.iter().all(|count| *count == 0) {
        sheds.clear();
    }
    json!({
        "started": short(detail.started_s, 6),
        "ttft": shares.curve(detail.ttft.as_ref()),
        "itl": shares.curve(detail.itl.as_ref()),
        "tpot": shares.curve(detail.tpot.as_ref()),
        "latency": shares.curve(detail.latency.as_ref()),
        "every": short(detail.course.every_s, 6),
        "completed": buckets.iter().map(|one| one.completed).collect::<Vec<_>>(),
        "failed": buckets.iter().map(|one| one.failed).collect::<Vec<_>>(),
        "shed": sheds,
        "tokens": buckets.iter().map(|one| rounded(one.output_tokens)).collect::<Vec<_>>(),
        "flight": buckets.iter().map(|one| one.in_flight).collect::<Vec<_>>(),
        "of": detail.bars.of,
        "lanes": lanes.shown.len(),
        "bars": bars,
        "classes": classes,
        "shedClasses": shed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(1234.0, 5).to_string(), "1234");
        assert_eq!(short(0.123456789, 4).to_string(), "0.1235");
        assert_eq!(rounded(Some(f64::NAN)), Value::Null);
        assert_eq!(rounded(None), Value::Null);
    }

    proptest! {
        #[test]
        fn embedded_json_is_not_markup_and_can_be_read_back(text in any::<String>()) {
            let value = json!({"text": text});
            let text = embedded(&value);
            let marks = ['<', '>', '&', '\u{2028}', '\u{2029}'];
            prop_assert!(!text.contains(marks), "{text}");
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}
