//! What the levels of a run can be laid along, and which of them belong to one line: levels that
//! differ in more than what the axis shows are never joined.

use super::data::rounded;
use super::words::Word;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelSummary, Summary};
use serde_json::{Value, json};

/// The kinds of load, and what each is measured in.
pub(super) const LOADS: [(LoadKind, Word); 5] = [
    (LoadKind::Concurrency, Word::InFlightLoad),
    (LoadKind::Rate, Word::OfferedLoad),
    (LoadKind::Burst, Word::BurstLoad),
    (LoadKind::Trace, Word::SpeedLoad),
    (LoadKind::Ramp, Word::RampLoad),
];

/// How much load of this kind a level had.
pub(super) fn place(level: &LevelSummary, kind: LoadKind) -> Option<f64> {
    level.load.of(kind).map(|asked| match kind {
        LoadKind::Rate => level.offered_per_s.unwrap_or(asked),
        _ => asked,
    })
}

/// Values this far apart are easier to read on a logarithmic axis.
pub(super) fn is_wide(least: f64, most: f64) -> bool {
    least > 0.0 && most / least >= 16.0
}

/// Lengths of input and output that all requests of a level were to have; where nothing is generated, the
/// length of a text and how many there are.
pub(super) fn pair(level: &LevelSummary) -> Option<[u32; 2]> {
    let inputs = || level.inputs_per_request.map(|inputs| inputs.round() as u32);
    Some([level.input_length?, level.output_length.or_else(inputs)?])
}

/// All levels have lengths, and these differ.
pub(super) fn is_grid(summary: &Summary) -> bool {
    let pairs: Option<Vec<[u32; 2]>> = summary.levels.iter().map(pair).collect();
    pairs.is_some_and(|pairs| pairs.windows(2).any(|two| two[0] != two[1]))
}

fn pair_name(level: &LevelSummary) -> String {
    let sign = if level.has_inputs() { " tok×" } else { "→" };
    pair(level).map_or_else(String::new, |[input, output]| format!("{input}{sign}{output}"))
}

/// The lines that levels belong to where the horizontal axis is another metric: one for each pair of
/// lengths and kind of load.
pub(super) fn groups(summary: &Summary, language: Language) -> Vec<String> {
    let grid = is_grid(summary);
    let mut kinds: Vec<LoadKind> = summary.levels.iter().map(|level| level.load.kind).collect();
    kinds.dedup();
    let kind = |level: &LevelSummary| {
        let found = LOADS.iter().find(|(kind, _)| *kind == level.load.kind);
        found.map_or_else(String::new, |(_, name)| name.text(language).to_owned())
    };
    let name = |level: &LevelSummary| {
        let kind = if kinds.len() > 1 { kind(level) } else { String::new() };
        let pair = if grid { pair_name(level) } else { String::new() };
        format!("{pair} {kind}").trim().to_owned()
    };
    summary.levels.iter().map(name).collect()
}

/// The axes: loads by kind, the most frequent first, then lengths, and the order of the levels.
pub(super) fn axes(summary: &Summary, language: Language) -> Vec<Value> {
    let grid = is_grid(summary);
    let mut found: Vec<(usize, Value)> = LOADS
        .into_iter()
        .filter_map(|(kind, name)| load_axis(summary, kind, name.text(language), grid))
        .collect();
    // The closed loops of a sweep may be as many as its rates, and are marks on their axis.
    let rates_first = dyno_draw::ends_of_sweep(summary);
    let is_rate = |axis: &Value| rates_first && axis["id"] == json!(LoadKind::Rate);
    found.sort_by_key(|(levels, axis)| std::cmp::Reverse((is_rate(axis), *levels)));
    let mut all: Vec<Value> = found.into_iter().map(|(_, axis)| axis).collect();
    if grid {
        all.extend(length_axis(summary, 0, language));
        all.extend(length_axis(summary, 1, language));
    }
    let order: Vec<usize> = (1..=summary.levels.len()).collect();
    let none = vec![""; order.len()];
    // Cells of a grid that follow each other have nothing in common.
    all.push(json!({
        "id": "order", "name": Word::OrderLoad.text(language), "x": order, "groups": none,
        "joined": !grid,
    }));
    all
}

/// One kind of load, where levels differ in it, and how many levels have it.
fn load_axis(summary: &Summary, kind: LoadKind, name: &str, grid: bool) -> Option<(usize, Value)> {
    let levels = &summary.levels;
    let mut places: Vec<Option<f64>> = levels.iter().map(|level| place(level, kind)).collect();
    let known: Vec<f64> = places.iter().flatten().copied().collect();
    let [least, .., most] = dyno_chart::ordered(known.iter().copied())[..] else { return None };
    let ends = if kind == LoadKind::Rate { sweep_ends(summary) } else { vec![] };
    for end in &ends {
        places[*end] = levels[*end].throughput.requests_per_s;
    }
    let x: Vec<Value> = places.into_iter().map(rounded).collect();
    let group = |level: &LevelSummary| if grid { pair_name(level) } else { String::new() };
    let groups: Vec<String> = levels.iter().map(group).collect();
    let log = is_wide(least, most);
    let axis =
        json!({"id": kind, "name": name, "x": x, "log": log, "groups": groups, "marked": ends});
    Some((known.len(), axis))
}

/// The two closed loops of a sweep over rates: one request at a time, and as many as possible. They
/// are shown at the rate that they reached.
fn sweep_ends(summary: &Summary) -> Vec<usize> {
    let closed: Vec<usize> = (0..summary.levels.len())
        .filter(|i| summary.levels[*i].load.kind == LoadKind::Concurrency)
        .collect();
    if dyno_draw::ends_of_sweep(summary) { closed } else { vec![] }
}

/// Lengths of inputs (0) or outputs (1), where levels differ in them; a line for each of the other
/// length and each load.
fn length_axis(summary: &Summary, which: usize, language: Language) -> Option<Value> {
    let lengths: Vec<[u32; 2]> = summary.levels.iter().filter_map(pair).collect();
    let own: Vec<f64> = lengths.iter().map(|pair| f64::from(pair[which])).collect();
    let [least, .., most] = dyno_chart::ordered(own.iter().copied())[..] else { return None };
    let mut loads: Vec<_> = summary.levels.iter().map(|level| &level.load).collect();
    loads.dedup();
    let inputs = summary.levels.iter().any(LevelSummary::has_inputs);
    let [first, second] = match inputs {
        true => [Word::TextAxis, Word::InputsAxis],
        false => [Word::InputAxis, Word::OutputAxis],
    };
    let other = [second, first][which].text(language);
    let group = |level: &LevelSummary| {
        let length = pair(level).map_or(0, |pair| pair[1 - which]);
        let name = format!("{length} {other}");
        match (loads.len() > 1, level.load.value) {
            (true, Some(load)) => format!("{name} @{load}"),
            _ => name,
        }
    };
    let groups: Vec<String> = summary.levels.iter().map(group).collect();
    let (id, name) = [("input", first), ("output", second)][which];
    let (x, name) =
        (own.into_iter().map(Some).map(rounded).collect::<Vec<_>>(), name.text(language));
    Some(json!({"id": id, "name": name, "x": x, "log": is_wide(least, most), "groups": groups}))
}
