//! What the script draws from on the page of a comparison: the metrics of every run over its loads.

use super::axes::{LOADS, is_wide, place};
use super::data::{embedded, group_name, level, rounded, values};
use super::metrics::{Metric, compared};
use super::words::Word;
use dyno_draw::ends_of_sweep;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::MetricGroup;
use dyno_model::summary::{Basis, LevelSummary, Summary};
use serde_json::{Map, Value, json};

/// Where a level stands on the axis of a load. The closed loops of a sweep over rates are its two ends:
/// nothing was measured between them.
fn placed(side: &Summary, level: &LevelSummary, kind: LoadKind) -> Option<f64> {
    let end = kind == LoadKind::Concurrency && ends_of_sweep(side);
    place(level, kind).filter(|_| !end)
}

/// The loads that some run was swept over, the most frequent first.
fn axes(sides: &[(&str, &Summary)], language: Language) -> Vec<(LoadKind, Value)> {
    let mut found: Vec<(usize, LoadKind, Value)> = Vec::new();
    for (kind, name) in LOADS {
        let own = |(_, side): &(&str, &Summary)| {
            side.levels.iter().filter_map(|level| placed(side, level, kind)).collect::<Vec<f64>>()
        };
        let places: Vec<f64> = sides.iter().flat_map(own).collect();
        let swept = |side: &(&str, &Summary)| dyno_chart::ordered(own(side)).len() > 1;
        let all = dyno_chart::ordered(places.iter().copied());
        if let ([least, .., most], true) = (&all[..], sides.iter().any(swept)) {
            let axis = json!({
                "id": kind, "name": name.text(language), "log": is_wide(*least, *most),
            });
            found.push((places.len(), kind, axis));
        }
    }
    found.sort_by_key(|(levels, ..)| std::cmp::Reverse(*levels));
    found.into_iter().map(|(_, kind, axis)| (kind, axis)).collect()
}

/// Every metric that some run has, once.
fn union(sides: &[Vec<Metric>]) -> Vec<&Metric> {
    let mut all: Vec<&Metric> = Vec::new();
    for metric in sides.iter().flatten() {
        if !all.iter().any(|known| known.id == metric.id) {
            all.push(metric);
        }
    }
    all
}

fn choices(metrics: &[&Metric], language: Language) -> Vec<Value> {
    let groups = [
        MetricGroup::Work,
        MetricGroup::Times,
        MetricGroup::Requests,
        MetricGroup::Server,
        MetricGroup::Cost,
    ];
    let choice = |group: MetricGroup| {
        let own = metrics.iter().filter(|metric| metric.group == group);
        let items: Vec<Value> = own.map(|one| json!({"id": one.id, "name": one.name})).collect();
        (!items.is_empty()).then(|| json!({"name": group_name(group, language), "items": items}))
    };
    groups.into_iter().filter_map(choice).collect()
}

/// The charts that the page opens with: a metric, and what it is over. Of several spellings of the
/// same, the first that there is.
fn panes(metrics: &[&Metric], axes: &[(LoadKind, Value)]) -> Vec<[String; 2]> {
    let Some((kind, _)) = axes.first() else { return vec![] };
    let axis = json!(kind).as_str().unwrap_or_default().to_owned();
    let has = |id: &&&str| metrics.iter().any(|metric| metric.id == **id);
    let failed = metrics.iter().any(|metric| {
        metric.id == "errors" && metric.values.iter().flatten().any(|value| value.value > 0.0)
    });
    let wanted: [&[&str]; 5] = [
        &["throughput"],
        &["tokens"],
        &["ttft.mean", "ttft.p50"],
        &["latency.mean", "latency.p50"],
        &["itl.mean", "tpot.mean", "itl.p50", "tpot.p50"],
    ];
    let first = wanted.iter().filter_map(|ids| ids.iter().find(has));
    let mut panes: Vec<[String; 2]> = first.map(|id| [(*id).to_owned(), axis.clone()]).collect();
    if failed {
        panes.push(["errors".to_owned(), axis]);
    }
    if ["tokens", "per_user"].iter().all(|id| has(&id)) {
        panes.push(["tokens".to_owned(), "per_user".to_owned()]);
    }
    panes
}

/// The data of the page, safe within a `script` element; nothing where there is nothing to draw.
pub(super) fn data(sides: &[(&str, &Summary)], language: Language) -> Option<String> {
    let axes = axes(sides, language);
    let basis = Basis::of(sides.iter().flat_map(|(_, side)| &side.levels));
    let metrics: Vec<Vec<Metric>> =
        sides.iter().map(|(_, side)| compared(side, basis, language)).collect();
    let all = union(&metrics);
    let panes = panes(&all, &axes);
    if panes.is_empty() {
        return None;
    }
    let side = |((name, side), own): (&(&str, &Summary), &Vec<Metric>)| {
        let x: Map<String, Value> = axes
            .iter()
            .map(|(kind, _)| {
                let places = side.levels.iter().map(|level| rounded(placed(side, level, *kind)));
                (json!(kind).as_str().unwrap_or_default().to_owned(), places.collect())
            })
            .collect();
        let metrics: Map<String, Value> =
            own.iter().map(|one| (one.id.clone(), Value::Object(values(one)))).collect();
        let pair = |one: &LevelSummary| {
            let inputs = one.inputs_per_request;
            let end = placed(side, one, one.load.kind).is_none().then_some(&one.label);
            format!("{:?}", (one.input_length, one.output_length, inputs, one.load.kind, end))
        };
        json!({
            "name": dyno_words::escape::escape(name, 200),
            "levels": side.levels.iter().map(|one| level(one, language)).collect::<Vec<_>>(),
            "groups": side.levels.iter().map(pair).collect::<Vec<_>>(),
            "x": x,
            "metrics": metrics,
        })
    };
    let sides: Vec<Value> = sides.iter().zip(&metrics).map(side).collect();
    let named = all.iter().map(|one| json!({"id": one.id, "name": one.name, "unit": one.unit}));
    let named: Vec<Value> = named.collect();
    let axes: Vec<Value> = axes.into_iter().map(|(_, axis)| axis).collect();
    Some(embedded(&json!({
        "compare": {
            "sides": sides, "axes": axes, "metrics": named, "choices": choices(&all, language),
            "panes": panes,
        },
        "words": Word::for_script(language),
    })))
}

/// The data of a page without charts.
pub(super) fn empty(language: Language) -> String {
    embedded(&json!({"words": Word::for_script(language)}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::load::LoadSummary;

    #[test]
    fn the_ends_of_a_sweep_are_not_joined() {
        let level = |(kind, value): (LoadKind, f64)| {
            let mut level = LevelSummary { label: format!("{kind} {value}"), ..Default::default() };
            level.load = LoadSummary { kind, value: Some(value) };
            level.throughput.requests_per_s = Some(value);
            level
        };
        use LoadKind::{Concurrency, Rate};
        let run = |loads: &[(LoadKind, f64)]| Summary {
            schema: String::new(),
            run: Default::default(),
            levels: loads.iter().copied().map(level).collect(),
            repeats: vec![],
            search: None,
            notes: vec![],
        };
        let sweep = run(&[(Concurrency, 1.0), (Rate, 2.0), (Rate, 4.0), (Concurrency, 512.0)]);
        let ladder = run(&[(Concurrency, 1.0), (Concurrency, 2.0), (Concurrency, 4.0)]);
        let data = data(&[("s", &sweep), ("l", &ladder)], Language::English).unwrap();
        let data: Value = serde_json::from_str(&data).unwrap();
        let side = |side: usize| &data["compare"]["sides"][side];
        assert_eq!(side(0)["x"]["concurrency"], json!([null, null, null, null]));
        assert_eq!(side(1)["x"]["concurrency"], json!([1, 2, 4]));
        let groups = &side(0)["groups"];
        assert!(groups[0] != groups[3] && groups[1] == groups[2], "{groups}");
    }
}
